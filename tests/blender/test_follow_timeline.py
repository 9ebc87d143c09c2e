"""Follow Live along the timeline: scrubbed, played, and with a bake beside it. It never keys anything."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes
from tests.blender.test_follow import beats, frame_object, rest

pytestmark = pytest.mark.usefixtures("empty_scene")


def off(root: bpy.types.Object, name: str) -> float:
    """How far a frame of the robot is from what it follows [m]."""
    bpy.context.view_layer.update()
    return float(
        (
            frame_object(root, name).matrix_world.translation - bpy.data.objects[f"to {name}"].matrix_world.translation
        ).length
    )


def test_scrubbing_takes_the_robot_along_and_keys_nothing() -> None:
    root = scenes.squats()
    root.robik.robot.follow.on = True
    before = scenes.everything()
    for frame in (1, 13, 20, 4):
        bpy.context.scene.frame_set(frame)
        rest(root, 90)
        assert max(off(root, name) for name in ("pelvis", "foot_l", "foot_r")) < 3e-3, frame
    assert scenes.everything() == before


@pytest.mark.one_blender
def test_playing_it_keeps_up_with_a_slow_motion() -> None:
    root = scenes.squats(frames=72)
    root.robik.robot.follow.on = True
    bpy.context.scene.frame_set(1)
    rest(root, 90)
    worst = 0.0
    for frame in range(1, 73):
        bpy.context.scene.frame_set(frame)
        beats(root, 1)
        worst = max(worst, off(root, "pelvis"))
    assert worst < 0.02


def test_a_bake_is_as_it_was_after_following() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    at = np.arange(1.0, 25.0)
    before = scenes.channel(root, '["knee_l"]', 0, at)
    bpy.context.scene.frame_set(6)
    stood = np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])
    root.robik.robot.follow.on = True
    bpy.data.objects["to pelvis"].animation_data_clear()
    bpy.data.objects["to pelvis"].location.z -= 0.03
    rest(root, 60)
    root.robik.robot.follow.on = False
    assert scenes.channel(root, '["knee_l"]', 0, at) == pytest.approx(before)
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_set(6)
    assert np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)]) == pytest.approx(stood, abs=1e-6)
    assert installed.module("scene.bake.bakes").in_use(root) == 0
