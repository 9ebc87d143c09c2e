"""Forward kinematics over tree and cuts poses every robot as the reference does: all bodies' equations, by Gauss-Newton
(paper, eq. 1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from experiments.oracle.reference import ReferenceSolver
from robik import robots
from robik.kinematics.forward import Assembly, ForwardKinematics
from robik.mechanism import WORLD, Body, Joint, Mechanism, Pose
from robik.objectives.settings import Settings
from tests.ik.random_mechanisms import Problem, problems, rotation
from tests.ik.test_reference import GROUND, four_bar, four_bar_points

CHOSEN = Settings(joint_limits=False)


def assert_same(solver: ReferenceSolver, found: Assembly, state: np.ndarray, tolerance: float) -> None:
    """Every body's own frame where a state of the reference has it, and the centre of mass."""
    assert found.assembled
    np.testing.assert_allclose(
        solver.state_of(found.position, found.quaternion, near=state), state, rtol=0, atol=tolerance
    )
    masses = np.array([body.mass for body in solver.mechanism.bodies])
    np.testing.assert_allclose(found.com, masses @ state[:, :3] / masses.sum(), atol=tolerance)


@pytest.mark.parametrize(("robot", "spread"), [("boxer", 1.0), ("walker", 0.15), ("four-bar", 0.5)])
def test_our_robots_at_random_actuator_values(robot: str, spread: float) -> None:
    mechanism: Mechanism = four_bar() if robot == "four-bar" else robots.load(robot)
    solver, fk, rng = ReferenceSolver(mechanism, CHOSEN), ForwardKinematics(mechanism), np.random.default_rng(12)
    rest = np.array([value for joint in mechanism.actuated for value in joint.rest])
    state = solver.rest_state()
    for _ in range(8):
        values = rest + rng.uniform(-spread, spread, len(rest))
        base = Pose(tuple(rng.normal(size=3)), rotation(rng.normal(size=3))) if fk.root else None
        state, residual = solver.fk(values, state, (fk.root, base) if fk.root and base else None)
        assert residual < 1e-11
        assert_same(solver, fk.solve(values, base), state, 1e-8)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems(far=False, length=1, every_type=True))
def test_random_robots_driven_at_every_joint(problem: Problem) -> None:
    """Actuator values read off an assembled pose, loops' joints included, lead from the rest pose back to it. A free
    joint is driven where it alone says where a body is; by the world it is the base, in a loop it says nothing."""
    driven = {
        joint.name
        for joint in problem.mechanism.joints
        if joint.motions and (joint.type != "free" or joint.name.startswith("j"))
    }
    joints = tuple(replace(joint, actuated=joint.name in driven) for joint in problem.mechanism.joints)
    mechanism = problem.mechanism.with_changes(joints=joints)
    solver, fk = ReferenceSolver(mechanism, problem.settings), ForwardKinematics(mechanism)
    wanted = solver.solve(
        problem.targets[0], None if problem.com is None else problem.com[0], solver.rest_state(), None
    )
    rest = np.array([value for joint in mechanism.actuated for value in joint.rest])
    values = solver.actuator_values(wanted.state, rest)
    assume(np.abs(values - rest).max(initial=0.0) < 1.5)  # near half a turn the way there is a matter of taste
    base = solver.frame_pose(wanted.state, fk.root) if fk.root else None
    state, residual = solver.fk(values, solver.rest_state(), (fk.root, base) if fk.root and base else None)
    assert residual < 1e-9
    np.testing.assert_allclose(solver._nearest_signs(state, wanted.state), wanted.state, rtol=0, atol=1e-7)
    assert_same(solver, fk.solve(values, base), wanted.state, 1e-7)


def test_beyond_what_assembles_both_say_so() -> None:
    mechanism, (_, pin) = four_bar("p"), four_bar_points(1.0)
    stretched = np.array(
        [np.pi - np.arctan2(pin[1], pin[0] - GROUND)]
    )  # the rocker points away, beyond what crank and coupler span
    solver, fk = ReferenceSolver(mechanism, CHOSEN), ForwardKinematics(mechanism)
    _, residual = solver.fk(stretched, solver.rest_state())
    found = fk.solve(stretched)
    assert residual > 1e-2
    assert not found.assembled
    assert found.residual > 1e-2


def test_orientations_along_a_motion_keep_their_sign_however_far_a_ball_turns() -> None:
    """Turned by 100° in each sample, the quaternions of two samples are 50° apart, and a whole turn is another sign."""
    ball = Joint("ball", "spherical", "pole", "head", actuated=True)
    robot = Mechanism("r", [Body("pole", 1.0), Body("head", 1.0)], [Joint("stand", "fixed", WORLD, "pole"), ball])
    angles = np.radians(100.0 * np.arange(9))
    wrapped = (angles + np.pi) % (2 * np.pi) - np.pi  # as coordinates are
    _, quaternion, _ = ForwardKinematics(robot).along(np.outer(wrapped, [0.0, 0.0, 1.0]))
    dots = quaternion[:, 1] @ quaternion[0, 1]
    np.testing.assert_allclose(dots, np.cos(angles / 2), atol=1e-12)
