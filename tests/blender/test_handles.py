"""Handles: what a robot is taken hold of by, without a character."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes
from tests.blender.test_follow import beats, frame_object, rest

pytestmark = pytest.mark.usefixtures("empty_scene")


def rows(root: bpy.types.Object) -> dict[str, bpy.types.Object]:
    return {row.frame: row.source for row in root.robik.robot.character.targets}


def test_handles_are_where_the_robot_stands_and_it_stays_there() -> None:
    root = scenes.import_robot("walker")
    root.location = (0.5, -0.3, 0.1)
    root["knee_l"] = 0.2  # at 0.3 its shank would be 4 mm in its foot, and come out
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
    rest(root, 60)
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


def test_reachy_minis_head_goes_with_its_handle(reachy_mini: Path) -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    assert len(rows(root)) == 4
    head = rows(root)["head"]
    beats(root, 3)
    head.location.z += 0.01
    rest(root, 60)
    bpy.context.view_layer.update()
    frame = frame_object(root, "head")
    assert (frame.matrix_world.translation - head.matrix_world.translation).length < 1e-4
    assert installed.module("scene.bake.follow").problem(root) == ""


def turned(root: bpy.types.Object, frame: str, axis: int, by: float) -> None:
    """Turn a handle about one of its own axes, and let the robot follow."""
    handle = rows(root)[frame]
    handle.rotation_euler[axis] += by
    rest(root, 60)
    bpy.context.view_layer.update()


@pytest.mark.one_blender
def test_what_one_motor_turns_has_a_ring_that_goes_along(reachy_mini: Path) -> None:
    """The turn of the body takes the head along, and the head its antennas."""
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    body, head, right, left = rows(root).values()
    assert [handle.parent for handle in (body, head, right, left)] == [None, body, head, head]
    assert [tuple(handle.lock_rotation) for handle in (body, right, left)] == [(True, False, True)] * 3
    still = beats(root, 3)
    turned(root, "dc15_a01_horn_dummy_7", 1, 0.5)
    moved = beats(root, 3)[-1] - still[-1]
    names = list(scenes.read(root).actuators)
    assert abs(moved[names.index("right_antenna")]) == pytest.approx(0.5, abs=2e-3)
    assert np.abs(np.delete(moved, names.index("right_antenna"))).max() < 2e-3
    turned(root, "body_down_3dprint", 1, 0.4)
    moved = beats(root, 3)[-1] - still[-1]
    assert abs(moved[names.index("yaw_body")]) == pytest.approx(0.4, abs=2e-3)
    frame = frame_object(root, "head")
    assert np.abs(np.array(frame.matrix_world) - np.array(head.matrix_world)).max() < 2e-3
    assert np.abs(np.delete(moved, [names.index(n) for n in ("yaw_body", "right_antenna")])).max() < 5e-3


@pytest.mark.one_blender
def test_a_head_can_look_at_a_handle(reachy_mini: Path) -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles(look_at=True) == {"FINISHED"}
    seen = next(row.source for row in root.robik.robot.character.targets if row.follows == "LOOK_AT")
    before = beats(root, 3)
    assert np.abs(before[-1] - before[0]).max() < 1e-3
    seen.location.z += 0.15 * (seen.location.x - frame_object(root, "head").matrix_world.translation.x)
    rest(root, 90)
    bpy.context.view_layer.update()
    head = frame_object(root, "head").matrix_world
    row = next(row for row in root.robik.robot.character.targets if row.follows == "LOOK_AT")
    axis = head.to_3x3() @ type(seen.location)(installed.module("scene.character.settings").AXES[row.axis])
    way = (seen.location - head.translation).normalized()
    assert axis.angle(way) < 0.02
    assert way.z > 0.1


def test_a_finger_that_slides_follows_along_its_axis(shared_data: Path) -> None:
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "trossen_wx250s/wx250s.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    hand, finger = rows(root).values()
    assert (finger.parent, tuple(finger.lock_location), tuple(finger.lock_rotation)) == (
        hand,
        (True, False, True),
        (True, True, True),
    )
    before = root["left_finger"]
    finger.location.y += 0.01
    rest(root, 60)
    assert root["left_finger"] - before == pytest.approx(0.01, abs=2e-4)


@pytest.mark.one_blender
def test_a_ring_that_hangs_on_a_ring_starts_where_the_robot_is(shared_data: Path) -> None:
    """The third toe's motors follow one another."""
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "iit_softfoot/softfoot.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    root.robik.robot.balance.mode = "OFF"
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    inner, outer = rows(root)["phalanx_6_3"], rows(root)["distal_phalanx_3"]
    assert outer.parent == inner
    outer.rotation_euler.y += 0.2
    bpy.context.scene.frame_end = 1
    assert bpy.ops.robik.bake() == {"FINISHED"}
    turns = {row.name: row.orientation_error for row in root.robik.robot.result.targets if ".in." in row.name}
    assert len(turns) == 2
    assert max(turns.values()) < 1e-3


def test_a_look_without_a_head_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    scenes.import_robot("boxer")
    assert bpy.ops.robik.add_handles(look_at=True) == {"FINISHED"}
    assert "Robot 'boxer' has no head that could look at a handle" in capfd.readouterr().out


def test_a_gripper_has_a_ring_and_its_keys_bake(shared_data: Path) -> None:
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "robotis_omx/omx.xml")) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    assert list(rows(root)) == ["link5", "link6"]
    hand, jaw = rows(root).values()
    hand.location.x -= 0.02
    hand.location.y += 0.03
    hand.location.z -= 0.01
    jaw.keyframe_insert("rotation_euler", frame=1)
    jaw.rotation_euler.y += 0.6
    jaw.keyframe_insert("rotation_euler", frame=12)
    bpy.context.scene.frame_end = 12
    assert bpy.ops.robik.bake() == {"FINISHED"}
    opened = scenes.channel(root, '["Gripper"]', 0, np.array([1.0, 12.0]))
    assert opened[1] - opened[0] == pytest.approx(0.6, abs=0.01)
    assert max(target.position_error for target in root.robik.robot.result.targets) < 1e-3  # of five motors
