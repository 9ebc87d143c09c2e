"""Parts of real robots, by names and by shape."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.formats import import_robot
from robik.mechanism import Frame, Mechanism
from robik.skeleton.anatomy import ARM, FRONT_LEG, LEG, read_anatomy
from robik.skeleton.mapping import auto_map
from robik.skeleton.robot import limb_directions, robot_anatomy
from tests.skeleton.conventions import skeleton


def g1(shared_data: Path) -> Mechanism:
    return import_robot(shared_data / "unitree_g1/g1_29dof.xml").mechanism


def nameless(mechanism: Mechanism) -> Mechanism:
    """The same robot, its bodies and joints numbered."""
    new = {body.name: f"part_{k}" for k, body in enumerate(mechanism.bodies)} | {"world": "world"}
    return replace(
        mechanism,
        bodies=tuple(replace(body, name=new[body.name]) for body in mechanism.bodies),
        joints=tuple(
            replace(joint, name=f"j{k}", parent=new[joint.parent], child=new[joint.child])
            for k, joint in enumerate(mechanism.joints)
        ),
        frames=(),
        couplings=(),
    )


def test_limbs_of_a_humanoid(shared_data: Path) -> None:
    robot = robot_anatomy(g1(shared_data))
    leg, arm = robot.limb(LEG, "l"), robot.limb(ARM, "r")
    assert leg is not None
    assert arm is not None
    assert (robot.hips, robot.chest, robot.head) == ("pelvis", "torso_link", "")
    assert (leg.upper, leg.lower, leg.end) == ("left_hip_yaw_link", "left_knee_link", "left_ankle_roll_link")
    assert (arm.upper, arm.lower, arm.end) == ("right_shoulder_yaw_link", "right_elbow_link", "right_wrist_yaw_link")
    assert (leg.freedom, arm.freedom) == (6, 7)
    assert leg.lengths == pytest.approx([0.32, 0.31], abs=0.01)  # thigh and shin by its drawings
    assert leg.reach == pytest.approx(leg.lengths.sum(), abs=2e-3)


def test_a_humanoid_without_names_has_the_same_limbs(shared_data: Path) -> None:
    """By shape alone: two chains to the ground, two beside, left along +Y."""
    mechanism = g1(shared_data)
    named, blank = robot_anatomy(mechanism), robot_anatomy(nameless(mechanism))
    index = {f"part_{k}": body.name for k, body in enumerate(mechanism.bodies)}
    for kind in (LEG, ARM):
        for side in ("l", "r"):
            one, other = named.limb(kind, side), blank.limb(kind, side)
            assert one is not None
            assert other is not None
            assert (index[other.upper], index[other.lower]) == (one.upper, one.lower)
    assert index[blank.hips] == "pelvis"


def test_an_arm_without_a_wrist_ends_with_its_forearm(shared_data: Path) -> None:
    robot = robot_anatomy(import_robot(shared_data / "unitree_h1/h1.xml").mechanism)
    arm = robot.limb(ARM, "l")
    assert arm is not None
    assert (arm.upper, arm.lower, arm.end) == ("left_shoulder_yaw_link", "left_elbow_link", "")


def test_a_limb_points_from_the_last_hinge_that_swings_it(shared_data: Path) -> None:
    h1, g1 = (import_robot(shared_data / f"unitree_{n}.xml").mechanism for n in ("h1/h1", "g1/g1_29dof"))
    leg = robot_anatomy(h1).limb(LEG, "l")
    assert leg is not None
    assert leg.ways[0] == pytest.approx([0.0, 0.0, -0.4], abs=1e-3), "it hangs 0.12 m outside the hinge that rolls it"
    ways = limb_directions(g1)
    thigh = g1.rest_pose("left_hip_yaw_link").matrix @ ways["left_hip_yaw_link"]
    assert thigh == pytest.approx([0.0, 0.0, -1.0], abs=0.01)
    assert max(np.abs(ways["left_hip_yaw_link"])) < np.cos(np.radians(9)), "it is askew to all axes of its body"


def test_legs_with_loops_are_measured_along_their_bones() -> None:
    leg = robot_anatomy(robots.load("walker")).limb(LEG, "l")
    assert leg is not None
    assert (leg.upper, leg.lower, leg.end) == ("thigh_l", "shank_l", "left_foot")
    assert leg.lengths == pytest.approx([0.13, 0.13])


QUADRUPED = """<robot name="dog"><link name="base"><inertial><mass value="9"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>{legs}</robot>"""
LEG_OF = """<link name="{n}_HIP"/><link name="{n}_THIGH"/><link name="{n}_SHANK"/><link name="{n}_FOOT"/>
<joint name="{n}_HAA" type="revolute"><parent link="base"/><child link="{n}_HIP"/><origin xyz="{x} {y} 0"/>
<axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="{n}_HFE" type="revolute"><parent link="{n}_HIP"/><child link="{n}_THIGH"/><origin xyz="0 {o} 0"/>
<axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="{n}_KFE" type="revolute"><parent link="{n}_THIGH"/><child link="{n}_SHANK"/><origin xyz="0 0 -0.25"/>
<axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="{n}_FIX" type="fixed"><parent link="{n}_SHANK"/><child link="{n}_FOOT"/><origin xyz="0 0 -0.3"/></joint>"""


BELOW = """<inertial><origin xyz="0 0 -0.3"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""


