"""Recorded motion as a character: Blender's importer brings the bones, here they get a size."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import bpy
from bpy.types import Object

from ...robik.errors import RobikError
from ...robik.files import read_whole
from ...robik.recordings import bvh
from ...robik.recordings.recording import MOST, metres_per_unit, up_axis, upright

Axis = Literal["X", "Y", "Z", "-X", "-Y", "-Z"]
ROUNDING = 1e-2  # of frames, which are in single precision
UP_AND_FORWARD: dict[str, tuple[Axis, Axis]] = {"x": ("X", "Y"), "y": ("Y", "-Z"), "z": ("Z", "Y")}


def bring_recording(file: Path) -> Object:
    """Return the performer of a BVH file, upright and of human size as the library reads it, active.

    It begins with the scene. The scene keeps its frame rate, and gets the recording's length where that is longer,
    or where nothing else in it moves. After a RobikError nothing is left of it.
    """
    if not file.is_file():
        raise RobikError(f"{file}: there is no such file")
    try:
        motion = bvh.read(read_whole(file, MOST), file)
        up = up_axis(motion)
        scale = metres_per_unit(upright(motion, up))
        rig = _imported(file, up)
    except (AttributeError, RuntimeError, ValueError, RobikError) as error:
        raise RobikError(f"{file} cannot be read as a BVH recording: {_said(error)}") from None
    rig.scale = (scale,) * 3
    return rig


def _imported(file: Path, up: str) -> Object:
    """Return the object that Blender's importer makes of the file.

    Raise AttributeError, RuntimeError or ValueError where it fails, with the scene as before.
    """
    scene, before = bpy.context.scene, {*bpy.data.objects, *bpy.data.armatures, *bpy.data.actions}
    rate = scene.render.fps, scene.render.fps_base, scene.frame_end
    alone = not any(action.users for action in bpy.data.actions)
    axis_up, axis_forward = UP_AND_FORWARD[up]
    try:
        bpy.ops.import_anim.bvh(
            filepath=str(file),
            axis_up=axis_up,
            axis_forward=axis_forward,
            frame_start=scene.frame_start,
            update_scene_fps=False,
            use_fps_scale=True,
        )
        rig = bpy.context.object
        action = rig.animation_data and rig.animation_data.action
        if action is None or action.frame_range[1] - action.frame_range[0] < 1:
            raise RuntimeError("it holds no motion")
        last = int(action.frame_range[1] + ROUNDING)  # beyond it stands still
        scene.frame_end = max(last, scene.frame_start + 1 if alone else scene.frame_end)
    except (AttributeError, RuntimeError, ValueError):
        bpy.data.batch_remove({*bpy.data.objects, *bpy.data.armatures, *bpy.data.actions} - before)
        scene.render.fps, scene.render.fps_base, scene.frame_end = rate
        raise
    return rig


def _said(error: Exception) -> str:
    """Return the last line of what Blender's importer says, which is written in Python and fails in every way."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return lines[-1] if lines else type(error).__name__
