"""A bake whose motors lose hold of the robot: what the Result panel keeps of it, and the preflight."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from bpy.types import Object

from tests.blender import installed, scenes
from tests.kinematics import five_bar

FRAMES = 31


@pytest.fixture
def root(empty_scene: None, tmp_path: Path) -> Object:
    """A five-bar on servos, whose hand follows an empty."""
    scenes.written_apart(tmp_path / "five.robik.json", "tests.kinematics.five_bar")
    bpy.ops.robik.import_robot(filepath=str(tmp_path / "five.robik.json"))
    return bpy.context.scene.robik.robot


def bake(root: Object, bottom: float) -> None:
    scenes.follow(scenes.empty(f"To {bottom}", five_bar.down(0.2, bottom, frames=FRAMES)), "hand")
    root.robik.robot.character.targets[-1].orientation_weight = (0.0, 0.0, 0.0)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    assert bpy.ops.robik.bake() == {"FINISHED"}


def test_result_says_where_hold_is_lost_and_the_preflight_refuses(root: Object) -> None:
    root.robik.robot.bake.hold = 0.0  # any pose
    bake(root, 0.05)
    result = root.robik.robot.result
    assert "the motors lose hold of the robot in frames" in result.hold
    assert "fore_l" in result.hold
    assert result.missed == 0
    z = five_bar.down(0.2, 0.05, frames=FRAMES)[result.hold_frame - 1, 2]
    assert five_bar.hold(0.004, z) < 0.1
    status = installed.module("scene.bake.result").status(result)
    assert "good" not in status
    assert "lose hold" in status
    with pytest.raises(RuntimeError, match="lose hold"):
        bpy.ops.robik.preflight()
    bpy.context.scene.robik.playing.lose_hold = True
    assert bpy.ops.robik.preflight() == {"FINISHED"}


@pytest.mark.one_blender
def test_a_bake_keeps_hold_by_default(root: Object) -> None:
    bake(root, 0.05)
    result = root.robik.robot.result
    assert result.hold == ""
    assert result.missed > 0
    assert bpy.ops.robik.preflight() == {"FINISHED"}


@pytest.mark.one_blender
def test_a_bake_that_keeps_hold_is_good(root: Object) -> None:
    bake(root, 0.15)
    result = root.robik.robot.result
    assert result.hold == ""
    assert "good" in installed.module("scene.bake.result").status(result)
    assert bpy.ops.robik.preflight() == {"FINISHED"}
