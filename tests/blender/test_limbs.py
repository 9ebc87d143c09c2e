"""A robot whose arms hang, and a character whose arms stretch out where the two correspond."""

from __future__ import annotations

from math import pi
from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy.types import Object
from mathutils import Vector

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

LEG, SHOULDER, UPPER, LOWER = 0.8, 0.4, 0.3, 0.3  # [m]: hip to ankle, shoulders above the hips, the parts of an arm
JOINTS = {"pitch": "0 1 0", "roll": "1 0 0", "yaw": "0 0 1", "elbow": "0 1 0"}


@pytest.fixture
def robot(tmp_path: Path) -> Object:
    """A floating robot with legs of three hinges, arms of four that hang, forearms forward, and no hands."""
    links, joints = (
        ["pelvis", "torso_link"],
        ['<joint name="waist" type="fixed"><parent link="pelvis"/><child link="torso_link"/></joint>'],
    )

    def hinge(name: str, parent: str, at: str, axis: str = "0 1 0") -> str:
        links.append(name)
        joints.append(
            f'<joint name="{name[:-5]}" type="revolute"><origin xyz="{at}"/><parent link="{parent}"/><child'
            f' link="{name}"/><axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" velocity="9" effort="9"/></joint>'
        )
        return name

    for side, y in (("left", 0.1), ("right", -0.1)):
        hip = hinge(f"{side}_hip_link", "pelvis", f"0 {y} 0")
        hinge(f"{side}_ankle_link", hinge(f"{side}_knee_link", hip, f"0 0 {-LEG / 2}"), f"0 0 {-LEG / 2}")
        parent, at = "torso_link", f"0 {2 * y} {SHOULDER}"
        for kind, axis in JOINTS.items():
            name = f"{side}_{kind}_link" if kind == "elbow" else f"{side}_shoulder_{kind}_link"
            parent, at = hinge(name, parent, at, axis), f"0 0 {-UPPER}" if kind == "yaw" else "0 0 0"

    def body(name: str) -> str:
        foot = (
            '<visual><origin xyz="0.05 0 -0.05"/><geometry><box size="0.3 0.1 0.1"/></geometry></visual>'
            if "ankle" in name
            else ""
        )
        com = f'<origin xyz="{LOWER / 2} 0 0"/>' if "elbow" in name else ""
        inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        return f'<link name="{name}">{foot}<inertial>{com}<mass value="1"/>{inertia}</inertial></link>'

    file = tmp_path / "hanging.urdf"
    file.write_text(f'<robot name="hanging">{"".join(map(body, links))}{"".join(joints)}</robot>', encoding="utf-8")
    assert bpy.ops.robik.import_robot(filepath=str(file), base="floating") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    for shown in bpy.context.view_layer.objects:
        shown.select_set(shown.robik.kind == "BODY" and "ankle" in shown.robik.label)
    assert bpy.ops.robik.make_foot() == {"FINISHED"}
    root.robik.robot.balance.mode = "OFF"  # legs that do not go sideways leave balance to the arms
    return root


T_POSE = {"Arm": ((0, 0.4, 2.6), (0, 1.0, 2.6)), "ForeArm": ((0, 1.0, 2.6), (0, 1.6, 2.6))}
HANGING = {"Arm": ((0, 0.4, 2.6), (0, 0.4, 2.0)), "ForeArm": ((0, 0.4, 2.0), (0.6, 0.4, 2.0))}


def make_rig(arms: dict[str, tuple]) -> Object:
    """A character twice as large; heads and tails of its left arm's bones are given."""
    data = bpy.data.armatures.new("Rig")
    made = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    h = 2 * LEG + 0.2
    bones = {"Hips": ((0, 0, h), (0, 0, h + 0.3), ""), "Chest": ((0, 0, h + 0.3), (0, 0, h + 1), "Hips")}
    for side, s in (("Left", 1), ("Right", -1)):
        bones |= {
            f"{side}UpLeg": ((0, 0.2 * s, h), (0, 0.2 * s, h - LEG), "Hips"),
            f"{side}Leg": ((0, 0.2 * s, h - LEG), (0, 0.2 * s, 0.2), f"{side}UpLeg"),
            f"{side}Foot": ((0, 0.2 * s, 0.2), (0.3, 0.2 * s, 0), f"{side}Leg"),
        }
        for part, ends in arms.items():
            bones[side + part] = (*((x, s * y, z) for x, y, z in ends), "Chest" if part == "Arm" else f"{side}Arm")
    for name, (head, tail, parent) in bones.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    return made


