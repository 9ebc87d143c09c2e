"""Own range: some frames are baked again, and lead out of the keys around them and back, by look-ahead or blended."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics, body_poses
from bl_ext.user_default.robik.robik.kinematics.frames import frame_poses

from tests.blender import installed, scenes
from tests.blender.test_bakes import lower, slider_curves

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("blend", [0, 4])
def test_own_range_goes_into_the_bake_before(blend: int) -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    at = np.arange(1.0, 25.0)
    before = slider_curves(root, at)
    lower(root)
    bake = root.robik.robot.bake
    bake.look_ahead = False
    bake.use_range, bake.start, bake.end, bake.blend = True, 8, 18, blend
    assert bpy.ops.robik.bake() == {"FINISHED"}
    after = slider_curves(root, at)
    inside = (at >= 8) & (at <= 18)
    assert after[~inside] == pytest.approx(before[~inside], abs=1e-6)
    assert np.abs(after[at == 13] - before[at == 13]).max() > 0.05
    if blend:
        assert after[at == 8] == pytest.approx(before[at == 8], abs=1e-6)
        assert after[at == 18] == pytest.approx(before[at == 18], abs=1e-6)
    else:
        assert np.abs(after[at == 8] - before[at == 8]).max() > 0.05
    keyed = np.stack([scenes.keyed_pose(b, at) for b in scenes.body_objects(root)], axis=1)
    mechanism = scenes.read(root)
    index = mechanism.body_index[ForwardKinematics(mechanism).root]
    base = keyed[:, index]
    position, _, residual = body_poses(
        mechanism, after, (base[:, :3], base[:, 3:] / np.linalg.norm(base[:, 3:], axis=1, keepdims=True))
    )
    assert residual.max() < 1e-9  # assembled through the blend
    assert np.abs(position - keyed[..., :3]).max() < 1e-6


@pytest.mark.one_blender
@pytest.mark.parametrize("enforce_velocity", [True, False])
def test_blends_keep_motor_speeds(enforce_velocity: bool) -> None:
    root, _ = scenes.punches()
    bake = root.robik.robot.bake
    bake.enforce_velocity = enforce_velocity
    bpy.ops.robik.bake()
    mechanism, at, fps = scenes.read(root), np.arange(1.0, 25.0), bpy.context.scene.render.fps
    before = slider_curves(root, at)
    root.robik.robot.character.targets[0].offset_location[2] -= 0.1
    bake.use_range, bake.start, bake.end, bake.blend = True, 8, 18, 2
    assert bpy.ops.robik.bake() == {"FINISHED"}
    after = slider_curves(root, at)
    most = (fps * np.abs(np.diff(after, axis=0)) / [joint.velocity_limit for joint in mechanism.actuated]).max()
    inside = (at >= 8) & (at <= 18)
    assert after[~inside] == pytest.approx(before[~inside], abs=1e-6)
    assert np.abs(after - before)[inside].max() > 0.03
    assert most <= 1 + 1e-5 if enforce_velocity else most > 1.05


@pytest.mark.one_blender
@pytest.mark.parametrize("goes_on", [True, False])
def test_looking_ahead_an_own_range_goes_on_from_what_is_there(goes_on: bool) -> None:
    """Position, speed, acceleration and jerk: within the motors' limits through both seams."""
    root, _ = scenes.punches()
    bake = root.robik.robot.bake
    acceleration, jerk = bake.acceleration, bake.jerk = 120.0, 9000.0
    bpy.ops.robik.bake()
    mechanism, at, fps = scenes.read(root), np.arange(1.0, 25.0), bpy.context.scene.render.fps
    before = slider_curves(root, at)
    root.robik.robot.character.targets[0].offset_location[2] -= 0.1
    bake.use_range, bake.start, bake.end, bake.blend = True, 8, 18 if goes_on else 24, 2
    assert bpy.ops.robik.bake() == {"FINISHED"}
    after = slider_curves(root, at)
    speeds = [joint.velocity_limit for joint in mechanism.actuated]
    inside = (at >= 8) & (at <= (18 if goes_on else 24))
    assert after[~inside] == pytest.approx(before[~inside], abs=1e-6)
    assert np.abs(after - before)[inside].max() > 0.03
    for order, limit in enumerate((speeds, acceleration, jerk), 1):
        changes = fps**order * np.abs(np.diff(after, order, axis=0)) / limit
        own = np.array([inside[k : k + order + 1].any() for k in range(len(at) - order)])
        assert changes[own].max() <= 1.001, order


@pytest.mark.one_blender
def test_own_range_is_balanced_as_a_part_of_the_whole() -> None:
    scene = bpy.context.scene
    scene.render.fps = 24
    root = scenes.import_robot("walker")
    bpy.ops.robik.add_character()
    bpy.ops.robik.auto_map()
    robot = root.robik.robot
    robot.balance.mode, robot.balance.pin_feet = "AUTO", True
    bpy.ops.robik.bake()
    assert not robot.result.missed
    mechanism, frames = scenes.read(root), np.arange(20.0, 41.0)
    read = installed.module("scene.motion").read_values
    before = read(root, mechanism, frames, bpy.context.scene)
    robot.bake.use_range, robot.bake.start, robot.bake.end, robot.bake.blend = True, 20, 40, 0
    bpy.ops.robik.bake()
    assert (robot.result.frames, robot.result.missed) == (len(frames), 0)
    np.testing.assert_allclose(read(root, mechanism, frames, bpy.context.scene), before, atol=1e-4)


