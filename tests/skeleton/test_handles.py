"""Handles of robots of every kind: those that ship, and those of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.formats import import_robot
from robik.robots import load
from robik.skeleton.handles import handle_frames

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
    "robotiq_2f85/2f85.xml": ("left_coupler", "right_coupler", "left_follower", "right_follower"),  # pinch stands still
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


def test_of_a_head_on_six_legs(reachy_mini: Path) -> None:
    assert handle_frames(import_robot(reachy_mini / "mjcf/reachy_mini.xml").mechanism) == ("head",)
