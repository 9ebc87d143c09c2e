"""A robot from CAD in Blender: a looped one comes in closed, with its warnings, and its sliders pose it."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from robik.formats import import_robot
from tests.blender import scenes


@pytest.mark.parametrize("name", ["5bar_linkage/robot.urdf", "digit_like_2legs/robot.urdf", "robotiq_2f85/2f85.xml"])
def test_looped_robots_are_built_and_read_back(empty_scene: None, shared_data: Path, name: str) -> None:
    file = shared_data / name
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    expected, found = import_robot(file).mechanism, scenes.read(root)
    assert found.actuators == expected.actuators
    assert [b.name for b in found.bodies] == [b.name for b in expected.bodies]
    np.testing.assert_allclose([b.pose.position for b in found.bodies], [b.pose.position for b in expected.bodies], atol=1e-12)
    for mine, theirs in zip(found.joints, expected.joints, strict=True):
        assert (mine.name, mine.type, mine.parent, mine.child) == (theirs.name, theirs.type, theirs.parent, theirs.child)
        np.testing.assert_allclose(mine.rest, theirs.rest, atol=1e-12)


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
