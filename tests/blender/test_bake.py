"""The bake: what it follows, what it writes, what it leaves alone."""

from __future__ import annotations

from contextlib import suppress
from math import isnan

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics, body_poses
from bl_ext.user_default.robik.robik.objectives.settings import Settings

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def bake(root: bpy.types.Object) -> object:
    return installed.module("robik.steps").finish(installed.module("scene.bake.baking").bake_steps(bpy.context, root))


def frames() -> np.ndarray:
    return np.arange(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1.0)


def slider_curves(root: bpy.types.Object, at: np.ndarray) -> np.ndarray:
    names = scenes.read(root).actuators
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in names])


def test_boxer_does_what_its_hand_was_made_to_do() -> None:
    root, values = scenes.punches()
    root.robik.robot.bake.enforce_velocity = False  # a hand that is quicker than the motors
    motion = bake(root)
    assert np.nanmax(motion.report.position_error) < 1e-6
    assert np.nanmax(motion.report.orientation_error) < 1e-6
    assert np.abs(slider_curves(root, frames()) - values).max() < 1e-5


@pytest.mark.one_blender
def test_motors_keep_their_speed_unless_told_otherwise() -> None:
    root, _ = scenes.punches()
    mechanism = scenes.read(root)
    limits = np.array([joint.velocity_limit for joint in mechanism.actuated])
    step = bpy.context.scene.render.fps_base / bpy.context.scene.render.fps
    assert (np.abs(np.diff(bake(root).values, axis=0)) <= limits * step * (1 + 1e-9)).all()
    assert (np.abs(np.diff(slider_curves(root, frames()), axis=0)) <= limits * step + 1e-5).all()
    root.robik.robot.bake.enforce_velocity = False
    assert (np.abs(np.diff(bake(root).values, axis=0)) > limits * step).any()


@pytest.mark.parametrize("samples", [1, 3])
def test_curves_put_through_fk_are_the_bodies_keys(samples: int) -> None:
    root = scenes.squats()
    root.robik.robot.bake.samples = samples
    assert bpy.ops.robik.bake() == {"FINISHED"}
    mechanism, at = scenes.read(root), np.arange(24 * samples - samples + 1) / samples + 1
    keyed = np.stack([scenes.keyed_pose(b, at) for b in scenes.body_objects(root)], axis=1)
    base = keyed[:, mechanism.body_index[ForwardKinematics(mechanism).root]]
    turns = base[:, 3:] / np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
    position, quaternion, residual = body_poses(mechanism, slider_curves(root, at), (base[:, :3], turns))
    assert residual.max() < 1e-9
    assert np.abs(position - keyed[..., :3]).max() < 1e-6
    flip = np.sign((quaternion * keyed[..., 3:]).sum(axis=2, keepdims=True))
    assert np.abs(quaternion * flip - keyed[..., 3:]).max() < 1e-6
    assert np.ptp(keyed[..., 2], axis=0).max() > 0.03  # the pelvis did go down
    assert (np.einsum("tbk,tbk->tb", keyed[1:, :, 3:], keyed[:-1, :, 3:]) > 0.9).all()


def test_scene_plays_it() -> None:
    """Blender's own evaluation, frame by frame, shows the frames of the robot at their targets."""
    root = scenes.squats()
    root.location = (1.0, 2.0, 0.0)  # the whole robot stands elsewhere, and so do its targets
    root.robik.robot.character.location = root.location
    bpy.context.view_layer.update()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    pelvis = next(o for o in root.children_recursive if o.robik.kind == "FRAME" and o.robik.label == "pelvis")
    for frame in (1, 7, 13, 24):
        bpy.context.scene.frame_set(frame)
        wanted = bpy.data.objects["to pelvis"].matrix_world.translation + root.location
        assert (pelvis.matrix_world.translation - wanted).length < 1e-3


