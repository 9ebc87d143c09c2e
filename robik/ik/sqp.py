"""The compiled solver: Newton steps in the null space of the loops, every iterate assembled, the objective itself as merit.

One iteration at an assembled placement: eliminate what the loops decide, multipliers, exact Hessian of the Lagrangian over what
is left, a step of at most half a radian, the way back onto the loops with the factors at hand, and acceptance on decrease. Limits
of tree coordinates are an active set: a coordinate that reaches its bound is held until its multiplier lets go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robik.ik.articulated import factor, solve
from robik.ik.curvature import closure_curvature
from robik.ik.dense import cholesky, copy_chosen, diagonalise, make_positive, solve_factored
from robik.ik.hessian import System, matrix, new_system, times
from robik.ik.terms import Terms, gather, gradient, new_terms, objective, stiffen
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
ASIDE = 0.1  # rad, and of the robot's size: the step away from a saddle
HELD = 1e-12  # rad or m: a coordinate this near to its bound is on it
MOST_CORRECTIONS = 3  # of a step, back into the valley
SMALL = 64  # degrees of freedom up to which a matrix is quicker than the way from the tips to the root and back
CONVERGED, STALLED, EXHAUSTED = 0, 1, 2
INDEFINITE, DENSE, ARTICULATED = 0, 1, 2  # kinds of factored systems


@referable
class Work(NamedTuple):
    """Scratch of the solver, allocated once per mechanism, the frame's bounds on scalar coordinates, `lower` and
    `upper` (d,), and where the last system bends down: the direction `downhill` (d,) of the leaders and how much, `bend` (1,)."""

    e: Elimination
    terms: Terms
    system: System
    trial: Placement
    H: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    correction: np.ndarray
    right: np.ndarray
    multiplier: np.ndarray
    leaders: np.ndarray
    leading: np.ndarray
    reduced: np.ndarray
    K: np.ndarray
    slope: np.ndarray
    vectors: np.ndarray
    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    downhill: np.ndarray
    bend: np.ndarray


def new_work(flat: Flat, q: np.ndarray) -> Work:
    """Room for solving a mechanism."""
    d, rows = len(flat.before), len(flat.row_kind) + len(flat.gear_leader)
    return by_reference(
        Work(
            e=new_elimination(flat),
            terms=new_terms(flat),
            system=new_system(flat),
            trial=new_placement(flat, q),
            H=np.zeros((d, d)),
            gradient=np.zeros(d),
            step=np.zeros(d),
            correction=np.zeros(d),
            right=np.zeros(rows),
            multiplier=np.zeros(rows),
            leaders=np.zeros(d, np.int64),
            leading=np.zeros(1, np.int64),
            reduced=np.zeros(d),
            K=np.zeros((d, d)),
            slope=np.zeros(d),
            vectors=np.zeros((d, d)),
            shares=np.zeros(d),
            lower=np.full(d, -np.inf),
            upper=np.full(d, np.inf),
            downhill=np.zeros(d),
            bend=np.zeros(1),
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
    """Prepares gradient and second derivatives of the Lagrangian at `now`, and lets go of coordinates off their bounds."""
    for i in range(work.slope.shape[0]):
        if not work.e.free[i]:
            q = now.q[flat.dof_q[i]]
            work.e.free[i] = work.lower[i] + HELD < q < work.upper[i] - HELD
    gather(flat, now, goals, work.terms)
    stiffen(flat, work.terms)
    eliminate(flat, now, work.e)
    gradient(flat, now, work.terms, work.slope)
    multipliers(flat, work.e, work.slope, work.multiplier)
    closure_curvature(flat, now, work.multiplier, work.system.U, work.system.bend)


@njit(cache=True)
def _factor(flat, now, goals, work, anew):
    """Factors the second derivatives over the free leaders, which are listed; returns ARTICULATED, DENSE, or INDEFINITE where they are
    not positive definite and the eigenvalues were replaced by their absolute values. Without `anew` only the list has changed."""
    d, n = work.step.shape[0], 0
    for i in range(d):
        if work.e.free[i] and not work.e.follows[i]:
            work.leaders[n] = i
            n += 1
    work.leading[0] = n
    if d > SMALL:
        if factor(flat, now, goals, work.e, work.terms, work.system):
            return ARTICULATED
        anew = d > 0
    if anew:
        matrix(flat, now, goals, work.terms, work.system, work.K)
        reduce_matrix(flat, work.e, work.K)
    copy_chosen(work.K, work.leaders, n, work.H)
    if cholesky(work.H, n):
        return DENSE
    copy_chosen(work.K, work.leaders, n, work.H)
    diagonalise(work.H, work.vectors, n)
    _note_descent(work, n)
    make_positive(work.H, n)
    return INDEFINITE


@njit(cache=True)
def _note_descent(work, n):
    """Keeps the direction in which the objective bends down most, and by how much; none where it does not."""
    lowest, top = 0, 0.0
    for k in range(n):
        top = max(top, abs(work.H[k, k]))
        if work.H[k, k] < work.H[lowest, lowest]:
            lowest = k
    work.bend[0] = work.H[lowest, lowest] if n > 0 and work.H[lowest, lowest] < -1e-9 * top else 0.0
    work.downhill[:] = 0.0
    for a in range(n):
        work.downhill[work.leaders[a]] = work.vectors[a, lowest]


@njit(cache=True)
def _leave_saddle(flat, work):
    """Where nothing but the second derivatives points down: puts a step that way into `work.step` and returns the change that they
    promise, 0.0 where they promise none."""
    if work.bend[0] == 0.0:
        return 0.0
    work.step[:] = work.downhill
    extend(flat, work.e, work.step)
    _, largest = _largest(flat, work.step)
    for i in range(work.step.shape[0]):
        work.step[i] *= ASIDE / largest
    return 0.5 * work.bend[0] * (ASIDE / largest) ** 2


@njit(cache=True)
def _solve(flat, now, goals, work, kind, x):
    """In place: x (d,), a reduced gradient, to the solution of the factored system, followers included."""
    if kind == ARTICULATED:
        solve(flat, now, goals, work.e, work.system, x)
        return
    n = work.leading[0]
    for a in range(n):
        work.reduced[a] = x[work.leaders[a]]
    solve_factored(work.H, work.vectors, n, kind == DENSE, work.reduced, work.shares)
    for i in range(x.shape[0]):
        x[i] = 0.0
    for a in range(n):
        x[work.leaders[a]] = work.reduced[a]
    extend(flat, work.e, x)


@njit(cache=True)
def _slope_after(flat, now, goals, work, moved):
    """Fills `work.gradient` with the model's gradient after the step so far, if it has `moved`, reduced to the leaders."""
    if moved:
        times(flat, now, goals, work.terms, work.system, work.step, work.gradient)
        for i in range(work.slope.shape[0]):
            work.gradient[i] += work.slope[i]
    else:
        for i in range(work.slope.shape[0]):
            work.gradient[i] = work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)


