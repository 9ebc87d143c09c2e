"""Limbs that were pulled straight bend the way that their limits leave open, not a little the other way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

Triple = tuple[float, float, float]
LONG = 0.4  # of thigh and shin [m]
OVER = 0.08  # beyond straight, where the knee's limit is [rad]


def leg(over: float = OVER) -> Mechanism:
    """Hangs from a hip of two hinges; its knee bends backward, and hardly forward: by `over` [rad]."""
    bodies = (Body("hip", 0.5), Body("thigh", 2.0), Body("shin", 1.0, pose=Pose((0.0, 0.0, -LONG))))
    side, ahead = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    joints = (
        Joint(
            "hip_roll", "revolute", WORLD, "hip", axis=ahead, actuated=True, limits=((-1.0, 1.0),), velocity_limit=8.0
        ),
        Joint(
            "hip_pitch", "revolute", "hip", "thigh", axis=side, actuated=True, limits=((-2.5, 1.0),), velocity_limit=8.0
        ),
        Joint(
            "knee",
            "revolute",
            "thigh",
            "shin",
            position=(0.0, 0.0, -LONG),
            axis=side,
            actuated=True,
            limits=((-over, 2.4),),
            velocity_limit=8.0,
        ),
    )
    return Mechanism("leg", bodies, joints, frames=(Frame("foot", "shin", Pose((0.0, 0.0, -LONG))),))


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("sway", [0.0, 0.05, -0.05, 0.1])
def test_a_leg_that_was_pulled_straight_bends_at_the_knee(keep: bool, sway: float) -> None:
    times = np.arange(61) / 60
    depth = 2 * LONG * (0.97 + 0.06 * np.sin(np.pi * times))  # beyond reach in the middle
    depth[45:] -= 0.3 * (times[45:] - times[44])
    path = np.column_stack([0.1 * times + sway * np.sin(9 * times), sway * times, -depth])
    motion = retarget(
        leg(), TargetClip(times, {"foot": Track(path)}), Settings(enforce_velocity=keep, state_weight=1e-7)
    )
    reach = np.linalg.norm(path, axis=1)
    assert (reach > 2 * LONG).sum() > 10, "it is pulled straight"
    error = motion.report.position_error[:, 0]
    within = error[reach < 2 * LONG - 1e-3]
    assert within.max() < (0.01 if keep else 1e-4), "at once, but for the knee's speed"
    assert (within > 1e-4).sum() <= (3 if keep else 0)
    assert motion.values[-1, 2] > 0.3


@pytest.mark.parametrize("rate", [24, 60, 120])
@pytest.mark.parametrize("sway", [0.0, 0.05])
def test_another_way_is_looked_for_as_the_foot_goes_astray_at_any_rate(rate: int, sway: float) -> None:
    """What is held to its last state bends the wrong way for longer; it is noticed by how far the foot is off, not
    after some frames."""
    times = np.arange(3 * rate + 1) / rate
    depth = 2 * LONG * (0.97 + 0.06 * np.sin(0.9 * np.pi * times) ** 2) - 0.25 * np.clip(times - 2.2, 0.0, None)
    path = np.column_stack([0.1 * times + sway * np.sin(9 * times), sway * times, -depth])
    report = retarget(leg(0.2), TargetClip(times, {"foot": Track(path)}), Settings(state_weight=1e-3)).report
    assert report is not None
    within = np.linalg.norm(path, axis=1) < 2 * LONG - 1e-3
    off = report.position_error[within, 0]
    assert off.max() < 4e-3
    assert (off > 2e-3).sum() / rate < 0.05


@pytest.mark.parametrize("over", [0.09, 0.3, 0.8])
@pytest.mark.parametrize("lead", [-0.02, 0.0, 0.02])
def test_a_leg_that_is_straight_at_rest_bends_at_the_knee(over: float, lead: float) -> None:
    """Also where the knee could bend backwards at first: the first frame decides for the whole clip."""
    times = np.arange(61) / 60
    depth = 2 * LONG * (0.99 - 0.2 * times**2)
    path = np.column_stack([lead + 0.1 * times, 0.0 * times, -depth])
    motion = retarget(leg(over), TargetClip(times, {"foot": Track(path)}), Settings(state_weight=None))
    assert motion.report.position_error.max() < 1e-5
    assert motion.values[0, 2] > 0.1
    assert np.abs(np.diff(motion.values, axis=0)).max() < 0.1


def test_no_knee_turns_as_fast_as_a_file_may_say() -> None:
    """Files have placeholders: iCub's knee is said to turn 100 rad/s."""
    slow = leg()
    fast = slow.with_changes(joints=tuple(replace(joint, velocity_limit=100.0) for joint in slow.joints))
    times = np.arange(60) / 120
    path = np.column_stack([np.where(times < 0.2, 0.3, -0.3), 0.0 * times, np.full(60, -0.5)])
    clip = TargetClip(times, {"foot": Track(path)})
    steps = np.abs(np.diff(retarget(fast, clip, Settings(enforce_velocity=True)).values, axis=0))
    assert 0.15 < steps.max() < 0.2


