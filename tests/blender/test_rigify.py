"""A character by Rigify, as its users make it: generated from a meta-rig, posed by its controls, mapped by names."""

from __future__ import annotations

from math import cos, pi, sin

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik import robots

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def generated() -> bpy.types.Object:
    """The rig that Rigify makes of its basic human."""
    assert bpy.ops.preferences.addon_enable(module="rigify") == {"FINISHED"}
    bpy.ops.object.armature_basic_human_metarig_add()
    assert bpy.ops.pose.rigify_generate() == {"FINISHED"}
    return bpy.data.objects["rig"]


def walk(rig: bpy.types.Object, frames: int) -> None:
    """On the spot, with knees that never stretch."""
    for frame in range(1, frames + 1, 2):
        phase = 2 * pi * (frame - 1) / (frames - 1)
        moves = {"torso": (0.02 * sin(phase), 0.0, -0.06)}
        for side, lag in (("L", 0.0), ("R", pi)):
            moves[f"foot_ik.{side}"] = (0.0, -0.15 * cos(phase + lag), 0.06 * max(0.0, sin(phase + lag)))
        for control, place in moves.items():
            rig.pose.bones[control].location = place
            rig.pose.bones[control].keyframe_insert("location", frame=frame)


def test_generated_rig_maps_fits_and_bakes() -> None:
    walk(generated(), 31)
    root = scenes.import_robot("walker")
    bpy.context.scene.frame_end = 31
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    character, result = root.robik.robot.character, root.robik.robot.result
    assert {t.frame: t.bone for t in character.targets} == {
        "pelvis": "DEF-spine",
        "foot_l": "DEF-foot.L",
        "foot_r": "DEF-foot.R",
    }
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert (result.frames, result.missed) == (31, 0)
    assert max(target.position_error for target in result.targets) < 1e-4  # motors do not start and stop at once
    mechanism, bodies = robots.load("walker"), scenes.body_objects(root)
    for foot in ("foot_l", "foot_r"):
        body = bodies[mechanism.body_index[mechanism.frame(foot).body]]
        assert np.ptp(scenes.keyed_pose(body, np.arange(1.0, 32.0))[:, 2]) == pytest.approx(
            0.06 * character.scale, rel=0.1
        )
