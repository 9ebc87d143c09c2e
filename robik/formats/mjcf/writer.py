"""Robots as MJCF, for MuJoCo: loops as equalities, couplings as joint equalities (docs/robot-formats.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path, PurePosixPath

import numpy as np

from ...errors import FormatError
from ...files import write_whole
from ...mechanism import WORLD, Body, Coupling, Joint, Mechanism, Pose, Resistance, Visual
from ...mechanism.pose import matrix_quaternion
from ...mechanism.resistance import FREE
from ..export_tree import Branch, ExportTree, Motion, export_tree
from ..imported import Notes
from ..mesh_data import is_binary_stl
from ..names import free_name
from ..xml_file import XmlText
from .file import BEYOND
from .motors import NO_MOTORS
from .resistance import resistance_attributes, with_motor
from .several_joints import joined
from .stage import RADIUS, SOLIMP, SOLREF, Stage, put_drive, put_sole

CLOSERS = ("spherical", "revolute", "fixed")  # joints that MJCF can say as the end of a loop
MESHES = (".stl", ".obj", ".msh")
LEAST_MASS, LEAST_INERTIA = 1e-9, 1e-12  # MuJoCo wants every moving body to have some [kg, kg m²]
DEGREE = 4  # of MuJoCo's couplings


def save(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    """Write an MJCF file, whole or not at all, and return one sentence each on what MJCF cannot say.

    Meshes are named as the visuals name them, relative to the file. Raise FormatError for what MJCF cannot hold at
    all.
    """
    notes = Notes()
    writer = _Writer(mechanism, path, notes)
    write_whole(path, writer.text())
    return notes.sentences


def staged_text(
    mechanism: Mechanism, stage: Stage, folder: Path | None = None, notes: Notes | None = None
) -> tuple[str, tuple[Branch, ...]]:
    """Return the MJCF of a robot that stands and plays, and its bodies in the order of the file.

    `folder` is where the file will lie; without it nothing is shown. `notes` takes what MJCF cannot say; raise
    FormatError for what it cannot hold.
    """
    if folder is None:
        mechanism = mechanism.with_changes(bodies=tuple(replace(b, visuals=()) for b in mechanism.bodies))
    writer = _Writer(mechanism, (folder or Path()) / "robot.xml", notes or Notes(), stage)
    return writer.text(), tuple(writer.written())


def mjcf_tree(mechanism: Mechanism) -> ExportTree:
    """Return the tree of a robot's bodies, and the joints that close its loops."""
    return export_tree(mechanism, lambda joint: joint.type in CLOSERS)


def staged_tree(mechanism: Mechanism) -> ExportTree:
    """Return the tree of the bodies that `staged_text` writes: those that MuJoCo can move."""
    return joined(mjcf_tree(mechanism))


