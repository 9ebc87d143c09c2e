"""Mirror images: bodies of the image are where a mirror shows those of the motion, whoever made the robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.errors import RobikError
from robik.formats import import_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Motion
from robik.motions.posing import posed
from robik.retargeting.mirroring import mirrored
from robik.robots import load
from robik.skeleton.symmetry import symmetry_of


def swaying(robot: Mechanism, samples: int = 12) -> Motion:
    """A motion near the rest pose, with a base that goes anywhere."""
    draws, times = np.random.default_rng(4), np.arange(samples) / 24.0
    low, high = robot.actuator_limits.T
    rest = symmetry_of(robot).rest
    phases, reach = draws.uniform(0.0, 6.0, len(rest)), draws.uniform(0.05, 0.15, len(rest))
    values = np.clip(rest + reach * np.sin(3.0 * times[:, None] + phases), low, high)
    turn = np.column_stack([np.full(samples, 4.0), np.sin(times), np.cos(2.0 * times), times])
    base = BaseTrack(
        body="",
        position=np.column_stack([times, 0.3 * times, 0.5 + 0.1 * np.sin(times)]),
        quaternion=turn / np.linalg.norm(turn, axis=1)[:, None],
    )
    return Motion(
        times=times, actuators=robot.actuators, values=values, base=None if robot.is_grounded else base
    )  # fmt: skip


def reflected(robot: Mechanism, points: np.ndarray) -> np.ndarray:
    mirror = symmetry_of(robot).reflection
    return points @ mirror[:3, :3].T + mirror[:3, 3]


def test_the_walkers_image_is_what_a_mirror_shows() -> None:
    robot = load("walker")
    motion = swaying(robot)
    there, image = posed(robot, motion)[0], posed(robot, mirrored(robot, motion))[0]
    assert there.com is not None
    assert image.com is not None
    assert np.abs(reflected(robot, there.com) - image.com).max() < 1e-9
    sides = [(there.bodies.index(f"{one}_foot"), there.bodies.index(f"{other}_foot"))
             for one, other in (("left", "right"), ("right", "left"))]  # fmt: skip
    for one, other in sides:
        assert np.abs(reflected(robot, there.position[:, one]) - image.position[:, other]).max() < 1e-9


@pytest.mark.parametrize(("file", "off"), [("unitree_g1/g1_29dof.xml", 2e-4), ("unitree_h1/h1.xml", 1e-3)])
def test_humanoids_of_others_are_mirrored_as_they_are_built(shared_data: Path, file: str, off: float) -> None:
    robot = import_robot(shared_data / file).mechanism
    motion = swaying(robot)
    there, image = posed(robot, motion)[0], posed(robot, mirrored(robot, motion))[0]
    assert there.com is not None
    assert image.com is not None
    assert np.abs(reflected(robot, there.com) - image.com).max() < off  # [m], by which its masses are not symmetric
    assert (symmetry_of(robot).partner >= 0).all()


def test_six_legs_below_a_head_have_counterparts(reachy_mini: Path) -> None:
    robot = import_robot(reachy_mini / "mjcf/reachy_mini.xml").mechanism
    found = symmetry_of(robot)
    pairs = {robot.actuators[k]: robot.actuators[i] for k, i in enumerate(found.partner.tolist())}
    assert pairs["yaw_body"] == "yaw_body"
    assert [pairs[f"stewart_{k}"] for k in (1, 2, 3)] == ["stewart_6", "stewart_5", "stewart_4"]
    assert pairs["right_antenna"] == "left_antenna"


@pytest.mark.parametrize("name", ["walker", "dancer"])
def test_there_and_back_is_where_it_was(name: str) -> None:
    robot = load(name)
    motion = swaying(robot)
    back = mirrored(robot, mirrored(robot, motion))
    assert np.abs(back.values - motion.values).max() < 1e-12
    if motion.base is not None and back.base is not None:
        assert np.abs(back.base.position - motion.base.position).max() < 1e-12
        assert np.abs(np.abs((back.base.quaternion * motion.base.quaternion).sum(axis=1)) - 1.0).max() < 1e-12


def test_robots_without_two_sides_are_told() -> None:
    robot = load("boxer")
    with pytest.raises(RobikError, match="robot 'boxer' is not symmetric: no motor on one side has a counterpart"):
        symmetry_of(robot)
