"""Building and mending robots by hand: bodies from meshes, joints between them, ground, motors, masses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import bpy
import numpy as np
from bpy.types import Context, Mesh, Object
from mathutils import Matrix

from ...robik.errors import RobikError, UnconnectedError
from ...robik.mechanism import JOINT_TYPES, WORLD, Body, Joint, Mechanism, Pose
from . import exact, posing
from .anchors import Anchor
from .diagnosis import forget_diagnosis
from .parts import bodies, coordinate_names, local_pose, parts, place, robot_of, unit
from .reading import leading, read_robot, rest_pose
from .saved_format import FORMAT
from .sliders import check_names, match_sliders
from .writing import write_body, write_joint, write_limits

AT_REST = 1e-5  # [m], and of a unit quaternion
TWO_AXES = ("universal", "planar", "cartesian", "free")  # joints for which it matters where their second axis points
SHEARED = 1e-5  # cosine between axes of a mesh, from which its shape is not merely scaled
SIZE = 0.05  # of the axes that show bodies and joints, of the robot's extent


def body_of(shown: Object | None) -> Object | None:
    """Return the body that an object is, or is a part of."""
    while shown is not None and shown.robik.kind != "BODY":
        shown = shown.parent
    return shown


def selected_bodies(context: Context) -> list[Object]:
    """Bodies of which something is selected, that of the active object first."""
    active = [context.active_object] if context.active_object in context.selected_objects else []
    chosen = [*active, *context.selected_objects]
    found = [body for shown in chosen if shown.robik.kind != "JOINT" and (body := body_of(shown)) is not None]
    return list(dict.fromkeys(found))


def selected_joints(context: Context) -> list[Object]:
    """Return the joints that are selected; without such, those between two selected bodies.

    Raise RobikError if there are none.
    """
    joints = [o for o in context.selected_objects if o.robik.kind == "JOINT" and robot_of(o) is not None]
    ends = set(selected_bodies(context))
    if not joints and len(ends) == 2:
        root = robot_of(next(iter(ends)))
        joints = (
            [j for j in parts(root)["JOINT"] if {j.robik.joint.parent, j.robik.joint.child} == ends] if root else []
        )
    if not joints:
        raise RobikError("no joint is selected; select its empty (Show Joints), or the two bodies that it ties")
    return joints


def make_robot(context: Context, shown: Iterable[Object], name: str = "robot") -> Object:
    """Return the root of a new robot whose bodies are these meshes, nothing tied yet.

    Raise RobikError, with nothing changed, if one of them cannot be a body.
    """
    shown = list(shown)
    if not shown:
        raise RobikError("select the meshes that shall be the robot's bodies")
    for each in shown:
        _check_mesh(each)
    collection = bpy.data.collections.new(name)
    context.scene.collection.children.link(collection)
    root = bpy.data.objects.new(name, None)
    collection.objects.link(root)
    root.robik.kind, root.robik.label, root.robik.robot.format = "ROBOT", name, FORMAT
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 2 * _size(shown)
    for each in shown:
        add_body(root, each)
    context.scene.robik.robot = root
    return root


def add_body(root: Object, shown: Object) -> Object:
    """Return a body for a mesh, which becomes what is to be seen of it, where it stands."""
    _check_mesh(shown)
    if shown.name in {WORLD, *(p.robik.label for kind in ("BODY", "FRAME") for p in parts(root)[kind])}:
        raise RobikError(f"{shown.name!r} is the name of another part of the robot; rename the object")
    collection, inside = root.users_collection[0], root.matrix_world.inverted_safe() @ shown.matrix_world
    body = bpy.data.objects.new(f"{shown.name}.body", None)
    collection.objects.link(body)
    body.parent = root
    body.robik.kind, body.robik.label, body.robik.order, body.robik.by_hand = (
        "BODY",
        shown.name,
        _next(root, "BODY"),
        True,
    )
    location, rotation, scale = _straightened(shown, inside).decompose()
    write_body(body, Body(shown.name, pose=Pose(tuple(location), unit(rotation[:]))), _size([shown]))
    shown.parent = body
    shown.matrix_parent_inverse.identity()
    shown.delta_location, shown.delta_rotation_euler, shown.delta_scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
    shown.delta_rotation_quaternion.identity()
    place(shown, Pose())
    shown.scale = scale
    visual = shown.robik
    visual.kind, visual.label, visual.order, visual.by_hand = "VISUAL", f"{shown.name}.visual", 0, True
    visual.visual.shape, visual.visual.file, visual.visual.size = "mesh", f"{shown.name}.stl", scale
    return body


def add_joint(
    root: Object,
    parent: Object | None,
    child: Object,
    kind: str,
    anchor: Anchor,
    name: str = "",
    actuated: bool = False,
) -> Object:
    """Tie two bodies where they stand by a new joint; without a parent, a body to the world.

    Raise RobikError, with nothing changed, if such a joint cannot be.
    """
    check_joint(root, [body for body in (parent, child) if body is not None], kind, name, actuated)
    labels = {j.robik.label for j in parts(root)["JOINT"]}
    ends = (WORLD if parent is None else parent.robik.label, child.robik.label)
    name = name or _free("_".join(ends), labels)
    back = np.array(root.matrix_world.inverted_safe(), dtype=float)
    position, axis = back[:3, :3] @ anchor.position + back[:3, 3], back[:3, :3] @ anchor.axis
    side = tuple(np.cross(np.eye(3)[int(np.abs(axis).argmin())], axis)) if kind in TWO_AXES else None
    joint = Joint(
        name, kind, *ends, position=tuple(position.tolist()), axis=tuple(axis.tolist()), axis2=side, actuated=actuated
    )
    if actuated:
        check_names(joint.coordinate_names)
    carrier = root if parent is None else parent
    made = bpy.data.objects.new(name, None)
    root.users_collection[0].objects.link(made)
    with posing.paused():
        made.parent = carrier
        made.robik.kind, made.robik.label, made.robik.order, made.robik.by_hand = (
            "JOINT",
            name,
            _next(root, "JOINT"),
            True,
        )
        made.empty_display_size = root.empty_display_size / 2 or SIZE
        write_joint(made, joint, parent, child, Pose() if parent is None else rest_pose(parent))
    try:
        settle(root)
    except RobikError:
        bpy.data.objects.remove(made)
        raise
    return made


def check_joint(root: Object | None, found: Iterable[Object], kind: str, name: str, actuated: bool) -> None:
    """Raise RobikError unless bodies can be tied by a new joint, before anything is made."""
    if actuated and not JOINT_TYPES[kind].motions:
        raise RobikError(f"a {kind} joint does not move, so no motor can drive it; choose another type, or none")
    if root is not None:
        at_rest(root, found)
        if name in {j.robik.label for j in parts(root)["JOINT"]}:
            raise RobikError(f"there is a joint {name!r} already; joints of one robot need different names")


def remove_joints(root: Object, joints: Iterable[Object]) -> None:
    """Take joints away, with their sliders and the couplings that name them."""
    joints = list(joints)
    gone = {name for joint in joints for name in coordinate_names(joint)}
    couplings = root.robik.robot.couplings
    for k in reversed(range(len(couplings))):
        if gone.intersection((couplings[k].follower, couplings[k].leader, *leading(couplings[k]))):
            couplings.remove(k)
    bpy.data.batch_remove(joints)
    settle(root)


def set_ground(root: Object, body: Object) -> Object:
    """Hold a body where it is; what else held or freed the robot as a whole goes."""
    at_rest(root, [body])
    old = [j for j in parts(root)["JOINT"] if j.robik.joint.parent is None and j.robik.joint.type in ("fixed", "free")]
    bpy.data.batch_remove(old)
    place_now = np.array(root.matrix_world @ body.matrix_local, dtype=float)[:3, 3]
    labels = {j.robik.label for j in parts(root)["JOINT"]}
    return add_joint(root, None, body, "fixed", Anchor(place_now, np.array([0.0, 0.0, 1.0])), _free("ground", labels))


def set_free(root: Object, feet: Iterable[Object]) -> bool:
    """Release a robot that stands on these bodies from another one that holds it, and return whether one did.

    Every URDF's root is held unless the user says otherwise. Only one fixed joint goes; other ties to the world
    stay.
    """
    held = [j for j in parts(root)["JOINT"] if j.robik.joint.parent is None]
    if len(held) != 1 or held[0].robik.joint.type != "fixed" or held[0].robik.joint.child in list(feet):
        return False
    root.robik.robot.importing.base = "floating"
    remove_joints(root, held)
    return True


def set_motors(root: Object, joints: Iterable[Object], on: bool, speed: float = 0.0) -> None:
    """Set whether motors drive joints of a robot, at most at `speed` [rad/s or m/s]; 0 leaves it as it is.

    Raise RobikError, with nothing changed, if one of them cannot be driven.
    """
    joints = list(joints)
    for joint in joints:
        if on and not coordinate_names(joint):
            raise RobikError(
                f"joint {joint.robik.label!r} is fixed, so no motor can drive it; choose another type first"
            )
        if on:
            check_names(coordinate_names(joint))
    with posing.paused():
        for joint in joints:
            joint.robik.joint.actuated = on
            if on and speed:
                joint.robik.joint.velocity_limit = speed
    settle(root)


def set_limits(root: Object, made: Object, limits: tuple[float, float]) -> None:
    """Set the limits of a joint with one motion [rad or m].

    Raise RobikError if it has several motions, or stands outside.
    """
    names = coordinate_names(made)
    if len(names) != 1 or names[0] != made.robik.label:
        raise RobikError(f"joint {made.robik.label!r} has {len(names)} motions; limits are set for joints with one")
    joint = next(j for j in read_robot(root).joints if j.name == made.robik.label)
    with posing.paused():
        write_limits(made, replace(joint, limits=(limits,), motions=()))
    settle(root)


def to_rest(root: Object) -> None:
    """Every motor at its rest value, every body in its rest pose."""
    for body in bodies(root):
        place(body, rest_pose(body))
    for joint in parts(root)["JOINT"]:
        for k, name in enumerate(coordinate_names(joint)):
            if name in root:
                root[name] = exact.row(joint, "rest", joint.robik.joint.rest[: len(coordinate_names(joint))])[k]
    posing.settled(root)


def at_rest(root: Object, which: Iterable[Object]) -> None:
    """Check that bodies stand in their rest pose, in which alone a new joint can tie them.

    One without joints rests where it is put. A RobikError names the body that does not.
    """
    tied = {end for j in parts(root)["JOINT"] for end in (j.robik.joint.parent, j.robik.joint.child)}
    for body in which:
        now, rest = local_pose(body), rest_pose(body)
        off = np.linalg.norm(np.subtract(now.position, rest.position))
        turned = 1.0 - abs(np.dot(now.quaternion, rest.quaternion))
        if off <= AT_REST * max(1.0, *map(abs, rest.position)) and turned <= AT_REST**2:
            continue
        if body in tied:
            raise RobikError(
                f"body {body.robik.label!r} is not in its rest pose, where joints are made; click Rest Pose first"
            )
        group = body.robik.body
        group.rest_location, group.rest_rotation = now.position, now.quaternion


def settle(root: Object) -> Mechanism | None:
    """Bring sliders up to date with the robot's parts, and note what still stands apart.

    Return the robot; None while it is in several pieces. Raise RobikError if it cannot be a robot.
    """
    told, mechanism = root.robik.robot, None
    forget_diagnosis(root)
    kept = [line for line in told.warnings.splitlines() if "unconnected parts" not in line]
    try:
        mechanism = read_robot(root)
        match_sliders(root, mechanism)
    except UnconnectedError as error:
        kept.append(str(error))
    told.warnings = "\n".join(kept)
    posing.settled(root)
    return mechanism


def joint_edited(joint: Object) -> None:
    """Sliders follow what is edited in a panel; what cannot be is said there."""
    root = robot_of(joint)
    if root is None or posing.is_paused() or joint.robik.kind != "JOINT":
        return
    try:
        settle(root)
    except RobikError as error:
        posing.tell(root, str(error))


def _straightened(shown: Object, inside: Matrix) -> Matrix:
    """Return where a mesh stands, without shear, which a body cannot have: that goes into the mesh itself."""
    if not _is_sheared(inside):
        return inside
    location, rotation, _ = inside.decompose()
    straight = Matrix.LocRotScale(location, rotation, None)
    if shown.data.users > 1:
        shown.data = shown.data.copy()
    assert isinstance(shown.data, Mesh)
    shown.data.transform(straight.inverted() @ inside, shape_keys=True)
    return straight


def _is_sheared(matrix: Matrix) -> bool:
    columns = np.array(matrix.to_3x3().normalized(), dtype=float)
    return bool(np.abs(columns.T @ columns - np.eye(3)).max() > SHEARED)


def _check_mesh(shown: Object) -> None:
    if shown.type != "MESH":
        raise RobikError(f"{shown.name!r} is no mesh; bodies are made of meshes")
    if shown.modifiers and _is_sheared(shown.matrix_world):
        raise RobikError(
            f"{shown.name!r} is sheared by what it is parented to, and has modifiers; apply these first (Object >"
            " Apply)"
        )
    if shown.robik.kind != "NONE":
        raise RobikError(f"{shown.name!r} is a part of a robot already")
    if shown.name == WORLD:
        raise RobikError(f"{WORLD!r} is the name of the ground; rename the object")
    moved = shown.animation_data
    if shown.constraints or (moved is not None and (moved.action or moved.drivers or moved.nla_tracks)):
        raise RobikError(
            f"{shown.name!r} is moved by constraints, keys or drivers, which would pull it off its body; clear them"
            " where it should stand"
        )
    if shown.library or shown.override_library:
        raise RobikError(
            f"{shown.name!r} belongs to another file; make it local first (Object > Relations > Make Local)"
        )


def _next(root: Object, kind: str) -> int:
    return 1 + max((p.robik.order for p in parts(root)[kind]), default=-1)


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with a number where it is taken."""
    return next(n for k in range(1, len(taken) + 2) if (n := name if k == 1 else f"{name}_{k}") not in taken)


def _size(shown: list[Object]) -> float:
    return SIZE * max(float(max(tuple(each.dimensions))) for each in shown) or SIZE
