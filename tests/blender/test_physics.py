"""Test in Physics on the installed extension: the verdict stands in the result."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_bake_is_tested_in_physics_and_the_verdict_is_kept() -> None:
    root = scenes.squats()
    installed.module("scene.long_work.steps").finish(
        installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    )
    result = root.robik.robot.result
    assert result.physics == ""
    assert bpy.ops.robik.test_in_physics(trials=1) == {"FINISHED"}
    assert result.physics_stands == result.physics.startswith("Stands to the end in physics")
    assert result.physics_stands or f"Falls at frame {result.physics_frame} in physics: " in result.physics
    assert "most torque: " in result.physics_more


def test_progress_is_told_and_a_test_that_is_stopped_changes_nothing() -> None:
    root = scenes.squats()
    installed.module("scene.long_work.steps").finish(
        installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    )
    motors = installed.module("scene.robot.chain").robot_motors(root, bpy.context.scene)
    steps = installed.module("scene.bake.physics").physics_steps(bpy.context, root, motors, True, 20)
    for progress in steps:
        if progress.fraction:
            break
    assert 0.0 < progress.fraction < 1.0
    steps.close()
    assert root.robik.robot.result.physics == ""


def test_a_robot_without_curves_is_told() -> None:
    scenes.squats()
    with pytest.raises(RuntimeError, match=r"curve|keys|bake"):
        bpy.ops.robik.test_in_physics()
