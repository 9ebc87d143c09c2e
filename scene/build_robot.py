"""Mechanism → Blender: a collection with a root, an object per body, an empty per joint and per frame."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from bpy.types import Collection, Mesh, Object

from robik.errors import RobikError
from robik.formats.mesh_files import split_prim
from robik.formats.usd_mesh import MeshReader
from robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Visual
from robik.mechanism.joints import MOTIONS

from . import actuators, bakes, exact, live, visuals
from .actions import assigned
from .migration import FORMAT
from .parts import parts, place
from .read_robot import read_robot

ROW = len(MOTIONS)


class Builder:
    """Builds one robot; `warnings` tells what could not be shown."""

    def __init__(self, mechanism: Mechanism, source: str = "") -> None:
        self.mechanism = mechanism
        self.source = source
        self.warnings: list[str] = []
        self.display = 0.04 * _extent(mechanism)
        self._meshes: dict[tuple, Mesh] = {}
        self._usd = MeshReader()

    def build(self, into: Collection) -> Object:
        """The robot's root, in a new collection below `into`.

        Raises:
            RobikError: Blender cannot hold the robot; the scene is as it was.
        """
        actuators.check_names(self.mechanism)
        self.collection = bpy.data.collections.new(self.mechanism.name)
        into.children.link(self.collection)
        root = self._object(self.mechanism.name, None, None, "ROBOT", 0)
        root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 2 * self.display
        self._fill(root)
        return root

    def rebuild(self, root: Object) -> None:
        """Replaces all parts of a robot; its root with targets, settings and animation stays.

        Raises:
            RobikError: Blender cannot hold the robot; the scene is as it was.
        """
        actuators.check_names(self.mechanism)
        self.collection = root.users_collection[0]
        for name in read_robot(root).actuators:
            root.pop(name, None)
        used = bakes.in_use(root)
        found = [p for listed in parts(root).values() for p in listed]
        left = [p.data for p in found if p.data is not None] + [action for p in found if (action := assigned(p)[0]) is not None]
        bpy.data.batch_remove(found)
        bpy.data.batch_remove([block for block in dict.fromkeys(left) if block.users == 0])
        self._fill(root)
        if used >= 0:
            bakes.use(root, used)

    def _fill(self, root: Object) -> None:
        """All parts below a root, which gets the sliders."""
        robot = self.mechanism
        root.robik.label = robot.name
        root.robik.robot.source, root.robik.robot.format = self.source, FORMAT
        objects = {body.name: self._body(body, root, order) for order, body in enumerate(robot.bodies)}
        for order, joint in enumerate(robot.joints):
            self._joint(joint, objects, root, order)
        for order, frame in enumerate(robot.frames):
            self._frame(frame, objects[frame.body], order)
        root.robik.robot.couplings.clear()
        for coupling in robot.couplings:
            _add_coupling(coupling, root)
        actuators.add_sliders(root, robot)
        live.settled(root)

    def _object(self, name: str, data: Mesh | None, parent: Object | None, kind: str, order: int) -> Object:
        made = bpy.data.objects.new(name, data)
        made.parent = parent
        made.rotation_mode = "QUATERNION"
        made.robik.kind, made.robik.label, made.robik.order = kind, name, order
        if data is None:
            made.empty_display_size = self.display
        self.collection.objects.link(made)
        return made

    def _body(self, body: Body, root: Object, order: int) -> Object:
        made = self._object(body.name, None, root, "BODY", order)
        made.empty_display_type, made.empty_display_size = "PLAIN_AXES", self.display / 2
        group = made.robik.body
        group.mass, group.com, group.inertia = body.mass, body.com, body.inertia
        group.rest_location, group.rest_rotation = body.pose.position, body.pose.quaternion
        exact.keep(
            made, mass=body.mass, com=body.com, inertia=body.inertia, rest_location=body.pose.position, rest_rotation=body.pose.quaternion
        )
        place(made, body.pose)
        for k, visual in enumerate(body.visuals):
            self._visual(visual, made, k)
        return made

    def _visual(self, visual: Visual, body: Object, order: int) -> None:
        made = self._object(f"{body.robik.label}.visual", self._mesh(visual), body, "VISUAL", order)
        if len(made.data.materials) == 0:
            made.data.materials.append(None)
        made.material_slots[0].link = "OBJECT"
        made.material_slots[0].material = visuals.material(visual.color)
        made.color = visual.color
        group = made.robik.visual
        group.shape, group.size[: len(visual.size)] = visual.shape, visual.size
        group.color, group.file = visual.color, visual.file
        place(made, visual.pose)
        if visual.shape == "mesh":
            made.scale = visual.size
        exact.keep(made, size=visual.size, color=visual.color, position=visual.pose.position, quaternion=visual.pose.quaternion)

    def _mesh(self, visual: Visual) -> Mesh:
        key = (visual.shape, visual.file or visual.size)
        if key not in self._meshes:
            self._meshes[key] = self._load(visual) if visual.shape == "mesh" else visuals.primitive(visual)
        return self._meshes[key]

    def _load(self, visual: Visual) -> Mesh:
        file, prim = split_prim(visual.file)
        path = Path(self.source).parent / file if self.source else Path(file)
        try:
            return visuals.load_usd_mesh(self._usd, path, prim) if prim else visuals.load_mesh(path)
        except RobikError as error:
            self.warnings.append(f"{error}; a small cube stands in for it")
            return visuals.placeholder(path.stem)

    def _joint(self, joint: Joint, objects: dict[str, Object], root: Object, order: int) -> None:
        carrier = root if joint.parent == WORLD else objects[joint.parent]
        made = self._object(joint.name, None, carrier, "JOINT", order)
        made.empty_display_type = "ARROWS"
        rest = Pose() if joint.parent == WORLD else self.mechanism.bodies[self.mechanism.body_index[joint.parent]].pose
        place(made, rest.inverse() @ Pose.of(joint.matrix, joint.position))
        group = made.robik.joint
        group.type, group.actuated, group.has_axis2 = joint.type, joint.actuated, joint.axis2 is not None
        group.parent, group.child = (None if joint.parent == WORLD else carrier), objects[joint.child]
        group.motions = [m in joint.motions for m in MOTIONS]
        lower, upper = [lo for lo, _ in joint.limits], [hi for _, hi in joint.limits]
        for name, values in (("lower", lower), ("upper", upper), ("rest", joint.rest)):
            getattr(group, name)[: len(values)] = values
        group.velocity_limit, group.effort_limit = joint.velocity_limit, joint.effort_limit
        exact.keep(
            made,
            position=joint.position,
            axis=joint.axis,
            axis2=joint.axis2 or (),
            lower=lower,
            upper=upper,
            rest=joint.rest,
            velocity_limit=joint.velocity_limit,
            effort_limit=joint.effort_limit,
        )

    def _frame(self, frame: Frame, body: Object, order: int) -> None:
        made = self._object(frame.name, None, body, "FRAME", order)
        made.empty_display_type, made.robik.is_foot = "ARROWS", frame.is_foot
        place(made, frame.pose)
        exact.keep(made, position=frame.pose.position, quaternion=frame.pose.quaternion, sole=np.ravel(frame.sole))


def _add_coupling(coupling: Coupling, root: Object) -> None:
    added = root.robik.robot.couplings.add()
    added.name, added.follower, added.leader = coupling.name, coupling.follower, coupling.leader
    added.coefficients = " ".join(repr(c) for c in coupling.coefficients)


def _extent(mechanism: Mechanism) -> float:
    """How large the robot is, by its bodies and anchors [m]."""
    points = np.array([b.rest_com for b in mechanism.bodies] + [j.position for j in mechanism.joints])
    return max(float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))), 0.05)
