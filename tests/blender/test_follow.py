"""A robot follows its targets live, without a bake."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics
from bl_ext.user_default.robik.robik.kinematics.frames import anchor
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.tracking import StateBasedTracker

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
RESTS = 1e-6  # [rad or m] in two beats


def dragged_frame(mechanism: Mechanism) -> str:
    """The third of the robot's named frames that move, else the last of those, else the last body that does."""
    tracker = StateBasedTracker(mechanism)
    moving = [name for name in mechanism.frame_names if tracker.flat.tip[anchor(tracker.topology, name)[0]] >= 0]
    named = [frame.name for frame in mechanism.frames if frame.name in moving]
    return named[2] if len(named) > 2 else (named or moving)[-1]


def beats(root: bpy.types.Object, count: int, dt: float = 1 / 60) -> list[np.ndarray]:
    """Steps as the main loop would take them; the sliders after each."""
    module, names, out = installed.module("scene.bake.follow"), scenes.read(root).actuators, []
    for _ in range(count):
        bpy.context.view_layer.update()
        assert module.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), dt), module.problem(root)
        out.append(np.array([root[n] for n in names]))
    return out


def rest(root: bpy.types.Object, most: int) -> list[np.ndarray]:
    """Steps until the sliders rest, and the sliders after each."""
    out = beats(root, 3)
    while len(out) < most and np.abs(out[-1] - out[-3]).max() > RESTS:
        out += beats(root, 1)
    return out


def frame_object(root: bpy.types.Object, name: str) -> bpy.types.Object:
    return next(o for o in root.children_recursive if o.robik.kind == "FRAME" and o.robik.label == name)


@pytest.mark.parametrize("tracker", ["DIFFERENTIAL", "STATE"])
def test_a_dragged_target_is_followed(tracker: str) -> None:
    """The hand comes to the empty, sliders and bodies agree, and the one for it keeps the motors' speeds."""
    root, _ = scenes.punches(2)
    target = bpy.data.objects["to hand"]
    target.animation_data_clear()
    follow = root.robik.robot.follow
    follow.tracker, follow.on = tracker, True
    rest(root, 120)
    target.location = (0.22, 0.08, 0.32)
    root.robik.robot.character.targets[0].orientation_weight = (0, 0, 0)
    sliders = rest(root, 300)
    bpy.context.view_layer.update()
    assert (frame_object(root, "hand").matrix_world.translation - target.location).length < 2e-3
    mechanism = scenes.read(root)
    found = ForwardKinematics(mechanism).solve(sliders[-1])
    posed = np.array([b.location for b in scenes.body_objects(root)])
    assert np.abs(posed - found.position).max() < 1e-5
    if tracker == "DIFFERENTIAL":
        speed = np.array([j.velocity_limit for j in mechanism.actuated])
        assert (np.abs(np.diff(sliders, axis=0)) * 60 <= speed * 1.001 + 1e-4).all()


def test_loops_and_a_floating_base_follow_from_where_they_were() -> None:
    root = scenes.squats(2)
    root.robik.robot.follow.on = True
    pelvis = bpy.data.objects["to pelvis"]
    pelvis.animation_data_clear()
    beats(root, 10)
    pelvis.location.z -= 0.03
    before = root["knee_l"]
    rest(root, 200)
    assert abs(root["knee_l"] - before) > 0.05
    bpy.context.view_layer.update()
    assert (frame_object(root, "pelvis").matrix_world.translation - pelvis.location).length < 2e-3
    assert not bpy.data.actions or root.animation_data is None, "following must not bake"


