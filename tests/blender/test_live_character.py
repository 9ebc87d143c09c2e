"""Live character: VMC messages through a real socket pose a rig, and Follow Live takes the robot along."""

from __future__ import annotations

from time import monotonic

import bpy
import numpy as np
import pytest
from bpy.types import Object
from mathutils import Euler
from pythonosc.udp_client import SimpleUDPClient

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

BONE, HALF = "/VMC/Ext/Bone/Pos", float(np.sqrt(0.5))
BONES = {  # a T-pose, facing −y; head, tail, parent
    "mixamorig:Hips": ((0, 0, 0.9), (0, 0, 1.0), ""),
    "mixamorig:Spine": ((0, 0, 1.0), (0, 0, 1.2), "mixamorig:Hips"),
    "twist": ((0, 0, 1.2), (0, 0, 1.25), "mixamorig:Spine"),
    "mixamorig:LeftArm": ((0.2, 0, 1.2), (0.5, 0, 1.2), "twist"),
    "mixamorig:LeftForeArm": ((0.5, 0, 1.2), (0.8, 0, 1.2), "mixamorig:LeftArm"),
}


def rig(tilted: bool, yaw: float = 0.0) -> Object:
    """An armature; tilted as FBX brings it, its data y up."""
    data = bpy.data.armatures.new("Body")
    made = bpy.data.objects.new("Body", data)
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in BONES.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (((x, z, -y) if tilted else (x, y, z)) for x, y, z in (head, tail))
        bone.roll = 0.4  # no axis of a bone is one of the world
        bone.parent = data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    made.rotation_euler = Euler((np.pi / 2 if tilted else 0.0, 0.0, yaw))
    return made


class Tracker:
    def __init__(self, source: Object, record: bool = False) -> None:
        self.root, self.rig = scenes.import_robot("boxer"), source
        self.root.robik.robot.character.rig = source
        self.live = installed.module("scene.show.live_character")
        self.root.robik.robot.performance.vmc_port = "0"
        assert bpy.ops.robik.hear_vmc(record=record) == {"FINISHED"}
        host, port = self.live.address().split(":")
        assert host == "127.0.0.1"
        self.client = SimpleUDPClient(host, int(port))

    def send(self, name: str, turn: tuple, place: tuple = (0.0, 0.0, 0.0)) -> None:
        self.client.send_message(BONE, [name, *map(float, place), *map(float, turn)])

    def tick(self, until) -> None:
        ends = monotonic() + 10.0
        while not until() and monotonic() < ends:
            self.live.tick(bpy.context.scene)
            bpy.context.view_layer.update()
        assert until()

    def direction(self, name: str) -> np.ndarray:
        """Where a bone points, in the world."""
        bone = self.rig.pose.bones[name]
        return np.array((self.rig.matrix_world.to_3x3() @ (bone.tail - bone.head)).normalized())


def moved(source: Object) -> float:
    """How far the hips are ahead of the rest pose [m]."""
    bone = source.pose.bones["mixamorig:Hips"]
    return float(np.linalg.norm(source.matrix_world @ bone.head - source.matrix_world @ bone.bone.head_local))


@pytest.fixture
def live():
    module = installed.module("scene.show.live_character")
    yield module
    module.end()


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_a_body_poses_the_rig(live, tilted: bool, yaw: float) -> None:
    tracker = Tracker(rig(tilted, yaw))
    turned = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    tracker.send("Hips", (0.0, 0.0, 0.0, 1.0), (0.0, 1.8, 0.0))
    tracker.tick(live.has_heard)
    np.testing.assert_allclose(tracker.direction("mixamorig:LeftForeArm"), turned @ [1.0, 0.0, 0.0], atol=1e-5)
    # the arm up, the forearm forwards from there: about Unity's z by −90°, then about its y by 90°, which is forward
    tracker.send("LeftUpperArm", (0.0, 0.0, -HALF, HALF))
    tracker.send("LeftLowerArm", (0.0, HALF, 0.0, HALF))
    tracker.send("Hips", (0.0, HALF, 0.0, HALF), (0.4, 1.6, 0.0))  # to its right, lower, and turned to the right
    hips = tracker.rig.pose.bones["mixamorig:Hips"]
    tracker.tick(lambda: hips.matrix_basis.to_quaternion().angle > 1.0)
    np.testing.assert_allclose(tracker.direction("mixamorig:LeftArm"), [0.0, 0.0, 1.0], atol=1e-5)
    np.testing.assert_allclose(tracker.direction("mixamorig:LeftForeArm"), turned @ [-1.0, 0.0, 0.0], atol=1e-5)
    place = tracker.rig.matrix_world @ hips.head
    np.testing.assert_allclose(place, turned @ [-0.2, 0.0, 0.8], atol=1e-5)  # of a body twice as high


