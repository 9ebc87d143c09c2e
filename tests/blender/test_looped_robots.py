"""A robot from CAD in Blender: a looped one comes in closed, with its warnings, and its sliders pose it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.formats import import_robot, save_robot

from tests.blender import installed, scenes

ARMS = "example-robot-data/robots"
ROBOTS = [
    "5bar_linkage/robot.urdf", "robot_delta/robot.urdf", "talos_like/robot.urdf", "digit_like_2legs/robot.urdf",
    "stewart_sdf/model.sdf",
    "robotiq_2f85/2f85.xml", "iit_softfoot/softfoot.xml", "dynamixel_2r/dynamixel_2r.xml",
    "low_cost_robot_arm/low_cost_robot_arm.xml",
    "trossen_wx250s/wx250s.xml", "robotis_omx/omx.xml", "unitree_h1/h1.xml",
    f"{ARMS}/panda_description/urdf/panda.urdf",
    f"{ARMS}/so_arm_description/urdf/so100.urdf", f"{ARMS}/simple_humanoid_description/urdf/simple_humanoid.urdf",
    "newton_usd/boxes_fourbar.usda", "newton_usd/cartpole.usda", "newton_usd/pendulum_revolute_vs_d6.usda",
    "newton_usd/four_link_chain_articulation.usda", "newton_usd/revolute_articulation.usda",
    "dr_testmech/usd/dr_testmech.usda",
]  # fmt: skip


def leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Every number and text of what JSON holds, with its place."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, f"{place}/{key}")
    else:
        yield place, value


@pytest.mark.parametrize("name", ROBOTS)
def test_scene_and_saved_file_change_no_number(empty_scene: None, shared_data: Path, tmp_path: Path, name: str) -> None:
    robot = import_robot(shared_data / name).mechanism
    root = (
        installed.module("scene.robot.builder").Builder(robot).build(bpy.context.scene.collection)
    )  # with cubes for its meshes
    bpy.context.scene.robik.robot = root
    save_robot(robot, tmp_path / "0.robik.json")
    save_robot(scenes.read(root), tmp_path / "1.robik.json")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "robot.blend"))
    save_robot(scenes.read(bpy.context.scene.robik.robot), tmp_path / "2.robik.json")
    expected, built, opened = (
        dict(leaves(json.loads((tmp_path / f"{k}.robik.json").read_text(encoding="utf-8")))) for k in range(3)
    )
    assert len(expected) > 20
    for found in (built, opened):
        assert found.keys() == expected.keys()
        for place, value in expected.items():
            if isinstance(value, float):
                assert abs(found[place] - value) <= 1e-12 * max(1.0, abs(value)), place
            else:
                assert found[place] == value, place


def test_sliders_pose_a_looped_urdf(empty_scene: None, shared_data: Path) -> None:
    bpy.ops.robik.import_robot(filepath=str(shared_data / "digit_like_2legs" / "robot.urdf"))
    root = bpy.context.scene.robik.robot
    mechanism = scenes.read(root)
    rest = {body.name: np.array(body.matrix_world) for body in scenes.body_objects(root)}
    name = "motor_knee"
    root[name] = float(root[name]) + 0.1
    root.update_tag()
    bpy.context.view_layer.update()
    moved = [n for n, old in rest.items() if np.abs(np.array(bpy.data.objects[n].matrix_world) - old).max() > 1e-3]
    assert 0 < len(moved) < len(mechanism.bodies)