def test_result_is_kept() -> None:
    root = scenes.squats()
    motion = bake(root)
    result = root.robik.robot.result
    assert result.frames == 24
    assert [t.name for t in result.targets] == ["pelvis", "foot_l", "foot_r"]
    for k, target in enumerate(result.targets):
        worst = int(np.nanargmax(motion.report.position_error[:, k]))
        assert target.position_error == pytest.approx(motion.report.position_error[worst, k])
        assert target.frame == worst + 1
    peaks = motion.peak_velocity()
    assert {a.name: a.peak_velocity for a in result.actuators} == pytest.approx(peaks, rel=1e-5)
    assert result.residual == pytest.approx(motion.report.residual.max())
    assert 0 <= result.residual < 1e-9
    assert "24" in installed.module("scene.bake.result").status(result)


def test_targets_out_of_reach_are_reported_and_the_loops_hold() -> None:
    root = scenes.squats()
    next(t for t in root.robik.robot.character.targets if t.frame == "pelvis").offset_location = (0.0, 0.0, 0.3)
    motion = bake(root)
    assert root.robik.robot.result.missed == 24
    assert motion.report.residual.max() < 1e-9
    assert not any(isnan(v) for v in motion.values.ravel())


def settings_of(root: bpy.types.Object) -> Settings:
    return scenes.request_of(root).solver


@pytest.mark.one_blender
def test_weights_and_settings_reach_the_solver() -> None:
    root = scenes.squats()
    robot = root.robik.robot
    target = robot.character.targets[0]
    target.weight, target.position_weight, target.orientation_weight = 0.5, (1, 0.5, 0), (0, 0, 1)
    robot.balance.mode, robot.balance.weight = "AUTO", (2, 3, 4)
    robot.bake.soften, robot.bake.velocity_share, robot.bake.joint_limits = True, 50.0, False
    robot.balance.give_way = False
    settings = settings_of(root)
    assert settings.targets["pelvis"].position == (0.5, 0.25, 0.0)
    assert settings.targets["pelvis"].orientation == (0.0, 0.0, 0.5)
    assert settings.com_weight == (200.0, 300.0, 0.0)
    slowest = min(joint.velocity_limit for joint in scenes.read(root).actuated)
    assert settings.velocity_limit == pytest.approx(0.5 * slowest)
    assert (settings.velocity_share, settings.joint_limits) == (0.5, False)
    for joint in (o for o in root.children_recursive if o.robik.kind == "JOINT"):
        joint.robik.joint.velocity_limit = 3.5e38
    robot.bake.velocity_limit = 3.0  # nobody knows how fast its motors are
    assert settings_of(root).velocity_limit == 3.0
    assert settings.velocity_weight > 0


@pytest.mark.parametrize("steps", [1, 10, 25])
def test_stopping_leaves_nothing_behind(steps: int) -> None:
    root = scenes.squats()
    bpy.context.scene.frame_set(3)
    before = scenes.everything()
    running = installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    for _ in range(steps):
        next(running)
    running.close()
    assert scenes.everything() == before
    assert bpy.context.scene.frame_current == 3
    assert root.robik.robot.result.frames == 0
    assert installed.module("scene.robot.posing")._paused == 0


@pytest.mark.parametrize("removed", ["robot", "character", "scene"])
def test_stopping_after_something_was_removed_leaves_nothing_behind(removed: str) -> None:
    root, other = scenes.squats(), bpy.data.scenes.new("Other")
    bpy.ops.rigidbody.world_add()  # so that the scene itself goes through its frames
    running = installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    for _ in range(10):
        next(running)
    actions = len(bpy.data.actions)
    if removed == "scene":
        scene, bpy.context.window.scene = bpy.context.scene, other
        bpy.data.scenes.remove(scene)
    else:
        gone = root if removed == "robot" else root.robik.robot.character.targets[0].source
        bpy.data.batch_remove([*gone.children_recursive, gone])
    with suppress(ReferenceError):
        running.close()
    assert len(bpy.data.actions) <= actions
    assert len(bpy.data.scenes) == (1 if removed == "scene" else 2)
    assert installed.module("scene.robot.posing")._paused == 0


