"""The compiled solver: Newton steps in the null space of the loops.

Every iterate is assembled, and the objective itself is the merit function.

One iteration at an assembled placement: eliminate the dependent coordinates; find the multipliers of the loops; take a
Newton step with the exact Hessian of the Lagrangian over the independent coordinates, of at most half a radian; project
it onto the loops with the same factors; accept it if the objective is lower. Limits of tree coordinates are an active
set: a coordinate that reaches its bound is held there until its multiplier changes sign.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.assembly import closed, project
from ..kinematics.elimination import eliminate, refactor
from ..kinematics.kernels import close, copy_placement, forward_kinematics, integrate, largest_motion
from ..kinematics.null_space import reduce_gradient
from ..objectives.hold import hold_value
from ..objectives.registry import gather, missed, objective
from ..objectives.terms import gradient
from .factoring import DENSE, INDEFINITE, factor_free, solve_system
from .newton import ASIDE, convex_step, foreseeing_step, gauss_newton_step, leave_saddle, newton_step
from .program import HELD, all_free

STEP_TOLERANCE = 1e-9  # rad, and of the robot's size: nearer to the optimum than this is there
QUADRATIC = 1e-6  # a full exact Newton step of this size lands within STEP_TOLERANCE
SURE = 1e-8  # a last correction smaller than this needs no other to tell that it was the last
CUBIC = 3e-4  # after one of this size, a second step with the same second derivatives does
PATIENCE = 3  # iterations before forces are foreseen; most frames need no more
PLAIN = 8  # every eighth iteration they are not foreseen, or a limb that is pulled straight would only creep there
ROUNDED = 1e-5  # where a weakly held direction ends in the objective's rounding
SLOW = 0.9  # of the objective: a step that leaves more may be one along a valley that bends
CROSSING = 6  # steps from one side of such a valley to the other
STIFFER = 4.0  # times the damping of a crossing that fails
STIFFEST = 1e-2  # damping of one that leads to the valley's floor only
GOOD = 0.1  # of the decrease that a step's slope promises
WORTH = 1e-5  # of the objective: what a crossing must bring at least to be followed by another
IDLE, LONG = 0.99, 12  # share of the objective that an idle step leaves at least; idle steps in a row that are enough
SETTLED = 0.02  # share of posture and stillness: after idle steps, a smaller promised decrease is left to later frames
LARGEST_TURN = 0.5  # rad in one step
MOST_CORRECTIONS = 3  # of a step, back into the valley
FURTHER = 16.0  # times as far as a convex model's step, where the objective falls ever faster
CONVERGED, STALLED, EXHAUSTED, UNREACHED = 0, 1, 2, 3


@kernel
def hold(flat, now, work):
    """Move coordinates beyond their bounds onto them and hold them there; return True if there were any.

    Those that rounding puts beyond are not held. Where couplings bring several coordinates to their bounds at once,
    one of them always is, and holding it would keep the robot from moving.
    """
    found = False
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and (now.q[at] < work.lower[i] - HELD or now.q[at] > work.upper[i] + HELD):
            now.q[at] = work.lower[i] if now.q[at] < work.lower[i] else work.upper[i]
            work.e.free[i] = False
            found = True
    return found


@inlined
def _note_held(work):
    """Note which coordinates the step holds at their bounds."""
    for i in range(work.unheld.shape[0]):
        work.unheld[i] = work.e.free[i]


@kernel
def _hold_as_noted(flat, now, work):
    """Hold the coordinates that the step itself holds, and no others, with the factors at its start."""
    changed = False
    for i in range(work.unheld.shape[0]):
        changed = changed or work.e.free[i] != work.unheld[i]
        work.e.free[i] = work.unheld[i]
    if changed:
        eliminate(flat, now, work.e)


@kernel
def settle(flat, now, work, limits):
    """Bring a placement onto the loops and between the bounds; return its residual [m], infinite if it fails."""
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
def _correct(flat, now, tables, work, kind):
    """Move the trial by a Newton step with its own gradient and the factors of the last system, those at `now`.

    Returns the step's size, infinite where these factors do not fit the trial.
    """
    e, trial, way = work.e, work.trial, work.correction
    led = 0
    for i in range(way.shape[0]):
        if e.free[i] and not e.dependent[i]:
            if led == work.listed[0] or work.independent[led] != i:
                return np.inf
            led += 1
    if led != work.listed[0] or not factor_free(flat, now, work):
        return np.inf
    if not refactor(flat, trial, e):
        eliminate(flat, trial, e)
        return np.inf
    gather(flat, trial, tables, work.terms, 1.0)
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
    """Return the accuracy to which an objective is known at `now`.

    To its own rounding, and to what the loops' residual there is worth.
    """
    noise = 1e-13 * abs(value) + 1e-300
    for row in range(work.multiplier.shape[0]):
        noise += abs(work.multiplier[row] * now.value[row])
    return noise


@kernel
def _search(flat, now, tables, work, limits, value, slope, turn, kind):
    """Search along the step: the whole step, then halves of it, until the objective has fallen enough.

    Where a narrow valley bends away from the step, up to three more Newton steps with the same Hessian lead back into
    it before the step is halved. A convex model knows nothing of how far it is from a maximum to the valley, so a
    multiple of its step counts if the objective falls by more than its slope promises. Returns (share of the step,
    objective, closure residual) and leaves `work.trial` at what was found. The share is 0 if nothing was.
    """
    scale, further = min(1.0, LARGEST_TURN / max(turn, LARGEST_TURN)), 0
    while kind == INDEFINITE and scale < FURTHER and 2.0 * scale * turn <= LARGEST_TURN:
        scale, further = 2.0 * scale, further + 1
    noise = _rounding(now, work, value)
    if limits:
        _note_held(work)
    for attempt in range(-further, 30):
        copy_placement(now, work.trial)
        integrate(flat, now.q, work.step, scale, work.trial.q)
        residual = settle(flat, work.trial, work, limits)
        enough = value + (1e-4 if attempt >= 0 else 1.0) * scale * slope
        if -scale * slope <= noise:
            enough = value + noise
        for again in range(MOST_CORRECTIONS + 1):
            if not closed(flat, work.trial, residual):
                break
            found = objective(flat, work.trial, tables)
            if found <= enough:
                return scale, found, residual
            if again == MOST_CORRECTIONS or not 0 <= attempt <= 3:
                break
            if not _correct(flat, now, tables, work, kind) < np.inf:
                break
            residual = settle(flat, work.trial, work, limits)
        scale *= 0.5
        if limits:
            _hold_as_noted(flat, now, work)  # what the longer step met says nothing of a shorter one
    return 0.0, value, np.inf


@kernel
def _finish(flat, now, tables, work, limits, value, residual):
    """Take one more step with the same second derivatives, and tell whether it was the last one needed.

    The step before was small, and both `now` and the trial are at its end. Returns (whether it was the last one,
    objective, closure residual, whether the robot moved).
    """
    if limits and not all_free(work):
        return False, value, residual, False
    size = _correct(flat, now, tables, work, DENSE)
    if size <= STEP_TOLERANCE or not size <= QUADRATIC:
        return size <= STEP_TOLERANCE, value, residual, False
    gap = settle(flat, work.trial, work, limits)
    if not closed(flat, work.trial, gap) or (limits and not all_free(work)):
        return False, value, residual, False
    found = objective(flat, work.trial, tables)
    if not found <= value + _rounding(now, work, value):
        return False, value, residual, False
    copy_placement(work.trial, now)
    if size <= SURE:
        return True, found, gap, True
    # A direction that is held weakly may have become weaker by far: the same second derivatives then lead but a part of
    # the way.
    return _correct(flat, now, tables, work, DENSE) <= max(STEP_TOLERANCE, 0.1 * size), found, gap, True


@kernel
def _choose_step(flat, now, tables, work, limits, iteration):
    """Choose the step at `now` and write it into `work.step`.

    It is Newton's where its system is definite, in the first iterations and in every eighth one. Else forces are
    foreseen. If the system is still indefinite in such an iteration, Newton's step is made convex, which far from the
    optimum leads into fewer local optima.

    Returns (slope, kind of its system, largest turn, largest motion, whether it is Newton's of a definite system).
    """
    patient = iteration < PATIENCE
    plain = patient or iteration % PLAIN == PLAIN - 1
    if plain:
        slope, kind = newton_step(flat, now, tables, work, limits, False, False)
        if kind != INDEFINITE:
            turn, largest = largest_motion(flat, work.step)
            return slope, kind, turn, largest, True
    slope, kind = foreseeing_step(flat, now, tables, work, limits, not patient, plain)
    turn, largest = largest_motion(flat, work.step)
    if kind == INDEFINITE and plain:
        slope, kind = convex_step(flat, now, tables, work, limits, True)
    elif largest <= STEP_TOLERANCE:  # there may be a saddle
        slope, kind = newton_step(flat, now, tables, work, limits, True, True)
    else:
        return slope, kind, turn, largest, False
    turn, largest = largest_motion(flat, work.step)
    return slope, kind, turn, largest, False


@kernel(entry=False)
def _cross_valley(flat, now, tables, work, limits, value, damping):
    """Follow a valley that bends, from `now`, by Gauss-Newton steps.

    Each step begins where the one before ended. The first one leads up the valley's side and the next ones down again,
    so they go on until the objective is below `value`.

    Returns (whether it came below, objective, closure residual, damping for the next crossing) and leaves `work.trial`
    where they ended.
    """
    trial, enough, last, weakest = work.trial, value, np.inf, 0.0
    copy_placement(now, trial)
    for step in range(CROSSING):
        slope, kind = gauss_newton_step(flat, trial, tables, work, limits, damping)
        if kind == INDEFINITE:
            break
        turn, largest = largest_motion(flat, work.step)
        scale = min(1.0, LARGEST_TURN / max(turn, LARGEST_TURN))
        if step == 0:
            enough = value + GOOD * scale * slope
            weakest = -slope / max(largest * largest, STEP_TOLERANCE * STEP_TOLERANCE)
        integrate(flat, trial.q, work.step, scale, trial.q)
        residual = settle(flat, trial, work, limits)
        if not closed(flat, trial, residual):
            break
        found = objective(flat, trial, tables)
        if found <= enough:
            return True, found, residual, damping / STIFFER
        if not found < last:
            break
        last = found
        if step == CROSSING - 1 and found < value:
            return True, found, residual, STIFFER * damping
    return False, value, np.inf, STIFFER * (damping if damping > 0.0 else weakest)


@inlined
def _asked(flat, now, tables, value):
    """Return an objective without the walls that motors keep hold by."""
    return value - hold_value(now, tables.hold)


@kernel
def _is_settled(flat, now, tables, value, slope):
    """Return whether a step promises little beside posture and stillness, so that the next frames may take it."""
    if tables.calm.weight[3] == 0.0:
        return False
    return -slope <= SETTLED * (_asked(flat, now, tables, value) - missed(flat, now, tables))


@kernel
def _are_met(flat, now, tables, value):
    """Return whether hardly more than posture and stillness is left, which later frames may go on with."""
    if tables.calm.weight[3] == 0.0 or tables.calm.dt[0] == np.inf:
        return False
    return missed(flat, now, tables) <= SETTLED * _asked(flat, now, tables, value)


@kernel
def _come_to_rest(flat, now, tables, work, limits, value, residual):
    """Go from `now` to the floor of its valley, along which little is gained; return (objective, closure residual)."""
    crossed, found, gap, _ = _cross_valley(flat, now, tables, work, limits, value, STIFFEST)
    if not crossed:
        return value, residual
    copy_placement(work.trial, now)
    return found, gap


@kernel(entry=False)
def minimise(flat, now, tables, work, limits, most, value, residual):
    """Improve the assembled placement `now` until it is stationary.

    `value` and `residual` are objective and closure residual [m] at the start. Return objective, iterations, status
    (CONVERGED, STALLED or EXHAUSTED) and closure residual [m].
    """
    wait, pause, damping = PATIENCE, 1, 0.0  # iterations until the next crossing is tried, between two, its damping
    slow, idle, gain, along = False, 0, 0.0, 0  # of the steps: whether and how often they gained little; crossings
    for iteration in range(most):
        if wait <= 0 and slow:
            crossed, found, gap, damping = _cross_valley(flat, now, tables, work, limits, value, damping)
            pause = 1 if crossed else min(2 * pause, PLAIN)
            wait, along = pause, along + 1
            if crossed:
                copy_placement(work.trial, now)
                gained, value, residual = value - found, found, gap
                if gained >= max(gain, WORTH * value) and along < PLAIN:
                    wait = 0
                    continue
        slope, kind, turn, largest, exact = _choose_step(flat, now, tables, work, limits, iteration)
        stationary = largest <= STEP_TOLERANCE
        if stationary:
            slope = leave_saddle(flat, now, work) if kind == INDEFINITE else 0.0
            if slope == 0.0:
                return value, iteration, CONVERGED, residual
            turn, largest = ASIDE, ASIDE
        scale, found, gap = _search(flat, now, tables, work, limits, value, slope, turn, kind)
        if scale == 0.0:  # nothing lower along the step: at the optimum to within rounding, or else stuck
            rounded = stationary or largest <= ROUNDED or -slope <= _rounding(now, work, value)
            return value, iteration + 1, CONVERGED if rounded else STALLED, residual
        copy_placement(work.trial, now)
        met = iteration >= LONG and _are_met(flat, now, tables, found)
        idle = idle + 1 if met or found > IDLE * value else 0
        slow, gain, along = found > SLOW * value, value - found, 0
        value, residual = found, gap
        wait -= 1
        if idle >= LONG and (met or _is_settled(flat, now, tables, value, slope)):
            value, residual = _come_to_rest(flat, now, tables, work, limits, value, residual)
            return value, iteration + 1, CONVERGED, residual
        if exact and scale == 1.0:
            wait = max(wait, 1)
        rounded = scale * largest <= STEP_TOLERANCE and largest <= ROUNDED  # only rounding is left to go down
        if rounded or (exact and scale == 1.0 and largest <= QUADRATIC):
            return value, iteration + 1, CONVERGED, residual
        if exact and kind == DENSE and scale == 1.0 and largest <= CUBIC:
            done, value, residual, moved = _finish(flat, now, tables, work, limits, value, residual)
            if done:
                return value, iteration + 1 + moved, CONVERGED, residual
    return value, most, EXHAUSTED, residual
