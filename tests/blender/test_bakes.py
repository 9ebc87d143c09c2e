"""Every bake has its action: old ones are kept and can be gone back to."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def slider_curves(root: bpy.types.Object, at: np.ndarray) -> np.ndarray:
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in scenes.read(root).actuators])


def shown(root: bpy.types.Object) -> np.ndarray:
    return np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])


def lower(root: bpy.types.Object, by: float = 0.03) -> None:
    """Changes what the pelvis follows."""
    target = next(t for t in root.robik.robot.character.targets if t.frame == "pelvis")
    target.offset_location[2] -= by


def two_bakes() -> bpy.types.Object:
    return scenes.kept(_two_bakes)


def _two_bakes() -> bpy.types.Object:
    root = scenes.add_squats()
    bpy.ops.robik.bake()
    lower(root)
    bpy.ops.robik.bake()
    return root


def test_bakes_are_kept_and_can_be_changed_between() -> None:
    root = two_bakes()
    robot = root.robik.robot
    assert [bake.name for bake in robot.bakes] == ["walker bake 1", "walker bake 2"]
    at = np.arange(1.0, 25.0)
    second, errors = slider_curves(root, at), [t.position_error for t in robot.result.targets]
    bpy.context.scene.frame_set(12)
    standing = shown(root)
    assert bpy.ops.robik.use_bake(index=0) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert np.abs(slider_curves(root, at) - second).max() > 0.05
    assert np.abs(shown(root) - standing).max() > 0.01
    assert bpy.ops.robik.use_bake(index=1) == {"FINISHED"}
    assert slider_curves(root, at) == pytest.approx(second)
    assert shown(root) == pytest.approx(standing, abs=1e-6)
    assert [t.position_error for t in robot.result.targets] == errors


def test_the_oldest_bake_goes_unless_it_was_given_a_name() -> None:
    root = two_bakes()
    robot = root.robik.robot
    robot.bakes[0].name, robot.bake.keep = "the good one", 2
    before = len(bpy.data.actions)
    for _ in range(2):
        bpy.ops.robik.bake()
    assert [bake.name for bake in robot.bakes] == ["the good one", "walker bake 4"]
    assert installed.module("scene.bake.bakes").in_use(root) == 1
    assert len(bpy.data.actions) == before, "curves of bakes that are gone do not stay in the file"
    assert bpy.ops.robik.use_bake(index=0) == {"FINISHED"}
    bpy.ops.robik.bake()
    assert [bake.name for bake in robot.bakes] == ["the good one", "walker bake 5"]


def test_one_action_a_bake_where_actions_have_slots() -> None:
    root = two_bakes()
    empties = 3
    objects = 1 if installed.module("scene.animation.actions").SLOTS else 32
    assert len(bpy.data.actions) == empties + 2 * objects
    assert bpy.ops.robik.remove_bake(index=0) == {"FINISHED"}
    assert len(bpy.data.actions) == empties + objects
    assert installed.module("scene.bake.bakes").in_use(root) == 0
    assert bpy.ops.robik.remove_bake(index=0) == {"FINISHED"}
    assert len(bpy.data.actions) == empties
    assert installed.module("scene.bake.bakes").in_use(root) == -1
    assert root.robik.robot.result.frames == 0
    with pytest.raises(RuntimeError, match="no bake"):
        bpy.ops.robik.remove_bake(index=0)


def test_without_the_bake_that_moved_it_the_robot_says_that_others_are_kept() -> None:
    root = scenes.squats(frames=3)
    status = installed.module("scene.bake.result").status
    assert status(root.robik.robot.result) == "no bake yet"
    bpy.ops.robik.bake()
    bpy.ops.robik.bake()
    bpy.ops.robik.remove_bake(index=1)
    assert "choose one" in status(root.robik.robot.result)
    bpy.ops.robik.use_bake(index=0)
    assert "meet their targets" in status(root.robik.robot.result)


def test_what_was_keyed_by_hand_is_kept_too() -> None:
    root = scenes.squats()
    root["knee_l"] = 0.5
    root.keyframe_insert('["knee_l"]', frame=3)
    root.keyframe_insert("location", frame=3)
    bpy.ops.robik.bake()
    robot = root.robik.robot
    assert len(robot.bakes) == 2
    assert ("location", 0) in installed.module("scene.animation.actions").curves_of(
        root
    )  # a bake leaves what is not its own
    bpy.ops.robik.use_bake(index=0)
    keys = installed.module("scene.animation.actions").curves_of(root)['["knee_l"]', 0].keyframe_points
    assert [tuple(k.co) for k in keys] == [(3.0, 0.5)]
    assert not any(b.animation_data.action for b in scenes.body_objects(root))


def test_bakes_survive_saving(tmp_path: object) -> None:
    two_bakes()
    bpy.ops.wm.save_as_mainfile(filepath=f"{tmp_path}/two.blend")
    bpy.ops.wm.open_mainfile(filepath=f"{tmp_path}/two.blend")
    root = bpy.context.scene.robik.robot
    at = np.arange(1.0, 25.0)
    second = slider_curves(root, at)
    bpy.ops.robik.use_bake(index=0)
    assert np.abs(slider_curves(root, at) - second).max() > 0.05


def test_reloaded_robot_keeps_its_bakes_and_leaves_nothing() -> None:
    root = two_bakes()
    before, at = scenes.everything(), np.arange(1.0, 25.0)
    values = slider_curves(root, at)
    bpy.context.scene.frame_set(12)
    stood = shown(root)
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert scenes.everything() == before
    assert slider_curves(root, at) == pytest.approx(values)
    bpy.context.scene.frame_set(12)
    assert shown(root) == pytest.approx(stood, abs=1e-6)


def test_speed_slider_and_what_it_costs() -> None:
    root, _ = scenes.punches()
    robot = root.robik.robot
    costs = []
    for speed in (100.0, 50.0):
        robot.bake.velocity_share = speed
        bpy.ops.robik.bake()
        peak = max(a.peak_velocity / a.velocity_limit for a in robot.result.actuators)
        assert peak == pytest.approx(speed / 100, rel=1e-3)
        costs.append(robot.result.speed_cost)
        assert robot.result.held_back > 0
        assert 1 <= robot.result.speed_frame <= 24
    assert costs[1] > 1.5 * costs[0] > 0
    robot.bake.enforce_velocity = False
    bpy.ops.robik.bake()
    assert robot.result.speed_cost == 0
    assert robot.result.held_back == 0


def test_softening_slows_every_motor() -> None:
    root, values = scenes.punches()
    bake = root.robik.robot.bake
    bake.enforce_velocity, bake.soften, bake.velocity_share = False, True, 50.0
    bpy.ops.robik.bake()
    wanted = bpy.context.scene.render.fps * np.abs(np.diff(values, axis=0)).max(axis=0)
    assert (np.array([a.peak_velocity for a in root.robik.robot.result.actuators]) < 0.8 * wanted).all()