def test_own_range_says_what_the_rest_is_worth() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    result, bake = root.robik.robot.result, root.robik.robot.bake
    assert result.rest == ""
    bake.use_range, bake.start, bake.end, bake.blend = True, 8, 18, 2
    assert bpy.ops.robik.bake() == {"FINISHED"}
    first = result.rest
    assert "13 other samples of the bake before" in first
    kept = installed.module("scene.bake.kept_clip").kept_clip(root)
    assert kept.frames == pytest.approx(np.arange(1.0, 25.0))
    body = scenes.body_objects(root)[0]
    curve = installed.module("scene.animation.actions").curves_of(body)["location", 2]
    key = next(point for point in curve.keyframe_points if round(point.co.x) == 3)
    key.co.y += 0.5
    curve.update()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert result.rest != first
    assert result.rest_frame == 3
    assert result.rest_missed >= 1
    assert "the worst by" in result.rest
    bake.use_range = False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert result.rest == ""


def test_own_range_beside_keys_of_a_user_says_that_their_worth_is_not_known() -> None:
    root = scenes.squats()
    for frame in (1, 24):
        bpy.context.scene.frame_set(frame)
        bpy.ops.robik.key_pose()
    bake = root.robik.robot.bake
    bake.use_range, bake.start, bake.end, bake.blend = True, 8, 18, 0
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert "not known" in root.robik.robot.result.rest


def walk() -> bpy.types.Object:
    return scenes.kept(_walk)


def _walk() -> bpy.types.Object:
    bpy.context.scene.render.fps = 24
    root = scenes.import_robot("walker")
    bpy.ops.robik.add_character()
    bpy.ops.robik.auto_map()
    bpy.ops.robik.bake()
    return root


def poses(root: bpy.types.Object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the motors' keys of the walk, and the bodies' poses that they and the base's keys come to."""
    scene, mechanism = bpy.context.scene, scenes.read(root)
    at = np.arange(float(scene.frame_start), scene.frame_end + 1.0)
    motion = installed.module("scene.motion").read_motion(root, mechanism, at, scene)
    position, quaternion, _ = body_poses(mechanism, motion.values, (motion.base.position, motion.base.quaternion))
    return motion.values, position, quaternion


@pytest.mark.one_blender
@pytest.mark.parametrize(("frame", "by", "blend"), [("pelvis", -0.01, 5), ("foot_l", 0.004, 5), ("foot_l", 0.004, 0)])
def test_feet_stand_through_the_seams_of_an_own_range(frame: str, by: float, blend: int) -> None:
    """A foot that stands over a seam stays where it stood, though its target has moved."""
    root = walk()
    robot = root.robik.robot
    values, was, _ = poses(root)
    target = next(target for target in robot.character.targets if target.frame == frame)
    target.offset_location[2 if frame == "pelvis" else 1] += by
    bake = robot.bake
    bake.use_range, bake.start, bake.end, bake.blend = True, 30, 60, blend
    bpy.ops.robik.bake()
    assert (robot.result.frames, robot.result.missed, robot.result.beyond) == (31, 0, "")
    assert robot.result.start == 30
    again, position, quaternion = poses(root)
    first = bpy.context.scene.frame_start
    inside = slice(30 - first, 61 - first)
    outside = np.ones(len(again), bool)
    outside[inside] = False
    assert np.array_equal(again[outside], values[outside])
    assert np.abs(position - was)[inside].max() > 0.5 * abs(by)
    clip = installed.module("scene.bake.kept_clip").kept_clip(root).clip
    for name in ("foot_l", "foot_r"):
        place, _ = frame_poses(scenes.read(root), name, position, quaternion)
        stands = clip.tracks[name].contact
        moved = np.linalg.norm(np.diff(place, axis=0), axis=1)[stands[1:] & stands[:-1]]
        assert moved.max() < 1e-6, name
    if blend:
        turned = np.abs(np.diff(again, 2, axis=0)).max()
        assert turned < 1.2 * np.abs(np.diff(values, 2, axis=0)).max(), "it changes over smoothly"


@pytest.mark.one_blender
def test_a_cyclic_clip_leads_back_into_nothing() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    bake = root.robik.robot.bake
    bake.use_range, bake.start, bake.end, bake.cyclic = True, 8, 18, True
    with pytest.raises(RuntimeError, match="switch off Cyclic, or Own Range"):
        bpy.ops.robik.bake()
    bake.start, bake.end = 1, 24
    assert bpy.ops.robik.bake() == {"FINISHED"}


@pytest.mark.one_blender
def test_what_speeds_cost_is_told_of_the_own_range() -> None:
    root, _ = scenes.punches()
    robot = root.robik.robot
    robot.bake.velocity_share = 50.0
    bpy.ops.robik.bake()
    assert robot.result.speed_cost > 0
    robot.bake.use_range, robot.bake.start, robot.bake.end = True, 8, 18
    bpy.ops.robik.bake()
    assert robot.result.speed_cost > 0
    assert 8 <= robot.result.speed_frame <= 18
    assert robot.result.frames == 11
