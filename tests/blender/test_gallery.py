"""The gallery in Blender: robots of the user's folders, their previews, and what comes with one that is chosen."""

from __future__ import annotations

import math
import time
from pathlib import Path

import bpy
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
SECONDS = 60.0  # that drawing two previews may take


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder of the user's that the gallery looks through."""
    preferences = bpy.context.preferences.addons[installed.PACKAGE].preferences
    before, preferences.gallery = preferences.gallery, f"{tmp_path};"
    yield tmp_path
    preferences.gallery = before


def shared(name: str) -> str:
    return next(entry.key for entry in installed.module("scene.importing.gallery").gallery() if entry.title == name)


def test_a_robot_of_the_gallery_comes_in_by_its_title() -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Four Bar") == {"FINISHED"}
    assert bpy.context.scene.robik.robot.robik.label == "four_bar"
    with pytest.raises(RuntimeError, match="the gallery has no robot 'Nobody'; there are ARM7, Boxer"):
        bpy.ops.robik.import_gallery_robot(robot="Nobody")


def test_servos_come_with_it_unless_the_scene_has_its_own(folders: Path) -> None:
    library = installed.module("robik.robots")
    for kind in ("robik.json", "servos.json"):
        (folders / f"mine.{kind}").write_bytes((library.FOLDER / f"walker.{kind}").read_bytes())
    assert bpy.ops.robik.import_gallery_robot(robot="mine") == {"FINISHED"}
    scene = bpy.context.scene
    assert '"hip_yaw_l"' in scene.robik.playing.chain
    scene.robik.playing.chain = "mine"
    assert bpy.ops.robik.import_gallery_robot(robot=shared("mine")) == {"FINISHED"}
    assert scene.robik.playing.chain == "mine"


@pytest.mark.one_blender
@pytest.mark.real_time
def test_an_arm_of_another_maker_is_animated_and_played_from_its_box(folders: Path, shared_data: Path) -> None:
    bpy.context.preferences.addons[installed.PACKAGE].preferences.gallery = str(shared_data)
    assert bpy.ops.robik.import_gallery_robot(robot="OMX-F") == {"FINISHED"}
    scene = bpy.context.scene
    assert bpy.ops.robik.add_handles() == {"FINISHED"}
    hand, jaw = (row.source for row in scene.robik.robot.robik.robot.character.targets)
    for frame, forward, opened in ((1, 0.0, 0.0), (20, -0.02, 0.5)):
        hand.location.x += forward
        jaw.rotation_euler.y = opened
        hand.keyframe_insert("location", frame=frame)
        jaw.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_end, scene.robik.port = 20, "sim"
    assert bpy.ops.robik.bake() == {"FINISHED"}
    play = installed.module("scene.servos.play")
    try:
        assert bpy.ops.robik.connect_servos() == {"FINISHED"}
        assert bpy.ops.robik.torque_servos(on=True) == {"FINISHED"}
        assert bpy.ops.robik.play_servos() == {"FINISHED"}
        goals = {id: state["goal_position"] for id, state in play.player().simulator.state().items()}
        assert sorted(goals) == list(range(11, 17))
        assert goals[16] == pytest.approx(2048 + 0.5 * 4096 / math.tau, abs=2)
    finally:
        play.disconnect(play.LEAVING)


def test_reachy_mini_comes_in_from_its_package_with_all_motors(reachy_mini: Path) -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert len(scenes.read(root).actuators) == 9
    assert '"id": 17' in bpy.context.scene.robik.playing.chain


def test_previews_are_drawn_in_the_background_and_again_for_a_changed_file(folders: Path) -> None:
    gallery = installed.module("scene.importing.gallery")
    file = folders / "mine.robik.json"
    file.write_bytes(installed.module("robik.robots").path("boxer").read_bytes())
    (folders / "broken.urdf").write_text("<robot name='x'>")
    found = [entry for entry in gallery.gallery() if entry.title in ("mine", "broken")]
    assert len(found) == 2
    assert not any(gallery.previews.picture(entry).exists() for entry in found)
    gallery.previews.want(found)
    until = time.monotonic() + SECONDS
    while gallery.previews.is_drawing and time.monotonic() < until:
        time.sleep(0.1)
    drawn = {entry.title: gallery.previews.picture(entry).exists() for entry in found}
    assert drawn == {"mine": True, "broken": False}  # which is no end of the gallery
    file.write_bytes(file.read_bytes() + b"\n")
    assert not gallery.previews.picture(found[-1]).exists()