@pytest.mark.parametrize("rate", [24, 120])
def test_an_arm_at_its_limit_is_led_round_the_other_way(rate: int) -> None:
    """Motors keep their speeds meanwhile, so it takes them a while."""
    limit, speed = 2.9, 6.0
    bodies = (Body("turret", 1.0), Body("arm", 1.0, pose=Pose((0.3, 0.0, 0.0))))
    joints = (
        Joint("turn", "revolute", WORLD, "turret", axis=(0.0, 0.0, 1.0), actuated=True, limits=((-limit, limit),),
              velocity_limit=speed),
        Joint("lift", "revolute", "turret", "arm", position=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0), actuated=True,
              limits=((-1.5, 1.5),), velocity_limit=speed),
    )  # fmt: skip
    robot = Mechanism("crane", bodies, joints, frames=(Frame("hand", "arm", Pose((0.4, 0.0, 0.0))),))
    times = np.arange(6 * rate) / rate
    angle, reach = 0.5 + 1.2 * times, 0.3 + 0.4 * np.cos(0.3)
    path = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), 0.4 * np.sin(0.3) + 0.0 * times])
    motion = retarget(
        robot, TargetClip(times, {"hand": Track(path)}), Settings(enforce_velocity=True, state_weight=None)
    )
    assert np.abs(np.diff(motion.values, axis=0)).max() <= speed / rate * (1 + 1e-9)
    error = motion.report.position_error[:, 0]
    assert error[angle < limit].max() < 1e-6
    again = np.flatnonzero(angle > 2 * np.pi - limit)[0]  # the target is within reach again, from the other side
    arrived = again + round((1.2 + 2 * limit / (speed - 1.2) + 0.4) * rate)  # looked for, and led there
    assert error[again] > 0.2
    assert error[arrived:].max() < 1e-6


def whole_leg(limit: float) -> Mechanism:
    """A leg of six hinges, straight at rest, whose file gives all of them the same limits."""
    ahead, side, up = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    hinges = {"hip_pitch": (side, 0), "hip_roll": (ahead, 0), "hip_yaw": (up, 0)}
    hinges |= {"knee": (side, 1), "ankle_pitch": (side, 2), "ankle_roll": (ahead, 2)}
    bodies, joints, parent = [], [], WORLD
    for name, (axis, below) in hinges.items():
        place = (0.0, 0.0, -below * LONG)
        bodies.append(Body(f"{name} link", 1.0, pose=Pose(place)))
        joints.append(
            Joint(name, "revolute", parent, bodies[-1].name, position=place, axis=axis, actuated=True,
                  limits=((-limit, limit),))
        )  # fmt: skip
        parent = bodies[-1].name
    return Mechanism("whole leg", tuple(bodies), tuple(joints), frames=(Frame("foot", parent),))


FAR = [
    (0.47, 0.37, -0.49, 1.58, 0.58, 0.27),
    (0.31, 0.21, 0.19, 1.66, 0.39, -0.19),
    (0.52, 0.17, 0.41, 1.71, 0.36, -0.23),
    (0.37, -0.12, 0.43, 1.69, 0.36, -0.06),
    (0.59, 0.18, -0.16, 1.67, 0.25, -0.1),
    (0.35, 0.21, -0.17, 1.69, 0.43, -0.07),
    (0.55, 0.2, -0.38, 1.7, 0.41, -0.03),
]  # poses of the leg that bend it far


@pytest.mark.parametrize("pose", FAR)
def test_the_first_frame_finds_the_pose_that_is_nearer_to_rest(pose: tuple[float, ...]) -> None:
    """With limits of half a turn there are others: knee, hip and ankle turned round by more than 2 rad were found."""
    robot = whole_leg(np.pi)
    hip, knee = Rotation.from_euler("YXZ", pose[:3]), Rotation.from_euler("y", pose[3])
    foot = hip * knee * Rotation.from_euler("YX", pose[4:])
    place = hip.apply([0.0, 0.0, -LONG]) + (hip * knee).apply([0.0, 0.0, -LONG])
    clip = TargetClip(np.zeros(1), {"foot": Track(place[None], foot.as_quat()[None, [3, 0, 1, 2]])})
    motion = retarget(robot, clip, Settings(state_weight=None))
    assert motion.report is not None
    assert motion.report.position_error.max() < 1e-5
    assert np.abs(motion.values).max() == pytest.approx(np.abs(pose).max(), abs=1e-3)


@pytest.mark.parametrize(
    ("place", "turn"),
    [
        ((-0.368, -0.105, -0.575), (0.15, 2.58, 0.81)),
        ((-0.317, -0.11, -0.614), (0.17, 2.33, 0.17)),
        ((0.137, 0.233, -0.682), (-0.73, -2.1, -0.52)),
    ],
)
def test_a_first_frame_out_of_reach_is_not_turned_inside_out(place: Triple, turn: Triple) -> None:
    """Stretched, the leg can point there with its hip turned half round, which misses as much."""
    place, foot = LONG / 0.3 * np.array(place), Rotation.from_rotvec(turn)
    clip = TargetClip(np.zeros(1), {"foot": Track(place[None], foot.as_quat()[None, [3, 0, 1, 2]])})
    motion = retarget(whole_leg(np.pi), clip, Settings(state_weight=None))
    assert motion.report is not None
    off = np.linalg.norm(place) - 2 * LONG
    assert motion.report.position_error.max() == pytest.approx(off, rel=1e-3), "it is stretched, and no further off"
    assert np.abs(motion.values[0, :3]).max() < 1.2, "2.6 rad with the hip turned round"
