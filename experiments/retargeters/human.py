"""The human's bodies as GMR hands them to mink: 14 of them, each with the body of G1 that follows it.

The weights are those that GMR publishes for recordings in BVH (`bvh_to_g1.json`). Its offsets are those of one rig;
here they align each body with its bone in the rest pose of any rig, with the robot's arms where the rig's are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from robik.skeleton.skeleton import SkeletonMotion

HEIGHT = 1.75  # m: what GMR takes every person in a BVH file for
SCALE_OF, LEGS, ARMS = 1.8, 0.9, 0.75  # GMR's scales for G1 are those of a person 1.8 m tall
TRUNK = ("hips", "chest")
LIMBS = ("thigh", "shin", "foot", "upper arm", "forearm", "hand")
BONES = {  # by naming: {0} is the side
    "BVH": {
        "hips": "Hips", "chest": "Spine1", "thigh": "{0}UpLeg", "shin": "{0}Leg", "foot": "{0}Foot",
        "toe": "{0}ToeBase", "upper arm": "{0}Arm", "forearm": "{0}ForeArm", "hand": "{0}Hand", "head": "Head",
    },
    "Blender": {
        "hips": "hips", "chest": "chest", "thigh": "thigh.{0}", "shin": "shin.{0}", "foot": "foot.{0}", "toe": "",
        "upper arm": "upper_arm.{0}", "forearm": "forearm.{0}", "hand": "hand.{0}", "head": "head",
    },
}  # fmt: skip
SIDES = {"BVH": ("Left", "Right"), "Blender": ("L", "R")}
BODIES = {  # of G1; {0} is the side
    "hips": "pelvis", "chest": "torso_link", "thigh": "{0}_hip_yaw_link", "shin": "{0}_knee_link",
    "foot": "{0}_ankle_roll_link", "upper arm": "{0}_shoulder_yaw_link", "forearm": "{0}_elbow_link",
    "hand": "{0}_wrist_yaw_link",
}  # fmt: skip
WEIGHTS = {  # of position and orientation, in the first stage and in the second
    "hips": (0, 10, 100, 5), "chest": (0, 100, 0, 10), "thigh": (0, 10, 10, 5), "shin": (0, 10, 10, 5),
    "foot": (50, 10, 50, 10), "upper arm": (0, 100, 5, 100), "forearm": (0, 10, 10, 5), "hand": (0, 10, 10, 5),
}  # fmt: skip
LINES = {  # ends of each part's direction: joints of G1 that lie where the human's do
    "thigh": ("{0}_hip_roll_link", "{0}_knee_link"), "shin": ("{0}_knee_link", "{0}_ankle_pitch_link"),
    "upper arm": ("{0}_shoulder_roll_link", "{0}_elbow_link"), "forearm": ("{0}_elbow_link", "{0}_wrist_yaw_link"),
}  # fmt: skip
NEXT = {"thigh": "shin", "shin": "foot", "upper arm": "forearm", "forearm": "hand"}
STRAIGHT = np.pi / 2  # rad: G1's elbow where the arm is stretched


@dataclass(frozen=True, kw_only=True, eq=False)
class Human:
    """A recorded person, in metres, the ground at height 0.

    Attributes:
        times: (T,) [s].
        positions: (T, 3) of each part's bone by (part, side), side "left", "right" or "" [m].
        orientations: T of each bone.
        rest_positions, rest_orientations: in the rest pose of the rig.
        toes: (T, 3) of the balls of the feet by side [m].
    """

    times: np.ndarray
    positions: Mapping[tuple[str, str], np.ndarray]
    orientations: Mapping[tuple[str, str], Rotation]
    rest_positions: Mapping[tuple[str, str], np.ndarray]
    rest_orientations: Mapping[tuple[str, str], Rotation]
    toes: Mapping[str, np.ndarray]

    def ways(self, part: str, side: str) -> np.ndarray:
        """Return the unit vectors (T, 3) along a part of a limb, a key of `NEXT`, on the side "left" or "right"."""
        return _unit(self.positions[NEXT[part], side] - self.positions[part, side])


def human_of(motion: SkeletonMotion) -> Human:
    """Return a recorded person, scaled to the height that GMR takes everyone for.

    Bones are called as in MotionBuilder or as by Blender's custom.
    """
    skeleton = motion.skeleton
    naming = next(name for name, bones in BONES.items() if bones["hips"] in skeleton.index)
    bones, sides = BONES[naming], dict(zip(("left", "right"), SIDES[naming], strict=True))
    keys = [(part, "") for part in TRUNK] + [(part, side) for side in sides for part in LIMBS]
    index = {key: skeleton.index[bones[key[0]].format(sides.get(key[1], ""))] for key in keys}
    toes = {}
    for side, said in sides.items():
        name, foot = bones["toe"].format(said), index["foot", side]
        if name:
            toes[side] = motion.positions[:, skeleton.index[name]]
        else:
            back = _rotation(skeleton.quaternions[foot]).inv()
            way = back.apply(skeleton.tips[foot] - skeleton.positions[foot])
            toes[side] = motion.positions[:, foot] + _rotation(motion.quaternions[:, foot]).apply(way)
    ground = float(np.percentile(np.minimum(toes["left"][:, 2], toes["right"][:, 2]), 10))
    rest = skeleton.positions
    tall = rest[skeleton.index[bones["head"]], 2] - min(rest[index["foot", side], 2] for side in sides)
    size = (HEIGHT - 0.25) / tall  # from the ankles to the head's joint
    down = np.array([0.0, 0.0, ground])
    return Human(
        times=motion.times - motion.times[0],
        positions={key: size * (motion.positions[:, k] - down) for key, k in index.items()},
        orientations={key: _rotation(motion.quaternions[:, k]) for key, k in index.items()},
        rest_positions={key: size * rest[k] for key, k in index.items()},
        rest_orientations={key: _rotation(skeleton.quaternions[k]) for key, k in index.items()},
        toes={side: size * (toe - down) for side, toe in toes.items()},
    )


def targets(human: Human, robot: Path, legs: float = LEGS, arms: float = ARMS) -> dict[str, Any]:
    """Return targets for mink, by body of G1: arrays of positions (T, 3) [m] and rotations (T, 3, 3).

    `legs` scales hips, chest and legs, for a person of 1.8 m, and `arms` the arms; `robot` is G1's MJCF.
    """
    offsets = _offsets(human, robot)
    hips = human.positions["hips", ""]
    ratio = HEIGHT / SCALE_OF
    found = {}
    for (part, side), offset in offsets.items():
        scale = ratio * (arms if part in ("upper arm", "forearm", "hand") else legs)
        place = ratio * legs * hips + scale * (human.positions[part, side] - hips)
        body = BODIES[part].format(side)
        found[f"{body}.position"] = place
        found[f"{body}.rotation"] = (human.orientations[part, side] * offset).as_matrix()
    return found


def weights() -> dict[str, tuple[float, ...]]:
    """Return the four weights of each body of G1 that follows."""
    return {
        BODIES[part].format(side): given
        for part, given in WEIGHTS.items()
        for side in (("",) if part in TRUNK else ("left", "right"))
    }


def _offsets(human: Human, robot: Path) -> dict[tuple[str, str], Rotation]:
    """Return the orientation of each body of G1 in its bone, by the rig's rest pose, arms where the rig's are."""
    model = mujoco.MjModel.from_xml_path(str(robot))
    data = mujoco.MjData(model)
    across = human.rest_positions["thigh", "left"] - human.rest_positions["thigh", "right"]
    heading = np.arctan2(across[1], across[0]) - np.pi / 2  # G1 faces +X, its left along +Y
    facing = Rotation.from_euler("z", heading)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arm = facing.inv().apply(human.rest_positions["forearm", side] - human.rest_positions["upper arm", side])
        data.joint(f"{side}_shoulder_roll_joint").qpos = sign * np.arctan2(abs(arm[1]), -arm[2])
        data.joint(f"{side}_elbow_joint").qpos = STRAIGHT
    mujoco.mj_forward(model, data)
    found = {}
    for key, own in human.rest_orientations.items():
        part, side = key
        body = facing * Rotation.from_matrix(data.body(BODIES[part].format(side)).xmat.reshape(3, 3))
        line = "forearm" if part == "hand" else part
        if line in LINES:
            ends = [data.body(name.format(side)).xpos for name in LINES[line]]
            way = human.rest_positions[NEXT[line], side] - human.rest_positions[line, side]
            body = _between(facing.apply(ends[1] - ends[0]), way) * body
        found[key] = own.inv() * body
    return found


def _between(one: np.ndarray, other: np.ndarray) -> Rotation:
    """Return the smallest rotation that turns one direction (3,) into another."""
    a, b = _unit(one), _unit(other)
    axis = np.cross(a, b)
    sine = float(np.linalg.norm(axis))
    return Rotation.from_rotvec(axis / max(sine, 1e-12) * np.arctan2(sine, float(a @ b)))


def _unit(ways: np.ndarray) -> np.ndarray:
    return ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-12)


def _rotation(quaternion: np.ndarray) -> Rotation:
    return Rotation.from_quat(quaternion[..., [1, 2, 3, 0]])
