"""Retargeting of a character in Blender and by the library alone: the same numbers, to the last bit."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed

pytestmark = pytest.mark.usefixtures("empty_scene")


def character(root: bpy.types.Object) -> object:
    """Return all of the motion of a robot's character, as Blender evaluates it."""
    rig = root.robik.robot.character.rig
    read = installed.module("scene.character.skeleton").read_character
    return read(bpy.context, root, rig, looks=10**6).motion


def baked(root: bpy.types.Object) -> object:
    """Return the motion that a bake writes."""
    steps = installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    return installed.module("robik.steps").finish(steps)


@pytest.mark.parametrize(("balance", "pinned"), [("off", False), ("still", False), ("moving", True)])
def test_the_dance_on_g1_is_the_same_in_blender_and_by_the_library(
    shared_data: Path, balance: str, pinned: bool
) -> None:
    """Feet found on meshes, Auto-Map, Fit, balance, speeds, calm, walls by the file's shapes: the same to the bit."""
    from bl_ext.user_default.robik.robik.collision.apart import walls_of
    from bl_ext.user_default.robik.robik.formats import import_robot
    from bl_ext.user_default.robik.robik.recordings.retargeting import follow
    from bl_ext.user_default.robik.robik.retarget.baking import balance_by_name
    from bl_ext.user_default.robik.robik.skeleton.shapes import shapes_of

    file = shared_data / "unitree_g1/g1_29dof.xml"
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    installed.module("scene.character.recording").bring_recording(shared_data / "bvh/05_20-mb.bvh")
    bpy.context.scene.frame_end = 60
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    root.robik.robot.balance.mode = balance.upper()
    root.robik.robot.balance.pin_feet = pinned
    motion = character(root)
    own = baked(root)
    mechanism = import_robot(file).mechanism
    shapes = shapes_of(mechanism, file)

    def walls(robot: object) -> object:
        return walls_of(robot, file)

    found = follow(mechanism, motion, shapes, None, balance_by_name(balance, pinned), walls=walls)
    in_scene = installed.module("scene.robot.reading").read_robot(root)
    assert found.mechanism.frames == in_scene.frames, "the soles are the same"
    assert found.following.left_out == root.robik.robot.character.left_out == 1
    assert np.array_equal(found.motion.times, own.times)
    assert np.array_equal(found.motion.values, own.values)
    assert np.array_equal(found.motion.base.position, own.base.position)
    assert np.array_equal(found.motion.base.quaternion, own.base.quaternion)
