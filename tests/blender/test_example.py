"""An earlier motion as the example of a bake: poses like its, where the targets leave a choice."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import body_poses

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = 60


def manner(sway: float) -> np.ndarray:
    """A way of the arm's seven hinges (60, 7), elbow out."""
    t, out = np.arange(FRAMES) / 30, np.array([0.5, 0.7, -0.9, -1.4, 0.7, 1.1, 0.0])
    return out + sway * np.sin(np.pi * t)[:, None] * np.array([1.0, 0.5, -0.3, 0.8, 0.2, 0.1, 0.0])


def arm_with_a_motion() -> bpy.types.Object:
    """The arm, keyed by hand in that manner, and a place for its hand alone, on a way that was made in nearly the
    same."""
    root = scenes.import_robot("arm7")
    mechanism = scenes.read(root)
    for frame, values in enumerate(manner(0.2), start=1):
        for name, value in zip(mechanism.actuators, values, strict=True):
            root[name] = value
            root.keyframe_insert(f'["{name}"]', frame=frame)
    tool = mechanism.frame("tool")
    body = mechanism.body_index[tool.body]
    position, quaternion, _ = body_poses(mechanism, manner(0.15))
    path = [
        (type(tool.pose)(p, q) @ tool.pose).position
        for p, q in zip(position[:, body], quaternion[:, body], strict=True)
    ]
    scenes.follow(scenes.empty("to tool", np.array(path)), "tool")
    root.robik.robot.character.targets[0].orientation_weight = (0, 0, 0)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return root


def baked(root: bpy.types.Object) -> np.ndarray:
    """Bakes; the sliders' curves (60, 7)."""
    assert bpy.ops.robik.bake() == {"FINISHED"}
    at = np.arange(1.0, FRAMES + 1)
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in scenes.read(root).actuators])


def test_the_arm_moves_as_in_the_example_and_its_hand_meets_the_target() -> None:
    """Four of its seven degrees of freedom are left open."""
    root = arm_with_a_motion()
    bake, example = root.robik.robot.bake, root.animation_data.action
    assert np.abs(baked(root) - manner(0.15)).max() > 0.5, "the targets alone would have it move like this already"
    bake.example = example
    assert np.abs(baked(root) - manner(0.15)).max() < 0.1
    result = root.robik.robot.result
    assert result.missed == 0 and result.targets[0].position_error < 3e-4
    bake.likeness -= 5
    assert scenes.request_of(root).prior_weight == pytest.approx(1e-9)
    bpy.ops.robik.bake()
    assert result.targets[0].position_error < 3e-6, "a weaker pull costs the target less"


def test_an_earlier_bake_of_a_walker_is_an_example() -> None:
    """Its action holds 31 bodies too; loops stay closed, and a target that leaves no choice is met."""
    root = scenes.squats()
    bpy.ops.robik.bake()
    robot = root.robik.robot
    robot.bake.example = robot.bakes[0].parts[""].action
    for target in robot.character.targets:
        target.enabled = target.frame != "pelvis"
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert robot.result.residual < 1e-8 and robot.result.missed == 0
    lowest = [float(scenes.channel(root, '["knee_l"]', 0, np.array([12.0]))[0])]
    assert bpy.ops.robik.remove_bake(index=0) == {"FINISHED"}
    assert robot.bake.example is not None, "an example is kept, whatever becomes of the bake"
    bpy.ops.robik.bake()
    assert scenes.channel(root, '["knee_l"]', 0, np.array([12.0]))[0] == pytest.approx(lowest[0], abs=1e-3)


def test_it_is_saved_and_undone(tmp_path: Path) -> None:
    root = arm_with_a_motion()
    name = root.animation_data.action.name
    bpy.ops.ed.undo_push(message="before")
    root.robik.robot.bake.example, root.robik.robot.bake.likeness = root.animation_data.action, 5.0
    bpy.ops.ed.undo_push(message="example")
    bpy.ops.ed.undo()
    assert bpy.context.scene.robik.robot.robik.robot.bake.example is None
    bpy.ops.ed.redo()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "example.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "example.blend"))
    bake = bpy.context.scene.robik.robot.robik.robot.bake
    assert bake.example.name == name and bake.likeness == pytest.approx(5.0)


def test_what_cannot_be_an_example_is_not_offered_and_said() -> None:
    root = arm_with_a_motion()
    offered, bake = installed.module("scene.bake.example").can_be_example, root.robik.robot.bake
    own, other = root.animation_data.action, bpy.data.objects["to tool"].animation_data.action
    assert offered(bake, own) and not offered(bake, other)
    before = scenes.everything()
    for curves in (other, _only_one_motor(root)):
        bake.example = curves
        with pytest.raises(
            RuntimeError, match="cannot be the example under Bake > Style > Poses Like: it has no keys of the motor"
        ):
            bpy.ops.robik.bake()
    assert scenes.everything() == before | {"actions": before["actions"] + 1}


def _only_one_motor(root: bpy.types.Object) -> bpy.types.Action:
    """An action that moves one motor, made beside the robot's own."""
    own, slot = installed.module("scene.animation.actions").assigned(root)
    root.animation_data.action = made = bpy.data.actions.new("one motor")
    root.keyframe_insert(f'["{scenes.read(root).actuators[0]}"]', frame=1)
    installed.module("scene.animation.actions").assign(root, own, slot)
    return made


@pytest.mark.one_blender
def test_followed_live_it_takes_the_same_poses() -> None:
    """What a bake would make of the pose, shown at once."""
    root = arm_with_a_motion()
    robot = root.robik.robot
    robot.bake.example = root.animation_data.action
    root.animation_data.action = None
    robot.follow.on = True
    names, module = scenes.read(root).actuators, installed.module("scene.bake.follow")
    for k in (4, 0):
        bpy.context.scene.frame_set(1 + k)
        for _ in range(80):
            bpy.context.view_layer.update()
            assert module.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60), module.problem(
                root
            )
        assert np.abs(np.array([root[n] for n in names]) - manner(0.15)[k]).max() < 0.1
    robot.bake.example = bpy.data.objects["to tool"].animation_data.action
    assert not module.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)
    assert "cannot be the example" in module.problem(root)
