"""Tilt feedback in physics: how legs turn the base, and robots that stand longer with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import load
from robik.dynamics import InverseDynamics
from robik.errors import MechanismError
from robik.formats import load_robot
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import Mechanism
from robik.mechanism.topology import build_topology
from robik.motions import Motion
from robik.physics import planned, run
from robik.physics.motors import Motors
from robik.physics.tilt_plan import tilt_plan
from robik.skeleton.feet import on_its_feet
from robik.skeleton.shapes import shapes_of

from .robots import standing_still


def g1(shared_data: Path) -> Mechanism:
    file = shared_data / "unitree_g1/g1_29dof.xml"
    robot = load_robot(file)
    return on_its_feet(robot, shapes_of(robot, file))


def turned_foot(robot: Mechanism, values: np.ndarray, foot: str) -> Rotation:
    """Return how a foot is turned against the base."""
    fk = ForwardKinematics(robot)
    base = robot.rest_pose(build_topology(robot).root or "")
    names = [body.name for body in robot.bodies]
    quaternion = fk.solve(values, base).quaternion[names.index(robot.frame(foot).body)]
    to_base = Rotation.from_quat(np.roll(base.quaternion, -1))
    return to_base.inv() * Rotation.from_quat(np.roll(quaternion, -1))


@pytest.mark.parametrize("name", ["walker", "g1"])
def test_the_legs_turn_the_base_by_what_is_asked(name: str, shared_data: Path) -> None:
    """The looped walker's legs, too: with the base held, each foot turns the other way."""
    robot = load("walker") if name == "walker" else g1(shared_data)
    still = standing_still(robot)
    plan = tilt_plan(robot, still)
    assert plan.up[0] == pytest.approx([0, 0, 1], abs=1e-9)
    feet = [frame.name for frame in robot.frames if frame.is_foot]
    for asked in (np.array([0.02, 0.0, 0.0]), np.array([0.0, -0.02, 0.0])):
        values = still.values[0] + plan.gains[0] @ asked
        for foot in feet:
            before, after = (turned_foot(robot, v, foot) for v in (still.values[0], values))
            assert (after * before.inv()).as_rotvec() == pytest.approx(-asked, abs=1e-3)


def test_ankles_and_hips_do_it_and_knees_do_not(shared_data: Path) -> None:
    robot = g1(shared_data)
    gains = dict(zip(robot.actuators, tilt_plan(robot, standing_still(robot)).gains[0], strict=True))
    for side in ("left", "right"):
        ankle, hip, knee = (gains[f"{side}_{part}_joint"][1] for part in ("ankle_pitch", "hip_pitch", "knee"))
        assert abs(knee) < 0.12 * min(abs(ankle), abs(hip))
        assert ankle + hip + knee == pytest.approx(-1.0, abs=0.05)
    assert all(np.abs(row).max() < 1e-9 for name, row in gains.items() if "shoulder" in name or "waist" in name)


@pytest.mark.parametrize("feedback", [False, True])
def test_a_robot_on_motors_too_soft_to_stand_is_righted(feedback: bool) -> None:
    """Below m g h nothing but feedback keeps the weight over the feet."""
    robot = load("walker")
    motors = Motors(room=InverseDynamics(robot))
    soft = {name: replace(drive, stiffness=0.23 * drive.stiffness) for name, drive in motors.drives().items()}
    verdict = run(planned(robot, standing_still(robot, 5.0), soft, feedback=feedback))
    assert 0.5 < sum(verdict.leg_stiffness.values()) < 1.0
    assert verdict.stands is feedback


def test_what_cannot_be_righted_is_told() -> None:
    with pytest.raises(MechanismError, match="no base that floats on feet"):
        tilt_plan(
            load("arm7"), Motion(times=np.array([0.0]), actuators=load("arm7").actuators, values=np.zeros((1, 7)))
        )
    walker = load("walker")
    with pytest.raises(MechanismError, match="no body 'tail'"):
        tilt_plan(walker, standing_still(walker), "tail")
