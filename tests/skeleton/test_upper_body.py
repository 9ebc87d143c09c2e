"""A robot that is bolted down, with two arms and no legs: its arms do as a character's, wherever that goes."""

from __future__ import annotations

import numpy as np
import pytest

from robik.bake.settings import balance_by_name
from robik.mechanism import WORLD, Body, Joint, Mechanism, Pose
from robik.recordings.retargeting import follow
from robik.skeleton.anatomy import read_anatomy
from robik.skeleton.mapping import auto_map
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import fitted, walking

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SHOULDER, ELBOW, WRIST = 1.3, 1.0, 0.75  # heights [m]: an arm that hangs, of 0.55 m


def torso(bends: bool) -> Mechanism:
    """A column with two arms of seven hinges; where it `bends`, a torso of two bodies between column and arms."""
    bodies = [Body("base", 20.0), Body("head", 1.0, pose=Pose((0.0, 0.0, 1.5)))]
    joints = [Joint("bolted", "fixed", WORLD, "base")]
    chest = "base"
    for k, height in enumerate((0.6, 0.9) if bends else ()):
        bodies.append(Body(f"torso_link{k + 1}", 5.0, pose=Pose((0.0, 0.0, height))))
        joints.append(_hinge(f"torso_joint{k + 1}", chest, f"torso_link{k + 1}", (0.0, 0.0, height), Y))
        chest = f"torso_link{k + 1}"
    joints.append(_hinge("neck", chest, "head", (0.0, 0.0, 1.45), Z))
    for side, y in (("left", 0.25), ("right", -0.25)):
        above = chest
        parts = [("shoulder_pitch", Y, SHOULDER), ("shoulder_roll", X, SHOULDER), ("upper_arm", Z, SHOULDER)]
        parts += [("elbow", Y, ELBOW), ("forearm_roll", Z, ELBOW), ("wrist_pitch", Y, WRIST), ("hand", X, WRIST)]
        for part, axis, z in parts:
            name = f"{side}_{part}"
            bodies.append(Body(name, 0.5, com=(0.0, 0.0, -0.05), pose=Pose((0.0, y, z))))
            joints.append(_hinge(f"{name}_joint", above, name, (0.0, y, z), axis))
            above = name
    return Mechanism("torso", tuple(bodies), tuple(joints))


def _hinge(name: str, above: str, below: str, place: tuple, axis: tuple) -> Joint:
    return Joint(name, "revolute", above, below, position=place, axis=axis, limits=((-2.6, 2.6),), actuated=True)


@pytest.mark.parametrize("bends", [False, True])
def test_its_arms_do_as_those_of_a_character_that_walks_away(bends: bool) -> None:
    motion = walking(skeleton("lafan1")[0])
    robot = torso(bends)
    found = follow(robot, motion, lambda body: (), None, balance_by_name("auto"))
    assert found.motion.report is not None
    angles = found.motion.report.quality.directions_deg
    assert angles.keys() == {"upper arm", "forearm"}
    assert max(angles.values()) < 2.0, "its way away from the robot pulls at nothing"
    elbows = found.motion.values[:, found.motion.actuators.index("left_elbow_joint")]
    assert np.abs(elbows).min() > 0.4, "bent by 0.6 rad as the character's"


@pytest.mark.parametrize("bends", [False, True])
def test_what_is_bolted_down_or_bears_the_chest_follows_nothing(bends: bool) -> None:
    bones = skeleton("lafan1")[0]
    rows = [row for row in auto_map(torso(bends), bones.names, read_anatomy(bones)) if row.bone]
    followers = {row.frame: row.part for row in rows}
    assert "base" not in followers
    assert "torso_link1" not in followers
    assert followers.get("torso_link2") == ("chest" if bends else None)
    assert {"left_hand", "right_hand"} <= followers.keys()
    assert not any(any(row.position_weight) for row in rows)


def test_its_scale_is_that_of_its_arms() -> None:
    motion = walking(skeleton("lafan1")[0])
    bones = motion.skeleton
    arm = [bones.positions[bones.index[f"Left{part}"]] for part in ("Arm", "ForeArm", "Hand")]
    length = float(np.linalg.norm(np.diff(arm, axis=0), axis=1).sum())
    assert fitted(torso(False), motion)[0].placement.scale == pytest.approx((SHOULDER - WRIST) / length, rel=1e-3)
