"""A step of the differential tracker, compiled: its quadratic program, and the projection onto the loops.

    minimise over z   ½ zᵀ P z + (g + share · rest)ᵀ z   between bounds on the independent coordinates' steps z and on
    those of the dependent coordinates

g asks for the targets' own motion since the last step. `rest` asks for the remaining error; its share is the largest
from which every motor can still brake in time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.assembly import closed, project
from ..kinematics.dense import cholesky, solve_factored
from ..kinematics.elimination import Elimination, eliminate, new_elimination
from ..kinematics.kernels import Placement, copy_placement, difference, integrate, largest_motion, new_placement
from ..kinematics.null_space import extend, reduce_gradient
from ..mechanism.topology import Flat
from .limits import BRAKES, approach, velocity_range
from .linear_targets import linearise, quadratic, remember_targets, take_targets

LARGEST_TURN = 0.5  # rad in one step
SMALLEST_SHARE = 1e-3  # of a step that does not come back onto the loops
TIGHT = 1e-9  # by how much DAQP may pass a bound
BEYOND = 1e-9  # rad or m: how far a follower's step may be beyond its bounds
MARGIN = 1e-8  # rad or m: for that dependent coordinates keep away from their ends
INWARD = 2 * (
    TIGHT + BEYOND
)  # and one that is on its end comes back by as much in a step: no step passes it, which would be halved
BENT = -1.0
UNBOUNDED = 1e30  # DAQP's infinity


class Motion(NamedTuple):
    """The program of a step and its scratch, d degrees of freedom."""

    e: Elimination  # the loops' factors
    trial: Placement  # placement of a step that is tried
    low: np.ndarray  # (d,) bound on coordinates [rad or m]
    high: np.ndarray  # (d,) likewise
    speed: np.ndarray  # (d,) bound on velocities
    acceleration: np.ndarray  # (d,) bound on accelerations
    velocity: np.ndarray  # (d,) of the step before
    independent: np.ndarray  # (d,) independent degrees of freedom
    P: np.ndarray  # (d, d) matrix of the program over them
    g: np.ndarray  # (d,) its linear part
    rest: np.ndarray  # (d,) the part of `g` that the errors ask for, beside the targets' own motion
    z: np.ndarray  # (d,) its answer
    least: np.ndarray  # (2 d,) lower bounds on independent steps, then on dependent ones
    most: np.ndarray  # (2 d,) upper bounds, likewise
    rows: np.ndarray  # (d, d) dependent steps by independent ones
    bounded: np.ndarray  # (d,) their degrees of freedom
    bend: np.ndarray  # (d,) bend of their steps by the loops
    factor: np.ndarray  # (d, d) scratch
    shares: np.ndarray  # (d,) scratch
    step: np.ndarray  # (d,) scratch
    correction: np.ndarray  # (d,) scratch
    right: np.ndarray  # (rows,) scratch


def new_motion(flat: Flat, rest: np.ndarray, bounds: tuple[np.ndarray, ...]) -> Motion:
    """Return room for a step from the rest pose (nq,), with bounds (d,): low, high, speed and acceleration."""
    d = len(flat.before)
    square, row = (lambda: np.zeros((d, d))), (lambda: np.zeros(d))
    low, high, speed, acceleration = bounds
    return by_reference(Motion(
        e=new_elimination(flat), trial=new_placement(flat, rest), low=low, high=high, speed=speed,
        acceleration=acceleration,
        velocity=row(), independent=np.zeros(d, np.int64), P=square(), g=row(), rest=row(), z=row(),
        least=np.zeros(2 * d),
        most=np.zeros(2 * d), rows=square(), bounded=np.zeros(d, np.int64), bend=row(), factor=square(), shares=row(),
        step=row(),
        correction=row(), right=np.zeros(len(flat.row_kind) + len(flat.coupling_leader)),
    ))  # fmt: skip


@kernel
def program(flat, now, tables, linear, motion, least_damping, limit_gain, dt):
    """Fill the program of a step of dt [s]; return the numbers of independent coordinates and dependent ones' rows.

    The third value returned says that the optimum meets no bound and is in `motion.z` already. `least_damping`
    counts where nothing else damps; one step may take the share `limit_gain` of the gap to a limit.
    """
    take_targets(tables, linear)
    e, independent = motion.e, motion.independent
    eliminate(flat, now, e)
    n, d = 0, independent.shape[0]
    for i in range(d):
        if not e.dependent[i]:
            independent[n] = i
            n += 1
    damping = least_damping + linearise(flat, now, linear)
    quadratic(flat, now, linear, e, independent, n, damping, motion.acceleration, dt, motion.P, motion.g, motion.rest)
    _brake(flat, now, motion, n, dt)
    remember_targets(linear)
    for a in range(n):
        motion.least[a], motion.most[a] = _reach(flat, now, motion, independent[a], 0.0, limit_gain, dt)
    rows = 0
    for i in range(d):
        if e.dependent[i]:
            low, high = _reach(flat, now, motion, i, MARGIN, limit_gain, dt)
            if flat.dof_q[i] >= 0 and (low > -UNBOUNDED or high < UNBOUNDED):
                motion.least[n + rows], motion.most[n + rows] = low, high
                motion.bounded[rows], motion.bend[rows] = i, 0.0
                row = motion.correction
                row[:] = 0.0
                row[i] = 1.0
                reduce_gradient(flat, e, row)
                for a in range(n):
                    motion.rows[rows, a] = row[independent[a]]
                rows += 1
    return n, rows, _inside(motion, n, rows)


@inlined
def _reach(flat, now, motion, i, margin, limit_gain, dt):
    """Return the bounds on the step of degree of freedom i, which keeps a margin from its ends.

    A ball, as a floating base has, turns no further than a step may, so that no step has to be shortened for it.
    """
    at = flat.dof_q[i]
    if at < 0:
        return -LARGEST_TURN, LARGEST_TURN
    first, last = motion.low[i] + margin, motion.high[i] - margin
    low, high = velocity_range(
        now.q[at], motion.velocity[i], first, last, motion.speed[i], motion.acceleration[i], limit_gain, dt
    )
    low, high = max(low * dt, -UNBOUNDED), min(high * dt, UNBOUNDED)
    if margin > 0.0 and now.q[at] < first:
        low = max(low, min(INWARD, high))
    elif margin > 0.0 and now.q[at] > last:
        high = min(high, max(-INWARD, low))
    return low, high


@kernel
def _brake(flat, now, motion, n, dt):
    """Fill `z` with the optimum without bounds, and `g` with the gradient that leads to it.

    It takes the targets' own motion, and of the remaining error the share from which every motor can still brake.
    """
    z = motion.z
    for a in range(n):
        for b in range(n):
            motion.factor[a, b] = motion.P[a, b]
    if not cholesky(motion.factor, n):
        for a in range(n):
            z[a] = np.inf  # weights too far apart for it: left to the program
            motion.g[a] += motion.rest[a]
        return
    for a in range(n):
        z[a] = -motion.rest[a]
    solve_factored(motion.factor, motion.factor, n, True, z, motion.shares)
    share = _braking_share(flat, now, motion, n, dt)
    for a in range(n):
        motion.g[a] += share * motion.rest[a]
        z[a] = -motion.g[a]
    solve_factored(motion.factor, motion.factor, n, True, z, motion.shares)


@kernel
def _braking_share(flat, now, motion, n, dt):
    """Return the share of the step `z` that leaves every motor slow enough to stop in time.

    Where the whole of it, or the joint, ends.
    """
    step, share = motion.step, 1.0
    step[:] = 0.0
    for a in range(n):
        step[motion.independent[a]] = motion.z[a]
    extend(flat, motion.e, step)
    for i in range(step.shape[0]):
        if motion.acceleration[i] < np.inf and step[i] != 0.0:
            q = now.q[flat.dof_q[i]]
            gap = min(abs(step[i]), motion.high[i] - q if step[i] > 0.0 else q - motion.low[i])
            if gap > 0.0:
                share = min(share, dt * approach(gap, dt, 1.0, BRAKES * motion.acceleration[i]) / abs(step[i]))
    return share


@kernel
def _inside(motion, n, rows):
    """Return whether `z` lies between all bounds."""
    for a in range(n):
        if not motion.least[a] <= motion.z[a] <= motion.most[a]:
            return False
    for r in range(rows):
        moved = 0.0
        for a in range(n):
            moved += motion.rows[r, a] * motion.z[a]
        if not motion.least[n + r] <= moved <= motion.most[n + r]:
            return False
    return True


@kernel
def take_step(flat, now, motion, n, rows, dt, replan):
    """Move `now` by the step of the n independent coordinates in `motion.z`, and back onto the loops.

    The way back bends the dependent ones' steps. Where that takes one beyond its bounds, and `replan` says that the
    program can be solved once more, nothing moves: the bounds now count with the bend, and `BENT` is returned. A
    step that turns too far, does not close or passes a joint's end is taken in part, and if nothing helps not at
    all. Return the closure residual [m], or `BENT`.
    """
    step, trial = motion.step, motion.trial
    step[:] = 0.0
    for a in range(n):
        step[motion.independent[a]] = motion.z[a]
    extend(flat, motion.e, step)
    turn, _ = largest_motion(flat, step)
    scale = LARGEST_TURN / max(LARGEST_TURN, turn)
    while scale >= SMALLEST_SHARE:
        copy_placement(now, trial)
        integrate(flat, now.q, step, scale, trial.q)
        residual = project(flat, trial, motion.e, motion.correction, motion.right)
        if closed(flat, trial, residual):
            if replan and scale == 1.0 and _bends(flat, now, trial, motion, n, rows):
                eliminate(flat, now, motion.e)
                return BENT
            if not _passed(flat, now, trial, motion):
                difference(flat, trial.q, now.q, motion.velocity)
                for i in range(step.shape[0]):
                    motion.velocity[i] /= dt
                copy_placement(trial, now)
                return residual
        eliminate(flat, now, motion.e)
        scale *= 0.5
    motion.velocity[:] = 0.0
    residual = 0.0
    for value in now.value:
        residual = max(residual, abs(value))
    return residual


@kernel
def _bends(flat, now, trial, motion, n, rows):
    """Return whether dependent coordinates went beyond their bounds; if so, note what bent each."""
    beyond = 0.0
    for r in range(rows):
        at = flat.dof_q[motion.bounded[r]]
        moved = trial.q[at] - now.q[at] - motion.bend[r]
        beyond = max(beyond, motion.least[n + r] - moved, moved - motion.most[n + r])
    if beyond <= BEYOND:
        return False
    for r in range(rows):
        i = motion.bounded[r]
        bend = trial.q[flat.dof_q[i]] - now.q[flat.dof_q[i]] - motion.step[i]
        motion.least[n + r] += motion.bend[r] - bend
        motion.most[n + r] += motion.bend[r] - bend
        motion.bend[r] = bend
    return True


@kernel
def _passed(flat, now, trial, motion):
    """Return whether a coordinate went beyond a bound that it was within."""
    for i in range(motion.low.shape[0]):
        at = flat.dof_q[i]
        if at >= 0:
            q, before = trial.q[at], now.q[at]
            if q > max(motion.high[i], before) + 1e-12 or q < min(motion.low[i], before) - 1e-12:
                return True
    return False
