"""Forward kinematics along a whole motion, in compiled form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from .assembly import closed, settle
from .elimination import eliminate
from .kernels import integrate, read_state, stand_at
from .null_space import extend

LARGEST_MOVE = 0.2  # rad or m of an actuator at once
BENT = 0.5  # of a correction that the next one may have by the same factors: at 1 the loops may be in another assembly
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
    start: np.ndarray  # (nq,) scratch: coordinates before a step
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
    count, *others = sizes
    before, start = np.zeros((2, count))
    correction, right = (np.zeros(size) for size in others)
    first = np.array([base], dtype=np.int64)
    return by_reference(Driven(q, dof, value, sign, first, before, start, correction, right))


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
        residual[k] = follow(flat, now, e, driven, last, values[k])
        if not closed(flat, now, residual[k]):
            return k
        if k > 0:
            for b in range(quaternion.shape[1]):
                for i in range(4):
                    quaternion[k, b, i] = quaternion[k - 1, b, i]
        read_state(flat, now, position[k], quaternion[k])
    return values.shape[0]


@kernel
def follow(flat, now, e, driven, last, values):
    """Move from the actuator values `last` (A,) to `values` (A,), and return the residual; back where loops open.

    Each step goes along the tangent and then onto the loops. Where the closure's derivatives have turned by much on
    the way, which is told by how its corrections shrink, the step is tried with new factors, then halved: near poses
    with little hold another assembly is about as near. `last` is replaced.
    """
    for i in range(now.q.shape[0]):
        driven.before[i] = now.q[i]
    away, residual = 0.0, 0.0
    for i in range(last.shape[0]):
        away = max(away, abs(values[i] - last[i]))
    for i in range(now.value.shape[0]):
        residual = max(residual, abs(now.value[i]))
    has_tangent = now.value.shape[0] > 0 and 0.0 < away < FARTHEST and closed(flat, now, residual)
    most = min(1.0, LARGEST_MOVE / away) if has_tangent else 1.0
    done, part, is_fresh = 0.0, most, False
    while done < 1.0:
        part = min(part, 1.0 - done)
        if has_tangent:
            _predict(flat, now, e, driven, last, values, part)
        for i in range(driven.q.shape[0]):
            a = driven.value[i]
            now.q[driven.q[i]] = driven.sign[i] * (last[a] + (values[a] - last[a]) * min(done + part, 1.0))
        residual, bent = settle(flat, now, e, driven.correction, driven.right)
        is_closed = closed(flat, now, residual)
        if is_closed and (bent <= BENT or not has_tangent or part <= SMALLEST_PART):
            done, part, is_fresh = done + part, min(most, 2.0 * part), False
        elif has_tangent and part > SMALLEST_PART:
            stand_at(flat, now, driven.start)
            eliminate(flat, now, e)
            part, is_fresh = 0.5 * part if is_fresh else part, True
        else:
            stand_at(flat, now, driven.before)
            return residual
    for i in range(last.shape[0]):
        last[i] = values[i]
    return residual


@inlined
def _predict(flat, now, e, driven, last, values, part):
    """Move coordinates along the tangent by a part of the actuators' way."""
    step = driven.correction
    step[:] = 0.0
    for i in range(driven.dof.shape[0]):
        a = driven.value[i]
        step[driven.dof[i]] = driven.sign[i] * (values[a] - last[a])
    extend(flat, e, step)
    for i in range(now.q.shape[0]):
        driven.start[i] = now.q[i]
    integrate(flat, driven.start, step, part, now.q)


@kernel
def linearized_along(flat, now, e, driven, asked, last, values, coordinates, slopes, begin):
    """Fill coordinates (T, N) and their derivatives (T, N, A) by actuator values (T, A), from sample `begin` on.

    Return the sample that does not close, where the robot stands as at the one before; T where all close. `last`
    (A,), at which it stands, is replaced.
    """
    for k in range(begin, values.shape[0]):
        if not closed(flat, now, follow(flat, now, e, driven, last, values[k])):
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
