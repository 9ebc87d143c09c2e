"""Couplings of several leaders: necks, wrists and waists that two motors move together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.errors import MechanismError
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget


def neck() -> Mechanism:
    """A head whose pitch is the mean of two motors and whose roll is half their difference."""
    bodies = [Body(name, 1.0, com=(0.0, 0.0, 0.01)) for name in ("left", "right", "cross", "head")]
    joints = [
        Joint(
            "l", "revolute", WORLD, "left", position=(0, 0.1, 0), axis=(0, 1, 0), actuated=True, limits=((-1.0, 1.0),)
        ),
        Joint("r", "revolute", WORLD, "right", position=(0, -0.1, 0), axis=(0, -1, 0), actuated=True),
        Joint("pitch", "revolute", WORLD, "cross", position=(0, 0, 0.2), axis=(0, 1, 0)),
        Joint("roll", "revolute", "cross", "head", position=(0, 0, 0.2), axis=(1, 0, 0)),
    ]
    couplings = [
        Coupling("mean", "pitch", "l", (0.0, 0.5), (("r", -0.5),)),
        Coupling("difference", "roll", "r", (0.0, -0.5), (("l", -0.5),)),
    ]
    return Mechanism("neck", bodies, joints, frames=[Frame("nose", "head", Pose((0.1, 0.0, 0.3)))], couplings=couplings)


def test_a_neck_of_two_motors_follows_a_nod_and_a_tilt() -> None:
    robot = neck()
    assert inspect(robot).mobility == 2
    t = np.linspace(0.0, 1.0, 60)
    pitch, roll = 0.4 * np.sin(5 * t), 0.3 * np.sin(8 * t + 0.2) - 0.3 * np.sin(0.2)
    turns = Rotation.from_rotvec(np.outer(pitch, [0, 1, 0])) * Rotation.from_rotvec(np.outer(roll, [1, 0, 0]))
    track = Track(quaternion=turns.as_quat()[:, [3, 0, 1, 2]])
    clip = TargetClip(t, {"nose": track})
    motion = retarget(robot, clip, Settings(targets={"nose": Weights(position=(0, 0, 0))}))
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10
    _, R = frame_poses(robot, "nose", motion.position, motion.quaternion)  # type: ignore[arg-type]
    assert (Rotation.from_matrix(R) * turns.inv()).magnitude().max() < 1e-6
    left, right = motion.values.T
    np.testing.assert_allclose(0.5 * (left - right), pitch, atol=1e-6)
    np.testing.assert_allclose(-0.5 * (left + right), roll, atol=1e-6)
    forward = ForwardKinematics(robot)
    for row, position in zip(motion.values, motion.position, strict=True):  # type: ignore[arg-type]
        found = forward.solve(row)
        assert found.assembled
        np.testing.assert_allclose(found.position, position, atol=1e-9)


def test_limits_of_a_leader_hold_through_the_differential() -> None:
    robot, t = neck(), np.linspace(0.0, 1.0, 30)
    turns = Rotation.from_rotvec(np.outer(1.5 * t, [0, 1, 0]))
    clip = TargetClip(t, {"nose": Track(quaternion=turns.as_quat()[:, [3, 0, 1, 2]])})
    motion = retarget(robot, clip, Settings(targets={"nose": Weights(position=(0, 0, 0))}))
    left, right = motion.values.T
    assert left.max() <= 1.0 + 1e-9
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10
    assert right.min() < -1.0  # the other goes on, and the head tilts a little


def test_a_chain_of_many_differentials_is_solved_by_the_recursion_over_the_tree() -> None:
    """More than 64 degrees of freedom: coordinates that couplings tie are eliminated as clusters."""
    bodies, joints, couplings, below = [], [], [], WORLD
    for k in range(24):
        for name, axis in (("a", (0, 1, 0)), ("b", (1, 0, 0)), ("c", (0, 0, 1))):
            body = f"{name}{k}"
            bodies.append(Body(body, 0.1, com=(0, 0, 0.05 * k)))
            joints.append(
                Joint(body, "revolute", below, body, position=(0, 0, 0.05 * k), axis=axis, actuated=name != "c")
            )
            below = body
        couplings.append(Coupling(f"d{k}", f"c{k}", f"a{k}", (0.0, 0.5), ((f"b{k}", -0.3),)))
    robot = Mechanism("snake", bodies, joints, frames=[Frame("tip", below, Pose((0, 0, 0.05)))], couplings=couplings)
    t = np.linspace(0.0, 1.0, 20)
    path = np.stack([0.4 * np.sin(2 * t), 0.2 * t, 1.1 - 0.2 * t], axis=1)
    motion = retarget(
        robot, TargetClip(t, {"tip": Track(path)}), Settings(targets={"tip": Weights(orientation=(0, 0, 0))})
    )
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10
    assert np.nanmax(motion.report.position_error[1:]) < 1e-6


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ((("b", 1.0),), "'b' leads twice"),
        ((("a", 1.0),), "cannot follow itself"),
        ((("c", float("nan")),), "slopes of its others"),
        (("c",), "pairs of a leader and its slope"),
    ],
)
def test_a_coupling_that_cannot_be_says_why(others: tuple, said: str) -> None:
    with pytest.raises(MechanismError, match=said):
        Coupling("x", "a", "b", (0.0, 1.0), others)