def test_the_robot_follows_a_live_character(live) -> None:
    """The hand of the boxer follows a bone that the messages turn."""
    source = rig(False)
    tracker = Tracker(source)
    scenes.follow(source, "hand", "mixamorig:LeftForeArm")
    bpy.ops.robik.match_now()
    follow = installed.module("scene.bake.follow")
    motors = list(scenes.read(tracker.root).actuators)

    def step() -> np.ndarray:
        assert follow.step(tracker.root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)
        return np.array([tracker.root[name] for name in motors])

    follow_settings = tracker.root.robik.robot.follow
    follow_settings.on = True
    for _ in range(5):
        before = step()
    tracker.send("LeftUpperArm", (0.0, 0.0, -0.1, 0.995))
    tracker.tick(lambda: source.pose.bones["mixamorig:LeftArm"].matrix_basis.to_quaternion().angle > 0.1)
    for _ in range(30):
        after = step()
    follow_settings.on = False
    assert np.abs(after - before).max() > 0.02


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_what_is_heard_is_recorded(live, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """An arm goes once around and beyond, 30 poses a second: it is there in every second frame, and no curve leaps."""
    now = [5.0]
    monkeypatch.setattr(installed.module("scene.show.body_recording"), "monotonic", lambda: now[0])
    source, walk = rig(True), bpy.data.actions.new("walk")
    source.animation_data_create().action = walk
    source.pose.bones["mixamorig:LeftArm"].rotation_mode = mode
    bpy.context.scene.frame_current, bpy.context.scene.frame_end = 10, 20
    tracker, seen = Tracker(source, record=True), []
    for k in range(41):
        now[0] = 5.0 + k / 30
        tracker.send("LeftUpperArm", (0.0, 0.0, -np.sin(0.1 * k), np.cos(0.1 * k)))
        tracker.send("Hips", (0.0, 0.0, 0.0, 1.0), (0.0, 1.8, 0.01 * k))
        tracker.tick(lambda at=0.005 * k: live.has_heard() and abs(moved(source) - at) < 1e-6)
        seen.append((tracker.direction("mixamorig:LeftArm"), moved(source)))
    assert bpy.ops.robik.hear_vmc() == {"FINISHED"}
    assert source.animation_data.action is not walk
    assert walk.use_fake_user
    assert bpy.context.scene.frame_end == 90
    for k, (way, at) in enumerate(seen):
        bpy.context.scene.frame_set(10 + 2 * k)
        np.testing.assert_allclose(tracker.direction("mixamorig:LeftArm"), way, atol=1e-4)
        assert moved(source) == pytest.approx(at, abs=1e-5)
    if mode != "AXIS_ANGLE":
        curves = installed.module("scene.animation.actions").curves_of(source)
        steps = [np.diff([p.co[1] for p in curve.keyframe_points]) for curve in curves.values()]
        assert max(np.abs(step).max() for step in steps) < 0.2


def test_a_recording_outlives_undo_and_not_its_rig(live) -> None:
    tracker = Tracker(rig(False), record=True)
    tracker.send("Hips", (0.0, 0.0, 0.0, 1.0), (0.0, 1.8, 0.0))
    tracker.tick(live.has_heard)
    live.after_undo()
    assert live.keep_recording(bpy.context.scene) == 1
    assert live.keep_recording(bpy.context.scene) == 0
    assert bpy.ops.robik.hear_vmc(record=True) == {"FINISHED"}
    bpy.data.objects.remove(tracker.rig)
    live.tick(bpy.context.scene)
    assert live.why() == "its rig is no longer in the scene"
    with pytest.raises(installed.module("robik.errors").RobikError, match="the recording is lost: Body is no longer"):
        live.keep_recording(bpy.context.scene)
    assert live.why() == "the recording is lost: Body is no longer in the scene"


def test_another_file_takes_no_keys_of_a_recording(live) -> None:
    tracker = Tracker(rig(False), record=True)
    tracker.send("Hips", (0.0, 0.0, 0.0, 1.0), (0.0, 1.8, 0.0))
    tracker.tick(live.has_heard)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert rig(False).name == "Body"
    assert live.keep_recording(bpy.context.scene) == 0


def test_undo_another_file_and_a_rig_that_is_gone_end_it(live) -> None:
    tracker = Tracker(rig(False))
    live.after_undo()
    assert not live.is_listening() and live.why() == "something was undone"
    bpy.ops.robik.hear_vmc()
    bpy.data.objects.remove(tracker.rig)
    live.tick(bpy.context.scene)
    assert not live.is_listening() and live.why() == "its rig is no longer in the scene"
    again = Tracker(rig(False))
    assert again.live.is_listening()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not live.is_listening()


def test_what_speaks_against_it(live) -> None:
    root = scenes.import_robot("boxer")
    with pytest.raises(RuntimeError, match="choose an armature as Rig"):
        bpy.ops.robik.hear_vmc()
    data = bpy.data.armatures.new("Tail")
    tail = bpy.data.objects.new("Tail", data)
    bpy.context.scene.collection.objects.link(tail)
    root.robik.robot.character.rig = tail
    with pytest.raises(RuntimeError, match="no bone of 'Tail' is named as hips"):
        bpy.ops.robik.hear_vmc()
    root.robik.robot.character.rig, root.robik.robot.performance.vmc_port = rig(False), "studio"
    with pytest.raises(RuntimeError, match="OSC needs a port such as 9000"):
        bpy.ops.robik.hear_vmc()
    assert not live.is_listening()