@pytest.fixture
def rig() -> Object:
    """In T-pose at frame 1; at frame 20 the left forearm points up, and at 40 both arms hang."""
    made = make_rig(T_POSE)
    for frame, turns in (
        (1, {}),
        (20, {"LeftForeArm": ("X", pi / 2)}),
        (40, {"LeftArm": ("X", -pi / 2), "RightArm": ("X", pi / 2)}),
    ):
        for name in ("LeftArm", "RightArm", "LeftForeArm"):
            posed = made.pose.bones[name]
            axis, angle = turns.get(name, ("X", 0.0))
            local = posed.bone.matrix_local.to_3x3().inverted() @ Vector(
                (axis == "X", 0, 0)
            )  # the world's axis, in the bone's rest
            posed.rotation_mode = "AXIS_ANGLE"
            posed.rotation_axis_angle = (angle, *local)
            posed.keyframe_insert("rotation_axis_angle", frame=frame)
    bpy.context.scene.frame_end = 40
    bpy.context.scene.frame_set(1)
    return made


def limb(root: Object, label: str, local: Vector) -> np.ndarray:
    body = next(b for b in scenes.body_objects(root) if b.robik.label == label)
    return np.array(body.matrix_world.to_3x3() @ local)


@pytest.mark.one_blender
def test_hanging_arms_follow_a_character_in_t_pose(robot: Object, rig: Object) -> None:
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    character = robot.robik.robot.character
    targets = {t.frame: t for t in character.targets}
    assert {frame: t.bone for frame, t in targets.items()} == {
        "foot_l": "LeftFoot", "foot_r": "RightFoot", "pelvis": "Hips", "torso_link": "Chest",
        "left_elbow_link": "LeftForeArm", "right_elbow_link": "RightForeArm",
        "left_shoulder_yaw_link": "LeftArm", "right_shoulder_yaw_link": "RightArm",
    }  # fmt: skip
    assert character.scale == pytest.approx(0.5, rel=1e-3), (
        "by the hips, not by a torso that is called so, nor by the arms"
    )
    assert [round(targets[f].weight, 3) for f in ("foot_l", "pelvis", "torso_link", "left_elbow_link")] == [
        1.0,
        1.0,
        0.3,
        0.1,
    ]
    assert tuple(targets["torso_link"].position_weight) == (0, 0, 0)
    assert tuple(targets["left_elbow_link"].orientation_weight) == (1, 0, 0), "its forearm lies along X"
    assert tuple(targets["foot_l"].orientation_weight) == pytest.approx((0.005,) * 3), (
        "three hinges cannot turn it every way"
    )
    assert bpy.ops.robik.bake() == {"FINISHED"}
    for frame, left, right in ((1, (0, 1, 0), (0, -1, 0)), (20, (0, 0, 1), (0, -1, 0)), (40, (0, 0, -1), (0, 0, -1))):
        bpy.context.scene.frame_set(frame)
        for side, points in (("left", left), ("right", right)):
            np.testing.assert_allclose(
                limb(robot, f"{side}_elbow_link", Vector((1, 0, 0))), points, atol=0.05, err_msg=f"{frame} {side}"
            )
    assert max(row.position_error for row in robot.robik.robot.result.targets) < 0.05


def test_weights_by_axis_stay(robot: Object, rig: Object) -> None:
    bpy.ops.robik.auto_map(fit=False)
    target = next(t for t in robot.robik.robot.character.targets if t.frame == "left_elbow_link")
    target.orientation_weight = (0.5, 0.25, 0.0)
    assert bpy.ops.robik.fit_character() == {"FINISHED"}
    assert tuple(target.orientation_weight) == (0.5, 0.25, 0.0)


@pytest.mark.one_blender
def test_arms_that_hang_in_both_keep_their_offsets_and_directions(robot: Object) -> None:
    make_rig(HANGING)
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    arm = next(t for t in robot.robik.robot.character.targets if t.frame == "left_elbow_link")
    assert tuple(arm.orientation_weight) == (1, 1, 1)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    np.testing.assert_allclose(limb(robot, "left_elbow_link", Vector((1, 0, 0))), (1, 0, 0), atol=1e-3)
    assert max(row.position_error for row in robot.robik.robot.result.targets) < 2e-3
