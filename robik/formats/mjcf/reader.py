"""MJCF robots, MuJoCo's own format: `*.xml` whose root is <mujoco> (docs/robot-formats.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Body, Frame, Pose, Visual
from ...mechanism.constraints import rotation_vector_matrix
from ...mechanism.pose import IDENTITY, frame_matrix
from ..assembly.assemble import assemble
from ..assembly.open_joint import OpenJoint
from ..assembly.open_robot import OpenRobot
from ..holds import held_through, with_held
from ..imported import Imported, Notes, reading
from ..mesh_files import MeshFiles
from ..names import free_name
from ..xml_file import numbers
from .attach import Model, attached, model_file, part_of
from .content import Content, is_aligned
from .equalities import Tied, read_equalities
from .file import Attributes, MjcfFile, Placed, flattened, is_limited, vector, z_to
from .geoms import SEEN, Geom, Geoms
from .inertia import mass_of, scaled
from .keyframe import keyframes, with_keyframe
from .motors import driven, lacks_motors, read_motors
from .resistance import read_resistance
from .tendons import read_tendons

MOST_BODIES = 2000
MOST_JOINTS = 6  # in one body
MOST_PARTS = 50_000  # geoms and sites; frames likewise
TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
NOT_READ = {
    "composite": "the chain that a <composite> makes is not read, so it is missing; write its bodies out",
    "flexcomp": "a <flexcomp> is soft and no rigid body, so it was left out",
}
LOOSE = "geoms that stand in what is attached, in no body of it, were left out, with their mass"
MOST_MODELS = 100  # attached, one in the other or side by side


def load(path: Path, packages: Iterable[Path] = ()) -> Imported:
    """Return the robot in an MJCF file; packages are folders beside its own where meshes and included files may lie."""
    notes, report = Notes(), Notes()
    with reading(path):
        return assemble(read(path, packages, notes, report), notes, report)


def read(path: Path, packages: Iterable[Path], notes: Notes, report: Notes) -> OpenRobot:
    """Return the robot as its file stores it, loops still open; in the pose of a keyframe, if the file has one.

    A FormatError or MechanismError leaves the file's name to the caller.
    """
    reader = _Reader(path, packages, notes, report)
    reader.walk()
    return with_held(reader.robot(), reader.held, notes)


class _Reader:
    """One file on its way in."""

    def __init__(
        self, path: Path, packages: Iterable[Path], notes: Notes, report: Notes, within: tuple[Path, ...] = (),
        posed: bool = False,
    ) -> None:  # fmt: skip
        files = self.files = MeshFiles(path, packages)
        self.within = (*within, path.resolve())  # the files that attach each other down to this one
        self.models: list[Model] = []
        self.path, self.notes, self.report = path, notes, report
        self.file = MjcfFile(path, files)
        self.keys = [] if posed else keyframes(self.file)  # those of a file that attaches this one count instead
        self.posed = posed or bool(self.keys)
        self.compiler = Element("compiler", self.file.compiler)
        self.geoms = Geoms(self.file, files, path.resolve(), notes)
        self.bodies: list[Body] = []
        self.joints: list[OpenJoint] = []  # those of attached models among them, where MuJoCo counts them
        self.frames: list[Frame] = []
        self.seen: dict[str, list[Geom]] = {}
        self.at: dict[str, Pose] = {WORLD: IDENTITY}
        self.sites: dict[str, tuple[str, Pose]] = {}
        self.around: dict[tuple[str, str], Placed] = {}  # ("body" or "site", its name) → where it stands
        self.loose: set[tuple[str, str]] = set()  # bodies, and frames of theirs, that hold geoms
        self.mocap: set[str] = set()
        self.held: dict[str, float] = {}  # joints that equalities hold still
        self.parts = 0
        self.names = {b.get("name", "") for top in self.file.root.findall("worldbody") for b in top.iter("body")} | {
            WORLD
        }
        named = (
            j.get("name", "")
            for top in self.file.root.findall("worldbody")
            for tag in ("joint", "freejoint")
            for j in top.iter(tag)
        )
        self.joint_names = set(named)

    # Bodies

    def walk(self) -> None:
        """Read all bodies, parents before children."""
        for equality in self.file.left_out:
            self.notes.add("it ties what is replicated to what is not, so it was left out, as MuJoCo does", equality)
        if self.file.root.find("deformable") is not None:
            self.notes.add("what is soft (<deformable>) was left out")
        if sum(1 for top in self.file.root.findall("worldbody") for _ in top.iter("frame")) > MOST_PARTS:
            raise FormatError(f"it has more than {MOST_PARTS} frames")
        waiting: list[tuple[str, Placed]] = []
        for top in self.file.root.findall("worldbody"):
            world = self.content(top, WORLD, top.get("childclass"))
            if world.geoms:
                self.report.add("what is fixed to the world itself, such as a floor, is no part of the robot")
            waiting += [(WORLD, placed) for placed in world.bodies]
        waiting.reverse()
        while waiting:
            parent, placed = waiting.pop()
            if placed.element.tag == "attach":
                self.attach(parent, placed)
                continue
            name, bodies = self.body(parent, placed)
            waiting += [(name, inner) for inner in reversed(bodies)]
            if len(self.bodies) > MOST_BODIES:
                raise FormatError(f"it has more than {MOST_BODIES} bodies")
        if not self.bodies and not self.models:
            missing = [
                tag
                for tag in NOT_READ
                if any(True for top in self.file.root.findall("worldbody") for _ in top.iter(tag))
            ]
            beside = f" beside its <{missing[0]}>, which is not read" if missing else ""
            raise FormatError(f"its <worldbody> has no <body>{beside}; a robot needs at least one")

    def content(self, element: Element, name: str, inherited: str | None) -> Content:
        """Return what stands in a body, its sites read already."""
        where = f"body {name!r}"
        content = Content()
        for placed in flattened(element, inherited, self.file, where):
            child, offset, cls, around = placed
            self.parts += child.tag in ("geom", "site")
            if self.parts > MOST_PARTS:
                raise FormatError(f"it has more than {MOST_PARTS} geoms and sites")
            if child.tag in ("joint", "freejoint"):
                content.joints.append(placed)
            elif child.tag == "geom":
                content.geoms.append(self.geoms.geom(child, offset, cls, where))
                self.loose.update((name, frame) for frame in ("", *(frame for frame, _ in around)))
            elif child.tag in ("body", "attach"):
                content.bodies.append(placed)
            elif child.tag == "inertial":
                content.inertial = placed
            elif child.tag == "site" and child.get("name"):
                self.site(child, name, offset, cls)
                self.around["site", child.attrib["name"]] = placed
            elif child.tag in NOT_READ:
                self.notes.add(NOT_READ[child.tag], where)
        return content

    def site(self, element: Element, body: str, offset: Pose, inherited: str | None) -> None:
        name = element.get("name", "")
        attributes = self.file.attributes(element, inherited)
        where = f"site {name!r}"
        if "fromto" in attributes:
            ends = np.array(numbers(attributes["fromto"], 6, f"{where}: its fromto"))
            pose = Pose.of(z_to(ends[:3] - ends[3:], where), (ends[:3] + ends[3:]) / 2)
        else:
            pose = self.file.pose(attributes, where)
        if name in self.sites:
            raise FormatError(f"two sites are called {name!r}; names must differ")
        self.sites[name] = (body, offset @ pose)

    def body(self, parent: str, placed: Placed) -> tuple[str, list[Placed]]:
        """Read a body; its name, and the bodies in it, also those to be attached."""
        element, offset, inherited, _ = placed
        name = element.get("name") or self.new_name(f"body_{len(self.bodies) + 1}")
        where = f"body {name!r}"
        if name in self.at:
            raise FormatError(f"{where}: two bodies have this name, or it is the ground's; names must differ")
        pose = offset @ self.file.pose(element.attrib, where)
        self.at[name], self.around["body", name] = self.at[parent] @ pose, placed
        content = self.content(element, name, element.get("childclass", inherited))
        if element.get("mocap") == "true":
            self.mocap.add(name)
            self.notes.add("a mocap body is moved by hand; here it is fixed to the world", where)
        if is_aligned(content, self.file):
            self.notes.add(
                "MuJoCo moves its frame into its centre of mass (align); here it stays where the file has it", where
            )
        self.tie(name, parent, pose, content.joints)
        mass, com, inertia = mass_of(self.file, content.inertial, content.geoms, self.geoms, self.compiler, where)
        self.bodies.append(Body.of(name, mass, com, inertia))
        self.seen[name] = content.geoms
        return name, content.bodies

    def attach(self, parent: str, placed: Placed) -> None:
        """Read a model that is attached to a body, or to the world."""
        element, offset, _, _ = placed
        wanted = element.get("model", "")
        path = model_file(self.file, self.files, wanted, parent)
        if path in self.within or len(self.models) >= MOST_MODELS or len(self.within) > MOST_MODELS:
            raise FormatError(
                f"model {wanted!r}, {path.name[:80]!r}: models attach each other in a ring, or too many times"
            )
        inner = _Reader(path, self.files.allowed, self.notes, self.report, self.within, self.posed)
        inner.walk()
        whole = Model(
            inner.robot(), path.parent, inner.at, inner.sites, inner.drawn, inner.held, inner.around, inner.loose
        )
        taken = part_of(whole, element)
        if taken.is_loose and parent != WORLD:
            self.notes.add(LOOSE, f"attached model {wanted!r}")
        part = attached(
            whole, taken, element.get("prefix", ""), parent, offset, self.at[parent], self.path.resolve().parent
        )
        self.models.append(part)
        self.joints += part.tree
        if len(self.bodies) + sum(len(m.robot.bodies) for m in self.models) > MOST_BODIES:
            raise FormatError(f"it has more than {MOST_BODIES} bodies")
        self.names.update(b.name for b in part.robot.bodies)
        self.joint_names.update(j.name for j in part.robot.joints)

    def new_name(self, wanted: str) -> str:
        name = free_name(wanted, self.names)
        self.names.add(name)
        return name

    # Joints

    def tie(self, name: str, parent: str, pose: Pose, joints: list[Placed]) -> None:
        """Read the joints between a body and its parent, with massless bodies between several of them."""
        if not joints:
            self.joints.append(
                OpenJoint(self.new_joint("base" if parent == WORLD else name), "fixed", parent, name, near=pose)
            )
        if len(joints) > MOST_JOINTS:
            raise FormatError(f"body {name!r} has {len(joints)} joints; up to {MOST_JOINTS} make sense in one body")
        for k, (element, offset, inherited, _) in enumerate(joints):
            own = element.get("name") or self.new_joint(name)
            if any(joint.name == own for joint in self.joints):
                raise FormatError(f"two joints are called {own!r}; names must differ")
            if k < len(joints) - 1:
                child = self.new_name(f"{name}_{own}")
                self.bodies.append(Body(child))
                self.report.add("a body with several joints has a massless body between each two of them", name)
            else:
                child = name
            self.joints.append(self.joint(element, own, parent, child, pose, offset, inherited))
            parent, pose = child, IDENTITY

    def new_joint(self, wanted: str) -> str:
        name = free_name(wanted, self.joint_names)
        self.joint_names.add(name)
        return name

    def joint(
        self, element: Element, name: str, parent: str, child: str, pose: Pose, offset: Pose, inherited: str | None
    ) -> OpenJoint:
        where = f"joint {name!r}"
        attributes = {"type": "free"} if element.tag == "freejoint" else self.file.attributes(element, inherited)
        kind = attributes.get("type", "hinge")
        if kind not in TYPES:
            raise FormatError(f"{where}: unknown type {kind[:40]!r}; the types are {', '.join(TYPES)}")
        if kind == "free":
            if parent != WORLD:
                raise FormatError(
                    f"{where}: only a body that stands in the world itself can be free, not one in {parent!r}"
                )
            return OpenJoint(name, "free", parent, child, near=pose)
        at = offset @ Pose(vector(attributes, "pos", "0 0 0", where))
        bounds = is_limited(attributes, "limited", "range", self.file, where)
        if kind == "ball":
            here = Pose(at.position)
            most = inf if bounds is None or bounds[1] <= 0.0 else self.file.angle(bounds[1])
            own = read_resistance(attributes, 1.0, where, self.notes, is_ball=True)
            return OpenJoint(
                name, "spherical", parent, child, near=pose @ here, far=here, turn_limit=most, resistance=own
            )
        return self._driven_joint(OpenJoint(name, TYPES[kind], parent, child), attributes, pose, offset, at, bounds)

    def _driven_joint(
        self, joint: OpenJoint, attributes: Attributes, pose: Pose, offset: Pose, at: Pose,
        bounds: tuple[float, float] | None,
    ) -> OpenJoint:  # fmt: skip
        """Return a hinge or slide with its frames, limits and stored value."""
        where = f"joint {joint.name!r}"
        axis = offset.matrix @ vector(attributes, "axis", "0 0 1", where)
        frame = Pose.of(frame_matrix(axis, None, where), at.position)
        is_hinge = joint.type == "revolute"
        unit = self.file.angle(1.0) if is_hinge else 1.0
        ref = unit * numbers(attributes.get("ref", "0"), 1, f"{where}: its ref")[0]
        if is_hinge:
            back = Pose.of(rotation_vector_matrix(np.array([-ref, 0.0, 0.0])), (0.0, 0.0, 0.0)) if ref else IDENTITY
        else:
            back = Pose((-ref, 0.0, 0.0))
        limits = () if bounds is None else ((unit * bounds[0], unit * bounds[1]),)
        strength = is_limited(attributes, "actuatorfrclimited", "actuatorfrcrange", self.file, where)
        effort = max(map(abs, strength)) if strength and any(strength) else inf
        own, near = read_resistance(attributes, unit, where, self.notes), pose @ frame @ back
        return replace(joint, near=near, far=frame, limits=limits, effort_limit=effort, stored=(ref,), resistance=own)

    # Together

    def robot(self) -> OpenRobot:
        """Return all of it; joints that are held can move yet."""
        at, sites = dict(self.at), dict(self.sites)
        inner = [model.robot for model in self.models]
        for model in self.models:
            at, sites = {**at, **model.at}, {**sites, **model.sites}
        closers = [joint for model in self.models for joint in model.closers]
        taken = {j.name for j in (*self.joints, *closers)}
        equal = read_equalities(
            self.file, Tied(at, sites, self.drawn, frozenset(self.mocap)), taken, self.notes, self.report
        )
        if len(equal.closers) + len(equal.couplings) > MOST_BODIES:
            raise FormatError(f"it has more than {MOST_BODIES} equalities")
        read_tendons(self.file, equal, {j.name: j for j in self.joints}, self.drawn, self.notes, self.report)
        self.held = {name: value for model in self.models for name, value in model.held.items()} | equal.fixed
        self.held, couplings = held_through(
            self.held, (*equal.couplings, *(c for robot in inner for c in robot.couplings)), self.notes
        )
        tree = with_keyframe(self.keys, self.joints, self.notes, self.report)
        motors = read_motors(
            self.file, {j.name for j in tree if j.motions}, self.held, couplings, self.notes, self.report
        )
        for joint in self.joints:
            if joint.type == "free" and joint.name in motors:
                self.notes.add("a motor that pushes a free body was left out", joint.name)
                del motors[joint.name]
        tree = [driven(j, motors[j.name], self.notes, self.report) if j.name in motors else j for j in tree]
        bodies = [replace(body, visuals=self.visuals(body.name)) for body in scaled(self.bodies, self.compiler)] + [
            b for robot in inner for b in robot.bodies
        ]
        frames = tuple(self.frame(name, body, pose) for name, (body, pose) in self.sites.items() if body != WORLD)
        frames += tuple(frame for robot in inner for frame in robot.frames)
        return OpenRobot(
            self.file.root.get("model") or self.path.stem,
            tuple(bodies),
            (*tree, *closers, *equal.closers),
            frames=frames,
            couplings=couplings,
            lacks_motors=lacks_motors(self.file),
        )

    @property
    def drawn(self) -> dict[str, float]:
        """Return joint with one motion → its reading in the pose in which the files draw it.

        Whatever a keyframe of an attached model says.
        """
        stored = {j.name: j.stored[0] for j in self.joints if len(j.motions) == 1}
        return stored | {name: value for model in self.models for name, value in model.drawn.items()}

    def frame(self, site: str, body: str, pose: Pose) -> Frame:
        name = site
        if site in self.names:
            name = self.new_name(f"{site}_site")
            self.report.add(f"a body has the same name, so this site is called {name!r}", site)
        return Frame(name, body, pose)

    def visuals(self, body: str) -> tuple[Visual, ...]:
        """Return the visuals of a body: what MuJoCo's viewer shows.

        Everything, where the viewer shows nothing of the whole robot.
        """
        most = SEEN if any(geom.group <= SEEN for geoms in self.seen.values() for geom in geoms) else inf
        shown = [geom for geom in self.seen.get(body, ()) if geom.group <= most]
        return tuple(v for geom in shown if (v := self.geoms.visual(geom, f"body {body!r}")) is not None)
