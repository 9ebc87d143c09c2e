"""Sliders pose the robot."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def poses(root: bpy.types.Object) -> np.ndarray:
    return np.array([(*b.location, *b.rotation_quaternion) for b in scenes.body_objects(root)])


def drag(root: bpy.types.Object, name: str, value: float) -> None:
    root[name] = value
    root.update_tag()
    bpy.context.view_layer.update()


@pytest.mark.parametrize(("robot", "actuator"), [("boxer", "elbow"), ("walker", "knee_l")])
def test_robot_follows(robot: str, actuator: str) -> None:
    root, mechanism = scenes.import_robot(robot), robots.load(robot)
    rest = poses(root)
    value = root[actuator] + 0.3
    drag(root, actuator, value)
    wanted = ForwardKinematics(mechanism).solve(np.array([root[n] for n in mechanism.actuators]))
    assert wanted.assembled
    assert np.abs(poses(root) - rest).max() > 0.01
    assert np.abs(poses(root)[:, :3] - wanted.position).max() < 1e-6
    alike = np.abs((poses(root)[:, 3:] * wanted.quaternion).sum(axis=1))
    assert alike.min() > 1 - 1e-6


def test_sliders_have_units_and_limits() -> None:
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    joint = next(j for j in mechanism.joints if j.name == "knee_l")
    shown = root.id_properties_ui("knee_l").as_dict()
    assert shown["subtype"] == "ANGLE"
    assert (shown["min"], shown["max"]) == pytest.approx(joint.limits[0])


def test_floating_base_stays_where_it_was_put() -> None:
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    base = scenes.body_objects(root)[mechanism.body_index[ForwardKinematics(mechanism).root]]
    base.location.x += 0.5
    drag(root, "knee_l", root["knee_l"] - 0.1)
    foot = scenes.body_objects(root)[mechanism.body_index[mechanism.frame("foot_l").body]]
    assert foot.location.x > 0.4
    assert base.location.x == pytest.approx(0.5, abs=1e-6)


def test_values_that_open_the_loops_are_told() -> None:
    root = scenes.import_robot("walker")
    live = installed.module("scene.robot.posing")
    for name in ("ankle_pitch_l", "ankle_roll_l", "knee_l"):
        drag(root, name, root[name] + 2.5)
    assert "loops" in live.problem(root)
    for name in ("knee_l", "ankle_roll_l", "ankle_pitch_l"):
        drag(root, name, root[name] - 2.5)
    assert live.problem(root) == ""


def test_playback_of_keyed_sliders_poses_the_robot() -> None:
    root = scenes.import_robot("boxer")
    rest = root["elbow"]
    for frame, value in ((1, rest), (11, rest + 0.5)):
        root["elbow"] = value
        root.keyframe_insert('["elbow"]', frame=frame)
    bpy.context.scene.frame_set(1)
    before = poses(root)
    bpy.context.scene.frame_set(11)
    assert np.abs(poses(root) - before).max() > 0.01


def test_the_first_slider_that_a_script_moves_in_a_file_moves_the_robot(tmp_path: Path) -> None:
    scenes.import_robot("walker")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walker.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "walker.blend"))
    root = bpy.context.scene.robik.robot
    before = poses(root)
    drag(root, "knee_l", root["knee_l"] + 0.3)
    assert np.abs(poses(root) - before).max() > 0.01
