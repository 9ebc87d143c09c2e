"""Poses, Jacobians and centres of mass as functions of actuator values."""

from __future__ import annotations

import numpy as np
import pytest

import robik
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism.pose import Pose

ROBOTS = (("ur10", "flange"), ("boxer", "hand"), ("four_bar", "handle"), ("chain", "tool"), ("walker", "foot_l"))


def away(robot: robik.Mechanism, seed: int) -> np.ndarray:
    """Actuator values near the rest pose, within limits."""
    values = robot.actuator_rest + np.random.default_rng(seed).uniform(-0.1, 0.1, len(robot.actuators))
    return np.clip(values, *robot.actuator_limits.T)


def turned(a: Pose, b: Pose) -> np.ndarray:
    """The small rotation vector from orientation b to a."""
    turn = a.matrix @ b.matrix.T
    return 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])


@pytest.mark.parametrize(("name", "frame"), ROBOTS)
def test_columns_of_a_jacobian_are_differences_of_poses(name: str, frame: str) -> None:
    robot, step = robik.load(name), 1e-5
    values = away(robot, 1)
    found = robik.jacobian(robot, frame, values)
    for k, column in enumerate(found.T):
        moved = np.eye(len(values))[k] * step
        after, before = (robik.forward(robot, values + sign * moved).pose(frame) for sign in (1, -1))
        linear = np.subtract(after.position, before.position)
        np.testing.assert_allclose(column, np.hstack([linear, turned(after, before)]) / (2 * step), atol=1e-7)


def test_an_arm_is_where_mujoco_has_it(tmp_path) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = robik.load("ur10")
    robik.save_robot(robot, tmp_path / "ur10.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "ur10.xml"))
    data, values = mujoco.MjData(model), away(robot, 2)
    for name, value in zip(robot.actuators, values, strict=True):
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_forward(model, data)
    linear, angular, body = np.zeros((3, model.nv)), np.zeros((3, model.nv)), model.body("flange").id
    mujoco.mj_jacBody(model, data, linear, angular, body)
    columns = [model.jnt_dofadr[model.joint(name).id] for name in robot.actuators]
    pose = robik.forward(robot, values).pose("flange")
    np.testing.assert_allclose(pose.position, data.body("flange").xpos, atol=1e-9)
    np.testing.assert_allclose(pose.matrix, data.body("flange").xmat.reshape(3, 3), atol=1e-9)
    np.testing.assert_allclose(
        robik.jacobian(robot, "flange", values), np.vstack([linear, angular])[:, columns], atol=1e-9
    )
    np.testing.assert_allclose(robik.center_of_mass(robot, values), data.subtree_com[0], atol=1e-9)


def test_what_was_asked_before_changes_nothing() -> None:
    robot = robik.load("walker")
    first = robik.forward(robot, away(robot, 3))
    robik.forward(robot, away(robot, 4), Pose((1.0, 2.0, 3.0)))
    again = robik.forward(robot, away(robot, 3))
    assert (first.position == again.position).all() and (first.quaternion == again.quaternion).all()


def test_a_base_moves_the_robot_and_its_jacobian() -> None:
    robot, quarter = robik.load("walker"), 2**-0.5
    values = away(robot, 5)
    rest = robik.forward(robot, values)
    name = ForwardKinematics(robot).root
    assert name is not None
    moved = Pose((0.0, 1.0, 0.0), (quarter, 0.0, 0.0, quarter))
    placed = robik.forward(robot, values, moved @ rest.pose(name))
    np.testing.assert_allclose(placed.com, moved.point(rest.com), atol=1e-12)
    turn = np.kron(np.eye(2), moved.matrix)
    np.testing.assert_allclose(
        robik.jacobian(robot, "foot_l", values, moved @ rest.pose(name)),
        turn @ robik.jacobian(robot, "foot_l", values),
        atol=1e-9,
    )


def test_wrong_values_and_open_loops_are_refused() -> None:
    robot = robik.load("walker")
    with pytest.raises(robik.MechanismError, match="wants 12 finite actuator values"):
        robik.forward(robot, [0.0])
    with pytest.raises(robik.MechanismError, match="no frame or body 'toe'"):
        robik.jacobian(robot, "toe", robot.actuator_rest)
    bar = robik.load("four_bar")
    assert not robik.forward(bar, [3.0]).assembled
    with pytest.raises(robik.MechanismError, match="the loops of robot 'four_bar' do not close at these values"):
        robik.jacobian(bar, "handle", [3.0])
