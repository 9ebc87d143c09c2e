"""Kinematics of one pose, as functions of actuator values: poses of frames, their Jacobians, the centre of mass.

Each call starts from the rest pose, so that it returns the same whatever was asked before. A robot's trees and tables
are made in its first call and kept with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from ..errors import MechanismError
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.pose import Pose
from .assembly import closed
from .elimination import eliminate
from .forward import Assembly, ForwardKinematics
from .frames import anchor
from .null_space import extend

Row = Sequence[float] | np.ndarray
BALL_STEP = 1e-6  # rad: of a ball's turn, to either side, for its derivatives


class _Kept(NamedTuple):
    """Forward kinematics of a robot, for one thread at a time."""

    forward: ForwardKinematics  # at the pose of the last call
    lock: Lock  # of whoever moves it


@kept_with_robot
def _kept(mechanism: Mechanism) -> _Kept:
    return _Kept(ForwardKinematics(mechanism), Lock())


def actuator_row(mechanism: Mechanism, values: Row) -> np.ndarray:
    """Return actuator values as an array.

    Args:
        mechanism: The robot.
        values: Actuator values (A,) [rad or m], in the order of `Mechanism.actuators`.

    Returns:
        The array (A,).

    Raises:
        MechanismError: They are not A finite numbers.
    """
    row = np.asarray(values, dtype=float)
    if row.shape != (len(mechanism.actuators),) or not np.isfinite(row).all():
        raise MechanismError(
            f"robot {mechanism.name!r} wants {len(mechanism.actuators)} finite actuator values, not {values!r}"
        )
    return row


def forward(mechanism: Mechanism, values: Row, base: Pose | None = None) -> Assembly:
    """Return where all bodies and frames of a robot are at actuator values.

    Args:
        mechanism: The robot.
        values: Actuator values (A,) [rad or m], in the order of `Mechanism.actuators`.
        base: Pose of the body by which a robot floats; where it rests if left out.

    Returns:
        The poses; `assembled` says whether its loops close at these values.

    Raises:
        MechanismError: There are not A finite values.
    """
    row, kept = actuator_row(mechanism, values), _kept(mechanism)
    with kept.lock:
        kept.forward.reset()
        return kept.forward.solve(row, base)


def center_of_mass(mechanism: Mechanism, values: Row, base: Pose | None = None) -> np.ndarray:
    """Return where a robot's centre of mass is at actuator values.

    Args:
        mechanism: The robot.
        values: Actuator values (A,) [rad or m], in the order of `Mechanism.actuators`.
        base: Pose of the body by which a robot floats; where it rests if left out.

    Returns:
        The centre of mass (3,) in the world [m].

    Raises:
        MechanismError: There are not A finite values.
    """
    return forward(mechanism, values, base).com


def jacobian(mechanism: Mechanism, frame: str, values: Row, base: Pose | None = None) -> np.ndarray:
    """Return by how much a frame moves and turns as each actuator moves, its loops kept closed.

    Args:
        mechanism: The robot.
        frame: Name of a frame or a body.
        values: Actuator values (A,) [rad or m], in the order of `Mechanism.actuators`.
        base: Pose of the body by which a robot floats, which stays there; where it rests if left out.

    Returns:
        (6, A) in the world's axes: velocity of the frame's origin [m] over angular velocity [rad], per rad or m.

    Raises:
        MechanismError: There are not A finite values, its loops do not close there, or there is no such frame.
    """
    row, kept = actuator_row(mechanism, values), _kept(mechanism)
    with kept.lock:
        kept.forward.reset()
        residual = kept.forward.move(row, base)
        if not closed(kept.forward.flat, kept.forward.now, residual):
            raise MechanismError(
                f"the loops of robot {mechanism.name!r} do not close at these values: {residual:.2g} m are open"
            )
        found = frame_columns(kept.forward, frame, motor_steps(kept.forward))
        for k in kept.forward.ball_values:
            found[:, k] = _by_differences(kept.forward, frame, row, k, base)
        return found


def motor_steps(fk: ForwardKinematics) -> np.ndarray:
    """Return by how much each coordinate of the tree moves with each actuator, where the robot stands.

    Args:
        fk: Forward kinematics, with closed loops.

    Returns:
        (A, d) per rad or m; zeros for the coordinates of balls.
    """
    eliminate(fk.flat, fk.now, fk.elimination)
    steps = np.zeros((len(fk.mechanism.actuators), len(fk.flat.before)))
    for value, dof, sign in fk.driven:
        steps[value, dof] = sign
        extend(fk.flat, fk.elimination, steps[value])
    return steps


def frame_columns(fk: ForwardKinematics, frame: str, steps: np.ndarray) -> np.ndarray:
    """Return a frame's Jacobian where the robot stands.

    Args:
        fk: Forward kinematics, with closed loops.
        frame: Name of a frame or a body.
        steps: (A, d) of `motor_steps` there.

    Returns:
        (6, A), as `jacobian` returns it; zeros for the coordinates of balls.

    Raises:
        MechanismError: There is no such frame.
    """
    flat, now = fk.flat, fk.now
    body, point, _ = anchor(fk.topology, frame)
    at, path, i = now.c[body] + now.R[body] @ point, [], int(flat.tip[body])
    while i >= 0:
        path.append(i)
        i = int(flat.before[i])
    omega = now.omega[path]
    screws = np.hstack([np.cross(omega, at) + now.v[path], omega])
    return np.asarray(screws.T @ steps[:, path].T)


def _by_differences(fk: ForwardKinematics, frame: str, row: np.ndarray, k: int, base: Pose | None) -> np.ndarray:
    """Return the column (6,) of a ball's coordinate k by central differences."""
    poses = []
    for away in (BALL_STEP, -BALL_STEP):
        moved = row.copy()
        moved[k] += away
        poses.append(fk.solve(moved, base).pose(frame))
    turn = poses[0].matrix @ poses[1].matrix.T
    axis = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return np.hstack([np.subtract(poses[0].position, poses[1].position), axis]) / (2.0 * BALL_STEP)
