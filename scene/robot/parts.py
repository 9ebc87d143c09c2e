"""Finding the parts of a robot: everything below its root object that says it is one."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from bpy.types import Object, Scene
from mathutils import Matrix

from ...robik.errors import RobikError
from ...robik.mechanism import JOINT_TYPES, Pose
from ...robik.mechanism.joints import MOTIONS
from ...robik.skeleton.single import unit


def robots(scene: Scene) -> list[Object]:
    """Return the roots of a scene's robots, by name."""
    return sorted((o for o in scene.objects if o.robik.kind == "ROBOT"), key=lambda o: o.name)


def robot_of(part: Object | None) -> Object | None:
    """Return the root of the robot that an object belongs to, or None."""
    while part is not None and part.robik.kind != "ROBOT":
        part = part.parent
    return part


def chosen_robot(scene: Scene) -> Object:
    """Return the robot that the panels work on: the one chosen, or the only one.

    Raise RobikError if there is none, or several and none is chosen.
    """
    found = robots(scene)
    if scene.robik.robot is not None and scene.robik.robot in found:
        return scene.robik.robot
    if not found:
        raise RobikError(shown_robot(scene) or "there is no robot in this scene; import one first")
    if len(found) > 1:
        raise RobikError(
            f"there are {len(found)} robots in this scene ({', '.join(o.name for o in found)}); choose one"
        )
    return found[0]


def shown_robot(scene: Scene) -> str:
    """Of a robot that a scene only shows as an instance of its collection, as File > Link makes it: how to get it.

    Else empty.
    """
    for shown in scene.objects:
        collection = shown.instance_collection
        if collection is not None and any(part.robik.kind == "ROBOT" for part in collection.all_objects):
            how = "Object > Library Override > Make"
            how = how if collection.library else "link its collection to this scene instead"
            return f"{shown.name!r} only shows a robot, as an instance of its collection; to work on it here: {how}"
    return ""


def changeable_robot(scene: Scene) -> Object:
    """Return the robot that the panels work on, if it can be changed in this file."""
    root = chosen_robot(scene)
    check_changeable(root)
    return root


def check_changeable(root: Object) -> None:
    """Check that a robot can be changed in this file."""
    if root.library:
        raise RobikError(
            f"robot {root.name!r} is linked from {root.library.name} and cannot be changed here: make a library"
            " override (Object > Library Override > Make) to pose, map and bake it, or make it local (Object >"
            " Relations > Make Local > All)"
        )


def parts(root: Object, kinds: Iterable[str] = ("BODY", "VISUAL", "JOINT", "FRAME")) -> dict[str, list[Object]]:
    """Return a robot's parts by kind, each kind in the robot's order."""
    found: dict[str, list[tuple[int, str, Object]]] = {kind: [] for kind in kinds}
    for part in root.children_recursive:
        group = part.robik
        listed = found.get(group.kind)
        if listed is not None:
            listed.append((group.order, part.name, part))
    return {kind: [part for *_, part in sorted(listed, key=itemgetter(0, 1))] for kind, listed in found.items()}


def part_key(part: Object) -> tuple:
    """Return what makes a part the same when its robot is built again, or copied."""
    own = part.robik
    if own.kind == "VISUAL" and part.parent:
        return own.kind, part.parent.robik.label, own.order
    return own.kind, own.label


def bodies(root: Object) -> list[Object]:
    """Return a robot's body objects, in the robot's order."""
    return parts(root, ("BODY",))["BODY"]


def show_joints(root: Object, show: bool) -> None:
    """Show or hide a robot's joints in the current view layer."""
    for joint in parts(root)["JOINT"]:
        joint.hide_set(not show)


def local_pose(part: Object) -> Pose:
    """Return where an object lies in its parent's coordinates, scale left out.

    From its own settings, so never out of date.
    """
    return pose_of(part.matrix_parent_inverse @ part.matrix_basis)


def pose_of(matrix: Matrix) -> Pose:
    """Return a transform without its scale."""
    location, rotation, _ = matrix.decompose()
    return Pose(tuple(location), unit((rotation.w, rotation.x, rotation.y, rotation.z)))


def place(part: Object, pose: Pose) -> None:
    """Put an object at a pose in its parent's coordinates."""
    part.rotation_mode = "QUATERNION"
    part.location = pose.position
    part.rotation_quaternion = pose.quaternion


def motions_of(joint: Object) -> tuple[str, ...]:
    """Return what a joint leaves free."""
    group = joint.robik.joint
    motions = JOINT_TYPES[group.type].motions
    return tuple(m for m, free in zip(MOTIONS, group.motions, strict=True) if free) if motions is None else motions


def coordinate_names(joint: Object) -> tuple[str, ...]:
    """As `Joint.coordinate_names`; of a joint with a motor, its sliders."""
    motions, label = motions_of(joint), joint.robik.label
    return (label,) if len(motions) == 1 else tuple(f"{label}.{m}" for m in motions)
