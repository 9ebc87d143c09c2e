"""Flipped poses and mirrored motions in Blender."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import scenes
from tests.blender.test_follow import frame_object

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_pose_is_flipped_and_back() -> None:
    root = scenes.import_robot("walker")
    root["knee_l"], root["hip_roll_r"] = 0.4, 0.2
    assert bpy.ops.robik.flip_pose() == {"FINISHED"}
    assert (root["knee_l"], root["knee_r"]) == (pytest.approx(0.0), pytest.approx(0.4))
    assert root["hip_roll_l"] == pytest.approx(0.2)
    assert bpy.ops.robik.flip_pose() == {"FINISHED"}
    assert root["knee_l"] == pytest.approx(0.4)
    scenes.import_robot("boxer")
    with pytest.raises(RuntimeError, match="is not symmetric"):
        bpy.ops.robik.flip_pose()


def test_a_bakes_image_is_a_bake_of_its_own() -> None:
    root = scenes.squats(4)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    scene, bakes = bpy.context.scene, len(root.robik.robot.bakes)
    frame = scene.frame_start + 2

    def feet() -> dict[str, np.ndarray]:
        scene.frame_set(frame)
        return {name: np.array(frame_object(root, name).matrix_world.translation) for name in ("foot_l", "foot_r")}

    before = feet()
    assert bpy.ops.robik.mirror_motion() == {"FINISHED"}
    assert len(root.robik.robot.bakes) == bakes + 1
    after, mirror = feet(), np.array([1.0, -1.0, 1.0])
    assert np.abs(after["foot_r"] - mirror * before["foot_l"]).max() < 1e-4
    assert np.abs(after["foot_l"] - mirror * before["foot_r"]).max() < 1e-4


def test_without_a_motion_there_is_no_image() -> None:
    scenes.import_robot("walker")
    with pytest.raises(RuntimeError, match=r"no keys|bake"):
        bpy.ops.robik.mirror_motion()
