"""Motions that are slowed down, or calmed, in Blender."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import scenes
from tests.blender.installed import module

pytestmark = pytest.mark.usefixtures("empty_scene")


def quick(frames: int = 12) -> tuple[bpy.types.Object, np.ndarray]:
    """The boxer whose bake follows punches too quick for it; also its motors' values (T, 4) by frame."""
    root, _ = scenes.punches(frames)
    root.robik.robot.bake.enforce_velocity = False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    return root, values(root, np.arange(1.0, frames + 1))


def values(root: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    mechanism = module("scene.robot.reading").read_robot(root)
    return module("scene.motion").read_values(root, mechanism, frames, bpy.context.scene)


def test_a_motion_is_slowed_down_on_its_path_as_a_bake_of_its_own() -> None:
    root, before = quick()
    scene, bakes = bpy.context.scene, len(root.robik.robot.bakes)
    mechanism = module("scene.robot.reading").read_robot(root)
    limits = module("robik.retiming").limits_of(mechanism)
    assert (np.abs(np.diff(before, axis=0)) * 60 / limits.speed).max() > 1.2
    assert bpy.ops.robik.slow_down() == {"FINISHED"}
    assert len(root.robik.robot.bakes) == bakes + 1
    assert scene.frame_end > 13
    slow = values(root, np.arange(1.0, scene.frame_end + 1))
    rests = np.vstack([slow[:1]] * 3 + [slow] + [slow[-1:]] * 3)
    for order, limit in enumerate((limits.speed, limits.acceleration, limits.jerk), start=1):
        assert (np.abs(np.diff(rests, order, axis=0)) * 60**order / limit).max() < 1.001
    np.testing.assert_allclose(slow[[0, -1]], before[[0, -1]], atol=1e-5)
    bends = np.abs(slow[:, None] - np.linspace(before[:-1], before[1:], 50).reshape(-1, 4)[None]).max(axis=2)
    assert bends.min(axis=1).max() < 0.03  # of a path that is smooth between its keys
    bpy.ops.robik.use_bake(index=bakes - 1)
    np.testing.assert_allclose(values(root, np.arange(1.0, 13.0)), before, atol=1e-6)


@pytest.mark.one_blender
def test_what_is_offered_is_kept_once_and_the_scene_may_end_where_it_did() -> None:
    root, _ = quick()
    scene, retiming = bpy.context.scene, module("operators.bake.retiming")
    slowed = module("robik.steps").finish(module("scene.bake.retimed").slowing(root, scene))
    retiming._offers[:] = [retiming.Offer(robot=root.name, motion=slowed.motion, cost=str(slowed))]
    assert bpy.ops.robik.keep_slower(extend=False) == {"FINISHED"}
    assert scene.frame_end == 12
    with pytest.raises(RuntimeError, match="there is no slower motion of robot 'boxer' to keep"):
        bpy.ops.robik.keep_slower()


@pytest.mark.one_blender
def test_a_vibration_is_calmed() -> None:
    root, before = quick(24)
    assert bpy.ops.robik.calm_vibration(frequency=6.0) == {"FINISHED"}
    last = bpy.context.scene.frame_end
    assert last == 24 + 11  # a period longer, damped a little
    calm = values(root, np.arange(1.0, last + 1))
    phase = np.exp(2j * np.pi * 6.0 * np.arange(last - 1) / 60)
    before = np.vstack([before, np.tile(before[-1:], (last - 24, 1))])
    shaken, left = (np.abs(phase @ np.diff(motion, axis=0)).max() for motion in (before, calm))
    assert left < 0.1 * shaken


def test_without_a_motion_nothing_is_slowed_down() -> None:
    scenes.import_robot("boxer")
    with pytest.raises(RuntimeError, match="has no keys; bake first"):
        bpy.ops.robik.slow_down()
    with pytest.raises(RuntimeError, match="has no keys; bake first"):
        bpy.ops.robik.calm_vibration()
