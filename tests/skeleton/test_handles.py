"""Handles of robots of every kind: those that ship, and those of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from robik.formats import import_robot
from robik.gallery import known_at
from robik.kinematics.calls import jacobian
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.retargeting.solve_pose import solve_pose
from robik.robots import load
from robik.skeleton.handles import Handle, handle_frames, robot_handles

OURS = {
    "walker": ("pelvis", "foot_l", "foot_r"),
    "boxer": ("hand",),
    "dancer": ("pelvis_frame",),
    "arm7": ("tool",),
    "four_bar": ("handle",),
}
OTHERS = {
    "unitree_g1/g1_29dof.xml": (
        "pelvis",
        "left_ankle_roll_link",
        "right_ankle_roll_link",
        "left_wrist_yaw_link",
        "right_wrist_yaw_link",
    ),
    "unitree_h1/h1.xml": ("pelvis", "left_ankle_link", "right_ankle_link", "left_elbow_link", "right_elbow_link"),
    "example-robot-data/robots/so_arm_description/urdf/so100.urdf": ("gripper",),
    "robotis_omx/omx.xml": ("link5",),
    "trossen_wx250s/wx250s.xml": ("wx250s/gripper_link",),
    "robotiq_2f85/2f85.xml": ("right_driver",),  # pinch stands still, springs hold the rest
    "stewart_sdf/model.sdf": ("platform_link",),
    "robot_delta/robot.urdf": ("eff",),
    "5bar_linkage/robot.urdf": ("effector",),
    "talos_like/robot.urdf": ("foot",),
    "digit_like_2legs/robot.urdf": ("foot_part_2", "foot_part"),
    "turn3/fivebar.xml": ("tip_l",),  # tip_r is the other half of their joint
    "dynamixel_2r/dynamixel_2r.xml": ("end",),  # its base stands still
    "example-robot-data/robots/simple_humanoid_description/urdf/simple_humanoid.urdf": (
        "l_ankle",
        "r_ankle",
        "l_wrist",
        "r_wrist",
    ),
}


@pytest.mark.parametrize("name", OURS)
def test_of_robots_that_ship(name: str) -> None:
    assert handle_frames(load(name)) == OURS[name]


@pytest.mark.parametrize("file", OTHERS)
def test_of_robots_that_others_made(shared_data: Path, file: str) -> None:
    assert handle_frames(import_robot(shared_data / file).mechanism) == OTHERS[file]


@pytest.mark.parametrize("file", OTHERS)
def test_a_handle_that_is_dragged_a_little_is_met(shared_data: Path, file: str) -> None:
    """By 1 % of the robot's size in a direction in which motors move it; a gripper moves on a circle alone."""
    robot, rng = import_robot(shared_data / file).mechanism, np.random.default_rng(0)
    for frame in handle_frames(robot):
        ways = jacobian(robot, frame, robot.actuator_rest)[:3]
        if np.linalg.matrix_rank(ways, tol=1e-3 * robot.extent) < max(2, min(3, len(robot.actuators))):
            continue  # a straight leg cannot be drawn longer
        way = ways @ rng.normal(size=len(robot.actuators))
        step, place = 0.01 * robot.extent * way / np.linalg.norm(way), np.array(robot.rest_pose(frame).position)
        solved = [solve_pose(robot, {frame: place + sign * step}) for sign in (1, -1)]  # a knee bends one way only
        assert any(one.found for one in solved), f"{frame}: {solved[0].why}"


def test_of_a_head_on_six_legs(reachy_mini: Path) -> None:
    assert handle_frames(import_robot(reachy_mini / "mjcf/reachy_mini.xml").mechanism) == ("head",)


def carried(handles: tuple[Handle, ...]) -> list[tuple[str, str, str]]:
    return [(one.frame, one.joint.name if one.joint else "", one.carrier) for one in handles]


@pytest.mark.parametrize(
    ("file", "head"), [("mjcf/reachy_mini.xml", "head"), ("urdf/robot.urdf", "xl_330")], ids=["MJCF", "URDF"]
)
def test_the_turn_of_a_body_carries_its_head_and_that_its_antennas(
    reachy_mini: Path, reachy_mini_robot: Callable[[str], Mechanism], file: str, head: str
) -> None:
    known, _ = known_at(reachy_mini / file) or (None, "")
    assert known is not None
    found = robot_handles(reachy_mini_robot(file), known.turned)
    assert carried(found) == [
        ("body_down_3dprint", "yaw_body", ""),
        (head, "", "body_down_3dprint"),
        ("dc15_a01_horn_dummy_7", "right_antenna", head),
        ("dc15_a01_horn_dummy_8", "left_antenna", head),
    ]
    assert [one.frame for one in found if one.is_head] == [head]


