"""Forward kinematics along a whole motion, in compiled form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from .assembly import closed, project
from .elimination import eliminate
from .kernels import integrate, largest_motion, read_state
from .null_space import extend

LARGEST_MOVE = 0.2  # rad or m of an actuator at once, so that loops stay in their assembly mode
CAREFUL = 4.0  # times as near as the other assembly may be: a crank that leaves its dead point went back into it
SMALLEST_PART = 1e-3  # of a way of actuators
FARTHEST = 100.0  # rad or m of an actuator: beyond, nobody means a way from where it was


class Driven(NamedTuple):
    """Coordinates of a robot that follow the samples of a motion."""

    q: np.ndarray  # (k,) coordinates that follow an actuator
    dof: np.ndarray  # (k,) their degrees of freedom
    value: np.ndarray  # (k,) numbers of these actuators
    sign: np.ndarray  # (k,) 1, or -1 where the tree runs against the joint
    base: np.ndarray  # (1,) first of the base's seven coordinates; -1 where it is not set
    before: np.ndarray  # (nq,) scratch: coordinates of the sample before
    correction: np.ndarray  # (d,) scratch
    right: np.ndarray  # (rows,) scratch


class AskedCoordinates(NamedTuple):
    """Coordinates that are asked along a motion, with their derivatives."""

    dof: np.ndarray  # (N,) their degrees of freedom
    sign: np.ndarray  # (N,) 1, or -1 where the tree runs against the joint
    driven: np.ndarray  # (k,) degrees of freedom of `Driven.q`
    step: np.ndarray  # (d,) scratch


def new_driven(q: np.ndarray, dof: np.ndarray, value: np.ndarray, sign: np.ndarray, base: int, *sizes: int) -> Driven:
    """Return the record of coordinates (k,), and degrees of freedom, that follow actuators, by reference.

    `value` (k,) numbers these actuators, `sign` (k,) is their sign. `base` is the first of the base's seven
    coordinates; -1 where it is not set. `sizes` are the numbers of coordinates, degrees of freedom and closure
    rows.
    """
    before, correction, right = (np.zeros(size) for size in sizes)
    return by_reference(Driven(q, dof, value, sign, np.array([base], dtype=np.int64), before, correction, right))


@kernel
def pose_along(flat, now, e, driven, last, values, base, position, quaternion, residual, begin):
    """Pose a robot by samples (T, A) of a motion, each from the one before, from sample `begin` on.

    Return the sample that does not close, where it stands as at the one before; T where all close. State frames (T,
    n, 3) [m] and (T, n, 4) wxyz and residuals (T,) [m] are filled; the first quaternions come with the signs that
    are wanted. `base` (T, 7) has a floating base's coordinates. `last` (A,), at which the robot stands, is
    replaced.
    """
    for k in range(begin, values.shape[0]):
        if driven.base[0] >= 0:
            for i in range(7):
                now.q[driven.base[0] + i] = base[k, i]
        residual[k] = _follow(flat, now, e, driven, last, values[k])
        if not closed(flat, now, residual[k]):
            return k
        if k > 0:
            for b in range(quaternion.shape[1]):
                for i in range(4):
                    quaternion[k, b, i] = quaternion[k - 1, b, i]
        read_state(flat, now, position[k], quaternion[k])
    return values.shape[0]


@inlined
def _follow(flat, now, e, driven, last, values):
    """Move from the actuator values `last` (A,) to `values` (A,), and return the residual; back where loops open."""
    for i in range(now.q.shape[0]):
        driven.before[i] = now.q[i]
    residual, done = 0.0, 0.0
    while done < 1.0:
        done = min(1.0, done + lead(flat, now, e, driven, last, values, 1.0 - done))
        for i in range(driven.q.shape[0]):
            a = driven.value[i]
            now.q[driven.q[i]] = driven.sign[i] * (last[a] + (values[a] - last[a]) * done)
        residual = project(flat, now, e, driven.correction, driven.right)
        if not closed(flat, now, residual):
            for i in range(now.q.shape[0]):
                now.q[i] = driven.before[i]
            return residual
    for i in range(last.shape[0]):
        last[i] = values[i]
    return residual


@kernel
def lead(flat, now, e, driven, last, values, left):
    """Move coordinates along the tangent of a way of actuators, of which so much is left; return the part to go.

    Where hold σ is low, bodies go 1/σ times as far as actuators, and another assembly is about σ away.
    """
    away, worst, step = 0.0, 0.0, driven.correction
    for i in range(last.shape[0]):
        away = max(away, abs(values[i] - last[i]))
    for i in range(now.value.shape[0]):
        worst = max(worst, abs(now.value[i]))
    if now.value.shape[0] == 0 or not 0.0 < away < FARTHEST:
        return 1.0
    part = min(left, LARGEST_MOVE / away)
    if not closed(flat, now, worst):  # no pose of the robot, which has no tangent
        return part
    for again in range(2):
        step[:] = 0.0
        for i in range(driven.dof.shape[0]):
            a = driven.value[i]
            step[driven.dof[i]] = driven.sign[i] * (values[a] - last[a])
        _, own = largest_motion(flat, step)
        extend(flat, e, step)
        _, largest = largest_motion(flat, step)
        if CAREFUL * largest * largest * part <= own:
            break
        if again == 0:
            eliminate(flat, now, e)
        else:
            part = max(own / (CAREFUL * largest * largest), SMALLEST_PART)
    integrate(flat, now.q, step, part, now.q)
    return part


@kernel
def linearized_along(flat, now, e, driven, asked, last, values, coordinates, slopes, begin):
    """Fill coordinates (T, N) and their derivatives (T, N, A) by actuator values (T, A), from sample `begin` on.

    Return the sample that does not close, where the robot stands as at the one before; T where all close. `last`
    (A,), at which it stands, is replaced.
    """
    for k in range(begin, values.shape[0]):
        if not closed(flat, now, _follow(flat, now, e, driven, last, values[k])):
            return k
        for n in range(asked.dof.shape[0]):
            coordinates[k, n] = asked.sign[n] * now.q[flat.dof_q[asked.dof[n]]]
        eliminate(flat, now, e)
        for i in range(driven.q.shape[0]):
            asked.step[:] = 0.0
            asked.step[asked.driven[i]] = driven.sign[i]
            extend(flat, e, asked.step)
            for n in range(asked.dof.shape[0]):
                slopes[k, n, driven.value[i]] = asked.sign[n] * asked.step[asked.dof[n]]
    return values.shape[0]
