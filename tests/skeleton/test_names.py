"""Bones and frames by their names, on the names that rigs in use have."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik import robots
from robik.skeleton.names import auto_map, ends, part_of, parts_of, robot_name

FRAMES = (
    "pelvis",
    "chest",
    "head",
    "hand_l",
    "hand_r",
    "foot_l",
    "foot_r",
    "thigh_l",
    "shin_r",
    "upper_arm_l",
    "forearm_r",
    "toe_l",
)


def words(text: str) -> list[str]:
    return text.split()


def sides(*patterns: str) -> list[str]:
    """Each pattern with its `{}` for left and for right, in the spelling that its neighbour asks for."""
    made = []
    for pattern in patterns:
        for short, long in (("l", "left"), ("r", "right")):
            text = pattern.replace("{s}", short).replace("{S}", short.upper())
            made.append(text.replace("{side}", long).replace("{Side}", long.capitalize()))
    return made


MIXAMO = [
    *(f"mixamorig:{b}" for b in words("Hips Spine Spine1 Spine2 Neck Head HeadTop_End")),
    *sides(
        *(
            f"mixamorig:{{Side}}{b}"
            for b in words("Shoulder Arm ForeArm Hand HandThumb1 UpLeg Leg Foot ToeBase Toe_End")
        )
    ),
]
METARIG = [
    "spine",
    "spine.001",
    "spine.002",
    "spine.003",
    "spine.004",
    "spine.006",
    *sides(
        *(
            f"{b}.{{S}}"
            for b in words("pelvis shoulder upper_arm forearm hand thigh shin foot toe heel.02 palm.01 breast")
        )
    ),
]
RIGIFY = [
    "root",
    "torso",
    "hips",
    "chest",
    "head",
    "neck",
    "MCH-torso.parent",
    "spine_fk",
    "tweak_spine",
    *(f"{kind}-{bone}" for bone in METARIG for kind in ("DEF", "ORG", "MCH")),
    *sides(
        *(f"{b}.{{S}}" for b in words("foot_ik foot_fk foot_heel_ik foot_spin_ik hand_ik hand_fk thigh_parent toe_ik"))
    ),
    *sides("DEF-thigh.{S}.001", "DEF-shin.{S}.001", "DEF-upper_arm.{S}.001", "VIS_thigh_ik_pole.{S}"),
]
UNREAL = [
    "root",
    "pelvis",
    "spine_01",
    "spine_02",
    "spine_03",
    "neck_01",
    "head",
    "ik_foot_root",
    "ik_hand_root",
    "ik_hand_gun",
    *sides(
        *(
            f"{b}_{{s}}"
            for b in words("clavicle upperarm lowerarm hand thigh calf foot ball ik_foot ik_hand thumb_01 index_01")
        )
    ),
    *sides("upperarm_twist_01_{s}", "lowerarm_twist_01_{s}", "thigh_twist_01_{s}", "calf_twist_01_{s}"),
]
DAZ = [
    "hip",
    "abdomen",
    "chest",
    "neck",
    "head",
    "leftEye",
    "rightEye",
    *sides(*(f"{{s}}{b}" for b in words("Collar Shldr ForeArm Hand Thumb1 Index1 Buttock Thigh Shin Foot Toe"))),
]
GENESIS = [
    "hip",
    "pelvis",
    "abdomenLower",
    "abdomenUpper",
    "chestLower",
    "chestUpper",
    "neckLower",
    "neckUpper",
    "head",
    *sides(
        *(f"{{s}}{b}" for b in words("Collar ShldrBend ShldrTwist ForearmBend ForearmTwist Hand ThighBend ThighTwist"))
    ),
    *sides(*(f"{{s}}{b}" for b in words("Shin Foot Metatarsals Toe SmallToe1"))),
]
BIPED = [
    "Bip01",
    "Bip01 Pelvis",
    "Bip01 Spine",
    "Bip01 Spine1",
    "Bip01 Spine2",
    "Bip01 Neck",
    "Bip01 Head",
    "Bip01 HeadNub",
    *sides(*(f"Bip01 {{S}} {b}" for b in words("Clavicle UpperArm Forearm Hand Finger0 Thigh Calf Foot Toe0 Toe0Nub"))),
]
PLAIN = [
    "pelvis",
    "chest",
    "head",
    *sides(*(f"{b}_{{s}}" for b in words("hand foot thigh shin upper_arm forearm toe"))),
]

# What each of FRAMES is in it; "-" where there is none.
RIGS = {
    "mixamo": (
        MIXAMO,
        "mixamorig:",
        "Hips Spine2 Head LeftHand RightHand LeftFoot RightFoot LeftUpLeg RightLeg LeftArm RightForeArm LeftToeBase",
    ),
    "metarig": (
        METARIG,
        "",
        "spine spine.003 - hand.L hand.R foot.L foot.R thigh.L shin.R upper_arm.L forearm.R toe.L",
    ),
    "rigify": (
        RIGIFY,
        "",
        "DEF-spine DEF-spine.003 head DEF-hand.L DEF-hand.R DEF-foot.L DEF-foot.R "
        "DEF-thigh.L DEF-shin.R DEF-upper_arm.L DEF-forearm.R DEF-toe.L",
    ),
    "unreal": (
        UNREAL,
        "",
        "pelvis spine_03 head hand_l hand_r foot_l foot_r thigh_l calf_r upperarm_l lowerarm_r ball_l",
    ),
    "daz": (DAZ, "", "hip chest head lHand rHand lFoot rFoot lThigh rShin lShldr rForeArm lToe"),
    "genesis": (
        GENESIS,
        "",
        "pelvis chestUpper head lHand rHand lFoot rFoot lThighBend rShin lShldrBend rForearmBend lToe",
    ),
    "biped": (
        BIPED,
        "Bip01 ",
        "Pelvis Spine2 Head L~Hand R~Hand L~Foot R~Foot L~Thigh R~Calf L~UpperArm R~Forearm L~Toe0",
    ),
    "plain": (PLAIN, "", "pelvis chest head hand_l hand_r foot_l foot_r thigh_l shin_r upper_arm_l forearm_r toe_l"),
}


@pytest.mark.parametrize("rig", RIGS)
def test_every_part_is_found(rig: str) -> None:
    bones, prefix, expected = RIGS[rig]
    wanted = {
        f: prefix + bone.replace("~", " ") for f, bone in zip(FRAMES, expected.split(), strict=True) if bone != "-"
    }
    assert auto_map(FRAMES, bones) == wanted
    assert auto_map(FRAMES, bones[::-1]) == wanted  # whatever the order of the bones


def bvh_bones(path: Path) -> list[str]:
    lines = (line.split() for line in path.read_text().splitlines())
    return [words[1] for words in lines if words and words[0] in ("ROOT", "JOINT")]


@pytest.mark.parametrize("file", ["05_20-mb.bvh", "bvh_test1.bvh", "bvh_test3.bvh", "standard_skeleton.bvh"])
def test_recordings(file: str, shared_data: Path) -> None:
    bones = bvh_bones(shared_data / "bvh" / file)
    frames = ("pelvis", "head", "left_ankle_link", "right_foot", "hand_l")
    assert auto_map(frames, bones) == dict(
        zip(frames, ("Hips", "Head", "LeftFoot", "RightFoot", "LeftHand"), strict=True)
    )


def test_poor_recordings_give_what_they_have(shared_data: Path) -> None:
    bones = bvh_bones(shared_data / "bvh" / "rotation_first_root.bvh")
    assert auto_map(("pelvis", "foot_l", "shin_l", "hand_r"), bones) == {"pelvis": "Hips", "shin_l": "LeftLeg"}


def test_our_robots() -> None:
    assert auto_map([f.name for f in robots.load("walker").frames], MIXAMO) == {
        "pelvis": "mixamorig:Hips",
        "foot_l": "mixamorig:LeftFoot",
        "foot_r": "mixamorig:RightFoot",
    }
    assert auto_map(["hand"], UNREAL) == {"hand": "hand_r"}  # a single arm takes the right one
    assert auto_map(["hand"], ["hand.L"]) == {"hand": "hand.L"}
    assert auto_map(["pelvis_frame"], METARIG) == {"pelvis_frame": "spine"}


def test_a_rig_made_for_the_robot_wins_by_its_names() -> None:
    assert auto_map(["bellcrank_l", "foot_l"], ["bellcrank_l", "Foot_L", "LeftFoot"]) == {
        "bellcrank_l": "bellcrank_l",
        "foot_l": "Foot_L",
    }


def test_nothing_is_guessed_from_nothing() -> None:
    assert auto_map(["rod_3", "x"], MIXAMO) == {}
    assert auto_map(["foot_l"], ["foot_r", "foot_twist_l", "toe_l"]) == {}
    assert auto_map(["foot_l"], []) == {}
    assert part_of("DEF-foot.L") == ("foot", "l")
    assert part_of("") == ("", "")
    assert part_of("leg_left_6_link") == ("", "l"), "a side alone"


def test_bodies_of_a_robot_without_frames() -> None:
    bodies = [
        "pelvis",
        "left_hip_yaw_link",
        "left_knee_link",
        "left_ankle_link",
        "right_ankle_link",
        "torso_link",
        "left_elbow_link",
    ]
    assert ends(bodies) == ["pelvis", "left_ankle_link", "right_ankle_link", "torso_link", "left_elbow_link"]
    assert ends(["left_elbow_link", "right_elbow_link", "right_hand_link"]) == ["left_elbow_link", "right_hand_link"]


def test_a_part_is_followed_once() -> None:
    bones = ["Hips", "LowerBack", "Spine", "Spine1", "LeftFoot", "RightFoot"]
    assert auto_map(["torso_link", "pelvis", "left_ankle_link"], bones) == {
        "torso_link": "Spine1", "pelvis": "Hips", "left_ankle_link": "LeftFoot",
    }  # fmt: skip
    assert auto_map(["torso"], bones) == {"torso": "Hips"}  # where there is no pelvis
    assert auto_map(["ankle", "foot", "foot_left"], bones) == {"foot": "RightFoot", "foot_left": "LeftFoot"}


def test_a_spine_is_the_hips_only_where_nothing_else_is_called_so() -> None:
    assert parts_of(["spine", "hips", "foot.L", "foot.R", "box"]) == {
        "hips": "hips",
        "spine": "spine",
        "foot.L": "foot",
        "foot.R": "foot",
        "box": "",
    }
    assert parts_of(["spine", "chest"]) == {"spine": "hips", "chest": "chest"}


@pytest.mark.parametrize(
    ("name", "part"), [("hand_2", "hand"), ("ankle_roll_2", "foot"), ("hand2x_3d", ""), ("rod_2", "")]
)
def test_a_copy_by_number_is_the_same_part(name: str, part: str) -> None:
    """CAD numbers what it mirrors."""
    assert part_of(robot_name(name)) == (part, "")
