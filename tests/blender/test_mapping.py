"""Sampling a rig, and bringing its world to the robot's."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.errors import RobikError
from mathutils import Matrix, Quaternion, Vector

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def sample(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    targets = bpy.context.scene.robik.robot.robik.robot.character.targets
    sampling = installed.module("scene.character.sampling")
    return installed.module("robik.steps").finish(sampling.sample_sources(bpy.context, targets, [], frames))


def clip(root: bpy.types.Object) -> object:
    return scenes.request_of(root).clip


def test_evaluated_rig_is_what_counts() -> None:
    """A bone of a scaled, parented armature that a constraint drives, on frames and between."""
    scenes.import_robot("boxer")
    rig = scenes.walking_rig()
    carrier = scenes.empty("carrier", np.column_stack([np.arange(24) * 0.1, np.zeros(24), np.zeros(24)]))
    for keyed in installed.module("scene.animation.actions").curves_of(carrier).values():
        for key in keyed.keyframe_points:
            key.interpolation = "LINEAR"
    rig.parent, rig.scale = carrier, (2, 2, 2)
    copied = rig.pose.bones["Hips"].constraints.new("COPY_LOCATION")
    copied.target = carrier
    scenes.follow(rig, "hand", "Hips")
    frames = np.array([1.0, 2.0, 2.25, 7.5])
    positions, turns = sample(frames)
    assert positions[:, 0, 0] == pytest.approx((frames - 1) * 0.1, abs=1e-5)
    assert turns[:, 0] == pytest.approx(np.tile(np.sqrt([0.5, 0.5, 0, 0]), (4, 1)), abs=1e-6)
    assert bpy.context.scene.frame_current == 1


def test_times_follow_the_frame_rate() -> None:
    root = scenes.squats(frames=10)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    root.robik.robot.bake.samples = 4
    times = clip(root).times
    assert len(times) == 9 * 4 + 1
    assert np.diff(times) == pytest.approx(1.001 / 30 / 4)


def test_target_is_scaled_turned_moved_and_offset() -> None:
    root = scenes.import_robot("boxer")
    source = scenes.empty("source", np.array([[1.0, 2.0, 3.0]]), np.array([[0.8, 0.6, 0.0, 0.0]]))
    scenes.follow(source, "hand")
    bpy.context.scene.frame_end = 1
    character = root.robik.robot.character
    character.scale, character.yaw, character.location = 0.5, radians(90), (0.1, 0.2, 0.3)
    target = character.targets[0]
    target.offset_location, target.offset_rotation = (0.0, 0.0, 0.25), (0.6, 0.0, 0.8, 0.0)
    root.location, root.rotation_mode, root.rotation_quaternion = (1, 0, 0), "QUATERNION", (0.0, 0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    place = Matrix.Translation((0.1, 0.2, 0.3)) @ Matrix.Rotation(radians(90), 4, "Z")
    turn = source.matrix_world.to_quaternion().to_matrix().to_4x4()
    offset = Matrix.Translation((0, 0, 0.25)) @ target.offset_rotation.to_matrix().to_4x4()
    wanted = root.matrix_world.inverted() @ place @ Matrix.Translation((0.5, 1.0, 1.5)) @ turn @ offset
    track = clip(root).tracks["hand"]
    assert track.position[0] == pytest.approx(wanted.translation, abs=1e-6)
    assert abs(track.quaternion[0] @ np.array(wanted.to_quaternion())) == pytest.approx(1.0, abs=1e-6)


def test_match_now_puts_the_target_on_the_frame() -> None:
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    rig = scenes.walking_rig()
    scenes.follow(rig, "foot_l", "Foot.L")
    root.robik.robot.character.scale = 0.3
    bpy.context.scene.frame_set(1)
    assert bpy.ops.robik.match_now() == {"FINISHED"}
    foot = mechanism.frame("foot_l")
    rest = mechanism.bodies[mechanism.body_index[foot.body]].pose @ foot.pose
    track = clip(root).tracks["foot_l"]
    assert track.position[0] == pytest.approx(rest.position, abs=1e-6)
    assert abs(track.quaternion[0] @ np.array(rest.quaternion)) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_match_now_leaves_no_noise(size: float) -> None:
    """A source that Blender's single precision puts as near to the frame as it can has no offset: not 2e-8 m, nor
    -0."""
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    frame = mechanism.frame("foot_l")
    rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
    empty.location, empty.rotation_mode, empty.rotation_quaternion = (
        np.array(rest.position) / size,
        "QUATERNION",
        rest.quaternion,
    )
    character = root.robik.robot.character
    character.scale = size
    bpy.context.view_layer.update()
    scenes.follow(empty, "foot_l")
    assert bpy.ops.robik.match_now() == {"FINISHED"}
    assert [str(x) for x in character.targets[0].offset_location] == ["0.0"] * 3


@pytest.mark.parametrize("size", [1.0, 17.0])
def test_fit_puts_the_character_on_the_robots_ground(size: float) -> None:
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    rig = scenes.walking_rig()
    rig.scale, rig.location = (size,) * 3, (3.0 * size, -2.0, 0.7 * size)
    for frame, bone in (("pelvis", "Hips"), ("foot_l", "Foot.L"), ("foot_r", "Foot.R")):
        scenes.follow(rig, frame, bone)
    before = [tuple(rig.location), tuple(rig.scale)]
    assert bpy.ops.robik.fit_character() == {"FINISHED"}
    assert [tuple(rig.location), tuple(rig.scale)] == before
    joints = {joint.name: np.array(joint.position) for joint in mechanism.joints}
    leg = [joints[name] for name in ("hip_pitch_l", "knee_hinge_l", "ankle_hinge_l")]
    length = np.linalg.norm(leg[1] - leg[0]) + np.linalg.norm(leg[2] - leg[1])
    assert root.robik.robot.character.scale == pytest.approx(length / (2 * np.hypot(0.02, 0.45) * size), rel=1e-3)
    tracks = clip(root).tracks
    lowest = min(tracks[f].position[:, 2].min() for f in ("foot_l", "foot_r"))
    assert lowest == pytest.approx(0.0, abs=0.004)
    start = np.mean([tracks[f].position[0, :2] for f in ("pelvis", "foot_l", "foot_r")], axis=0)
    assert np.linalg.norm(start) < 0.03


def splayed_rig(angle: float) -> bpy.types.Object:
    """A rig whose rest pose is of no use, as in many recordings: legs apart by this angle each; at frame 1 it stands
    straight."""
    data = bpy.data.armatures.new("Recorded")
    rig = bpy.data.objects.new("Recorded", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    hips = data.edit_bones.new("Hips")
    hips.head, hips.tail = (0, 0, 1), (0, 0, 1.2)
    for name, side in (("Foot.L", 1), ("Foot.R", -1)):
        leg, foot = data.edit_bones.new(f"Leg{name}"), data.edit_bones.new(name)
        out = Matrix.Translation((0.1 * side, 0, 1)) @ Matrix.Rotation(-side * angle, 4, "Y")
        leg.head, leg.tail = out @ Vector((0, 0, 0)), out @ Vector((0, 0, -0.9))
        foot.head, foot.tail = leg.tail, out @ Vector((0, -0.2, -1))
        leg.parent, foot.parent = hips, leg
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, side in (("LegFoot.L", 1), ("LegFoot.R", -1)):
        bone = rig.pose.bones[name]
        hip = Matrix.Translation(bone.bone.head_local)
        bone.matrix = hip @ Matrix.Rotation(side * angle, 4, "Y") @ hip.inverted() @ bone.bone.matrix_local
        bone.keyframe_insert("rotation_quaternion", frame=1)
    return rig


@pytest.mark.parametrize("angle", [0.0, 0.35])
def test_fit_takes_the_pose_that_looks_like_the_robots(angle: float) -> None:
    root, mechanism = scenes.import_robot("walker"), robots.load("walker")
    rig = splayed_rig(angle)
    for frame, bone in (("pelvis", "Hips"), ("foot_l", "Foot.L"), ("foot_r", "Foot.R")):
        scenes.follow(rig, frame, bone)
    bpy.context.scene.frame_end = 2
    bpy.context.scene.frame_set(1)
    assert bpy.ops.robik.fit_character() == {"FINISHED"}
    for name, track in clip(
        root
    ).tracks.items():  # standing straight, every frame of the robot is asked for its rest orientation, turned
        frame = mechanism.frame(name)
        rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
        up = Quaternion(track.quaternion[0]) @ Quaternion(rest.quaternion).inverted() @ Vector((0, 0, 1))
        assert up.z == pytest.approx(1.0, abs=1e-5), name


def test_fit_is_the_same_whatever_frame_is_shown(shared_data: Path) -> None:
    """The recorded dance begins with a T-pose, which is left out."""
    root = scenes.import_robot("walker")
    bpy.ops.robik.import_recording(filepath=str(shared_data / "bvh/05_20-mb.bvh"))
    scene, character = bpy.context.scene, root.robik.robot.character
    character.rig = bpy.context.object
    bpy.ops.robik.auto_map(fit=False)
    fits = []
    for frame in (1, 300, 900):
        scene.frame_set(frame)
        assert bpy.ops.robik.fit_character() == {"FINISHED"}
        fits.append((character.scale, *character.location, *(v for t in character.targets for v in t.offset_location)))
    assert fits[0] == fits[1] == fits[2]
    assert character.left_out == 1
    assert len(clip(root).times) == scene.frame_end - scene.frame_start


def test_a_limb_is_followed_as_the_library_follows_it() -> None:
    """Bones of a moved, scaled armature: source and library give the same place."""
    from bl_ext.user_default.robik.robik.skeleton.reach import Reach
    from bl_ext.user_default.robik.robik.skeleton.tracks import followed

    root, rig = scenes.import_robot("boxer"), scenes.walking_rig()
    rig.scale, rig.location = (2, 2, 2), (1, 2, 3)
    bpy.context.view_layer.update()
    scenes.follow(rig, "hand", "Foot.L")
    target = root.robik.robot.character.targets[0]
    target.reach_root, target.reach_middle, target.reach_hips, target.reach_chest = "Thigh.L", "Shin.L", "Hips", "Hips"
    target.reach, target.reach_from_hips, target.reach_from_chest = (0.5, 0.75), (0.1, 0.2, 0.3), (0.0, 0.1, 0.0)
    positions, _ = sample(np.arange(1.0, 6.0))
    character = installed.module("scene.character.skeleton").read_character(bpy.context, root, rig)
    reach = Reach(
        hips="Hips",
        chest="Hips",
        joints=("Thigh.L", "Shin.L"),
        shares=(0.5, 0.75),
        from_hips=(0.1, 0.2, 0.3),
        from_chest=(0.0, 0.1, 0.0),
    )
    assert positions[:3, 0] == pytest.approx(followed(character.motion, "Foot.L", reach)[0][:3], abs=1e-6)
    rig.data.bones["Shin.L"].name = "Calf"
    bpy.context.view_layer.update()
    assert target.reach_middle == "Calf"
    delete_bone(rig, "Calf")
    with pytest.raises(RobikError, match=r"hand.*'Calf'.*renamed or deleted.*Fit to Robot"):
        clip(root)
    bpy.ops.robik.fit_character()
    assert "Calf" not in (target.reach_root, target.reach_middle)
    clip(root)


def test_pinned_feet_and_phases_by_hand() -> None:
    root = scenes.squats(frames=12)
    for start, end in ((1, 4), (9, 12)):
        bpy.ops.robik.add_phase(foot="foot_l", start=start, end=end)
    root.robik.robot.balance.mode = "AUTO"
    made = scenes.followed(root)
    assert made.tracks["foot_l"].contact.tolist() == [True] * 4 + [False] * 4 + [True] * 4
    assert made.tracks["foot_r"].contact.all()
    assert made.com is not None


def test_com_follows_an_object() -> None:
    root = scenes.squats(frames=3)
    balance = root.robik.robot.balance
    balance.mode = "OBJECT"
    with pytest.raises(RobikError, match="centre of mass follows nothing"):
        clip(root)
    balance.target = scenes.empty("com", np.array([[0, 0, 0.2], [0, 0.01, 0.2], [0, 0.02, 0.2]]))
    assert clip(root).com == pytest.approx(np.array([[0, 0, 0.2], [0, 0.01, 0.2], [0, 0.02, 0.2]]))


def delete_bone(rig: bpy.types.Object, name: str = "Foot.L") -> None:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


def delete_rig(rig: bpy.types.Object) -> None:
    bpy.data.objects.remove(rig)


def unlink_rig(rig: bpy.types.Object) -> None:
    bpy.context.scene.collection.objects.unlink(rig)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (delete_bone, r"foot_l.*'Foot.L'.*renamed or deleted"),
        (delete_rig, r"foot_l.*follows nothing"),
        (unlink_rig, r"foot_l.*'Rig'.*not in this scene"),
    ],
)
def test_what_vanished_after_mapping_is_named(spoil: object, says: str) -> None:
    root = scenes.import_robot("walker")
    rig = scenes.walking_rig()
    scenes.follow(rig, "foot_l", "Foot.L")
    spoil(rig)  # type: ignore[operator]
    before = scenes.everything()
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.robik.bake()
    assert scenes.everything() == before
    assert root.robik.robot.result.frames == 0


def test_two_targets_of_one_frame_are_refused() -> None:
    root = scenes.squats(frames=3)
    root.robik.robot.character.targets[1].frame = "pelvis"
    with pytest.raises(RuntimeError, match="two targets move the frame 'pelvis'"):
        bpy.ops.robik.bake()
