"""How near to a singular pose a motor is, against angles that can be drawn by hand."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

from robik import robots
from robik.ik.independence import independence
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights

PLACE = Settings(targets={"tip": Weights((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))})


def two_links() -> ForwardKinematics:
    """Two links of 1 m in the plane of x and y, stretched along x."""
    z = (0.0, 0.0, 1.0)
    return ForwardKinematics(
        Mechanism(
            "arm",
            [Body("upper", 1.0, com=(0.5, 0, 0)), Body("lower", 1.0, com=(0.5, 0, 0), pose=Pose((1.0, 0.0, 0.0)))],
            [
                Joint("shoulder", "revolute", WORLD, "upper", position=(0, 0, 0), axis=z, actuated=True),
                Joint("elbow", "revolute", "upper", "lower", position=(1, 0, 0), axis=z, actuated=True),
            ],
            frames=[Frame("tip", "lower", Pose((1.0, 0.0, 0.0)))],
        )
    )


@pytest.mark.parametrize("elbow", [0.02, 0.5, 1.5, 2.5])
def test_two_links_by_hand(elbow: float) -> None:
    tip = np.array([1 + cos(elbow), sin(elbow)])
    by_shoulder, by_elbow = np.array([-tip[1], tip[0]]), np.array([-sin(elbow), cos(elbow)])
    cosine = by_shoulder @ by_elbow / np.linalg.norm(by_shoulder) / np.linalg.norm(by_elbow)
    found = independence(two_links(), np.array([0.0, elbow]), None, ("tip",), PLACE)
    assert found == pytest.approx([np.sqrt(1 - cosine**2)] * 2, abs=1e-4)


def test_a_stretched_arm_is_singular_unless_its_direction_counts_too() -> None:
    arm = two_links()
    assert independence(arm, np.zeros(2), None, ("tip",), PLACE).max() < 1e-3
    assert independence(arm, np.zeros(2), None, ("tip",), Settings()).min() > 0.2


def test_a_motor_that_moves_nothing_followed_is_not_singular() -> None:
    found = independence(two_links(), np.array([0.3, 0.4]), None, ("upper",), Settings())
    assert found == pytest.approx([1.0, 1.0])


def test_a_leg_of_linkages_as_it_stretches() -> None:
    robot = robots.load("walker")
    fk, names = ForwardKinematics(robot), ("pelvis", "foot_l", "foot_r")
    base = robot.bodies[robot.body_index[fk.root]].pose
    knee, ankle = robot.actuators.index("knee_l"), robot.actuators.index("ankle_pitch_l")
    values, sines = np.zeros(len(robot.actuators)), []
    for bend in (0.0, -0.2, -0.4):
        values[knee] = bend
        found = independence(fk, values, base, names, Settings())
        assert ((found > 0) & (found <= 1)).all()
        sines.append(found)
    assert sines[0][knee] > 1.3 * sines[1][knee] > 1.3 * sines[2][knee]
    assert sines[2][ankle + 6] == pytest.approx(sines[0][ankle + 6], rel=0.2)  # the other leg has not moved
    values[knee] = -3.0
    assert independence(fk, values, base, names, Settings()) is None  # the loops cannot close there
