"""Robots whose files name neither frames nor soles: mapped by their bodies, fitted by their legs, and given feet by
hand."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.feet.sole_turns import ground_height
from bl_ext.user_default.robik.robik.formats import import_robot, load_robot
from bl_ext.user_default.robik.robik.mechanism.base import with_base
from bl_ext.user_default.robik.robik.motions import BaseTrack, Companions, Motion, save_motion
from bl_ext.user_default.robik.robik.skeleton.feet import on_its_feet
from bl_ext.user_default.robik.robik.skeleton.shapes import shapes_of
from bpy.types import Object
from mathutils import Matrix, Vector

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

LEG, WIDE, ANKLE = 0.8, 0.2, 0.1  # from hip to ankle, between the ankles, above the ground [m]


@pytest.fixture
def biped(tmp_path: Path) -> Object:
    return biped_of(tmp_path)


def biped_of(folder: Path, tilt: float = 0.0, base: str = "floating") -> Object:
    """A torso, at the height of the pelvis below it as many robots have it, on two legs of three hinges; a box for each
    foot, its toe down by a tilt [rad].
    """
    weight = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shapes = {
        "ankle": (
            f'<visual><origin xyz="0.05 0 {-ANKLE / 2}" rpy="0 {tilt} 0"/><geometry><box size="0.3 0.1'
            f' {ANKLE}"/></geometry></visual>'
        )
    }
    links, joints = (
        ["pelvis", "torso_link"],
        ['<joint name="waist" type="revolute"><parent link="pelvis"/><child link="torso_link"/></joint>'],
    )
    for side, y in (("left", WIDE / 2), ("right", -WIDE / 2)):
        parts = [
            (f"{side}_hip_link", "pelvis", f"0 {y} 0"),
            (f"{side}_knee_link", f"{side}_hip_link", f"0 0 {-LEG / 2}"),
        ]
        parts.append((f"{side}_ankle_link", f"{side}_knee_link", f"0 0 {-LEG / 2}"))
        for name, parent, at in parts:
            links.append(name)
            joints.append(
                f'<joint name="{name[:-5]}" type="revolute"><origin xyz="{at}"/><parent link="{parent}"/><child'
                f' link="{name}"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="9" effort="9"/></joint>'
            )
    body = "".join(
        f'<link name="{n}">{shapes.get(n.split("_")[1] if "_" in n else "", "")}{weight}</link>' for n in links
    )
    file = folder / "biped.urdf"
    file.write_text(f'<robot name="biped">{body}{"".join(joints)}</robot>', encoding="utf-8")
    assert bpy.ops.robik.import_robot(filepath=str(file), base=base) == {"FINISHED"}
    return bpy.context.scene.robik.robot


def select_bodies(root: Object, *labels: str) -> None:
    for shown in bpy.context.view_layer.objects:
        shown.select_set(False)
    for body in scenes.body_objects(root):
        body.select_set(body.robik.label in labels)


FEET = ("left_ankle_link", "right_ankle_link")


def pelvis_height(root: Object) -> float:
    """Of a robot whose own coordinates are the world's."""
    assert root.matrix_world == Matrix()
    shown = next(o for o in scenes.body_objects(root) if o.robik.label == "pelvis")
    assert shown.matrix_world.translation.z == pytest.approx(scenes.read(root).bodies[0].pose.position[2], abs=1e-6)
    return scenes.read(root).bodies[0].pose.position[2]


def assert_as_in_the_shell(root: Object, folder: Path) -> None:
    """Motions of the shell and of Blender have the same base, with the ground at height 0."""
    file = folder / "biped.urdf"
    robot = load_robot(file)
    shell, here = on_its_feet(robot, shapes_of(robot, file)), scenes.read(root)
    assert {b.name: b.pose for b in here.bodies} == {b.name: b.pose for b in shell.bodies}
    assert {j.name: j.position for j in here.joints} == {j.name: j.position for j in shell.joints}
    assert ground_height(shell) == pytest.approx(0.0, abs=1e-12)


def test_bodies_are_mapped_and_the_legs_tell_the_scale(biped: Object) -> None:
    rig = scenes.walking_rig()
    bones = rig.data.bones
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    character = biped.robik.robot.character
    pairs = {t.frame: t.bone for t in character.targets}
    assert (pairs["pelvis"], pairs["foot_l"], pairs["foot_r"]) == ("Hips", "Foot.L", "Foot.R")
    assert {f.name: f.body for f in scenes.read(biped).frames} == {
        "foot_l": FEET[0],
        "foot_r": FEET[1],
    }, "found by themselves"
    assert list(pairs.values()).count("Hips") == 1
    height = bones["Hips"].head_local.z - bones["Foot.L"].head_local.z
    assert character.scale == pytest.approx(LEG / height, rel=0.1)