@njit(cache=True)
def _eager(flat, now, work):
    """The held leader that the model most wants back between its bounds, -1 for none."""
    worst, who = 1e-15, -1
    for i in range(work.step.shape[0]):
        if not work.e.free[i] and not work.e.follows[i] and work.lower[i] < work.upper[i]:
            at_lower = now.q[flat.dof_q[i]] + work.step[i] <= work.lower[i] + HELD
            inward = -work.gradient[i] if at_lower else work.gradient[i]
            if inward > worst:
                worst, who = inward, i
    return who


@njit(cache=True)
def _step(flat, now, goals, work, limits):
    """Newton's step on the loops and between the bounds, into `work.step`: a quadratic program, solved by an active set.

    From no step at all: to the optimum of the free leaders, or as far as the first bound, which then is held; at the optimum, the held
    coordinate that most wants back is let go. Returns (slope, kind of the last system).
    """
    d = work.step.shape[0]
    work.step[:] = 0.0
    _slope_after(flat, now, goals, work, False)
    kind, anew = INDEFINITE, d > 0
    for _ in range(3 * d + 3):
        kind = _factor(flat, now, goals, work, anew)
        anew = d < 0
        way = work.correction
        for i in range(d):
            way[i] = -work.gradient[i]
        _solve(flat, now, goals, work, kind, way)
        reach, who = _reach(flat, now, work, way) if limits else (1.0, -1)
        for i in range(d):
            work.step[i] += reach * way[i]
        if who >= 0:
            work.e.free[who] = False
            if work.e.follows[who]:
                eliminate(flat, now, work.e)
                anew = d > 0
        elif not limits or np.all(work.e.free):
            break
        _slope_after(flat, now, goals, work, True)
        if who < 0:
            who = _eager(flat, now, work)
            if who < 0:
                break
            work.e.free[who] = True
    slope = 0.0
    for i in range(d):
        slope += work.slope[i] * work.step[i]
    return slope, kind


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
def _correct(flat, now, goals, work, kind):
    """Moves the trial by a Newton step with its own gradient and the factors of the last system, at `now`; False where that says
    nothing."""
    e, trial, way = work.e, work.trial, work.correction
    for a in range(work.leading[0]):
        if e.follows[work.leaders[a]] or not e.free[work.leaders[a]]:
            return False
    if not refactor(flat, trial, e):
        eliminate(flat, trial, e)
        return False
    gather(flat, trial, goals, work.terms)
    gradient(flat, trial, work.terms, way)
    reduce_gradient(flat, e, way)
    for i in range(way.shape[0]):
        way[i] = -way[i]
    _solve(flat, now, goals, work, kind, way)
    turn, _ = _largest(flat, way)
    if turn > LARGEST_TURN:
        return False
    move(flat, trial.q, way, 1.0, trial.q)
    return True


@njit(cache=True)
def _search(flat, now, goals, work, limits, value, slope, turn, kind):
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
            if again == MOST_CORRECTIONS or attempt > 3 or not _correct(flat, now, goals, work, kind):
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
        slope, kind = _step(flat, now, goals, work, limits)
        turn, largest = _largest(flat, work.step)
        stationary = largest <= STEP_TOLERANCE
        if stationary:
            slope = _leave_saddle(flat, work) if kind == INDEFINITE else 0.0
            if slope == 0.0:
                return value, iteration, CONVERGED, residual
            turn, largest = ASIDE, ASIDE
        scale, found, gap = _search(flat, now, goals, work, limits, value, slope, turn, kind)
        if scale == 0.0:  # nothing lower along the step: at the optimum to within rounding, or else stuck
            return value, iteration + 1, CONVERGED if stationary or largest <= ROUNDED else STALLED, residual
        copy_placement(work.trial, now)
        value, residual = found, gap
        rounded = scale * largest <= STEP_TOLERANCE and largest <= ROUNDED  # only rounding is left to go down
        if rounded or (kind != INDEFINITE and scale == 1.0 and largest <= QUADRATIC):
            return value, iteration + 1, CONVERGED, residual
    return value, most, EXHAUSTED, residual