GRIPPERS = {
    "robotis_omx/omx.xml": [("link5", "", ""), ("link6", "Gripper", "link5")],
    "low_cost_robot_arm/low_cost_robot_arm.xml": [
        ("gripper_static_finger", "", ""),
        ("gripper_moving_finger", "gripper", "gripper_static_finger"),
    ],
    "trossen_wx250s/wx250s.xml": [
        ("wx250s/gripper_link", "", ""),
        ("wx250s/left_finger_link", "left_finger", "wx250s/gripper_link"),
    ],
}


@pytest.mark.parametrize("file", GRIPPERS)
def test_a_gripper_goes_along_with_the_arms_end(shared_data: Path, file: str) -> None:
    assert carried(robot_handles(import_robot(shared_data / file).mechanism)) == GRIPPERS[file]


def test_what_five_motors_hold_is_placed_before_it_is_turned(shared_data: Path) -> None:
    def stiff(file: str) -> list[str]:
        found = robot_handles(import_robot(shared_data / file).mechanism)
        return [one.frame for one in found if one.joint is None and not one.turns]

    assert stiff("robotis_omx/omx.xml") == ["link5"]
    assert stiff("trossen_wx250s/wx250s.xml") == []  # six
    assert stiff("unitree_h1/h1.xml") == ["left_elbow_link", "right_elbow_link"]  # four; the feet stay flat
    assert stiff("unitree_g1/g1_29dof.xml") == []


def test_a_knuckle_that_no_joints_name_gives_away_is_no_hand() -> None:
    """UFACTORY's gripper: its motor is called drive_joint, and moves a knuckle."""
    bodies = [Body(name) for name in ("link1", "link2", "left_outer_knuckle")]
    joints = [
        Joint("joint1", "revolute", WORLD, "link1", actuated=True),
        Joint("joint2", "revolute", "link1", "link2", position=(0.3, 0, 0), axis=(0, 1, 0), actuated=True),
        Joint("drive_joint", "revolute", "link2", "left_outer_knuckle", position=(0.4, 0, 0), actuated=True),
    ]
    found = robot_handles(Mechanism("xarm", tuple(bodies), tuple(joints)))
    assert carried(found) == [("link2", "", ""), ("left_outer_knuckle", "drive_joint", "link2")]


def test_a_robot_without_a_tool_has_the_handles_of_before(shared_data: Path) -> None:
    for name in OURS:
        assert [one.frame for one in robot_handles(load(name)) if one.joint is None] == [*handle_frames(load(name))]


def test_of_a_hand_with_many_fingers_only_the_hand_is_held() -> None:
    """An arm with nine fingers, each of one motor."""
    bodies = [Body(name) for name in ("arm", "hand", *(f"finger_{k}" for k in range(9)))]
    joints = [
        Joint("shoulder", "revolute", WORLD, "arm", actuated=True),
        Joint("wrist", "revolute", "arm", "hand", position=(0.3, 0, 0), axis=(0, 1, 0), actuated=True),
        *(
            Joint(f"finger_{k}", "revolute", "hand", f"finger_{k}", position=(0.4, 0.01 * k, 0), actuated=True)
            for k in range(9)
        ),
    ]
    assert carried(robot_handles(Mechanism("many", tuple(bodies), tuple(joints)))) == [("hand", "", "")]
    finger = Joint("finger_tip", "revolute", "finger_0", "finger_1", position=(0.5, 0, 0), actuated=True)
    long = Mechanism("long", tuple(bodies[:4]), (finger, *joints[:3]))
    inner, outer = ("finger_0", "finger_0", "hand"), ("finger_1", "finger_tip", "finger_0")
    assert carried(robot_handles(long))[1:] == [inner, outer]
    few = Mechanism("few", tuple(bodies[:3]), tuple(joints[:3]))
    assert carried(robot_handles(few)) == [("hand", "", ""), ("finger_0", "finger_0", "hand")]