def test_feet_are_made_by_hand_and_carry_the_balance(biped: Object) -> None:
    still = np.tile([0.0, 0.0, 1.0], (6, 1))
    for frame, place in (("pelvis", (0, 0, -0.02)), (FEET[0], (0, WIDE / 2, -LEG)), (FEET[1], (0, -WIDE / 2, -LEG))):
        scenes.follow(scenes.empty(f"to {frame}", still + place), frame)
    bpy.context.scene.frame_end = 6
    robot = biped.robik.robot
    robot.balance.mode = "STILL"
    with pytest.raises(RuntimeError, match=r"has no feet.*Make Foot"):
        bpy.ops.robik.bake()
    select_bodies(biped, *FEET)
    assert bpy.ops.robik.make_foot() == {"FINISHED"}
    assert [t.frame for t in robot.character.targets] == ["pelvis", "foot_l", "foot_r"]
    sole = np.array(scenes.read(biped).frame("foot_l").sole)
    assert np.ptp(sole, axis=0) == pytest.approx([0.3, 0.1, 0.0], abs=1e-6)
    assert sole.mean(axis=0) == pytest.approx([0.05, 0.0, -ANKLE], abs=1e-6)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert robot.result.has_margin
    assert bpy.ops.robik.make_foot() == {"FINISHED"}  # once more changes nothing
    assert sum(f.is_foot for f in scenes.read(biped).frames) == 2


def test_feet_that_rest_on_their_toes_stand_flat(tmp_path: Path) -> None:
    """The whole of their flat side is the sole, and the character's standing foot is the robot's."""
    root = biped_of(tmp_path, tilt=0.25)
    select_bodies(root, *FEET)
    assert bpy.ops.robik.make_foot() == {"FINISHED"}
    foot = scenes.read(root).frame("foot_l")
    length, width = np.ptp(np.array(foot.sole), axis=0)[:2]
    assert (length, width) == pytest.approx((0.3 * np.cos(0.25), 0.1), abs=1e-6)
    above = ANKLE / 2 * (1.0 + np.cos(0.25) - np.sin(0.25))  # where the ankle is when the foot stands level
    assert pelvis_height(root) == pytest.approx(LEG + above, abs=1e-6), "its hips came in at the origin"
    rig = scenes.walking_rig()
    rig.animation_data_clear()
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    bpy.context.scene.frame_end = 3
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    body = next(o for o in scenes.body_objects(root) if o.robik.label == FEET[0])
    sole = np.array([body.matrix_world @ Vector(foot.pose.point(p)) for p in foot.sole])
    assert np.abs(sole[:, 2]).max() < 0.003, "it stands level on the floor"
    assert np.ptp(sole[:, :2], axis=0).max() == pytest.approx(0.3, abs=0.003)


def test_a_robot_that_floats_at_its_hips_rests_on_the_ground(tmp_path: Path) -> None:
    """As Hi, whose URDF has a floating joint at its origin; also once its file is read again."""
    root = biped_of(tmp_path, base="auto")
    file = tmp_path / "biped.urdf"
    joint = '<joint name="base" type="floating"><parent link="world"/><child link="pelvis"/></joint>'
    file.write_text(file.read_text().replace("</robot>", f'<link name="world"/>{joint}</robot>'))
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert not scenes.read(root).is_grounded
    select_bodies(root, *FEET)
    assert bpy.ops.robik.make_foot() == {"FINISHED"}
    for _ in range(2):
        assert pelvis_height(root) == pytest.approx(LEG + ANKLE, abs=1e-6)
        assert_as_in_the_shell(root, tmp_path)
        assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    scenes.walking_rig()
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    bpy.context.scene.frame_end = 3
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    ankle = next(o for o in scenes.body_objects(root) if o.robik.label == FEET[0])
    assert ankle.matrix_world.translation.z == pytest.approx(ANKLE, abs=0.05)


