"""The first minute with RobIK: what comes in is beside what is there and selected, everything is found, and no result
is out of date."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def box(objects: list[bpy.types.Object]) -> np.ndarray:
    corners = np.array([o.matrix_world @ Vector(c) for o in objects if o.type == "MESH" for c in o.bound_box])
    return np.array([corners.min(axis=0), corners.max(axis=0)])


def test_a_robot_arrives_beside_the_default_cube_and_selected_as_a_whole() -> None:
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    cube = bpy.context.object
    root = scenes.import_robot("walker")
    bpy.context.view_layer.update()
    selected = bpy.context.selected_objects
    robot, other = box(root.children_recursive), box([cube])
    assert robot[1, 1] < other[0, 1], "it stands before the cube, where Blender's first view looks from"
    assert cube not in selected
    assert bpy.context.view_layer.objects.active == root
    assert np.allclose(box(selected), robot, atol=0.02), "View Selected shows another place than the robot"


@pytest.mark.parametrize("size", [(20.0, 20.0, 0.0), (6.0, 6.0, 3.0)])
def test_on_a_floor_or_in_a_room_it_stands_at_the_origin(size: tuple[float, float, float]) -> None:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 0.5 * size[2]))
    bpy.context.object.scale = size
    bpy.context.view_layer.update()
    assert tuple(scenes.import_robot("walker").location) == (0.0, 0.0, 0.0)


def test_the_walking_character_stands_where_the_frame_says() -> None:
    assert bpy.ops.robik.add_character() == {"FINISHED"}
    hips = bpy.context.object.pose.bones["hips"]
    bpy.context.view_layer.update()
    shown = np.array(hips.matrix.translation)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert np.allclose(shown, hips.matrix.translation, atol=1e-6)


def test_one_menu_leads_to_what_people_search_for() -> None:
    menu = installed.module("panels.menu")
    found = [name for group in menu.ENTRIES for name in group]
    assert {"robik.bake", "robik.connect_servos", "robik.stop_servos"} <= set(found)
    for name in found:
        assert hasattr(bpy.types, f"ROBIK_OT_{name.removeprefix('robik.')}"), name
    assert menu.in_header in bpy.types.VIEW3D_MT_editor_menus._dyn_ui_initialize()


def test_a_result_is_out_of_date_once_curves_or_the_frame_rate_are_changed() -> None:
    fresh, actions = installed.module("scene.bake.freshness"), installed.module("scene.animation.actions")
    root, scene = scenes.squats(), bpy.context.scene
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert not fresh.is_out_of_date(root, scene)
    scene.render.fps = 30
    assert fresh.is_out_of_date(root, scene)
    scene.render.fps = 60
    assert not fresh.is_out_of_date(root, scene)
    curve = next(iter(actions.curves_of(root).values()))
    before = curve.keyframe_points[3].co.y
    curve.keyframe_points[3].co.y += 0.1
    assert fresh.is_out_of_date(root, scene)
    curve.keyframe_points[3].co.y = before
    assert bpy.ops.robik.reduce_keys() == {"FINISHED"}
    assert fresh.is_out_of_date(root, scene)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert not fresh.is_out_of_date(root, scene)


def test_a_result_stays_up_to_date_in_a_saved_file(tmp_path: Path) -> None:
    fresh = installed.module("scene.bake.freshness")
    scenes.squats()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    scene = bpy.context.scene
    assert scene.robik.robot.robik.robot.result.frames
    assert not fresh.is_out_of_date(scene.robik.robot, scene)


def test_the_playhead_goes_along_with_what_servos_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """At twice the speed, 0.2 s after frame 5 at 60 frames a second it is at frame 29."""
    play = installed.module("scene.servos.play")
    status, scene = installed.module("robik.servo.port.status"), bpy.context.scene
    now = status.Status(state=status.PlayState.PLAYING, time=0.2, duration=1.0)
    playing = SimpleNamespace(is_open=True, heartbeat=lambda: None, status=now)
    monkeypatch.setattr(play, "_player", playing)
    scene.robik.playing.speed = 2.0
    play.play_from(5.0)
    play.tick(scene)
    assert scene.frame_current == 29
