"""The compiled solver: Newton steps in the null space of the loops, every iterate assembled, the objective itself as merit.

One iteration at an assembled placement: eliminate what the loops decide, multipliers, exact Hessian of the Lagrangian over what
is left, a step of at most half a radian, the way back onto the loops with the factors at hand, and acceptance on decrease. Limits
of tree coordinates are an active set: a coordinate that reaches its bound is held until its multiplier lets go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robik.ik.curvature import closure_curvature
from robik.ik.dense import cholesky, copy_chosen, diagonalise, solve_factored
from robik.ik.terms import Terms, gather, gradient, hessian, new_terms, objective
from robik.kinematics.assembly import pull_back
from robik.kinematics.elimination import (
    Elimination,
    eliminate,
    extend,
    multipliers,
    new_elimination,
    reduce_gradient,
    reduce_matrix,
    refactor,
)
from robik.kinematics.kernels import Placement, close, copy_placement, move, new_placement, place
from robik.mechanism.constraints import HINGE, SLIDE
from robik.mechanism.topology import Flat
from robik.structs import by_reference, referable

STEP_TOLERANCE = 1e-9  # rad, and of the robot's size: nearer to the optimum than this is there
QUADRATIC = 1e-6  # a full exact Newton step of this size lands within STEP_TOLERANCE
ROUNDED = 1e-5  # where a weakly held direction ends in the objective's rounding
LARGEST_TURN = 0.5  # rad in one step
HELD = 1e-12  # rad or m: a coordinate this near to its bound is on it
MOST_CORRECTIONS = 3  # of a step, back into the valley
CONVERGED, STALLED, EXHAUSTED = 0, 1, 2


@referable
class Work(NamedTuple):
    """Scratch of the solver, allocated once per mechanism, and the frame's bounds on scalar coordinates, `lower` and `upper` (d,)."""

    e: Elimination
    terms: Terms
    trial: Placement
    K: np.ndarray
    H: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    correction: np.ndarray
    right: np.ndarray
    multiplier: np.ndarray
    leaders: np.ndarray
    reduced: np.ndarray
    R: np.ndarray
    slope: np.ndarray
    vectors: np.ndarray
    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def new_work(flat: Flat, q: np.ndarray) -> Work:
    """Room for solving a mechanism."""
    d, rows = len(flat.before), len(flat.row_kind) + len(flat.gear_leader)
    return by_reference(
        Work(
            e=new_elimination(flat),
            terms=new_terms(flat),
            trial=new_placement(flat, q),
            K=np.zeros((d, d)),
            H=np.zeros((d, d)),
            gradient=np.zeros(d),
            step=np.zeros(d),
            correction=np.zeros(d),
            right=np.zeros(rows),
            multiplier=np.zeros(rows),
            leaders=np.zeros(d, np.int64),
            reduced=np.zeros(d),
            R=np.zeros((d, d)),
            slope=np.zeros(d),
            vectors=np.zeros((d, d)),
            shares=np.zeros(d),
            lower=np.full(d, -np.inf),
            upper=np.full(d, np.inf),
        )
    )


@njit(cache=True)
def _largest(flat, step):
    """A step's size: its largest turn [rad], and its largest motion where slides count by the robot's size."""
    turn, slide = 0.0, 0.0
    for m in range(flat.kind.shape[0]):
        i = flat.at_v[m]
        if flat.kind[m] == HINGE:
            turn = max(turn, abs(step[i]))
        elif flat.kind[m] == SLIDE:
            slide = max(slide, abs(step[i]) / flat.size)
        else:
            turn = max(turn, abs(step[i]), abs(step[i + 1]), abs(step[i + 2]))
    return turn, max(turn, slide)


@njit(cache=True)
def _newton(work, n):
    """Solves H z = -gradient over the n leaders into `work.reduced`; returns whether H was positive definite."""
    for a in range(n):
        work.reduced[a] = -work.gradient[work.leaders[a]]
    copy_chosen(work.R, work.leaders, n, work.H)
    exact = cholesky(work.H, n)
    if not exact:
        copy_chosen(work.R, work.leaders, n, work.H)
        diagonalise(work.H, work.vectors, n)
    solve_factored(work.H, work.vectors, n, exact, work.reduced, work.shares)
    return exact