def test_a_robot_that_hung_in_the_world_stands_on_its_feet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As each URDF does of which nobody has said that it floats; Auto-Map finds the feet."""
    root = biped_of(tmp_path, base="auto")
    assert scenes.read(root).is_grounded
    rig = scenes.walking_rig()
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "stands on foot_l, foot_r" in said
    assert "held by nothing else any more" in said
    root.robik.robot.character.targets.clear()
    bpy.data.objects.remove(rig)
    assert not scenes.read(root).is_grounded
    assert pelvis_height(root) == pytest.approx(LEG + ANKLE, abs=1e-6)
    assert_as_in_the_shell(root, tmp_path)
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert not scenes.read(root).is_grounded
    assert_as_in_the_shell(root, tmp_path)
    bpy.ops.robik.add_character()
    assert bpy.data.objects["Character"].location.z == pytest.approx(0.0, abs=1e-6), "on the same floor"
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    assert "fixed to the world" not in capfd.readouterr().out
    bpy.context.scene.frame_end = 120
    root.robik.robot.balance.pin_feet = True
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert max(t.position_error for t in root.robik.robot.result.targets if t.name.startswith("foot")) < 0.03
    for label in FEET:
        foot = next(o for o in scenes.body_objects(root) if o.robik.label == label)
        heights = []
        for frame in range(1, 121):
            bpy.context.scene.frame_set(frame)
            heights.append(foot.matrix_world.translation.z)
        assert min(heights) == pytest.approx(ANKLE, abs=5e-3), "it stands on the floor"
    pelvis = next(o for o in scenes.body_objects(root) if o.robik.label == "pelvis")
    bpy.context.scene.frame_set(1)
    before = pelvis.matrix_world.translation.copy()
    bpy.context.scene.frame_set(120)
    assert (pelvis.matrix_world.translation - before).length > 0.1


def test_feet_without_a_shape_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = biped_of(tmp_path, base="auto")
    for shown in [o for o in root.children_recursive if o.robik.kind == "VISUAL"]:
        bpy.data.objects.remove(shown)
    scenes.walking_rig()
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "'left_ankle_link' has no mesh that it could stand on" in said
    assert "'pelvis' is fixed to the world" in said


def test_a_foot_that_is_fixed_to_the_world_stays_so(tmp_path: Path) -> None:
    root = biped_of(tmp_path)
    select_bodies(root, FEET[0])
    bpy.ops.robik.set_ground()
    select_bodies(root, *FEET)
    assert bpy.ops.robik.make_foot() == {"FINISHED"}
    assert scenes.read(root).is_grounded


def test_feet_stay_when_the_file_is_read_again_and_are_in_what_is_exported(biped: Object, tmp_path: Path) -> None:
    select_bodies(biped, *FEET)
    bpy.ops.robik.make_foot()
    frames = scenes.read(biped).frames
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert scenes.read(biped).frames == frames
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert scenes.read(biped).frames == frames
    bpy.ops.robik.export_robot(filepath=str(tmp_path / "out.robik.json"))
    assert import_robot(tmp_path / "out.robik.json").mechanism.frames == frames


def test_what_is_not_flat_below_is_no_foot(biped: Object) -> None:
    other = scenes.import_robot("boxer")
    select_bodies(biped, "pelvis", *FEET)
    before = scenes.everything()
    with pytest.raises(RuntimeError, match="'pelvis' has no mesh"):
        bpy.ops.robik.make_foot()
    assert scenes.everything() == before
    assert bpy.context.scene.robik.robot == other  # a refusal makes no undo step, so it changes nothing
    select_bodies(biped)
    with pytest.raises(RuntimeError, match="no body is selected"):
        bpy.ops.robik.make_foot()


@pytest.mark.parametrize("format_name", ["csv", "lafan1-csv"])
@pytest.mark.parametrize("has_soles", [True, False])
def test_a_motion_of_its_base_lets_a_robot_go(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], format_name: str, has_soles: bool
) -> None:
    """The robot of a URDF is held where its file's origin is, its hips at the height of the floor."""
    root = biped_of(tmp_path, base="auto")
    if not has_soles:
        bpy.data.batch_remove([o for o in root.children_recursive if o.robik.kind == "VISUAL"])
    robot = load_robot(tmp_path / "biped.urdf")
    walked = np.column_stack([np.linspace(0.0, 0.6, 31), np.zeros(31), np.full(31, LEG + ANKLE)])
    motion = Motion(
        times=np.arange(31) / 30.0,
        actuators=robot.actuators,
        values=np.zeros((31, len(robot.actuators))),
        base=BaseTrack(body="pelvis", position=walked, quaternion=np.tile([1.0, 0.0, 0.0, 0.0], (31, 1))),
    )
    file = tmp_path / "walk.csv"
    save_motion(motion, file, format_name, Companions(robot=with_base(robot, "floating")))
    bpy.context.scene.render.fps = 30
    assert bpy.ops.robik.import_motion(filepath=str(file), format=format_name, ghost=False) == {"FINISHED"}
    assert "floats now, since walk.csv says where its base is" in capfd.readouterr().out
    assert not scenes.read(root).is_grounded
    assert sum(frame.is_foot for frame in scenes.read(root).frames) == (2 if has_soles else 0)
    for frame, along in ((1, 0.0), (31, 0.6)):
        bpy.context.scene.frame_set(frame)
        shown = {o.robik.label: np.array(o.matrix_world.translation) for o in scenes.body_objects(root)}
        assert shown["pelvis"] == pytest.approx([along, 0.0, LEG + ANKLE], abs=1e-4)
        assert shown["left_ankle_link"] == pytest.approx([along, WIDE / 2, ANKLE], abs=1e-4)
    assert bpy.ops.robik.import_motion(filepath=str(file), format=format_name, ghost=False) == {"FINISHED"}
    assert "floats now" not in capfd.readouterr().out, "it is let go once"
