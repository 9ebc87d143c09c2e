"""The serial arms stand where their makers' tables say, reckoned here by SciPy's rotations from the published
figures."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.robots import load

PUBLISHED = {  # a [m], d [m], alpha [rad] per hinge
    "ur10": (
        (0, 0.1273, pi / 2),
        (-0.612, 0, 0),
        (-0.5723, 0, 0),
        (0, 0.163941, pi / 2),
        (0, 0.1157, -pi / 2),
        (0, 0.0922, 0),
    ),
    "arm7": (
        (0, 0.36, -pi / 2),
        (0, 0, pi / 2),
        (0, 0.42, pi / 2),
        (0, 0, -pi / 2),
        (0, 0.4, -pi / 2),
        (0, 0, pi / 2),
        (0, 0.126, 0),
    ),
}
MASS = {"ur10": 4.0 + 28.435, "arm7": 29.9}  # the UR10's links as published, and a base


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_tool_is_where_the_table_puts_it(name):
    robot = load(name)
    assert robot.mass == pytest.approx(MASS[name], abs=1e-3)
    assert robot.is_grounded
    fk, rng = ForwardKinematics(robot), np.random.default_rng(1)
    limits = np.array([j.limits[0] for j in robot.actuated])
    for _ in range(20):
        values = rng.uniform(*limits.T)
        turn, at = Rotation.identity(), np.zeros(3)
        for angle, (a, d, alpha) in zip(values, PUBLISHED[name], strict=True):
            at = at + turn.apply([a * np.cos(angle), a * np.sin(angle), d])
            turn = turn * Rotation.from_euler("ZX", [angle, alpha])
        found = fk.solve(values)
        position, R = frame_poses(robot, "tool", found.position[None], found.quaternion[None])
        np.testing.assert_allclose(position[0], at, atol=1e-10)
        np.testing.assert_allclose(R[0], turn.as_matrix(), atol=1e-10)