def dog(file: Path, words: tuple[str, ...], ahead: float, feet: bool = True) -> Mechanism:
    """A quadruped whose legs are called so, the front ones first, which looks along X or back."""
    corners = ((0.3, 0.1), (0.3, -0.1), (-0.3, 0.1), (-0.3, -0.1))
    legs = "".join(
        LEG_OF.format(n=n, x=ahead * x, y=ahead * y, o=0.08 * np.sign(ahead * y))
        for n, (x, y) in zip(words, corners, strict=True)
    )
    if not feet:
        legs = re.sub(r'<link name="\w+_FOOT"/>|<joint name="\w+_FIX".*?</joint>', "", legs)
        legs = re.sub(r'<link name="(\w+_SHANK)"/>', r'<link name="\1">' + BELOW + "</link>", legs)
    file.write_text(QUADRUPED.format(legs=legs), encoding="utf-8")
    return import_robot(file, base="floating").mechanism


@pytest.mark.parametrize("feet", [True, False])
@pytest.mark.parametrize("ahead", [1.0, -1.0])
@pytest.mark.parametrize("words", [("LF", "RF", "LH", "RH"), ("FL", "FR", "RL", "RR")])
def test_names_say_which_legs_are_in_front_and_which_left(
    words: tuple[str, ...], ahead: float, feet: bool, tmp_path: Path
) -> None:
    """As ANYmal, which looks back in MuJoCo's model of it, and whose feet are spheres on its shins."""
    mechanism = dog(tmp_path / "dog.urdf", words, ahead, feet)
    limbs = {(limb.kind, limb.side): limb.lower for limb in robot_anatomy(mechanism).limbs}
    assert limbs == {
        (FRONT_LEG, "l"): f"{words[0]}_SHANK", (FRONT_LEG, "r"): f"{words[1]}_SHANK",
        (LEG, "l"): f"{words[2]}_SHANK", (LEG, "r"): f"{words[3]}_SHANK",
    }  # fmt: skip
    bones = skeleton("lafan1")[0]
    rows = auto_map(mechanism, bones.names, read_anatomy(bones))
    assert not any(row.bone and row.frame.endswith("_HIP") for row in rows), "a leg's hip is no trunk"


@pytest.mark.parametrize("words", [("LF", "RF", "LH", "RH"), ("FL", "FR", "RL", "RR")])
def test_a_quadruped_has_front_legs(words: tuple[str, ...], tmp_path: Path) -> None:
    mechanism = dog(tmp_path / "dog.urdf", words, 1.0)
    robot = robot_anatomy(mechanism)
    assert robot.is_quadruped
    ends = {(limb.kind, limb.side): limb.end for limb in robot.limbs}
    assert ends == {
        (FRONT_LEG, "l"): f"{words[0]}_FOOT", (FRONT_LEG, "r"): f"{words[1]}_FOOT",
        (LEG, "l"): f"{words[2]}_FOOT", (LEG, "r"): f"{words[3]}_FOOT",
    }  # fmt: skip
    leg = robot.limb(LEG, "l")
    assert leg is not None
    assert leg.reach == pytest.approx(np.hypot(0.55, 0.08), abs=1e-4), "the knee lies beside the hip"
    assert not leg.has_ankle


@pytest.mark.parametrize("name", ["mmd", "smpl", "soma", "unreal"])
def test_every_convention_maps_alike(name: str, shared_data: Path) -> None:
    bones, joints = skeleton(name)
    rows = {row.frame: row for row in auto_map(g1(shared_data), bones.names, read_anatomy(bones)) if row.bone}
    followed = {frame: joints[row.bone][0] for frame, row in rows.items()}
    trunk = {frame: followed.pop(frame) for frame in ("pelvis", "torso_link")}
    assert trunk["pelvis"] == "hips"
    assert trunk["torso_link"] in ("spine1", "spine2"), "the chest rather than the lower back"
    assert followed == {
        **{f"{side}_ankle_roll_link": "foot" for side in ("left", "right")},
        **{f"{side}_hip_yaw_link": "thigh" for side in ("left", "right")},
        **{f"{side}_knee_link": "shin" for side in ("left", "right")},
        **{f"{side}_wrist_yaw_link": "hand" for side in ("left", "right")},
        **{f"{side}_shoulder_yaw_link": "upper arm" for side in ("left", "right")},
        **{f"{side}_elbow_link": "forearm" for side in ("left", "right")},
    }
    assert all(
        rows[frame].is_direction and rows[frame].weight <= 0.5
        for frame in rows
        if followed.get(frame) in ("thigh", "shin", "upper arm", "forearm")
    )
    assert rows["left_wrist_yaw_link"].position_weight == (1.0, 1.0, 1.0)


def test_a_robot_with_one_telling_frame_gets_arms_and_head_too(shared_data: Path) -> None:
    bones, _ = skeleton("mixamo")
    simple = shared_data / "example-robot-data/robots/simple_humanoid_description/urdf/simple_humanoid.urdf"
    mechanism = import_robot(simple, base="floating").mechanism
    marked = replace(mechanism, frames=(Frame("torso_frame", "torso"),))
    rows = {
        row.frame: row.bone.removeprefix("mixamorig:")
        for row in auto_map(marked, bones.names, read_anatomy(bones))
        if row.bone
    }
    assert rows["torso_frame"] == "Spine2"
    assert {
        "l_wrist": "LeftHand",
        "r_wrist": "RightHand",
        "l_ankle": "LeftFoot",
        "r_ankle": "RightFoot",
    }.items() <= rows.items()


def test_rods_of_an_ankle_are_neither_its_foot_nor_legs(shared_data: Path) -> None:
    """Digit's feet hang on rods that lead back up; a single leg's two rods are no pair of legs."""
    digit, leg = (
        import_robot(shared_data / f"{name}/robot.urdf").mechanism for name in ("digit_like_2legs", "talos_like")
    )
    ends = {limb.side: limb.end for limb in robot_anatomy(digit).limbs if limb.kind == "leg"}
    assert ends == {"l": "foot_part_2", "r": "foot_part"}
    assert robot_anatomy(leg).limbs == ()