def test_at_once_follows_by_the_settings_of_the_bake() -> None:
    """Joint limits, stillness and softness; a change of one of them counts from the next beat, and speeds, which a bake
    enforces, do not keep it from following."""
    root, _ = scenes.punches(2)
    target, bake = bpy.data.objects["to hand"], root.robik.robot.bake
    target.animation_data_clear()
    target.location = (0.15, 0.0, 0.45)
    follow = root.robik.robot.follow
    follow.tracker, follow.on, bake.enforce_velocity = "STATE", True, True
    root.robik.robot.character.targets[0].orientation_weight = (0, 0, 0)
    joint = next(o for o in root.children_recursive if o.robik.kind == "JOINT" and o.robik.label == "elbow")
    at = beats(root, 20)[-1][3]
    joint.robik.joint.upper[0] = root["elbow"] = at - 0.3
    root.update_tag()
    assert beats(root, 20)[-1][3] <= at - 0.3 + 1e-5
    bake.joint_limits = False
    assert rest(root, 40)[-1][3] == pytest.approx(at, abs=1e-3)
    made = installed.module("scene.bake.follow")._following[root.session_uid]
    bake.stillness, bake.soften = 10.0, True
    beats(root, 1)
    settings = installed.module("scene.bake.follow")._following[root.session_uid].tracker.settings
    assert settings != made.tracker.settings
    assert settings.stillness == pytest.approx(1.0)
    assert settings.velocity_weight == pytest.approx(bake.velocity_weight)


def test_sliders_moved_by_hand_are_where_it_goes_on_from() -> None:
    root, _ = scenes.punches(2)
    root.robik.robot.follow.tracker, root.robik.robot.follow.on = "DIFFERENTIAL", True
    rest(root, 60)
    there = root["elbow"]
    root["elbow"] = there + 0.5
    root.update_tag()
    first = beats(root, 1)[0]
    assert abs(first[3] - there) > 0.3, "it jumped back at once"
    assert abs(rest(root, 200)[-1][3] - there) < 0.05


def test_what_is_wrong_is_told_and_nothing_moves() -> None:
    root, _ = scenes.punches(2)
    module = installed.module("scene.bake.follow")
    root.robik.robot.character.targets[0].source = None
    before = [tuple(b.location) for b in scenes.body_objects(root)]
    assert not module.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)
    assert "follows nothing" in module.problem(root)
    assert [tuple(b.location) for b in scenes.body_objects(root)] == before


@pytest.mark.one_blender
@pytest.mark.parametrize("file", ["5bar_linkage/robot.urdf", "robotiq_2f85/2f85.xml", "unitree_h1/h1.xml"])
def test_robots_of_others_are_followed_with_by_every_tracker(shared_data: Path, file: str) -> None:
    """Dragged, beyond reach too, they stay assembled and finite; a target that is no number, or gone, leaves them where
    they are."""
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / file)) == {"FINISHED"}
    root, module = bpy.context.scene.robik.robot, installed.module("scene.bake.follow")
    mechanism = scenes.read(root)
    frame = dragged_frame(mechanism)
    rest = np.array(mechanism.bodies[mechanism.body_index[mechanism.frame(frame).body]].pose.position)
    target = scenes.empty("dragged", rest[None])
    target.animation_data_clear()
    scenes.follow(target, frame)
    root.robik.robot.character.targets[0].orientation_weight = (0, 0, 0)
    follow, ways = root.robik.robot.follow, {}
    for tracker in module.TRACKERS:
        follow.tracker, follow.on = tracker, True
        target.location = rest
        beats(root, 20)
        first = np.array([b.location for b in scenes.body_objects(root)])
        for away in ((0.05, 0.02, -0.03), (3.0, 1.0, 2.0), (0.01, 0.0, 0.01)):
            target.location = rest + away
            assert np.isfinite(beats(root, 20)).all()
            assert module._following[root.session_uid].tracker.residual < 1e-8
            way = np.abs(np.array([b.location for b in scenes.body_objects(root)]) - first).max()
            ways[tracker] = max(ways.get(tracker, 0.0), float(way))
        before = [tuple(b.location) for b in scenes.body_objects(root)]
        target.location.x = float("nan")
        bpy.context.view_layer.update()
        assert not module.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)
        assert "finite" in module.problem(root)
        assert [tuple(b.location) for b in scenes.body_objects(root)] == before
    assert min(ways.values()) > 1e-3, "one of them has hardly moved"


