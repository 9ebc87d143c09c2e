"""Elbows that bend one way, legs that are not turned inside out, and motions that keep to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik import Settings, TargetClip, Track, robots
from robik.errors import ClipError
from robik.formats import import_robot
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.orientations import rotation
from robik.retargeting.retarget import retarget
from robik.skeleton.limb_ranges import elbow_ranges, leg_ranges, limb_ranges, untold_legs

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.mark.parametrize("file", ["unitree_g1/g1_29dof.xml", "unitree_h1/h1.xml"])
def test_elbows_stop_where_arms_are_straight(shared_data: Path, file: str) -> None:
    """There shoulder and hand are as far apart as they get; both files let elbows bend further back."""
    robot = import_robot(shared_data / file).mechanism
    ranges = elbow_ranges(robot, [body.name for body in robot.bodies])
    assert len(ranges) == 2
    for name, (low, high) in ranges.items():
        joint = next(joint for joint in robot.joints if joint.name == name)
        assert low == joint.limits[0][0] and high < joint.limits[0][1] - 0.2
        sweep = np.linspace(0.5, joint.limits[0][1], 200)
        values = np.zeros((len(sweep), len(robot.actuators)))
        values[:, robot.actuators.index(name)] = sweep
        poses, side = ForwardKinematics(robot).poses(values), name.partition("_")[0]
        shoulder = poses.position[:, robot.body_index[f"{side}_shoulder_pitch_link"]]
        end = robot.body_index[_last(robot, joint.child)]
        hand = poses.position[:, end] + rotation(poses.quaternion[:, end]).apply(robot.bodies[end].com)
        assert high == pytest.approx(sweep[np.linalg.norm(hand - shoulder, axis=1).argmax()], abs=0.2)


def _last(robot: Mechanism, body: str) -> str:
    """The body at the end of an arm."""
    below = [joint.child for joint in robot.joints if joint.parent == body]
    return _last(robot, below[0]) if below else body


def arms(limits: tuple[float, float], bend: float = 0.0, legs: tuple[float, float] = (-2.0, 2.0)) -> Mechanism:
    """A trunk on two legs, and two arms that hang, with elbows of these limits, and wrists that far ahead [m]."""
    bodies, joints, frames = (
        [Body("pelvis", 5.0, pose=Pose((0.0, 0.0, 0.9))), Body("chest", 5.0, pose=Pose((0.0, 0.0, 1.3)))],
        [],
        [],
    )
    joints.append(
        Joint(
            "waist",
            "revolute",
            "pelvis",
            "chest",
            position=(0.0, 0.0, 1.0),
            axis=(0.0, 0.0, 1.0),
            limits=((-1.0, 1.0),),
            actuated=True,
        )
    )
    chains = (
        (("hip", 0.9, "thigh"), ("knee", 0.5, "shin"), ("ankle", 0.1, "foot")),
        (("shoulder", 1.4, "upper_arm"), ("elbow", 1.1, "forearm"), ("wrist", 0.85, "hand")),
    )
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for top, y, chain in (("pelvis", 0.1, chains[0]), ("chest", 0.2, chains[1])):
            above = top
            for what, z, part in chain:
                name = f"{side}_{part}"
                bodies.append(Body(name, 1.0, pose=Pose((0.0, sign * y, z))))
                bounds = limits if what == "elbow" else legs if top == "pelvis" else (-2.0, 2.0)
                joints.append(
                    Joint(
                        f"{side}_{what}",
                        "revolute",
                        above,
                        name,
                        position=(bend if what == "wrist" else 0.0, sign * y, z),
                        axis=Y,
                        limits=(bounds,),
                        actuated=True,
                    )
                )
                above = name
        frames.append(Frame(f"{side}_palm", f"{side}_hand"))
    return Mechanism("figure", tuple(bodies), tuple(joints), frames=tuple(frames))


def test_elbows_that_bend_both_ways_alike_or_one_way_alone_are_left_alone() -> None:
    parts = ["left_forearm", "right_forearm"]
    assert elbow_ranges(arms((-2.0, 0.5)), parts) == {"left_elbow": (-2.0, 0.0), "right_elbow": (-2.0, 0.0)}
    assert elbow_ranges(arms((-0.5, 2.0)), parts) == {"left_elbow": (0.0, 2.0), "right_elbow": (0.0, 2.0)}
    assert elbow_ranges(arms((-2.0, 0.5)), parts[:1]) == {"left_elbow": (-2.0, 0.0)}, "the other one follows nothing"
    assert elbow_ranges(arms((-2.0, 2.0)), parts) == {}, "which way is forwards is not known"
    assert elbow_ranges(arms((-2.0, 0.0)), parts) == {}
    for bend in (-0.02, 0.02):  # straight beside the rest pose, which is at the limit
        assert elbow_ranges(arms((-2.0, 0.0), bend), parts) == {}
    assert elbow_ranges(robots.load("walker"), [body.name for body in robots.load("walker").bodies]) == {}


@pytest.mark.parametrize("limits", [(-np.pi, np.pi), (-np.inf, np.inf), (-3.0, 2.5)])
def test_legs_without_telling_limits_keep_to_what_legs_do(limits: tuple[float, float]) -> None:
    figure = arms((-2.0, 0.5), legs=limits)
    far = {"hip": 1.75, "knee": 0.75 * np.pi, "ankle": 1.3}
    left = {f"left_{what}": (-most, most) for what, most in far.items()}
    right = {f"right_{what}": (-most, most) for what, most in far.items()}
    assert leg_ranges(figure, ["left_foot", "right_thigh"]) == left | right
    assert leg_ranges(figure, ["left_foot"]) == left, "the other one follows nothing"
    assert limb_ranges(figure, ["left_foot", "left_forearm"]) == left | {"left_elbow": (-2.0, 0.0)}
    told = untold_legs(figure, ["left_foot"])
    assert "as 'left_ankle'" in told and "hips keep to 100°, knees to 135° and ankles to 74°" in told


@pytest.mark.parametrize("limits", [(-2.0, 2.0), (-0.5, np.pi), (-np.inf, 1.0)])
def test_limits_that_tell_something_are_kept_as_they_are(limits: tuple[float, float]) -> None:
    figure = arms((-2.0, 0.0), legs=limits)
    assert leg_ranges(figure, ["left_foot", "right_foot"]) == {} and untold_legs(figure, ["left_foot"]) == ""


def test_a_motion_stays_in_the_ranges_of_its_settings() -> None:
    robot = arms((-2.0, 0.5))
    values = np.zeros((4, len(robot.actuators)))
    elbow = robot.actuators.index("left_elbow")
    values[:, elbow] = -0.4, 0.1, 0.3, 0.4
    poses = ForwardKinematics(robot).poses(values)
    names = ("pelvis", "chest", "left_upper_arm", "left_forearm")
    tracks = {
        name: Track(poses.position[:, k], poses.quaternion[:, k])
        for name, k in ((name, robot.body_index[name]) for name in names)
    }
    clip = TargetClip(np.arange(4) / 10, tracks)
    free = retarget(robot, clip, Settings(state_weight=None)).values[:, elbow]
    assert free == pytest.approx(values[:, elbow], abs=1e-3)
    held = retarget(robot, clip, Settings(state_weight=None, ranges={"left_elbow": (-2.0, 0.0)})).values[:, elbow]
    assert held[0] == pytest.approx(-0.4, abs=1e-3) and held[1:] == pytest.approx([0.0] * 3, abs=1e-9)
    with pytest.raises(ClipError, match="ranges of elbow, which robot 'figure' does not have"):
        retarget(robot, clip, Settings(ranges={"elbow": (0.0, 1.0)}))
