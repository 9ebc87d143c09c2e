"""Ground, obstacles and what contacts hold on to, as they are chosen in panels, on the installed extension."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bpy.types import Object

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def mesh(name: str, half: tuple[float, float, float], at: tuple[float, float, float]) -> Object:
    """A box, made of a cube with edges of 2 m and a scale, as animators make it."""
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=at)
    made = bpy.context.object
    made.name, made.scale = name, half
    bpy.context.view_layer.update()
    return made


def keyed(moved: Object, start: tuple[float, float, float], end: tuple[float, float, float]) -> None:
    """Lets an object move from one place to another over the scene's frames."""
    scene = bpy.context.scene
    for place, frame in ((start, scene.frame_start), (end, scene.frame_end)):
        moved.location = place
        moved.keyframe_insert("location", frame=frame)


def kept(root: Object):
    return installed.module("scene.bake.kept_clip").kept_clip(root)


def test_a_robot_stands_on_a_mesh_that_moves() -> None:
    root = scenes.squats(24)
    robot, floor = root.robik.robot, mesh("Lift.001", (0.5, 0.5, 0.1), (0.0, 0.0, -0.1))
    keyed(floor, (0.0, 0.0, -0.1), (0.2, 0.0, 0.1))
    robot.balance.ground, robot.balance.pin_feet = floor, True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    result = robot.result
    assert result.contact_off < 1e-6 and result.sunk < 1e-4
    frames = np.array([1.0, 24.0])
    body = next(b for b in scenes.body_objects(root) if b.robik.label == "left_foot")
    moved = np.diff([scenes.channel(body, "location", k, frames) for k in range(3)], axis=1)[:, 0]
    assert moved == pytest.approx([0.2, 0.0, 0.2], abs=2e-3)
    (ground,) = kept(root).clip.obstacles
    assert ground.name == "ground" and ground.position[-1] - ground.position[0] == pytest.approx([0.2, 0.0, 0.2])
    assert bpy.ops.robik.judge_penetration() == {"FINISHED"}
    assert {row.name: row.depth for row in result.penetration}["in the ground"] < 1e-3


def test_obstacles_are_the_meshes_of_a_collection() -> None:
    root = scenes.squats(24)
    robot = root.robik.robot
    collection = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(collection)
    pelvis = next(b for b in scenes.body_objects(root) if b.robik.label == "torso")
    low = min((pelvis.matrix_world.translation.z, *(c.matrix_world.translation.z for c in pelvis.children)))
    stool = mesh("Stool", (0.01, 0.3, 0.01), (-0.16, 0.0, low))
    collection.objects.link(stool)
    collection.objects.link(mesh("Far", (0.1, 0.1, 0.1), (3.0, 0.0, 0.0)))
    robot.bake.obstacles = collection
    robot.bake.keep_apart = False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert [item.name for item in kept(root).clip.obstacles] == ["Stool", "Far"]
    assert bpy.ops.robik.judge_penetration() == {"FINISHED"}
    rows = {row.name: row for row in robot.result.penetration}
    assert list(rows) == ["in itself", "in the ground", "in obstacles"]
    deep = rows["in obstacles"].depth
    bpy.context.scene.frame_set(rows["in obstacles"].frame)
    bpy.context.scene.robik.overlays.penetration = True
    [(_, shapes)] = installed.module("scene.overlay.views").shapes_in(bpy.context)
    assert any(" in Stool: " in text for _, text, _ in shapes.labels) == (deep > 1e-3)
    bpy.context.scene.robik.overlays.penetration = False
    robot.bake.keep_apart = True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert bpy.ops.robik.judge_penetration() == {"FINISHED"}
    rows = {row.name: row for row in robot.result.penetration}
    assert rows["in obstacles"].depth <= max(0.5 * deep, 1e-3)


@pytest.mark.one_blender
def test_frames_hold_on_to_what_was_chosen_for_their_contacts() -> None:
    root = scenes.squats(24)
    robot, tray = root.robik.robot, mesh("Tray", (0.2, 0.2, 0.01), (0.0, 0.0, -0.01))
    keyed(tray, (0.0, 0.0, -0.01), (0.1, 0.05, 0.0))
    robot.balance.pin_feet = True
    for target in robot.character.targets:
        if target.frame.startswith("foot"):
            assert bpy.ops.robik.add_phase(foot=target.frame, start=1, end=24) == {"FINISHED"}
            target.holds_on = tray
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert robot.result.contact_off < 1e-6 and robot.result.slide < 1e-6
    track = kept(root).clip.tracks["foot_l"]
    assert track.contact.all() and track.ground_position is not None
    body = next(b for b in scenes.body_objects(root) if b.robik.label == "left_foot")
    frames = np.arange(1.0, 25.0)
    ways = [
        np.stack([scenes.channel(moved, "location", k, frames) for k in range(3)], axis=1) for moved in (body, tray)
    ]
    assert np.abs(np.diff(ways[0], axis=0) - np.diff(ways[1], axis=0)).max() < 1e-6


def test_a_ground_without_faces_is_refused() -> None:
    root = scenes.squats(3)
    bare = bpy.data.objects.new("Bare", bpy.data.meshes.new("Bare"))
    bpy.context.scene.collection.objects.link(bare)
    root.robik.robot.balance.ground = bare
    with pytest.raises(RuntimeError, match="the ground 'Bare' has no faces to stand on"):
        bpy.ops.robik.bake()
