"""Copies of a robot: all its parts, the hidden ones too, which Blender's own Duplicate leaves behind.

Each robot has an identity. Blender's Duplicate copies it too, so two robots of one identity are a robot and its copy,
which gets the parts that it lacks, and an identity of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Object, Scene

from . import posing
from .parts import part_key

_known: dict[int, str] = {}  # identity by the root's session_uid, when it was looked at last


def duplicate_robot(root: Object) -> Object:
    """Return the root of the copy, in a collection of its own beside the first.

    Meshes and bakes are shared until they are changed.
    """
    collection = bpy.data.collections.new(root.name)
    first = root.users_collection[0]
    beside = next((c for c in bpy.data.collections if first.name in c.children), bpy.context.scene.collection)
    beside.children.link(collection)
    copy = root.copy()
    collection.objects.link(copy)
    copy.robik.robot.identity = ""
    _copy_parts(root.children_recursive, root, copy)
    return copy


def _copy_parts(parts: Iterable[Object], root: Object, copy: Object) -> None:
    """Give a copy of a robot those of the robot's parts that it lacks, and let its joints tie its own bodies."""
    whole = list(parts)
    there = {part_key(part): part for part in copy.children_recursive if part.robik.kind != "NONE"}
    twins = {root: copy}
    for part in whole:
        twin = there.get(part_key(part))
        if twin is None:
            twin = part.copy()
            copy.users_collection[0].objects.link(twin)
            twin.hide_set(part.hide_get())
        twins[part] = twin
    for part, twin in twins.items():
        if part != root and twin.parent == part.parent:  # a new one: those that Blender has copied hang on copies
            inverse = part.matrix_parent_inverse.copy()
            twin.parent = twins.get(part.parent, part.parent)
            twin.matrix_parent_inverse = inverse
        joint = twin.robik.joint
        joint.parent, joint.child = twins.get(joint.parent, joint.parent), twins.get(joint.child, joint.child)
    posing.settled(copy)


def _is_own(root: Object) -> bool:
    return root.library is None and root.override_library is None


def tell_apart(root: Object) -> None:
    """Give a robot an identity, and complete those that are copies of it, or itself if it is one."""
    identity = root.robik.robot.identity
    if not identity:
        root.robik.robot.identity = identity = uuid4().hex
    twins = [
        each
        for each in bpy.data.objects
        if each.robik.kind == "ROBOT" and _is_own(each) and each.robik.robot.identity == identity
    ]
    known = [each for each in twins if _known.get(each.session_uid) == identity]
    first = max(known or twins, key=lambda each: (len(each.children_recursive), -each.session_uid))
    for copy in twins:
        if copy != first:
            _copy_parts([part for part in first.children_recursive if part.robik.kind != "NONE"], first, copy)
            copy.robik.robot.identity = uuid4().hex
        _known[copy.session_uid] = copy.robik.robot.identity


@persistent
def _after_update(_scene: Scene, depsgraph: Depsgraph) -> None:
    if posing.is_paused() or not posing.on_main_thread():
        return
    for update in depsgraph.updates:
        root = update.id.original
        if isinstance(root, Object) and root.robik.kind == "ROBOT" and _is_own(root):
            known = _known.get(root.session_uid)
            if known is None or known != root.robik.robot.identity:
                tell_apart(root)


@persistent
def _after_load(_file: str) -> None:
    _known.clear()


HANDLERS = ((bpy.app.handlers.depsgraph_update_post, _after_update), (bpy.app.handlers.load_post, _after_load))


def register() -> None:
    """Start looking for copies."""
    for handlers, handler in HANDLERS:
        handlers.append(handler)


def unregister() -> None:
    """Stop."""
    for handlers, handler in HANDLERS:
        handlers.remove(handler)
    _known.clear()
