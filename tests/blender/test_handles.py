"""Handles: what a robot is taken hold of by, without a character."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes
from tests.blender.test_follow import beats, frame_object

pytestmark = pytest.mark.usefixtures("empty_scene")


def rows(root: bpy.types.Object) -> dict[str, bpy.types.Object]:
    return {row.frame: row.source for row in root.robik.robot.character.targets}


def test_handles_are_where_the_robot_stands_and_it_stays_there() -> None:
    root = scenes.import_robot("walker")
    root.location = (0.5, -0.3, 0.1)
    root["knee_l"] = 0.3
    bpy.context.view_layer.update()
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    assert list(rows(root)) == ["pelvis", "foot_l", "foot_r"]
    assert {handle.name for handle in bpy.context.selected_objects} == {handle.name for handle in rows(root).values()}
    for frame, handle in rows(root).items():
        assert np.abs(np.array(handle.matrix_world) - np.array(frame_object(root, frame).matrix_world)).max() < 1e-5
    assert root.robik.robot.follow.on
    root.robik.robot.balance.mode = "OFF"
    sliders = beats(root, 5)
    assert np.abs(sliders[-1] - sliders[0]).max() < 1e-4


def test_a_handle_that_is_dragged_takes_the_robot_along_and_keys_bake() -> None:
    root = scenes.import_robot("walker")
    root.robik.robot.balance.mode = "OFF"
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    hips, frame = rows(root)["pelvis"], frame_object(root, "pelvis")
    beats(root, 3)
    hips.location.z -= 0.03
    beats(root, 60)
    bpy.context.view_layer.update()
    assert (frame.matrix_world.translation - hips.matrix_world.translation).length < 1e-3
    hips.keyframe_insert("location", frame=1)
    hips.location.z += 0.02
    hips.keyframe_insert("location", frame=10)
    bpy.context.scene.frame_end = 10
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(10)
    assert (frame.matrix_world.translation - hips.matrix_world.translation).length < 1e-3


def test_a_robot_that_follows_a_character_is_left_alone() -> None:
    root, _ = scenes.punches(2)
    before = rows(root)
    with pytest.raises(RuntimeError, match="follows a character already, with its frame 'hand': remove its targets"):
        bpy.ops.robik.add_handles()
    assert rows(root) == before
    root.robik.robot.character.targets[0].enabled = False
    assert bpy.ops.robik.add_handles() == {"FINISHED"}


def test_reachy_minis_head_is_one_handle(reachy_mini: Path) -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    assert list(rows(root)) == ["head"]
    head = rows(root)["head"]
    beats(root, 3)
    head.location.z += 0.01
    beats(root, 60)
    bpy.context.view_layer.update()
    frame = frame_object(root, "head")
    assert (frame.matrix_world.translation - head.matrix_world.translation).length < 1e-4
    assert installed.module("scene.bake.follow").problem(root) == ""
