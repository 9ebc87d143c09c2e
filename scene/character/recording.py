"""Recorded motion as a character: Blender's importer brings the bones, here they get a size."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object

from ...robik.errors import RobikError

TALL = 1.7  # [m]; recordings come in units of every kind
FLAT = 1e-6  # as tall as this, a skeleton has no size


def bring_recording(file: Path) -> Object:
    """Return the performer of a BVH file, of human height, active.

    The scene keeps its frame rate, and takes its length where that is longer.

    Raises:
        RobikError: the file cannot be read as a recording; nothing is left of it.
    """
    if not file.is_file():
        raise RobikError(f"{file}: there is no such file")
    scene, before = bpy.context.scene, {*bpy.data.objects, *bpy.data.armatures, *bpy.data.actions}
    rate = scene.render.fps, scene.render.fps_base, scene.frame_end
    try:
        bpy.ops.import_anim.bvh(
            filepath=str(file), update_scene_fps=False, update_scene_duration=True, use_fps_scale=True
        )
        rig = bpy.context.object
        ends = np.array([end for bone in rig.data.bones for end in (bone.head_local, bone.tail_local)])
        tall = float(np.ptp(ends[:, 1:], axis=0).max())  # along Y or Z, as it came
        if tall < FLAT:
            raise RuntimeError("its skeleton has no size")
        action = rig.animation_data and rig.animation_data.action
        if action is None or action.frame_range[1] - action.frame_range[0] < 1:
            raise RuntimeError("it holds no motion")
    except (AttributeError, RuntimeError, ValueError) as error:
        bpy.data.batch_remove({*bpy.data.objects, *bpy.data.armatures, *bpy.data.actions} - before)
        scene.render.fps, scene.render.fps_base, scene.frame_end = rate
        raise RobikError(f"{file} cannot be read as a BVH recording: {_said(error)}") from None
    rig.scale = (TALL / tall,) * 3
    return rig


def _said(error: Exception) -> str:
    """Return the last line of what Blender's importer says, which is written in Python and fails in every way."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return lines[-1] if lines else type(error).__name__
