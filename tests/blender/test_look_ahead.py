"""Look Ahead in Blender: nearer at the same speeds, accelerations and jerks kept in the curves."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def slider_curves(root: bpy.types.Object) -> np.ndarray:
    """Return the motors' values at frames 1 to 24 (24, actuators)."""
    at = np.arange(1.0, 25.0)
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in scenes.read(root).actuators])


def test_look_ahead_comes_nearer_at_the_same_speeds() -> None:
    root, _ = scenes.punches()
    robot = root.robik.robot
    robot.bake.velocity_share = 50.0
    means = []
    for look_ahead in (False, True):
        robot.bake.look_ahead = look_ahead
        assert bpy.ops.robik.bake() == {"FINISHED"}
        assert max(a.peak_velocity / a.velocity_limit for a in robot.result.actuators) <= 0.5 * 1.0005
        assert robot.result.looked_ahead == robot.bake.look_ahead
        means.append(np.mean([t.position_mean for t in robot.result.targets]))
    assert means[1] < 0.8 * means[0]
    assert robot.result.mean_before == pytest.approx(means[0], rel=1e-4)
    assert robot.result.mean_distance == pytest.approx(means[1], rel=1e-4)
    assert robot.result.residual < 1e-9


@pytest.mark.one_blender
def test_acceleration_and_jerk_hold_in_the_curves() -> None:
    root, _ = scenes.punches()
    bake, fps = root.robik.robot.bake, bpy.context.scene.render.fps
    bake.look_ahead, bake.acceleration, bake.jerk = True, 30.0, 600.0
    assert bpy.ops.robik.bake() == {"FINISHED"}
    values = slider_curves(root)
    assert np.abs(fps**2 * np.diff(values, 2, axis=0)).max() <= 30 * 1.001
    assert np.abs(fps**3 * np.diff(values, 3, axis=0)).max() <= 600 * 1.001
    result = root.robik.robot.result
    assert result.acceleration == pytest.approx(30, rel=1e-3)
    assert result.acceleration_before > 60
    assert result.beyond == ""


@pytest.mark.one_blender
def test_torques_are_kept_where_that_is_asked() -> None:
    root, _ = scenes.punches()
    bake, result = root.robik.robot.bake, root.robik.robot.result
    assert bpy.ops.robik.bake() == {"FINISHED"}
    free, bake.torque = slider_curves(root), True
    joints = [joint for joint in bpy.data.objects if joint.robik.joint.actuated]
    for effort, is_beyond in ((1e4, False), (1e-4, True)):
        for joint in joints:
            joint.robik.joint.effort_limit = effort
        assert bpy.ops.robik.bake() == {"FINISHED"}
        assert ("torque" in result.beyond) == is_beyond
        assert (np.abs(slider_curves(root) - free).max() > 1e-3) == is_beyond


def test_a_clip_that_does_not_come_back_is_told_and_nothing_is_baked() -> None:
    root, _ = scenes.punches()
    bake = root.robik.robot.bake
    bake.look_ahead = bake.cyclic = True
    bpy.context.scene.frame_end = 9
    with pytest.raises(RuntimeError, match="a cyclic clip ends where it begins, but the targets of "):
        bpy.ops.robik.bake()
    assert root.robik.robot.result.frames == 0


@pytest.mark.one_blender
def test_the_zero_moment_point_is_kept_over_the_feet_where_that_is_asked() -> None:
    root, scene = scenes.squats(), bpy.context.scene
    bake, result = root.robik.robot.bake, root.robik.robot.result
    root.robik.robot.balance.pin_feet = True
    pelvis = bpy.data.objects["to pelvis"]
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        pelvis.location.y += 0.02 * np.sin(2 * np.pi * (frame - 1) / 8) * np.sin(np.pi * (frame - 1) / 23)
        pelvis.keyframe_insert("location", frame=frame)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    free, tipping = slider_curves(root), result.tipping
    assert tipping > 0.1
    bake.zero_moment = True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert result.looked_ahead
    assert result.beyond == ""
    assert result.tipping < 0.5 * tipping
    assert np.abs(slider_curves(root) - free).max() > 1e-3
    root.robik.robot.balance.margin = 0.5  # more than there is of the feet
    assert bpy.ops.robik.bake() == {"FINISHED"}
