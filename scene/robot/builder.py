"""Mechanism → Blender: a collection with a root, an object per body, an empty per joint and per frame."""

from __future__ import annotations

import json
from collections.abc import Container, Generator, Iterable
from pathlib import Path

import bpy
from bpy.types import Collection, Mesh, Object

from ...robik.errors import RobikError
from ...robik.formats.mesh_files import split_inner
from ...robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Visual
from ...robik.steps import finish, relay
from ..animation.actions import assigned
from ..long_work.steps import Progress
from . import exact, posing, sliders, visuals
from .diagnosis import forget_diagnosis
from .mesh_import import LARGE, MeshImport, discard
from .parts import part_key, parts, place
from .saved_format import FORMAT
from .writing import write_body, write_frame, write_joint

PLAIN = (0.8, 0.8, 0.8, 1.0)  # of a visual for which its file names no colour


class Builder:
    """Builder of one robot in the scene; `warnings` tells what could not be shown.

    `by_hand` names bodies that were made in Blender, whose meshes are in the scene and nowhere else.
    """

    def __init__(
        self, mechanism: Mechanism, source: str = "", packages: Iterable[Path] = (), by_hand: Container[str] = ()
    ) -> None:
        self.mechanism = mechanism
        self._by_hand = by_hand
        self.source = source
        self.display = 0.04 * mechanism.extent
        self._files = MeshImport(source, tuple(packages))
        self.warnings = self._files.warnings
        self._meshes: dict[tuple, Mesh] = {}
        self._old: dict[tuple, Object] = {}
        self._linked: set[str] = (
            set()
        )  # objects that are in the collection already; to ask it for each takes ever longer

    def build(self, into: Collection) -> Object:
        """Return all of `build_steps` at once."""
        return finish(self.build_steps(into))

    def build_steps(self, into: Collection) -> Generator[Progress, None, Object]:
        """Build the robot in a new collection below `into`, yielding progress, and return its root.

        Only meshes take their time; nothing is there before they are. After a RobikError the scene is as it was.
        """
        sliders.check_names(self.mechanism.actuators)
        yield from self._load_meshes()
        self.collection = bpy.data.collections.new(self.mechanism.name)
        into.children.link(self.collection)
        root = self._object(self.mechanism.name, None, None, "ROBOT", 0)
        root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 2 * self.display
        root.robik.robot.tolerance = self.mechanism.tolerance  # the user's from then on
        exact.keep(root, tolerance=self.mechanism.tolerance)
        self._fill(root)
        return root

    def rebuild_steps(self, root: Object) -> Generator[Progress, None, None]:
        """Make all below a root this robot: parts of the same name are the same objects, the others go.

        Its targets and bakes stay. New bodies have no action yet; `bake.bakes.use` gives them theirs. After a
        RobikError the scene is as it was.
        """
        sliders.check_names(self.mechanism.actuators)
        yield from self._load_meshes()
        self.collection = root.users_collection[0]
        self._linked = set(self.collection.objects.keys())
        with posing.paused():
            self._let_go(root)
            old = (
                part
                for listed in parts(root).values()
                for part in listed
                if part.robik.kind != "VISUAL" or not part.robik.by_hand
            )
            self._old = {part_key(part): part for part in old}
            meshes = [part.data for part in self._old.values() if isinstance(part.data, Mesh)]
            self._fill(root)
            left = [action for part in self._old.values() if (action := assigned(part)[0]) is not None]
            bpy.data.batch_remove(list(self._old.values()))
            bpy.data.batch_remove([action for action in dict.fromkeys(left) if action.users == 0])
            discard(meshes)

    def _let_go(self, root: Object) -> None:
        """Meshes of bodies that were made by hand, and have no place any more, stay in the scene as plain objects."""
        for shown in parts(root)["VISUAL"]:
            if shown.robik.by_hand and shown.parent.robik.label not in self._by_hand:
                where = shown.matrix_world.copy()
                shown.parent, shown.robik.kind, shown.robik.by_hand = None, "NONE", False
                shown.matrix_world = where

    def _load_meshes(self) -> Generator[Progress, None, None]:
        """Yield every mesh file once. Left early, it leaves none."""
        read = (body for body in self.mechanism.bodies if body.name not in self._by_hand)
        wanted = {(v.shape, v.file): v for body in read for v in body.visuals if v.shape == "mesh"}
        try:
            for k, (key, visual) in enumerate(wanted.items()):
                path, inner = self._path(visual)
                size = path.stat().st_size if path.is_file() else 0
                text = f"Reading {path.name}" + (f" ({size / 1e6:.0f} MB)" if size >= LARGE else "")
                told = Progress(k / len(wanted), text, size >= LARGE)
                yield told
                self._meshes[key] = yield from self._load(path, inner, told)
        except BaseException:
            discard(list(self._meshes.values()))
            self._meshes.clear()
            raise

    def _fill(self, root: Object) -> None:
        """All parts below a root, which gets the sliders."""
        robot = self.mechanism
        root.robik.label = robot.name
        root.robik.robot.source, root.robik.robot.format = self.source, FORMAT
        root.robik.robot.rounding = robot.rounding
        exact.keep(root, rounding=robot.rounding)
        with posing.paused():
            objects = {body.name: self._body(body, root, order) for order, body in enumerate(robot.bodies)}
            for order, joint in enumerate(robot.joints):
                self._joint(joint, objects, root, order)
            for order, frame in enumerate(robot.frames):
                self._frame(frame, objects[frame.body], order)
            root.robik.robot.couplings.clear()
            for coupling in robot.couplings:
                _add_coupling(coupling, root)
            sliders.match_sliders(root, robot)
        forget_diagnosis(root)
        posing.settled(root)

    def _object(self, name: str, data: Mesh | None, parent: Object | None, kind: str, order: int) -> Object:
        key = (kind, parent.robik.label, order) if kind == "VISUAL" and parent else (kind, name)
        made = self._old.pop(key, None) or bpy.data.objects.new(name, data)
        if data is None and made.name not in self._linked:
            made.empty_display_size = self.display
        if data is not None:
            made.data = data
        made.parent = parent
        made.matrix_parent_inverse.identity()
        made.rotation_mode = "QUATERNION"
        made.robik.kind, made.robik.label, made.robik.order = kind, name, order
        if made.name not in self._linked:
            self.collection.objects.link(made)
        return made

    def _body(self, body: Body, root: Object, order: int) -> Object:
        made = self._object(body.name, None, root, "BODY", order)
        write_body(made, body, self.display / 2)
        for k, visual in enumerate(() if body.name in self._by_hand else body.visuals):
            self._visual(visual, made, k)
        return made

    def _visual(self, visual: Visual, body: Object, order: int) -> None:
        made = self._object(f"{body.robik.label}.visual", self._mesh(visual), body, "VISUAL", order)
        group = made.robik.visual
        if exact.kept(made, "color") != visual.color or group.file != visual.file or not made.material_slots:
            _paint(made, visual)
        group.shape, group.size[: len(visual.size)] = visual.shape, visual.size
        group.color, group.file = visual.color, visual.file
        place(made, visual.pose)
        made.scale = visual.size if visual.shape == "mesh" else (1.0, 1.0, 1.0)
        exact.keep(
            made, size=visual.size, color=visual.color, position=visual.pose.position, quaternion=visual.pose.quaternion
        )

    def _mesh(self, visual: Visual) -> Mesh:
        key = (visual.shape, visual.file or visual.size)
        if key not in self._meshes:
            self._meshes[key] = visuals.primitive(visual)
        return self._meshes[key]

    def _path(self, visual: Visual) -> tuple[Path, str]:
        """Return a mesh's file, and which mesh in it."""
        file, inner = split_inner(visual.file)
        return (Path(self.source).parent / file if self.source else Path(file)), inner

    def _load(self, path: Path, inner: str, told: Progress) -> Generator[Progress, None, Mesh]:
        try:
            return (yield from relay(self._files.load_steps(path, inner), lambda _: told))
        except RobikError as error:
            self.warnings.append(f"{error}; a small cube stands in for it")
            return visuals.placeholder(path.stem)

    def _joint(self, joint: Joint, objects: dict[str, Object], root: Object, order: int) -> None:
        carrier = root if joint.parent == WORLD else objects[joint.parent]
        rest = Pose() if joint.parent == WORLD else self.mechanism.bodies[self.mechanism.body_index[joint.parent]].pose
        write_joint(self._object(joint.name, None, carrier, "JOINT", order), joint, carrier, objects[joint.child], rest)

    def _frame(self, frame: Frame, body: Object, order: int) -> None:
        write_frame(self._object(frame.name, None, body, "FRAME", order), frame)


def _add_coupling(coupling: Coupling, root: Object) -> None:
    added = root.robik.robot.couplings.add()
    added.name, added.follower, added.leader = coupling.name, coupling.follower, coupling.leader
    added.coefficients = " ".join(repr(c) for c in coupling.coefficients)
    added.others = json.dumps(coupling.others) if coupling.others else ""


def _paint(shown: Object, visual: Visual) -> None:
    """Paint with the robot's colour, unless it names none and the mesh has materials of its own."""
    if visual.color == PLAIN and any(shown.data.materials):
        for slot in shown.material_slots:
            slot.link = "DATA"
        return
    if len(shown.data.materials) == 0:
        shown.data.materials.append(None)
    for slot in shown.material_slots:
        slot.link = "OBJECT"
        slot.material = visuals.material(visual.color)
    shown.color = visual.color
