"""Handles: empties at the frames that an animator takes hold of, which the robot follows."""

from __future__ import annotations

import bpy
from bpy.types import Context, Object
from mathutils import Matrix, Quaternion, Vector

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.skeleton.handles import handle_frames
from ..robot.library import add_row
from ..robot.parts import bodies, local_pose
from .fit import match_now

SIZE = 0.06  # of the robot's extent


def add_handles(context: Context, root: Object, mechanism: Mechanism) -> list[Object]:
    """Add a handle where each of the robot's handle frames is now, and let the frames follow them.

    Returns:
        The handles.

    Raises:
        RobikError: the robot follows something already, or has nothing to take hold of; nothing was changed.
    """
    character = root.robik.robot.character
    if followed := next((target.frame for target in character.targets if target.enabled), ""):
        raise RobikError(
            f"robot {root.name!r} follows a character already, with its frame {followed!r}: remove its targets, or"
            " switch them off, to move it by handles"
        )
    frames = handle_frames(mechanism)
    if not frames:
        raise RobikError(f"robot {root.name!r} has nothing to take hold of: no motor moves any of its bodies")
    character.rig, character.scale, character.stride = None, 1.0, 1.0
    character.yaw, character.left_out, character.location = 0.0, 0, (0.0, 0.0, 0.0)
    folder = bpy.data.collections.new(f"{root.name} handles")
    context.scene.collection.children.link(folder)
    handles = [_handle(root, mechanism, frame, is_first=k == 0) for k, frame in enumerate(frames)]
    for handle, frame in zip(handles, frames, strict=True):
        folder.objects.link(handle)
        row = add_row(character.targets)
        row.source, row.frame = handle, frame
    context.view_layer.update()
    match_now(context, root, mechanism)
    character.active = 0
    return handles


def _handle(root: Object, mechanism: Mechanism, name: str, is_first: bool) -> Object:
    frame = mechanism.frame(name)
    pose = local_pose(bodies(root)[mechanism.body_index[frame.body]]) @ frame.pose
    handle = bpy.data.objects.new(f"{root.name} {name}", None)
    handle.empty_display_type = "CUBE" if is_first else "SPHERE"
    handle.empty_display_size = SIZE * mechanism.extent
    handle.show_in_front, handle.show_name = True, False
    handle.rotation_mode = "QUATERNION"
    handle.matrix_world = root.matrix_world @ Matrix.LocRotScale(
        Vector(pose.position), Quaternion(pose.quaternion), None
    )
    return handle
