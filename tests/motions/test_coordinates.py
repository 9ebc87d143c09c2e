"""Coordinates of the tree along motions."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.errors import ClipError, MechanismError
from robik.kinematics.forward import ForwardKinematics
from robik.motions import Motion
from robik.motions.coordinates import tree_coordinates


def test_poses_that_assemble_are_those_of_the_motors_and_others_are_named() -> None:
    """The dancer's motors contradict each other off its rest pose."""
    dancer = robots.load("dancer")
    fk = ForwardKinematics(dancer)
    rest = np.array([value for joint in dancer.actuated for value in joint.rest])
    values = np.tile(rest, (3, 1))
    motion = Motion(times=np.arange(3) / 30, actuators=dancer.actuators, values=values)
    q = tree_coordinates(fk, motion, "the dance")
    assert np.abs(q - q[0]).max() < 1e-9
    values[2, 0] += 0.3
    with pytest.raises(MechanismError, match=r"the dance: the loops do not close in sample 2; 0\.\d+ m are open"):
        tree_coordinates(fk, motion, "the dance")
    other = Motion(times=motion.times, actuators=dancer.actuators[1:], values=values[:, 1:])
    with pytest.raises(ClipError, match=dancer.actuators[0]):
        tree_coordinates(fk, other, "the dance")