def test_an_edited_robot_is_followed_with_at_once() -> None:
    """A limit, a frame's place, and both of them undone: what was read before does not count on."""
    read = installed.module("scene.robot.reading").read_moving_parts
    root, _ = scenes.punches(2)
    root.robik.robot.follow.tracker, root.robik.robot.follow.on = "STATE", True
    bpy.ops.ed.undo_push(message="Start")
    unedited = beats(root, 10)[-1][3]
    first = read(root)
    assert read(root) is first, "nothing was edited"
    joint = next(o for o in root.children_recursive if o.robik.kind == "JOINT" and o.robik.label == "elbow")
    between = 0.5 * (unedited + joint.robik.joint.rest[0])
    assert between > unedited + 0.01
    joint.robik.joint.lower[0] = root["elbow"] = between
    root.update_tag()
    assert beats(root, 10)[-1][3] == pytest.approx(between, abs=1e-5)
    frame_object(root, "hand").location.x += 0.05
    edited = read(root)
    assert edited.frame("hand").pose.position[0] == pytest.approx(first.frame("hand").pose.position[0] + 0.05)
    bpy.ops.ed.undo_push(message="Edited")
    bpy.ops.ed.undo()
    assert read(bpy.context.scene.robik.robot) == first


@pytest.mark.one_blender
@pytest.mark.parametrize("tracker", ["DIFFERENTIAL", "STATE"])
def test_it_stands_as_the_bake_will(tracker: str) -> None:
    """Over the feet and with feet pinned, a robot that stands still stands live as it is baked."""
    root = scenes.squats(12)
    robot = root.robik.robot
    for name in ("pelvis", "foot_l", "foot_r"):
        bpy.data.objects[f"to {name}"].animation_data_clear()
    bpy.data.objects["to pelvis"].delta_location = 0.02, 0.035, -0.02
    bpy.data.objects["to foot_l"].delta_location = 0.0, 0.0, 0.003
    bpy.data.objects["to foot_l"].delta_rotation_quaternion = np.cos(0.04), 0, np.sin(0.04), 0
    robot.balance.mode, robot.balance.pin_feet = "AUTO", True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(6)
    baked = np.array([b.matrix_world.translation for b in scenes.body_objects(root)])
    bpy.ops.robik.remove_bake()
    robot.follow.tracker, robot.follow.on = tracker, True
    rest(root, 200)
    bpy.context.view_layer.update()
    live = np.array([b.matrix_world.translation for b in scenes.body_objects(root)])
    assert np.abs(live - baked).max() < 1e-3


@pytest.mark.one_blender
@pytest.mark.parametrize(
    ("tracker", "is_on", "kept"), [("STATE", True, True), ("STATE", False, False), ("DIFFERENTIAL", True, False)]
)
def test_bodies_are_kept_apart_where_the_bake_keeps_them(tracker: str, is_on: bool, kept: bool) -> None:
    """A foot that is dragged through the other stays beside it by At Once with Keep Apart, else it goes through."""
    root = scenes.squats(2)
    robot, feet = root.robik.robot, [bpy.data.objects[f"to foot_{side}"] for side in "lr"]
    for target in (bpy.data.objects["to pelvis"], *feet):
        target.animation_data_clear()
    robot.follow.tracker, robot.follow.on, robot.bake.keep_apart = tracker, True, is_on
    judge, panel = told_judge(root), installed.module("panels.bake.baking")
    rest, deepest = feet[0].location.y, 0.0
    for k in range(40):
        feet[0].location.y = rest - 0.08 * np.sin(np.pi * k / 39) ** 2
        beats(root, 1)
        bpy.context.view_layer.update()
        bodies = scenes.body_objects(root)
        place = np.array([body.matrix_world.translation for body in bodies])
        turn = np.array([body.matrix_world.to_quaternion() for body in bodies])
        deepest = max([deepest, *(depth for _, depth, _ in judge.touching(place, turn))])
    assert deepest < 1e-4 if kept else deepest > 0.01
    assert ("Only At Once keeps bodies apart" in panel._beyond_live(root)) == (is_on and not kept)


def told_judge(root: bpy.types.Object) -> object:
    """A judge of how deep a robot is in itself, by the shapes of its file."""
    collision = "robik.collision."
    mechanism = scenes.read(root)
    told = installed.module(f"{collision}files").told_collisions(mechanism, bpy.path.abspath(root.robik.robot.source))
    pairs = installed.module(f"{collision}pairs").pairs_that_can_touch(mechanism, told.shapes, told.apart)
    return installed.module(f"{collision}judge").Judge(mechanism, told.shapes, pairs)
