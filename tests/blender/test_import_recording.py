"""Recordings of any unit and axes come into Blender as the library reads them, one after another."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.recordings.recording import load_recording

pytestmark = pytest.mark.usefixtures("empty_scene")

FILES = ["05_20-mb", "bvh_test1", "bvh_test3", "full_precision_frame_time"]
# A file with X up: its rest pose and its motion, hips turned by nothing.
ALONG_X = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Head
  {
    OFFSET 70 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 10 0 0
    }
  }
  JOINT LeftFoot
  {
    OFFSET -90 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 20
    }
  }
  JOINT RightFoot
  {
    OFFSET -90 -10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 20
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.041666667
90 0 0 0 0 0 0 0 0 0 0 0 0 0 0
90 0 5 0 10 0 0 0 5 0 0 0 0 0 0
90 0 9 0 20 0 0 0 9 0 3 0 0 0 0
"""


def places(rig: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    """Return where a rig's bones are in the world now (N, 3)."""
    return np.array([rig.matrix_world @ rig.pose.bones[name].head for name in names])


@pytest.mark.parametrize("name", [*FILES, "along X"])
def test_a_recording_stands_as_the_library_reads_it(shared_data: Path, tmp_path: Path, name: str) -> None:
    """Heights and distances of all bones, whichever axis of the file points up, whatever its unit."""
    file = shared_data / f"bvh/{name}.bvh"
    if name == "along X":
        file = tmp_path / "x.bvh"
        file.write_text(ALONG_X)
    scene = bpy.context.scene
    bpy.ops.robik.import_recording(filepath=str(file))
    rig = scene.objects[file.stem]
    read = load_recording(file)
    names = tuple(bone.name for bone in rig.pose.bones)
    own = [read.skeleton.index[bone] for bone in names]
    rate = scene.render.fps / scene.render.fps_base
    for k in {0, len(read.times) // 2, len(read.times) - 1}:
        frame = 1 + read.times[k] * rate
        scene.frame_set(int(frame + 1e-4), subframe=max(frame - int(frame + 1e-4), 0.0))
        seen, meant = places(rig, names), read.positions[k, own]
        assert seen[:, 2] - seen[0, 2] == pytest.approx(meant[:, 2] - meant[0, 2], abs=2e-3)
        assert np.linalg.norm(seen - seen[0], axis=1) == pytest.approx(
            np.linalg.norm(meant - meant[0], axis=1), abs=2e-3
        )


def test_one_recording_after_another_with_other_names(shared_data: Path) -> None:
    """Fit asks for no bones of the character before; what has nothing in the new one is switched off."""
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "unitree_g1/g1_29dof.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    targets = root.robik.robot.character.targets
    for name in ("bvh_test1", "05_20-mb", "bvh_test1"):
        assert bpy.ops.robik.import_recording(filepath=str(shared_data / f"bvh/{name}.bvh")) == {"FINISHED"}
        rig = root.robik.robot.character.rig
        assert bpy.ops.robik.auto_map() == {"FINISHED"}
        followed = [target for target in targets if target.enabled]
        assert {target.source for target in followed} == {rig}
        bones = {bone for t in followed for bone in (t.bone, t.reach_hips, t.reach_chest, t.reach_root, t.reach_middle)}
        assert bones - {""} <= {bone.name for bone in rig.pose.bones}


def test_what_the_next_recording_does_not_have_is_switched_off(shared_data: Path, tmp_path: Path) -> None:
    """Where most targets leave a character, none stays with it alone; one that follows an empty does."""
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "unitree_g1/g1_29dof.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    character = root.robik.robot.character
    bpy.ops.robik.import_recording(filepath=str(shared_data / "bvh/05_20-mb.bvh"))
    bpy.ops.robik.auto_map()
    by_bone = {target.bone: target for target in character.targets}
    empty = bpy.data.objects.new("elbow", None)
    bpy.context.scene.collection.objects.link(empty)
    by_bone["LeftForeArm"].source, by_bone["LeftForeArm"].bone = empty, ""
    (tmp_path / "x.bvh").write_text(ALONG_X)
    bpy.ops.robik.import_recording(filepath=str(tmp_path / "x.bvh"))
    bpy.ops.robik.auto_map(pairs=[{"name": by_bone["Hips"].frame, "use": True, "followed": "Hips"}])
    assert by_bone["LeftForeArm"].enabled
    assert not by_bone["LeftHand"].enabled
    assert {target.source for target in character.targets if target.enabled} == {empty, character.rig}


def test_a_recording_begins_with_the_scene_which_takes_its_length(shared_data: Path) -> None:
    """Beyond its end it would only stand still. Where something else moves, the scene is not cut."""
    scene, file = bpy.context.scene, str(shared_data / "bvh/bvh_test1.bvh")
    scene.frame_start, scene.frame_end, scene.render.fps = 11, 250, 30
    for last in (85, 300):
        bpy.ops.robik.import_recording(filepath=file)
        assert scene.frame_end == last
        assert tuple(bpy.context.object.animation_data.action.frame_range) == pytest.approx((11, 85), abs=0.01)
        scene.frame_end = 300


def test_a_character_that_lies_is_told_of(shared_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Blender's own importer takes Y for up, whatever the file says."""
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "unitree_g1/g1_29dof.xml")) == {"FINISHED"}
    bpy.ops.import_anim.bvh(filepath=str(shared_data / "bvh/bvh_test1.bvh"), global_scale=0.03)
    bpy.ops.robik.auto_map()
    assert (
        "bvh_test1 lies in most frames: if it should stand, turn it upright, then Fit to Robot"
        in capfd.readouterr().out
    )
    bpy.context.object.rotation_euler.x -= np.pi / 2
    bpy.ops.robik.fit_character()
    assert "lies" not in capfd.readouterr().out