class _Writer:
    """One file on its way out."""

    def __init__(self, mechanism: Mechanism, path: Path, notes: Notes, stage: Stage | None = None) -> None:
        self.stage = stage
        self.tree = staged_tree(mechanism) if stage else mjcf_tree(mechanism)
        self.mechanism = self.tree.mechanism
        self.folder, self.notes, self.xml = path.parent, notes, XmlText()
        self.meshes: dict[tuple[str, tuple[float, ...]], str] = {}
        self.equality_names = {
            joint.name for joint in self.tree.cuts
        }  # couplings share MuJoCo's names with what closes loops
        self.tendons: dict[str, dict[str, float]] = {}
        self.resistance = {
            name: joint.resistance for joint in self.mechanism.joints for name in (joint.name, *joint.coordinate_names)
        }
        self.pose = {WORLD: Pose(), **{b.name: b.pose for b in self.mechanism.bodies}}
        for old, new in self.tree.renamed:
            notes.add(f"another joint's coordinate has its name, so it is called {new!r}", old)
        for half in self.tree.halves:
            notes.add(
                "MJCF has no equality for its joint, so the joint ends at a massless body that is welded to the"
                " joint's own",
                half,
            )

    def text(self) -> str:
        """Return the file's content."""
        xml = self.xml
        with xml.within("mujoco", model=self.mechanism.name):
            settings = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false", "balanceinertia": "true"}
            xml.put("compiler", **settings, boundmass=LEAST_MASS, boundinertia=LEAST_INERTIA)
            with xml.within("default"):
                if self.stage:
                    xml.put("equality", solref=SOLREF, solimp=SOLIMP)
                    with xml.within("default", class_="sole"):
                        xml.put("geom", type="sphere", size=(RADIUS,), contype="1", conaffinity="0", group="3")
                with xml.within("default", class_="visual"):
                    xml.put("geom", contype="0", conaffinity="0", group="2", density="0")
            self.assets()
            self.worldbody()
            self.equalities()
            self.sums()
            if self.mechanism.actuated:
                with xml.within("actuator"):
                    for joint in self.mechanism.actuated:
                        self.motor(joint)
            if self.tree.lacks_motors:
                with xml.within("custom"):
                    xml.put("text", **NO_MOTORS)
        for frame in self.mechanism.frames:
            if frame.sole and not self.stage:
                self.notes.add("MJCF has no place for its sole", frame.name)
        for joint in self.mechanism.joints:
            if isfinite(joint.cone):
                self.notes.add("MJCF has no cone for a ball", joint.name)
        for joint in self.tree.cuts:
            if joint.resistance != FREE:
                self.notes.add("MJCF has no friction, damping or spring for a joint that closes a loop", joint.name)
        if not self.stage and any(isfinite(joint.velocity_limit) for joint in self.mechanism.joints):
            self.notes.add("MJCF has no place for velocity limits")
        return xml.text

    def assets(self) -> None:
        """Each mesh once per scale."""
        with self.xml.within("asset"):
            for body in self.mechanism.bodies:
                for visual in body.visuals:
                    key = (visual.file, visual.size)
                    if visual.shape == "mesh" and key not in self.meshes and self.is_readable(visual.file):
                        stem = PurePosixPath(visual.file).stem or "mesh"
                        name = free_name(stem, self.meshes.values())
                        self.meshes[key] = name
                        self.xml.put("mesh", name=name, file=visual.file, scale=visual.size, inertia="shell")

    def is_readable(self, file: str) -> bool:
        """Return whether MuJoCo could read a mesh; it loads no robot of which one is missing."""
        if Path(file).suffix.lower() not in MESHES:
            self.notes.add(f"MuJoCo reads {', '.join(MESHES)}, so this mesh was left out", file)
        elif not (self.folder / file).is_file():
            self.notes.add("there is no such mesh, so it was left out", file)
        elif file.lower().endswith(".stl") and not is_binary_stl(self.folder / file):
            self.notes.add("MuJoCo reads whole, binary STL only, so this mesh was left out", file)
        else:
            return True
        return False

    # Bodies

    def worldbody(self) -> None:
        with self.xml.within("worldbody"):
            depth: list[str] = []
            for branch in self.written():
                while depth and depth[-1] != branch.parent:
                    depth.pop()
                    self.xml.close()
                self.open_body(branch)
                depth.append(branch.body.name)
            for _ in depth:
                self.xml.close()

    def written(self) -> Iterator[Branch]:
        """Yield the bodies in the order of the file: each is followed by what hangs on it."""
        children: dict[str, list[Branch]] = {}
        for each in self.tree.branches:
            children.setdefault(each.parent, []).append(each)
        waiting = list(reversed(children.get(WORLD, [])))
        while waiting:
            yield (branch := waiting.pop())
            waiting.extend(reversed(children.get(branch.body.name, [])))

    def open_body(self, branch: Branch) -> None:
        body = branch.body
        local = self.pose[branch.parent].inverse() @ body.pose
        self.xml.open("body", name=body.name, pos=local.position, quat=_turn(local))
        if branch.joint is None:
            names = {j.name for j in self.mechanism.joints}
            self.xml.put("freejoint", name=free_name("root", names))
        elif (
            branch.joint.type == "free"
            and branch.parent == WORLD
            and branch.joint.child == body.name
            and not branch.joint.actuated
        ):
            self.xml.put("freejoint", name=branch.joint.name)
        else:
            for motion in branch.motions:
                self.joint(motion, body.pose)
        self.inertial(body)
        for visual in body.visuals:
            self.geom(visual)
        for frame in self.mechanism.frames:
            if frame.body == body.name:
                self.xml.put("site", name=frame.name, pos=frame.pose.position, quat=_turn(frame.pose))
                if frame.sole and self.stage:
                    put_sole(self.xml, self.mechanism, frame, self.stage.friction)

    def joint(self, motion: Motion, pose: Pose) -> None:
        anchor = pose.inverse().point(motion.anchor)
        if motion.kind == "ball":
            most = motion.limits[1]
            bounds = (0.0, most) if most < inf else None
            own = resistance_attributes(self.resistance[motion.name], is_ball=True)
            self.xml.put("joint", name=motion.name, type="ball", pos=anchor, range=bounds, **own)
            return
        low, high = (min(max(bound, -BEYOND), BEYOND) for bound in motion.limits)
        bounds = None if low == -BEYOND and high == BEYOND else (low, high)
        if bounds and low == high:
            bounds = (low - 1e-9, high + 1e-9)  # MuJoCo wants some room
        kind = "slide" if motion.kind == "slide" else "hinge"
        self.xml.put("joint", name=motion.name, type=kind, pos=None if kind == "slide" else anchor,
                     axis=pose.matrix.T @ motion.axis,
                     ref=motion.rest or None, range=bounds,
                     **resistance_attributes(self.resisting(motion.name)))  # fmt: skip

    def resisting(self, coordinate: str) -> Resistance:
        """Return what resists a coordinate, with the motor behind it where there is a stage with one for it."""
        return with_motor(self.resistance[coordinate], self.stage.drives.get(coordinate) if self.stage else None)

    def inertial(self, body: Body) -> None:
        if body.mass == 0.0 and not any(body.inertia):
            return
        moments, quat = np.array(body.inertia[:3]), None
        if any(body.inertia[3:]):
            moments, axes = np.linalg.eigh(body.inertia_matrix)
            quat = matrix_quaternion(axes * np.linalg.det(axes))
        if moments.min() < 0 or 2 * moments.max() > moments.sum() * (1 + 1e-9):
            self.notes.add("its inertia is none that a body can have; MuJoCo will balance it", body.name)
        self.xml.put("inertial", pos=body.com, mass=body.mass, diaginertia=np.maximum(moments, 0.0), quat=quat)

    def geom(self, visual: Visual) -> None:
        sizes = {
            "box": lambda s: tuple(v / 2 for v in s), "sphere": lambda s: s,
            "cylinder": lambda s: (s[0], s[1] / 2), "capsule": lambda s: (s[0], s[1] / 2),
        }  # fmt: skip
        mesh = self.meshes.get((visual.file, visual.size))
        if visual.shape == "mesh" and mesh is None:
            return
        size = None if visual.shape == "mesh" else sizes[visual.shape](visual.size)
        self.xml.put("geom", class_="visual", type=visual.shape, size=size, mesh=mesh, pos=visual.pose.position,
                     quat=_turn(visual.pose),
                     rgba=visual.color)  # fmt: skip

    # Loops, couplings, motors

    def equalities(self) -> None:
        if not self.tree.cuts and not self.mechanism.couplings:
            return
        with self.xml.within("equality"):
            for joint in self.tree.cuts:
                self.closer(joint)
            for coupling in self.mechanism.couplings:
                self.coupling(coupling)

    def closer(self, joint: Joint) -> None:
        """Write an equality of bodies whose points coincide in the pose of the file.

        That pose is the assembled one, which MuJoCo takes for them to hold.
        """
        a, b = joint.child, joint.parent
        ends = {"body1": a, "body2": None if b == WORLD else b}
        if joint.type == "fixed":
            self.xml.put("weld", name=joint.name, **ends)
            return
        points = [np.array(joint.position)]
        if joint.type == "revolute":
            points.append(points[0] + self.arm * np.array(joint.axis))
        for k, point in enumerate(points):
            name = joint.name if k == 0 else self.new_equality(joint.name)
            self.xml.put("connect", name=name, **ends, anchor=self.pose[a].inverse().point(point))

    def new_equality(self, wanted: str) -> str:
        name = free_name(wanted, self.equality_names)
        self.equality_names.add(name)
        return name

    @property
    def arm(self) -> float:
        """Return the distance of the two points of a hinge [m].

        As far as the robot's joints, so that both count alike.
        """
        at = np.array([joint.position for joint in self.mechanism.joints])
        return float(np.linalg.norm(at - at.mean(axis=0), axis=1).mean()) or 1.0

    def coupling(self, coupling: Coupling) -> None:
        """Write y − y₀ = Σ aₖ (x − x₀)ᵏ about the rest pose, MuJoCo's form."""
        rest = {m.name: m.rest for branch in self.tree.branches for m in branch.motions if m.kind != "ball"}
        if not rest.keys() >= set(coupling.ends):
            raise FormatError(f"coupling {coupling.name!r} ties a ball's coordinate, which MJCF cannot say")
        if any(coupling.coefficients[DEGREE + 1 :]):
            raise FormatError(
                f"coupling {coupling.name!r} is of degree {len(coupling.coefficients) - 1}; MJCF knows up to {DEGREE}"
            )
        shifted = np.polynomial.Polynomial(coupling.coefficients)(
            np.polynomial.Polynomial([rest[coupling.leader], 1.0])
        )
        coefficients = np.zeros(DEGREE + 1)
        coefficients[: len(shifted.coef)] = shifted.coef[: DEGREE + 1]
        name = self.new_equality(coupling.name)
        if coupling.others:
            self.differential(coupling, name, coefficients)
            return
        coefficients[0] -= rest[coupling.follower]
        self.xml.put("joint", name=name, joint1=coupling.follower, joint2=coupling.leader, polycoef=coefficients)

    def differential(self, coupling: Coupling, name: str, coefficients: np.ndarray) -> None:
        """Write an equality between sums of joints: the follower less its further leaders, and the leader.

        Both are zero where the file gives the robot, its rest pose, so the constant is, too.
        """
        coefficients[0] = 0.0
        sides = (
            {coupling.follower: 1.0, **{other: -slope for other, slope in coupling.others}},
            {coupling.leader: 1.0},
        )
        names = [free_name(f"{name}_{end}", self.tendons) for end in ("follows", "leads")]
        self.tendons.update(zip(names, sides, strict=True))
        self.xml.put("tendon", name=name, tendon1=names[0], tendon2=names[1], polycoef=coefficients)

    def sums(self) -> None:
        """Write the tendons that equalities name."""
        if not self.tendons:
            return
        with self.xml.within("tendon"):
            for name, terms in self.tendons.items():
                with self.xml.within("fixed", name=name):
                    for joint, coefficient in terms.items():
                        self.xml.put("joint", joint=joint, coef=coefficient)

    def motor(self, joint: Joint) -> None:
        if self.stage and not joint.is_ball:
            for name, limits in zip(joint.coordinate_names, joint.limits, strict=True):
                put_drive(self.xml, name, self.stage.drives[name], limits, self.resisting(name).damping)
            return
        bounds = (-joint.effort_limit, joint.effort_limit) if joint.effort_limit < BEYOND else None
        if not joint.is_ball:
            for name in joint.coordinate_names:
                self.xml.put("motor", name=name, joint=name, ctrlrange=bounds)
            return
        if any(joint.rest):
            self.notes.add("MJCF counts a ball's turns from the pose of the file, so they are zero there", joint.name)
        axes = self.pose[joint.child].matrix.T @ joint.matrix
        for name, motion in zip(joint.coordinate_names, joint.motions, strict=True):
            if motion.startswith("t"):
                self.xml.put("motor", name=name, joint=name, ctrlrange=bounds)
            else:
                self.xml.put(
                    "motor", name=name, joint=joint.name, gear=axes[:, "xyz".index(motion[1])], ctrlrange=bounds
                )


def _turn(pose: Pose) -> tuple[float, float, float, float] | None:
    return None if pose.quaternion == (1.0, 0.0, 0.0, 0.0) else pose.quaternion
