"""The compiled solver: Newton steps in the null space of the loops, every iterate assembled, the objective itself as
merit.

One iteration at an assembled placement: eliminate what the loops decide, multipliers, exact Hessian of the Lagrangian
over what is left, a step of at most half a radian, the way back onto the loops with the factors at hand, and acceptance
on decrease. Limits of tree coordinates are an active set: a coordinate that reaches its bound is held until its
multiplier lets go.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.assembly import closed, project
from ..kinematics.elimination import eliminate, reduce_gradient, refactor
from ..kinematics.kernels import close, copy_placement, forward_kinematics, integrate, largest_motion
from ..objectives.registry import gather, objective
from ..objectives.terms import gradient
from .newton import ASIDE, DENSE, HELD, INDEFINITE, all_free, foreseeing_step, leave_saddle, newton_step, solve_system

STEP_TOLERANCE = 1e-9  # rad, and of the robot's size: nearer to the optimum than this is there
QUADRATIC = 1e-6  # a full exact Newton step of this size lands within STEP_TOLERANCE
SURE = 1e-8  # a last correction smaller than this needs no other to tell that it was the last
CUBIC = 3e-4  # after one of this size, a second step with the same second derivatives does
PATIENCE = 3  # iterations before forces are foreseen; most frames need no more
PLAIN = 8  # every so many they are not: a limb that is pulled straight beyond its reach would creep there
ROUNDED = 1e-5  # where a weakly held direction ends in the objective's rounding
LARGEST_TURN = 0.5  # rad in one step
MOST_CORRECTIONS = 3  # of a step, back into the valley
CONVERGED, STALLED, EXHAUSTED = 0, 1, 2


@kernel
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


@inlined
def _note_held(work):
    """Notes which coordinates the step holds at their bounds."""
    for i in range(work.unheld.shape[0]):
        work.unheld[i] = work.e.free[i]


@kernel
def _hold_as_noted(flat, now, work):
    """Holds the coordinates that the step itself holds, and no others, with the factors at its start."""
    changed = False
    for i in range(work.unheld.shape[0]):
        changed = changed or work.e.free[i] != work.unheld[i]
        work.e.free[i] = work.unheld[i]
    if changed:
        eliminate(flat, now, work.e)


@kernel
def _settle(flat, now, work, limits):
    """Onto the loops and between the bounds; returns the closure residual."""
    residual = project(flat, now, work.e, work.correction, work.right)
    if limits:
        for _ in range(8):
            if not hold(flat, now, work):
                return residual
            forward_kinematics(flat, now)
            close(flat, now)
            eliminate(flat, now, work.e)
            residual = project(flat, now, work.e, work.correction, work.right)
        return np.inf
    return residual


@kernel
def _correct(flat, now, goals, work, kind):
    """Moves the trial by a Newton step with its own gradient and the factors of the last system, at `now`.

    Returns the step's size, infinite where that says nothing.
    """
    e, trial, way = work.e, work.trial, work.correction
    led = 0
    for i in range(way.shape[0]):
        if e.free[i] and not e.follows[i]:
            if led == work.leading[0] or work.independent[led] != i:
                return np.inf
            led += 1
    if led != work.leading[0]:
        return np.inf
    if not refactor(flat, trial, e):
        eliminate(flat, trial, e)
        return np.inf
    gather(flat, trial, goals, work.terms, 1.0)
    gradient(flat, trial, work.terms, way)
    reduce_gradient(flat, e, way)
    for i in range(way.shape[0]):
        way[i] = -way[i]
    solve_system(flat, now, work, kind, way)
    turn, largest = largest_motion(flat, way)
    if turn > LARGEST_TURN:
        return np.inf
    integrate(flat, trial.q, way, 1.0, trial.q)
    return largest


@inlined
def _rounding(now, work, value):
    """How exactly an objective is known at `now`: to its own rounding, and to what the loops' residual there is
    worth."""
    noise = 1e-13 * abs(value) + 1e-300
    for row in range(work.multiplier.shape[0]):
        noise += abs(work.multiplier[row] * now.value[row])
    return noise


@kernel
def _search(flat, now, goals, work, limits, value, slope, turn, kind):
    """Along the step, whole, then by halves, until the objective has fallen enough.

    Where a narrow valley bends away from the step, up to three more Newton steps with the same Hessian lead back into
    it before the step is halved. Returns (share of the step, objective, closure residual), with the share 0 where
    nothing was found; `work.trial` is there.
    """
    scale = min(1.0, LARGEST_TURN / max(turn, LARGEST_TURN))
    noise = _rounding(now, work, value)
    if limits:
        _note_held(work)
    for attempt in range(30):
        copy_placement(now, work.trial)
        integrate(flat, now.q, work.step, scale, work.trial.q)
        residual = _settle(flat, work.trial, work, limits)
        enough = value + 1e-4 * scale * slope
        if -scale * slope <= noise:
            enough = value + noise
        for again in range(MOST_CORRECTIONS + 1):
            if not closed(flat, work.trial, residual):
                break
            found = objective(flat, work.trial, goals)
            if found <= enough:
                return scale, found, residual
            if again == MOST_CORRECTIONS or attempt > 3 or not _correct(flat, now, goals, work, kind) < np.inf:
                break
            residual = _settle(flat, work.trial, work, limits)
        scale *= 0.5
        if limits:
            _hold_as_noted(flat, now, work)  # what the longer step met says nothing of a shorter one
    return 0.0, value, np.inf


@kernel
def _finish(flat, now, goals, work, limits, value, residual):
    """After a small step to `now`, and to the trial: one more with the same second derivatives, if that is the last
    that is needed. Returns (whether it was, objective, closure residual, whether it moved)."""
    if limits and not all_free(work):
        return False, value, residual, False
    size = _correct(flat, now, goals, work, DENSE)
    if size <= STEP_TOLERANCE or not size <= QUADRATIC:
        return size <= STEP_TOLERANCE, value, residual, False
    gap = _settle(flat, work.trial, work, limits)
    if not closed(flat, work.trial, gap) or (limits and not all_free(work)):
        return False, value, residual, False
    found = objective(flat, work.trial, goals)
    if not found <= value + _rounding(now, work, value):
        return False, value, residual, False
    copy_placement(work.trial, now)
    if size <= SURE:
        return True, found, gap, True
    # A direction that is held weakly may have become weaker by far: the same second derivatives then lead but a part of
    # the way.
    return _correct(flat, now, goals, work, DENSE) <= max(STEP_TOLERANCE, 0.1 * size), found, gap, True


@kernel
def _choose_step(flat, now, goals, work, limits, iteration):
    """The step at `now`, into `work.step`: Newton's.

    Where that is not definite or has not been enough, with forces foreseen, at first only where those make it definite:
    far from the optimum Newton's own, made convex, leads into fewer local optima.

    Returns (slope, kind of its system, largest turn, largest motion, whether it is Newton's of a definite system).
    """
    slope, kind = newton_step(flat, now, goals, work, limits, False)
    exact = kind != INDEFINITE
    if exact:
        turn, largest = largest_motion(flat, work.step)
        if iteration < PATIENCE or iteration % PLAIN == PLAIN - 1 or largest <= STEP_TOLERANCE:
            return slope, kind, turn, largest, True
    patient = iteration < PATIENCE
    slope, kind = foreseeing_step(flat, now, goals, work, limits, not patient)
    turn, largest = largest_motion(flat, work.step)
    plain = patient or iteration % PLAIN == PLAIN - 1
    if (kind == INDEFINITE and plain) or largest <= STEP_TOLERANCE:  # there may be a saddle
        slope, kind = newton_step(flat, now, goals, work, limits, True)
        turn, largest = largest_motion(flat, work.step)
    return slope, kind, turn, largest, False


@kernel(entry=False)
def minimise(flat, now, goals, work, limits, most, value, residual):
    """Improves the assembled placement `now`, of this objective and closure residual, until it is stationary.

    Returns (objective, iterations, status, residual).
    """
    for iteration in range(most):
        slope, kind, turn, largest, exact = _choose_step(flat, now, goals, work, limits, iteration)
        stationary = largest <= STEP_TOLERANCE
        if stationary:
            slope = leave_saddle(flat, now, work) if kind == INDEFINITE else 0.0
            if slope == 0.0:
                return value, iteration, CONVERGED, residual
            turn, largest = ASIDE, ASIDE
        scale, found, gap = _search(flat, now, goals, work, limits, value, slope, turn, kind)
        if scale == 0.0:  # nothing lower along the step: at the optimum to within rounding, or else stuck
            rounded = stationary or largest <= ROUNDED or -slope <= _rounding(now, work, value)
            return value, iteration + 1, CONVERGED if rounded else STALLED, residual
        copy_placement(work.trial, now)
        value, residual = found, gap
        rounded = scale * largest <= STEP_TOLERANCE and largest <= ROUNDED  # only rounding is left to go down
        if rounded or (exact and scale == 1.0 and largest <= QUADRATIC):
            return value, iteration + 1, CONVERGED, residual
        if exact and kind == DENSE and scale == 1.0 and largest <= CUBIC:
            done, value, residual, moved = _finish(flat, now, goals, work, limits, value, residual)
            if done:
                return value, iteration + 1 + moved, CONVERGED, residual
    return value, most, EXHAUSTED, residual