@pytest.mark.one_blender
def test_hips_give_way_to_balance() -> None:
    """With every weight at one the feet and the centre of mass are where they should be, though the character leans."""
    root = scenes.squats()
    robot = root.robik.robot
    bpy.data.objects["to pelvis"].delta_location.y = 0.05
    robot.balance.mode, robot.balance.pin_feet, robot.bake.enforce_velocity = "AUTO", True, False
    report = bake(root).report
    assert np.nanmax(report.com_error) < 1e-4
    assert np.nanmax(report.position_error) < 1e-4
    robot.balance.give_way = False
    assert settings_of(root).targets["pelvis"].position == (1.0, 1.0, 1.0)


def test_stillness_is_shown_in_steps_of_ten() -> None:
    root = scenes.squats()
    settings = root.robik.robot.bake
    assert settings.stillness == pytest.approx(2.07918, abs=1e-5)
    settings.stillness = 5.0
    assert settings_of(root).stillness == pytest.approx(1e-5, rel=1e-4)


def test_the_pull_to_the_rest_pose_is_set_in_steps_of_ten_and_reaches_the_solver() -> None:
    root = scenes.squats()
    bake = root.robik.robot.bake
    assert settings_of(root).posture == pytest.approx(2e-9)
    assert bake.posture == pytest.approx(1.30103, abs=1e-5)
    bake.posture = 4.0
    assert settings_of(root).posture == pytest.approx(1e-6, rel=1e-4)


def test_empty_range_is_refused() -> None:
    root = scenes.squats()
    root.robik.robot.bake.use_range, root.robik.robot.bake.start, root.robik.robot.bake.end = True, 8, 5
    with pytest.raises(RuntimeError, match="from 8 to 5"):
        bpy.ops.robik.bake()


def test_without_targets_or_robot_it_says_so() -> None:
    with pytest.raises(RuntimeError, match="no robot"):
        bpy.ops.robik.bake()
    scenes.import_robot("boxer")
    with pytest.raises(RuntimeError, match="follows nothing yet"):
        bpy.ops.robik.bake()


def test_rebuilding_bodies_follows_edited_curves() -> None:
    root, _ = scenes.punches()
    bake(root)
    curve = installed.module("scene.animation.actions").curves_of(root)['["elbow"]', 0]
    for key in curve.keyframe_points:
        key.co.y += 0.25
    curve.update()
    assert bpy.ops.robik.rebuild_bodies() == {"FINISHED"}
    mechanism = scenes.read(root)
    position, _, _ = body_poses(mechanism, slider_curves(root, frames()))
    keyed = np.stack([scenes.keyed_pose(b, frames()) for b in scenes.body_objects(root)], axis=1)
    assert np.abs(position - keyed[..., :3]).max() < 1e-6


def test_rebuilding_names_frames_whose_loops_do_not_close() -> None:
    root = scenes.squats(6)
    root.robik.robot.bake.enforce_velocity = False
    bake(root)
    for name in ("ankle_pitch_l", "ankle_roll_l", "knee_l"):
        curve = installed.module("scene.animation.actions").curves_of(root)[f'["{name}"]', 0]
        curve.keyframe_points[3].co.y += 2.5
        root.id_properties_ui(name).update(max=10.0)  # else Blender keeps the slider within the motor's limits
    broken = installed.module("scene.bake.curves").rebuild_bodies(root, bpy.context.scene)
    assert broken == [4.0]


def test_file_plays_without_the_add_on(tmp_path: object) -> None:
    root = scenes.squats(8)
    bake(root)
    bpy.context.scene.frame_set(5)
    shown = {o.name: np.array(o.matrix_world) for o in bpy.data.objects}
    bpy.ops.wm.save_as_mainfile(filepath=f"{tmp_path}/baked.blend")
    import addon_utils

    addon_utils.disable(installed.PACKAGE)
    try:
        bpy.ops.wm.open_mainfile(filepath=f"{tmp_path}/baked.blend")
        bpy.context.scene.frame_set(2)
        bpy.context.scene.frame_set(5)
        for name, matrix in shown.items():
            assert np.abs(np.array(bpy.data.objects[name].matrix_world) - matrix).max() < 1e-6, name
    finally:
        addon_utils.enable(installed.PACKAGE)
