"""A motion in degrees is told from one in radians before anything is done with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robik
from robik.errors import ClipError
from robik.mechanism import Mechanism
from robik.motions import Motion, values_for
from tests.shell import robik as command

TIMES = np.arange(30) / 30.0


def swing(robot: Mechanism, amplitude: float = 0.9) -> Motion:
    """A motion of all motors about rest, in radians."""
    low, high = np.clip(robot.actuator_limits, -1.0, 1.0).T
    values = 0.5 * (low + high) + 0.5 * amplitude * (high - low) * np.sin(3.0 * TIMES)[:, None]
    return Motion(times=TIMES, actuators=robot.actuators, values=values)


@pytest.mark.parametrize("name", ["walker", "ur10", "boxer"])
def test_it_is_refused_with_the_motor_its_value_and_its_limits(name: str) -> None:
    robot = robik.load(name)
    motion = swing(robot)
    assert (values_for(robot, motion, "m.csv") == motion.values).all()
    with pytest.raises(ClipError, match=r"^m\.csv: \w+ is -?\d.* in sample \d+, and .*; are these degrees\?"):
        values_for(robot, replace(motion, values=np.degrees(motion.values)), "m.csv")


def test_a_motor_that_leaves_its_limits_in_radians_is_none_in_degrees() -> None:
    robot = robik.load("walker")
    motion = swing(robot)
    values_for(robot, replace(motion, values=4.0 * motion.values), "m.csv")


def test_the_shell_says_so_before_it_works(tmp_path: Path) -> None:
    robot = robik.load("walker")
    motion = swing(robot)
    robik.save_motion(replace(motion, values=np.degrees(motion.values)), tmp_path / "m.csv")
    for words in (("retime", "walker", "m.csv"), ("fk", "walker", "m.csv", "-o", "s.npz")):
        done = command(tmp_path, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "are these degrees?" in done.stderr
