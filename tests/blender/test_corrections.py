"""What is changed by hand on a bake is a layer that the next bake keeps."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
AT, BY = np.arange(1.0, 25.0), 0.05  # frames, and by how much a motor is changed [rad]


def curves(root: bpy.types.Object) -> np.ndarray:
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, AT) for name in scenes.read(root).actuators])


def change(root: bpy.types.Object, motor: int) -> None:
    """Lift the curve of a motor, as one does in the graph editor."""
    path = f'["{scenes.read(root).actuators[motor]}"]'
    curve = installed.module("scene.animation.actions").curves_of(root)[path, 0]
    for point in curve.keyframe_points:
        point.co.y += BY
        point.handle_left.y += BY
        point.handle_right.y += BY
    curve.update()


def lower(root: bpy.types.Object) -> None:
    """Changes what the pelvis follows."""
    target = next(t for t in root.robik.robot.character.targets if t.frame == "pelvis")
    target.offset_location[2] -= 0.01


def bodies_follow(root: bpy.types.Object) -> bool:
    return not installed.module("scene.bake.judging").judge_again(root, bpy.context.scene)


def test_a_change_by_hand_survives_the_next_bake() -> None:
    root = scenes.squats()
    robot = root.robik.robot
    bpy.ops.robik.bake()
    assert not robot.result.corrected
    change(root, 3)
    lower(root)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    changed, met = curves(root), robot.result.missed
    assert robot.result.corrected
    assert met == len(AT)  # judged as it is: a foot is elsewhere
    assert not installed.module("scene.bake.freshness").is_out_of_date(root, bpy.context.scene)
    assert bodies_follow(root)
    assert bpy.ops.robik.bake() == {"FINISHED"}  # and the one after that
    assert curves(root) == pytest.approx(changed, abs=1e-6)
    robot.bake.corrections = False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    plain = curves(root)
    lifted = np.zeros(plain.shape[1])
    lifted[3] = BY
    assert changed - plain == pytest.approx(np.tile(lifted, (len(AT), 1)), abs=1e-5)
    assert not robot.result.corrected
    robot.bake.corrections = True
    assert bpy.ops.robik.bake() == {"FINISHED"}  # nothing was changed on that one
    assert curves(root) == pytest.approx(plain, abs=1e-6)
    assert bpy.ops.robik.use_bake(index=1) == {"FINISHED"}  # a bake brings its own changes along
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert curves(root) == pytest.approx(changed, abs=1e-5)


@pytest.mark.one_blender
def test_reduced_keys_are_no_change_by_hand_and_limits_hold() -> None:
    root = scenes.squats()
    robot = root.robik.robot
    bpy.ops.robik.bake()
    plain = curves(root)
    change(root, 3)
    assert bpy.ops.robik.reduce_keys(angle=0.01) == {"FINISHED"}
    assert bpy.ops.robik.bake() == {"FINISHED"}
    lifted = np.zeros(plain.shape[1])
    lifted[3] = BY
    assert curves(root) - plain == pytest.approx(np.tile(lifted, (len(AT), 1)), abs=1e-5)
    for _ in range(60):
        change(root, 3)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert curves(root)[:, 3].max() <= scenes.read(root).actuator_limits[3, 1] + 1e-6
    assert robot.result.corrected


@pytest.mark.one_blender
def test_a_range_of_its_own_keeps_what_was_changed_elsewhere() -> None:
    root = scenes.squats()
    robot = root.robik.robot
    bpy.ops.robik.bake()
    plain = curves(root)
    change(root, 3)
    robot.bake.use_range, robot.bake.first, robot.bake.last, robot.bake.blend = True, 8, 12, 0
    assert bpy.ops.robik.bake() == {"FINISHED"}
    robot.bake.use_range = False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert curves(root)[:, 3] - plain[:, 3] == pytest.approx(BY, abs=1e-5)
