"""What is said of frames whose loops do not close, of a clip beyond the robot, and of the balance that is kept."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.report.judging import judged
from robik.report.kept_balance import KeptBalance, kept_balance
from robik.report.shortfall import beyond_the_robot, open_beyond, position_met, unassembled

from .test_giving import two_legs

EXTENT = hypot(0.05 + 0.08, 0.5 - 0.02)  # m, of two legs: the box around centres of mass and joints


def test_distances_that_are_met_go_by_the_robots_size() -> None:
    assert position_met(two_legs()) == pytest.approx(EXTENT / 500)
    assert open_beyond(two_legs()) == pytest.approx(EXTENT / 500_000)


@pytest.mark.parametrize("frames", [1, 6, 7])
def test_frames_whose_loops_stay_open_are_named_up_to_six(frames: int) -> None:
    residual = np.full(20, 0.9e-6)
    assert unassembled(two_legs(), residual) == ""
    residual[3 : 3 + frames] = 1.1e-6
    residual[3 + frames // 2] = 0.0123
    named = ", ".join(str(k) for k in range(3, 3 + min(frames, 6))) + ", …" * (frames > 6)
    assert unassembled(two_legs(), residual) == (
        f"{frames} of 20 frames cannot be assembled with these actuator values: {named}; the loops stay open by up to"
        f" 12.3 mm, in frame {3 + frames // 2}"
    )


def test_a_clip_that_is_missed_by_more_than_a_tenth_of_the_robot_is_beyond_it() -> None:
    robot = robots.load("boxer")
    name = robot.frames[0].name
    times, values = np.arange(4) / 10, np.tile(robot.actuator_rest, (4, 1))
    at = np.array(robot.rest_pose(name).position)

    def said(*off: float) -> str:
        """Return what is said of targets so far beside the frame [shares of the robot's extent]."""
        clip = TargetClip(times, {name: Track(at + np.outer(off, [0.0, robot.extent, 0.0]))})
        motion = Motion(times=times, actuators=robot.actuators, values=values)
        return beyond_the_robot(robot, judged(robot, clip, Settings(), motion, None))

    assert said(0.0, 0.05, 0.099, 0.0) == ""
    assert said(0.0, 0.2, 0.34, 0.1) == (
        f"robot 'boxer' cannot do this clip as asked: at 0.20 s {name} is {340 * robot.extent:.1f} mm off, 34 % of the"
        " robot's size"
    )


def test_the_least_margin_and_the_share_inside_count_where_something_stands() -> None:
    kept = KeptBalance(inside=np.array([np.nan, 0.03, -0.02, 0.0, 0.01]), aloft=np.array([1, 0, 0, 0, 0], bool))
    assert (kept.sample, kept.margin, kept.share_inside) == (2, -0.02, 0.75)


def test_a_robot_at_rest_keeps_the_depth_of_its_centre_of_mass_in_its_soles() -> None:
    robot = two_legs()
    names = tuple(body.name for body in robot.bodies)
    position = np.tile([list(body.pose.position) for body in robot.bodies], (6, 1, 1))
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (6, 3, 1))
    com = np.tile([0.0, -0.003, 0.404], (6, 1))
    motion = Motion(times=np.arange(6) / 10, actuators=robot.actuators, values=np.zeros((6, 2)), bodies=names,
                    position=position, quaternion=upright, com=com)  # fmt: skip
    stands = {"sole_wide": np.array([1, 1, 1, 1, 0, 0], bool), "sole_narrow": np.array([1, 1, 0, 0, 1, 0], bool)}
    still = np.zeros((6, 3))
    clip = TargetClip(motion.times, {name: Track(still, upright[:, 0], contact=on) for name, on in stands.items()})
    found = kept_balance(robot, clip, motion)
    assert found is not None
    depths = [0.1, 0.1, 0.007, 0.007, -0.037, np.nan]  # from x = 0.1, from y = -0.01 and 0.04, and nowhere
    np.testing.assert_allclose(found.inside, depths, atol=1e-9)
    assert found.aloft.tolist() == [False] * 5 + [True]
    hand = replace(clip, tracks={"head": Track(still, contact=np.ones(6, bool))})
    assert kept_balance(robot, hand, motion) is None, "no foot stands"
