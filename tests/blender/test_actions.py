"""F-curves in bulk."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import installed

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def target() -> bpy.types.Object:
    made = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(made)
    return made


def curve(values: np.ndarray, path: str = "location", index: int = 0) -> object:
    return installed.module("scene.animation.actions").Curve(path, index, values, "Group")


def test_written_curves_move_the_object(target: bpy.types.Object) -> None:
    actions = installed.module("scene.animation.actions")
    frames = np.arange(1.0, 5.0, 0.25)
    actions.write_curves(target, frames, [curve(frames**2, index=2)])
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=float(frame) % 1)
        assert target.location.z == pytest.approx(frame**2, rel=1e-6)
    written = actions.curves_of(target)["location", 2]
    assert actions.values_of(written, frames) == pytest.approx(frames**2, rel=1e-6)
    assert actions.key_frames(written) == pytest.approx(frames)
    assert {k.interpolation for k in written.keyframe_points} == {"LINEAR"}
    assert written.group.name == "Group"


def test_writing_again_replaces_and_leaves_others(target: bpy.types.Object) -> None:
    actions = installed.module("scene.animation.actions")
    target.keyframe_insert("scale", frame=3)
    actions.write_curves(target, np.arange(10.0), [curve(np.ones(10))])
    actions.write_curves(target, np.arange(4.0), [curve(np.zeros(4))])
    curves = actions.curves_of(target)
    assert len(curves["location", 0].keyframe_points) == 4
    assert sorted(curves) == [("location", 0), ("scale", 0), ("scale", 1), ("scale", 2)]
    assert len(bpy.data.actions) == 1


def test_objects_that_share_an_action_stay_apart(target: bpy.types.Object) -> None:
    actions = installed.module("scene.animation.actions")
    actions.write_curves(target, np.arange(3.0), [curve(np.ones(3))])
    other = target.copy()
    bpy.context.scene.collection.objects.link(other)
    assert other.animation_data.action == target.animation_data.action
    actions.write_curves(other, np.arange(3.0), [curve(np.full(3, 2.0))])
    bpy.context.scene.frame_set(1)
    assert (target.location.x, other.location.x) == (1.0, 2.0)
