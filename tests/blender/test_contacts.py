"""Contacts in Blender: pinned feet are held, and the result says so."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bpy.types import Object

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = np.arange(1, 25)


@pytest.fixture
def pulled() -> Object:
    """The walker with its feet on the ground and its pelvis pulled up out of reach for a while; its root."""
    root = scenes.squats()
    curve = installed.module("scene.animation.actions").curves_of(bpy.data.objects["to pelvis"])["location", 2]
    for key in curve.keyframe_points:
        key.co.y += 0.2 * max(0.0, 1.0 - abs(key.co.x - 12) / 4)
    return root


def foot_moves(root: Object) -> float:
    """How far the keyed feet go in the bake, at most [m]."""
    mechanism = scenes.read(root)
    bodies = {mechanism.frame(name).body for name in ("foot_l", "foot_r")}
    shown = [body for body in scenes.body_objects(root) if body.robik.label in bodies]
    return max(float(np.ptp(scenes.keyed_pose(body, FRAMES), axis=0).max()) for body in shown)


def test_pinned_feet_are_held_where_they_land(pulled: Object) -> None:
    robot = pulled.robik.robot
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert foot_moves(pulled) > 0.01, "the pelvis lifts them"
    robot.balance.pin_feet = True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert foot_moves(pulled) < 1e-5
    result = robot.result
    assert result.has_contacts
    assert (result.slide, result.contact_off) == pytest.approx((0.0, 0.0), abs=1e-4)
    assert result.missed, "the pelvis is what gives way"
    assert "contact" not in installed.module("scene.bake.result").status(result)


def test_any_frame_can_be_held_by_hand() -> None:
    root = scenes.squats()
    assert bpy.ops.robik.add_phase(foot="pelvis", start=5, end=20) == {"FINISHED"}
    assert bpy.ops.robik.bake() == {"FINISHED"}
    mechanism = scenes.read(root)
    body = next(o for o in scenes.body_objects(root) if o.robik.label == mechanism.frame("pelvis").body)
    poses = scenes.keyed_pose(body, FRAMES)
    held = (FRAMES >= 5) & (FRAMES <= 20)
    assert np.ptp(poses[held], axis=0).max() < 1e-5
    assert np.ptp(poses, axis=0).max() > 1e-3, "outside of it the pelvis squats"