@njit(cache=True)
def hold(flat, now, work):
    """Puts coordinates that lie beyond their bounds onto them and holds them there; returns whether any did."""
    found = False
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and (now.q[at] < work.lower[i] or now.q[at] > work.upper[i]):
            bound = work.lower[i] if now.q[at] < work.lower[i] else work.upper[i]
            if abs(now.q[at] - bound) > HELD or work.e.free[i]:
                now.q[at] = bound
                work.e.free[i] = False
                found = True
    return found


@njit(cache=True)
def _reach(flat, now, work, direction):
    """How much of a direction fits, after the step so far, before a free coordinate meets its bound; and which one does, -1 for none."""
    reach, who = 1.0, -1
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and work.e.free[i] and abs(direction[i]) > HELD:
            bound = work.lower[i] if direction[i] < 0.0 else work.upper[i]
            part = max(0.0, (bound - now.q[at] - work.step[i]) / direction[i])
            if part < reach:
                reach, who = part, i
    return reach, who


@njit(cache=True)
def _model(flat, now, goals, work):
    """Fills `work.slope` and `work.K` with gradient and Hessian of the Lagrangian at `now`, and lets go of coordinates off their bounds."""
    for i in range(work.slope.shape[0]):
        if not work.e.free[i]:
            q = now.q[flat.dof_q[i]]
            work.e.free[i] = work.lower[i] + HELD < q < work.upper[i] - HELD
    gather(flat, now, goals, work.terms)
    eliminate(flat, now, work.e)
    gradient(flat, now, work.terms, work.slope)
    multipliers(flat, work.e, work.slope, work.multiplier)
    hessian(flat, now, goals, work.terms, work.K)
    closure_curvature(flat, now, work.multiplier, work.terms, work.K)


@njit(cache=True)
def _reduce(flat, now, work, anew):
    """The model's gradient after the step so far, reduced to the leaders, which are listed, those that are held last; with `anew` the
    reduced Hessian as well. Returns the number of free and of all leaders."""
    d = work.slope.shape[0]
    for i in range(d):
        work.gradient[i] = work.slope[i]
        for j in range(d):
            work.gradient[i] += work.K[i, j] * work.step[j]
    reduce_gradient(flat, work.e, work.gradient)
    if anew:
        for i in range(d):
            for j in range(d):
                work.R[i, j] = work.K[i, j]
        reduce_matrix(flat, work.e, work.R)
    n, total = 0, 0
    for i in range(d):
        if not work.e.follows[i]:
            work.leaders[total] = i
            if work.e.free[i]:
                work.leaders[total] = work.leaders[n]
                work.leaders[n] = i
                n += 1
            total += 1
    return n, total


@njit(cache=True)
def _eager(flat, now, work, n, total):
    """The held leader that the model most wants back between its bounds, -1 for none."""
    worst, who = 1e-15, -1
    for h in range(n, total):
        i = work.leaders[h]
        force = work.gradient[i]
        for a in range(n):
            force += work.R[i, work.leaders[a]] * work.reduced[a]
        inward = -force if now.q[flat.dof_q[i]] + work.step[i] <= work.lower[i] + HELD else force
        if inward > worst and work.lower[i] < work.upper[i]:
            worst, who = inward, i
    return who


@njit(cache=True)
def _step(flat, now, work, limits):
    """Newton's step on the loops and between the bounds, into `work.step`: a quadratic program, solved by an active set.

    From no step at all: to the optimum of the free leaders, or as far as the first bound, which then is held; at the optimum, the held
    coordinate that most wants back is let go. Returns (slope, whether the last Hessian was positive definite, free leaders).
    """
    d = work.step.shape[0]
    for i in range(d):
        work.step[i] = 0.0
    anew, exact, n = True, True, 0
    for _ in range(3 * d + 3):
        n, total = _reduce(flat, now, work, anew)
        exact = _newton(work, n)
        way = work.correction
        for i in range(d):
            way[i] = 0.0
        for a in range(n):
            way[work.leaders[a]] = work.reduced[a]
        extend(flat, work.e, way)
        reach, who = _reach(flat, now, work, way) if limits else (1.0, -1)
        for i in range(d):
            work.step[i] += reach * way[i]
        anew = False
        if who >= 0:
            work.e.free[who] = False
            if work.e.follows[who]:
                eliminate(flat, now, work.e)
                anew = True
            continue
        who = _eager(flat, now, work, n, total)
        if who < 0:
            break
        work.e.free[who] = True
    slope = 0.0
    for i in range(d):
        slope += work.slope[i] * work.step[i]
    return slope, exact, n


