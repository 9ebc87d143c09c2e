"""Loops of a character's motion: the end runs into the beginning in place, in value and in speed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bpy.types import Object

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
FIRST, LAST = 201, 260  # of the character's walk, in the middle of a step
FRAMES = range(FIRST, LAST + 1)


@pytest.fixture
def walker(empty_scene: None) -> Object:
    """A character cut out of its walk; its robot follows nothing."""
    scenes.kept(cut_out)
    return bpy.data.objects["Character"]


def cut_out() -> None:
    scenes.import_robot("walker")
    assert bpy.ops.robik.add_character() == {"FINISHED"}
    rig = bpy.data.objects["Character"]
    bpy.context.scene.robik.robot.robik.robot.character.rig = rig
    for curve in curves_of(rig):
        for k in reversed(range(len(curve.keyframe_points))):
            if not FIRST <= curve.keyframe_points[k].co.x <= LAST:
                curve.keyframe_points.remove(curve.keyframe_points[k], fast=True)
        curve.update()


def curves_of(rig: Object) -> list:
    action = rig.animation_data.action
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    return [c for layer in action.layers for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves]


def poses(rig: Object, frames: range) -> np.ndarray:
    """Of all bones in the world (T, bones, 4, 4)."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([np.array(rig.matrix_world @ bone.matrix) for bone in rig.pose.bones])
    return np.array(found)


def test_the_end_runs_into_the_beginning_in_place(walker: Object) -> None:
    before, action = poses(walker, FRAMES), walker.animation_data.action
    way = np.linalg.norm((before[-1] - before[0])[:, :2, 3], axis=1).max()
    assert way > 0.5, "it walks"
    assert np.abs(before[-1] - before[0])[:, :3, :3].max() > 0.2, "in another pose"
    assert bpy.ops.robik.make_loop(blend=15) == {"FINISHED"}
    assert walker.animation_data.action != action
    assert walker.animation_data.action.name == f"{action.name}, loop"
    after = poses(walker, FRAMES)
    np.testing.assert_allclose(after[-1], after[0], atol=2e-5)
    twice = np.concatenate([after, after[1:]])
    steps = np.abs(np.diff(twice, axis=0)).max(axis=(1, 2, 3))
    assert steps[len(FRAMES) - 3 : len(FRAMES) + 2].max() < 1.05 * steps[: len(FRAMES) - 1].max(), (
        "no jump over the seam"
    )
    bends = np.abs(np.diff(twice, 2, axis=0)).max(axis=(1, 2, 3))
    assert bends[len(FRAMES) - 3 : len(FRAMES) + 2].max() < 1.05 * bends[: len(FRAMES) - 3].max(), (
        "nor one of its speed"
    )
    np.testing.assert_allclose(after[:-15, :, :3, :3], before[:-15, :, :3, :3], atol=2e-5)
    assert walker.animation_data.action.users == 1
    bpy.context.scene.frame_set(FIRST)
    walker.animation_data.action = action
    np.testing.assert_allclose(poses(walker, FRAMES), before, atol=1e-6)  # the original is as it was


@pytest.mark.one_blender
def test_its_way_can_stay(walker: Object) -> None:
    before = poses(walker, FRAMES)
    assert bpy.ops.robik.make_loop(blend=15, way="KEEP") == {"FINISHED"}
    after = poses(walker, FRAMES)
    np.testing.assert_allclose(after[:-15], before[:-15], atol=2e-5)
    gone = after[-1] - after[0]
    np.testing.assert_allclose(gone[:, :3, :3], 0.0, atol=2e-5)
    np.testing.assert_allclose(gone[:, :3, 3], np.tile(gone[0, :3, 3], (len(gone), 1)), atol=2e-5)
    assert abs(gone[0, 2, 3]) < 2e-5, "level"
    np.testing.assert_allclose(gone[0, :2, 3], (before[-1] - before[0])[0, :2, 3], atol=2e-5)


@pytest.mark.one_blender
def test_it_bakes_as_a_loop(walker: Object) -> None:
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.make_loop() == {"FINISHED"}
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    root.robik.robot.bake.cyclic = True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    sliders = [c for c in curves_of(root) if c.data_path.startswith("[")]
    assert len(sliders) > 8
    ends = np.array([[c.evaluate(FIRST), c.evaluate(LAST)] for c in sliders])
    np.testing.assert_allclose(ends[:, 0], ends[:, 1], atol=1e-6)
    assert np.ptp([[c.evaluate(f) for f in FRAMES] for c in sliders], axis=1).max() > 0.2


def test_what_has_no_motion_is_no_loop(walker: Object) -> None:
    walker.animation_data_clear()
    with pytest.raises(RuntimeError, match="Character has no action with keys"):
        bpy.ops.robik.make_loop()
    walker.rotation_mode = "XYZ"
    for frame in (1, 3):
        walker.keyframe_insert("rotation_euler", frame=frame)
    with pytest.raises(RuntimeError, match="has 3 frames; a loop needs 5 at least"):
        bpy.ops.robik.make_loop()


def test_keys_between_frames_and_bones_that_stand_do_not_keep_it_from_closing(walker: Object) -> None:
    """As in a BVH at another rate: the last key lies behind the last whole frame, and each bone has a location."""
    for curve in curves_of(walker):
        for point in curve.keyframe_points:
            point.co.x += 0.4
        curve.update()
    still = walker.pose.bones["foot_control.L"]
    still.location = (0.0, 0.0, 0.0)
    for frame in (FIRST, LAST):
        still.keyframe_insert("location", frame=frame)
    assert bpy.ops.robik.make_loop(blend=15) == {"FINISHED"}
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (FIRST, LAST)
    after = poses(walker, FRAMES)
    np.testing.assert_allclose(after[-1], after[0], atol=2e-5)
    bpy.context.scene.frame_set(LAST, subframe=0.6)
    now = np.array([walker.matrix_world @ bone.matrix for bone in walker.pose.bones])
    assert np.abs(now - after[0]).max() < 2 * np.abs(np.diff(after, axis=0)).max(), (
        "nor does it jump back behind its end"
    )


def test_whole_turns_of_an_angle_are_kept(walker: Object) -> None:
    """A rig that spins by 350° goes on to 360, not back to 0."""
    walker.animation_data_clear()
    walker.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (41, np.radians(350.0))):
        walker.rotation_euler.z = angle
        walker.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves_of(walker):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    assert bpy.ops.robik.make_loop(blend=10) == {"FINISHED"}
    turn = next(c for c in curves_of(walker) if c.data_path == "rotation_euler" and c.array_index == 2)
    assert turn.evaluate(41) == pytest.approx(2 * np.pi, abs=1e-5)
    assert min(np.diff([turn.evaluate(f) for f in range(1, 42)])) > 0.0
