"""Feet by hand: most files of robots do not say what a robot stands on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Matrix

from ...robik.errors import RobikError
from ...robik.feet.sole_turns import ground_height
from ...robik.formats.mesh_files import is_placeholder
from ...robik.mechanism import Frame, Mechanism, Pose
from ...robik.mechanism.base import raised
from ...robik.mechanism.visual import SHAPES
from ...robik.skeleton.feet import Shape, foot_name, leg_ends, on_ground, shown_by, sides_of, sole_of
from ...robik.skeleton.names import part_of
from ...robik.skeleton.shapes import primitive_points
from . import exact
from .body_mesh import triangles
from .hand_build import set_free
from .library import check_own_parts
from .parts import bodies, local_pose, parts, pose_of, unit
from .reading import read_robot, rest_pose
from .writing import write_frame, write_rest


def make_feet(root: Object, found: Mapping[Object, Iterable[Object]]) -> tuple[list[Object], bool]:
    """Return the frames of bodies that the robot stands on, at the bodies' origins.

    A sole is what touches the ground as its body stands now, or its flat side below where that does not stand
    level.

    Targets that follow the body, or a frame on it that is called a foot, follow the foot from now on. A robot that
    nobody has placed, and that follows nothing yet, is lifted onto the floor, where files put a robot's hips.

    `found` has the bodies of its feet, each with the bodies whose meshes show its shape. The second value says
    whether the robot was held by another body, which is released. Raise RobikError, with nothing changed, if a body
    has nothing flat below, or the robot's parts are another file's.
    """
    check_own_parts(root)
    soles = {body: _sole(body, shown) for body, shown in found.items()}
    sides = sides_of(
        {body.robik.label: sole for body, sole in soles.items()}, {b.robik.label: _level_pose(b) for b in soles}
    )
    feet = [_make_foot(root, body, sole, sides[body.robik.label]) for body, sole in soles.items()]
    freed = set_free(root, soles)
    if _is_as_it_came_in(root):
        _put_on_floor(root)
        bpy.context.view_layer.update()
    return feet, freed


def let_go(root: Object) -> bool:
    """Release a robot from a fixed joint that holds it, as a URDF's root, onto feet at the ends of its legs.

    Return whether it was held so.
    """
    mechanism = read_robot(root)
    ends = () if any(frame.is_foot for frame in mechanism.frames) else leg_ends(mechanism)
    if ends:
        try:
            return make_feet(root, showing(root, mechanism, ends))[1]
        except RobikError:
            pass  # nothing flat is shown below it
    return set_free(root, [])


def showing(root: Object, mechanism: Mechanism, feet: Iterable[str]) -> dict[Object, list[Object]]:
    """Return the bodies of feet, each with the bodies that show its shape: itself, and what is fixed to it."""
    objects = {body.robik.label: body for body in bodies(root)}
    return {
        objects[foot]: [objects[part] for part in shown_by(mechanism, foot, lambda body: _is_shown(objects[body]))]
        for foot in feet
    }


def _is_shown(body: Object) -> bool:
    return any(child.robik.kind == "VISUAL" and child.type == "MESH" for child in body.children)


def _make_foot(root: Object, body: Object, sole: np.ndarray, side: str) -> Object:
    known = parts(root)["FRAME"]
    made = next((frame for frame in known if frame.parent == body and frame.robik.is_foot), None)
    if made is None:
        label = foot_name(body.robik.label, side, {p.robik.label for p in (*bodies(root), *known)})
        made = bpy.data.objects.new(label, None)
        root.users_collection[0].objects.link(made)
        made.parent, made.empty_display_size = body, root.empty_display_size / 2
        own = made.robik
        own.kind, own.label, own.by_hand = "FRAME", label, True
        own.order = 1 + max((frame.robik.order for frame in known), default=-1)
    pose = local_pose(made)
    outline = tuple((x, y, z) for x, y, z in map(pose.inverse().point, sole.tolist()))
    write_frame(made, Frame(made.robik.label, body.robik.label, pose, outline))
    _follow_instead(
        root, made, {body.robik.label: Pose()} | {p.robik.label: local_pose(p) for p in known if p.parent == body}
    )
    return made


def _follow_instead(root: Object, foot: Object, poses: dict[str, Pose]) -> None:
    """Let a target of one of these frames move the foot, and the body as before.

    Frames are given where they are on the foot's body.
    """
    label, targets = foot.robik.label, [t for t in root.robik.robot.character.targets if t.leads]
    same = (foot.parent.robik.label, *(name for name in poses if part_of(name)[0] == "foot"))
    target = next((target for target in targets if target.frame in same), None)
    if target is None or any(target.frame == label for target in targets):
        return
    offset = (
        Pose(tuple(target.offset_location), unit(target.offset_rotation))
        @ poses[target.frame].inverse()
        @ local_pose(foot)
    )
    target.offset_location, target.offset_rotation, target.frame = offset.position, offset.quaternion, label


def ground(root: Object) -> float:
    """Height of a robot's ground in its own coordinates [m].

    0 for one without feet, or that is not yet a whole robot.
    """
    try:
        return ground_height(read_robot(root))
    except RobikError:
        return 0.0


def _is_as_it_came_in(root: Object) -> bool:
    """Return whether nobody has placed a robot yet, and it follows nothing."""
    return root.matrix_world == Matrix() and not len(root.robik.robot.character.targets)


def _put_on_floor(root: Object) -> None:
    """Lift or lower a floating robot, so that its ground is at height 0.

    Its rest pose, where its file does not say where it is, or has it far off; else the robot as a whole.
    """
    try:
        mechanism = read_robot(root)
    except RobikError:  # it is not yet a whole robot
        return
    was_held = root.robik.robot.importing.base == "floating"
    rests = raised(mechanism, -ground_height(mechanism)) if was_held else on_ground(mechanism)
    if rests is not mechanism:
        write_rest(root, rests)
    elif not any(joint.parent == root for joint in parts(root)["JOINT"]):
        root.location.z = -ground_height(mechanism)


def _sole(body: Object, parts_shown: Iterable[Object]) -> np.ndarray:
    """Return the outline (K, 3) of what the meshes of a body, or of what is fixed to it, stand on.

    In the body's coordinates.
    """
    own = _level_pose(body)
    shapes = [
        (_level_pose(part), _shape(shown))
        for part in parts_shown
        for shown in sorted(part.children, key=lambda child: child.robik.order)
        if _is_shape(shown)
    ]
    if not shapes:
        raise RobikError(
            f"body {body.robik.label!r} has no mesh that it could stand on; select the body that touches the ground"
        )
    sole = sole_of(shapes, own)
    if sole is None:
        raise RobikError(
            f"body {body.robik.label!r} has nothing flat below that it could stand on; pose the robot as it stands, "
            "or choose its foot"
        )
    return sole


def body_shapes(root: Object) -> dict[str, list[Shape]]:
    """Return the shapes of a robot's bodies, as they are shown, by the name of each body that shows any."""
    shown = {body.robik.label: [child for child in body.children if _is_shape(child)] for body in bodies(root)}
    return {name: [_shape(child) for child in children] for name, children in shown.items() if children}