@njit(cache=True)
def _settle(flat, now, work, limits):
    """Onto the loops and between the bounds; returns the closure residual."""
    residual = pull_back(flat, now, work.e, work.correction, work.right)
    if limits:
        for _ in range(8):
            if not hold(flat, now, work):
                return residual
            place(flat, now)
            close(flat, now)
            eliminate(flat, now, work.e)
            residual = pull_back(flat, now, work.e, work.correction, work.right)
        return np.inf
    return residual


@njit(cache=True)
def _correct(flat, goals, work, limits, exact, n):
    """Moves the trial by a Newton step with its own gradient and the factors of the last Hessian; False where that says nothing."""
    e, z, leaders, trial = work.e, work.reduced, work.leaders, work.trial
    for a in range(n):
        if e.follows[leaders[a]] or not e.free[leaders[a]]:
            return False
    if not refactor(flat, trial, e):
        eliminate(flat, trial, e)
        return False
    gather(flat, trial, goals, work.terms)
    gradient(flat, trial, work.terms, work.correction)
    reduce_gradient(flat, e, work.correction)
    for a in range(n):
        z[a] = -work.correction[leaders[a]]
    solve_factored(work.H, work.vectors, n, exact, work.reduced, work.shares)
    for i in range(work.correction.shape[0]):
        work.correction[i] = 0.0
    for a in range(n):
        work.correction[leaders[a]] = z[a]
    extend(flat, e, work.correction)
    turn, _ = _largest(flat, work.correction)
    if turn > LARGEST_TURN:
        return False
    move(flat, trial.q, work.correction, 1.0, trial.q)
    return True


@njit(cache=True)
def _search(flat, now, goals, work, limits, value, slope, turn, exact, n):
    """Along the step, whole, then by halves, until the objective has fallen enough.

    Where a narrow valley bends away from the step, up to three more Newton steps with the same Hessian lead back into it before the
    step is halved. Returns (share of the step, objective, closure residual), with the share 0 where nothing was found; `work.trial` is
    there.
    """
    scale = min(1.0, LARGEST_TURN / max(turn, LARGEST_TURN))
    noise = 1e-13 * abs(value) + 1e-300
    for attempt in range(30):
        copy_placement(now, work.trial)
        move(flat, now.q, work.step, scale, work.trial.q)
        residual = _settle(flat, work.trial, work, limits)
        enough = value + 1e-4 * scale * slope
        if -scale * slope <= noise:
            enough = value + noise
        for again in range(MOST_CORRECTIONS + 1):
            if not residual <= flat.accepted[0]:
                break
            found = objective(flat, work.trial, goals)
            if found <= enough:
                return scale, found, residual
            if again == MOST_CORRECTIONS or attempt > 3 or not _correct(flat, goals, work, limits, exact, n):
                break
            residual = _settle(flat, work.trial, work, limits)
        scale *= 0.5
    return 0.0, value, np.inf


@njit(cache=True)
def minimise(flat, now, goals, work, limits, most):
    """Improves the assembled placement `now` until it is stationary; returns (objective, iterations, status, residual)."""
    value = objective(flat, now, goals)
    residual = close(flat, now)
    for iteration in range(most):
        _model(flat, now, goals, work)
        slope, exact, n = _step(flat, now, work, limits)
        turn, largest = _largest(flat, work.step)
        if largest <= STEP_TOLERANCE:
            return value, iteration, CONVERGED, residual
        scale, found, gap = _search(flat, now, goals, work, limits, value, slope, turn, exact, n)
        if scale == 0.0:  # nothing lower along the step: at the optimum to within rounding, or else stuck
            return value, iteration + 1, CONVERGED if largest <= ROUNDED else STALLED, residual
        copy_placement(work.trial, now)
        value, residual = found, gap
        rounded = scale * largest <= STEP_TOLERANCE and largest <= ROUNDED  # only rounding is left to go down
        if rounded or (exact and scale == 1.0 and largest <= QUADRATIC):
            return value, iteration + 1, CONVERGED, residual
    return value, most, EXHAUSTED, residual
