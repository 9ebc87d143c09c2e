"""A character to try a robot with."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.robots import path
from mathutils import Vector

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_it_walks_beside_the_robot_and_is_followed() -> None:
    scene = bpy.context.scene
    bpy.ops.robik.import_robot(filepath=str(path("walker")))
    root = scene.robik.robot
    root.rotation_mode = "XYZ"
    root.location, root.rotation_euler.z = (1.0, 2.0, 0.5), radians(90)
    bpy.context.view_layer.update()
    assert bpy.ops.robik.add_character() == {"FINISHED"}
    rig = bpy.context.object
    assert (rig.type, rig.select_get()) == ("ARMATURE", True)
    np.testing.assert_allclose(
        rig.matrix_world.translation, (0.0, 2.0, 0.5), atol=1e-6
    )  # to the left of a robot that looks along Y
    bpy.ops.robik.auto_map()
    assert {t.frame: t.bone for t in root.robik.robot.character.targets} == {
        "pelvis": "hips",
        "foot_l": "foot.L",
        "foot_r": "foot.R",
    }
    bpy.ops.robik.bake()
    assert max(row.position_error for row in root.robik.robot.result.targets) < 1e-3
    robot, soles = scenes.read(root), []
    scene.frame_set(scene.frame_start)
    for body in scenes.body_objects(root):
        soles += [
            body.matrix_world @ Vector(f.pose.point(p))
            for f in robot.frames
            if f.body == body.robik.label
            for p in f.sole
        ]
    assert np.min(soles, axis=0)[2] == pytest.approx(0.5, abs=0.01), "it starts where the robot stands, and as high"
    np.testing.assert_allclose(np.mean(soles, axis=0)[:2], (1.0, 2.0), atol=0.1)
    hips = []
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        hips.append(np.array(rig.pose.bones["hips"].matrix.translation))
    np.testing.assert_allclose(hips[1] - hips[0], (0.0, -1.35, 0.0), atol=0.03)


def test_without_a_robot_it_stands_at_the_cursor() -> None:
    bpy.context.scene.cursor.location = (3.0, 0.0, 1.0)
    bpy.ops.robik.add_character()
    assert tuple(bpy.context.object.location) == (3.0, 0.0, 1.0)


def test_it_is_for_object_mode() -> None:
    bpy.ops.robik.add_character()
    bpy.ops.object.mode_set(mode="POSE")
    assert not bpy.ops.robik.add_character.poll()


def test_one_undo_takes_it_back() -> None:
    bpy.ops.ed.undo_push(message="Nothing")
    before = scenes.everything()
    assert bpy.ops.robik.add_character("EXEC_DEFAULT", True) == {"FINISHED"}
    assert scenes.everything() != before
    bpy.ops.ed.undo()
    assert scenes.everything() == before


def test_a_recording_comes_in_at_human_size_beside_the_robot(shared_data: Path) -> None:
    scene, root = bpy.context.scene, scenes.import_robot("walker")
    root.location = (1.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert bpy.ops.robik.import_recording(filepath=str(shared_data / "bvh" / "05_20-mb.bvh")) == {"FINISHED"}
    rig = bpy.context.object
    assert root.robik.robot.character.rig == rig
    assert scene.render.fps == 60, "the recording's 120 frames a second are brought to the scene's 60"
    assert abs(scene.frame_end - 1097 / 2) <= 1
    np.testing.assert_allclose(rig.location, (1.0, 1.0, 0.0), atol=1e-6)
    ends = np.array([rig.matrix_world @ bone.head_local for bone in rig.data.bones])
    assert 1.4 < np.ptp(ends[:, 2]) < 1.8, "1.7 m in the middle of the dance"
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    assert {t.frame: t.bone for t in root.robik.robot.character.targets} == {
        "pelvis": "Hips", "foot_l": "LeftFoot", "foot_r": "RightFoot"
    }  # fmt: skip


@pytest.mark.parametrize(
    "content", ["not a recording\n", "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 X", "", None]
)
def test_what_is_no_recording_leaves_nothing(tmp_path: Path, content: str | None) -> None:
    scenes.import_robot("walker")
    if content is not None:
        (tmp_path / "r.bvh").write_text(content)
    before = scenes.everything()
    with pytest.raises(RuntimeError, match=r"r\.bvh"):
        bpy.ops.robik.import_recording(filepath=str(tmp_path / "r.bvh"))
    assert scenes.everything() == before


def test_both_feet_stand_level_where_the_character_stands() -> None:
    """Whatever frame the character is laid over the robot in: there one foot may be in a swing."""
    root = scenes.import_robot("walker")
    assert bpy.ops.robik.add_character() == {"FINISHED"}
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    clip = scenes.followed(root)
    for foot in ("foot_l", "foot_r"):
        x, y = clip.tracks[foot].quaternion[:, 1:3].T
        stands = clip.tracks[foot].position[:, 2] < 1e-4
        assert stands.mean() > 0.3
        assert np.percentile(np.degrees(2.0 * np.hypot(x, y))[stands], 80) < 0.1
