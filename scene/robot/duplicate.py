"""A robot once more: all its parts, the hidden ones too, which Blender's own Duplicate leaves behind."""

from __future__ import annotations

import bpy
from bpy.types import Object

from . import posing


def duplicate_robot(root: Object) -> Object:
    """Return the root of the copy, in a collection of its own beside the first.

    Meshes and bakes are shared until they are changed.
    """
    whole = [root, *root.children_recursive]
    collection = bpy.data.collections.new(root.name)
    first = root.users_collection[0]
    beside = next((c for c in bpy.data.collections if first.name in c.children), bpy.context.scene.collection)
    beside.children.link(collection)
    copies = {part: part.copy() for part in whole}
    for part, made in copies.items():
        collection.objects.link(made)
        made.hide_set(part.hide_get())
        inverse = part.matrix_parent_inverse.copy()
        made.parent = copies.get(part.parent, part.parent)
        made.matrix_parent_inverse = inverse
        joint = made.robik.joint
        joint.parent, joint.child = copies.get(joint.parent, joint.parent), copies.get(joint.child, joint.child)
    posing.settled(copies[root])
    return copies[root]