def changed_by_hand(root: Object) -> frozenset[str]:
    """Return the names of a robot's bodies that were made by hand, or show something that was."""
    return frozenset(
        body.robik.label
        for body in bodies(root)
        if body.robik.by_hand or any(_is_shape(child) and child.robik.by_hand for child in body.children)
    )


def _is_shape(child: Object) -> bool:
    """Return whether an object shows what its body is like; a cube that stands for a mesh does not."""
    visual = child.robik.visual
    is_cube = not child.robik.by_hand and is_placeholder(visual.shape, visual.size[:3])
    return child.robik.kind == "VISUAL" and child.type == "MESH" and not is_cube


def _shape(shown: Object) -> Shape:
    """Return the shape of a mesh object, where nobody edited it as exact as the robot's file has it."""
    group, pose = shown.robik.visual, exact.pose(shown, local_pose(shown))
    if group.shape == "mesh" or shown.robik.by_hand:
        x, y, z = exact.row(shown, "size", shown.scale[:])
        return Shape(points=triangles(shown)[0], size=(x, y, z), pose=pose)
    size, scale = exact.row(shown, "size", group.size[: SHAPES[group.shape]]), shown.scale
    return Shape(points=primitive_points(group.shape, size), size=(scale.x, scale.y, scale.z), pose=pose)


def _level_pose(body: Object) -> Pose:
    """Return where a body is as it stands now, along the world's axes, from its robot's root."""
    here, rest = local_pose(body), rest_pose(body)
    apart = np.abs(np.array([*here.position, *here.quaternion]) - [*rest.position, *rest.quaternion]).max()
    exactly = rest if apart <= exact.PLACEMENT * max(1.0, *map(abs, rest.position)) else here
    level = Pose(quaternion=pose_of(body.parent.matrix_world).quaternion)
    return exactly if level == Pose() else level @ exactly
