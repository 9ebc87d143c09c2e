"""A robot's bakes: each has an action of its own (before Blender 4.4 one per object), and one of them is in use."""

from __future__ import annotations

import bpy
from bpy.types import Object, PropertyGroup

from ...robik.errors import RobikError
from ..animation import actions
from ..robot import posing
from ..robot.library import library_rows
from ..robot.parts import bodies
from .plain import forget_plain


def objects_of(root: Object) -> dict[str, Object]:
    """Return what a bake animates, by label: the root under an empty one, and the bodies."""
    return {"": root, **{body.robik.label: body for body in bodies(root)}}


def in_use(root: Object) -> int:
    """Index of the bake that animates the robot; -1 if none does."""
    for index, bake in enumerate(root.robik.robot.bakes):
        part = bake.parts.get("")
        if part is not None and part.action is not None and actions.assigned(root) == (part.action, part.slot):
            return index
    return -1


def make_own(root: Object) -> None:
    """Begin a new bake if what animates the robot is none, cannot be changed, or animates another robot too."""
    action, _ = actions.assigned(root)
    if (
        in_use(root) < 0
        or not action.is_editable
        or any(actions.shared(target) for target in objects_of(root).values())
    ):
        begin(root)


def begin(root: Object) -> None:
    """Make a new bake the one in use: a copy of what animates the robot now, which itself is kept."""
    if in_use(root) < 0 and actions.assigned(root)[0] is not None:
        record(root, actions.assigned(root)[0].name)
    number = 1 + max((_number(bake.name) for bake in root.robik.robot.bakes), default=0)
    name = f"{root.robik.label} bake {number}"
    actions.assign_new(list(objects_of(root).values()), name)
    forget_plain(actions.assigned(root)[0])
    record(root, name)
    _forget_oldest(root)


def _forget_oldest(root: Object) -> None:
    """Delete the oldest bakes beyond those that are to be kept; what has a name of its own, or is in use, stays."""
    robot, first = root.robik.robot, library_rows(root, "robik.robot.bakes")
    while len(robot.bakes) - first > robot.bake.keep:
        unnamed = (k for k in range(first, len(robot.bakes)) if _is_unnamed(root, robot.bakes[k].name))
        index = next((k for k in unnamed if k != in_use(root)), None)
        if index is None:
            return
        remove(root, index)


def _is_unnamed(root: Object, name: str) -> bool:
    return name.startswith(f"{root.robik.label} bake ") and _number(name) > 0


def keep_result(root: Object) -> None:
    """Note the robot's result with the bake in use."""
    index = in_use(root)
    if index >= 0:
        copy_group(root.robik.robot.result, root.robik.robot.bakes[index].result)


def use(root: Object, index: int) -> None:
    """Let a bake animate the robot, and show its result."""
    bake = root.robik.robot.bakes[index]
    with posing.paused():
        for label, target in objects_of(root).items():
            part = bake.parts.get(label)
            actions.assign(target, part.action if part else None, part.slot if part else 0)
            actions.bring_to_front(target)
    copy_group(bake.result, root.robik.robot.result)


def remove(root: Object, index: int) -> None:
    """Delete a bake with its curves; the robot stays as it stands if it was the one in use.

    Raise RobikError if the bake comes from the library of an override.
    """
    if index < library_rows(root, "robik.robot.bakes"):
        raise RobikError("this bake comes from the robot's library file and cannot be removed here")
    robot = root.robik.robot
    if in_use(root) == index:
        for target in objects_of(root).values():
            actions.assign(target, None, 0)
        robot.result.frames = 0
    gone = {part.action for part in robot.bakes[index].parts if part.action is not None}
    robot.bakes.remove(index)
    for action in gone:
        if action.users == action.use_fake_user and action.library is None:
            bpy.data.actions.remove(action)


def record(root: Object, name: str) -> PropertyGroup:
    """Note what animates the robot now as a bake."""
    bake = root.robik.robot.bakes.add()
    bake.name = name
    for label, target in objects_of(root).items():
        action, slot = actions.assigned(target)
        if action is not None:
            part = bake.parts.add()
            part.name, part.action, part.slot = label, action, slot
    return bake


def _number(name: str) -> int:
    """At the end of a bake's name."""
    last = name.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


def copy_group(source: PropertyGroup, target: PropertyGroup) -> None:
    """Copy all properties, those in collections and groups included."""
    for name, about in source.bl_rna.properties.items():
        if name == "rna_type" or (about.is_readonly and about.type not in ("POINTER", "COLLECTION")):
            continue
        value = getattr(source, name)
        if about.type == "COLLECTION":
            rows = getattr(target, name)
            rows.clear()
            for row in value:
                copy_group(row, rows.add())
        elif about.type == "POINTER" and isinstance(value, PropertyGroup):
            copy_group(value, getattr(target, name))
        else:
            setattr(target, name, value)
