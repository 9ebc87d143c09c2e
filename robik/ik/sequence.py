"""Frames one after another: each starts where the motion is going, and is drawn to the frame before."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..kinematics.assembly import closed, project
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import (
    close,
    copy_placement,
    difference,
    forward_kinematics,
    integrate,
    largest_motion,
    read_state,
)
from ..objectives import calm
from ..objectives.registry import missed, missed_by_cluster, objective
from .program import HELD
from .sqp import CONVERGED, UNREACHED, hold, minimise, settle

JUMP = 0.5  # rad, and of the robot's size: a frame that moves more says nothing of the next
RISEN = 1.5  # by this factor the objective has changed since another way was looked for
UNMET = 2e-6  # the objective where a target of weight one is off by a 500th of the robot's size
BETTER = 0.5  # of the objective: what another way to stand must be worth
# rad, or of the robot's size: a coordinate that ends on a limit is moved back by so much to look for another way
BENT = 0.5
GAIN = 0.999  # of the objective: what that must be worth
LOOSER = 8  # times that one frame may be held less
ENOUGH = 20  # iterations of such a look


@kernel
def _predict(flat, memory, work, tables, limits):
    """Put the extrapolated placement into `guess` if it can be assembled and is better than the last one.

    Otherwise the last one. Returns its objective and closure residual.
    """
    last, guess = memory.last, memory.guess
    copy_placement(last, guess)
    value = objective(flat, last, tables)
    if memory.frames[0] == 0:
        return value, close(flat, guess)
    step = work.step
    for i in range(step.shape[0]):
        step[i] = memory.recent[i]
        if memory.frames[0] > 1:
            step[i] += memory.recent[i] - memory.earlier[i]
    integrate(flat, last.q, step, 1.0, guess.q)
    if limits and hold(flat, guess, work):
        eliminate(flat, last, work.e)
    residual = project(flat, guess, work.e, work.correction, work.right)
    good = closed(flat, guess, residual) and not (limits and _beyond(flat, guess, work))
    if good:
        found = objective(flat, guess, tables)
        if found <= value:
            return found, residual
    copy_placement(last, guess)
    return value, close(flat, guess)


@kernel
def _beyond(flat, now, work):
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and (now.q[at] < work.lower[i] - HELD or now.q[at] > work.upper[i] + HELD):
            return True
    return False


@kernel
def _bound(flat, tables, work, last, limits):
    """Set the frame's bounds: the limits, and what each coordinate can reach from where it was.

    Returns whether there are any.
    """
    bounded = limits
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0:
            work.lower[i] = flat.lower[i] if limits else -np.inf
            work.upper[i] = flat.upper[i] if limits else np.inf
            if tables.reach[i] < np.inf:
                bounded = True
                work.lower[i] = max(work.lower[i], last.q[at] - tables.reach[i])
                work.upper[i] = min(work.upper[i], last.q[at] + tables.reach[i])
    return bounded


@kernel
def _stand(flat, other, work):
    """Place a robot by its coordinates, held by no bound; return the closure residual."""
    forward_kinematics(flat, other)
    residual = close(flat, other)
    for i in range(work.e.free.shape[0]):
        work.e.free[i] = True
    eliminate(flat, other, work.e)
    return residual


@kernel
def _begin(flat, tables, memory, work, limits):
    """Bring the coordinates that are given in `guess` onto the loops and between the bounds.

    Return the objective and the closure residual, infinite where that fails.
    """
    guess = memory.guess
    _stand(flat, guess, work)
    residual = settle(flat, guess, work, limits)
    if not closed(flat, guess, residual) or (limits and _beyond(flat, guess, work)):
        return np.inf, np.inf
    return objective(flat, guess, tables), residual


@kernel
def _take(guess, other, result, found, better):
    """Return the better of two results of `minimise`, with the iterations of both.

    `result` is at `guess`; where what was `found` at `other` is better, that becomes the guess.
    """
    if better:
        copy_placement(other, guess)
        return found[0], result[1] + found[1], found[2], found[3]
    return result[0], result[1] + found[1], result[2], result[3]


@kernel(entry=False)
def _start_afresh(flat, tables, work, memory, limits, most, result):
    """Solve a frame from the rest pose, too, unless it came from there.

    After a jump, the way from the last frame may end at a limit, or where turning on would first lead away; the frames
    after it would end there, too. `guess` keeps its content unless this is better by far. Returns what `minimise` does,
    with the iterations of both.
    """
    guess, other = memory.guess, memory.other
    moved = False
    for i in range(memory.rest.shape[0]):
        other.q[i] = memory.rest[i]
        moved = moved or memory.last.q[i] != memory.rest[i]
    if not moved:
        return result
    residual = _stand(flat, other, work)
    if not closed(flat, other, residual):  # the rest pose does not touch what the robot stands on
        residual = settle(flat, other, work, limits)
        if not closed(flat, other, residual):
            return result
    found = minimise(flat, other, tables, work, limits, most, objective(flat, other, tables), residual)
    return _take(guess, other, result, found, found[0] < BETTER * result[0])


@kernel
def _note_limited(flat, memory):
    """Note which coordinates of the guess are on a limit.

    Returns whether any is, and whether one has come to its limit.
    """
    found, came = False, False
    for i in range(memory.limited.shape[0]):
        at, side = flat.dof_q[i], 0
        if at >= 0 and flat.lower[i] < flat.upper[i]:
            side = int(memory.guess.q[at] >= flat.upper[i] - HELD) - int(memory.guess.q[at] <= flat.lower[i] + HELD)
        came = came or (side != 0 and side != memory.limited[i])
        found = found or side != 0
        memory.limited[i] = side
    return found, came


@kernel
def _is_time_to_look(flat, memory, value):
    """Return whether a frame that ends on a limit is worth a look for another way.

    One coordinate has just come to its limit, or the objective has changed by much since the last look.
    """
    found, came = _note_limited(flat, memory)
    looked = memory.looked[0]
    if not came and (not found or looked / RISEN <= value <= RISEN * looked):
        return False
    memory.looked[0] = value
    return True


@kernel
def _is_better(flat, tables, guess, other, result, found):
    """Return whether the solution `found` at `other` beats the `result` at `guess`.

    As a whole, or by far in what the targets miss: a step aside costs the pull to the previous state once, a dead end
    costs its miss in every frame.
    """
    return found[0] < GAIN * result[0] or missed(flat, other, tables) < BETTER * missed(flat, guess, tables)


@kernel(entry=False)
def _bend_back(flat, tables, work, memory, most, result):
    """Solve a frame again, started with the coordinates on a limit moved off it.

    A limb that was pulled straight and is released can bend either way. A limit may soon block one of them, which is a
    dead end; so the first steps go the other way. `guess` keeps its content unless this is better. Returns what
    `minimise` does, with the iterations of both.
    """
    guess, other = memory.guess, memory.other
    copy_placement(guess, other)
    for i in range(memory.limited.shape[0]):
        at = flat.dof_q[i]
        if memory.limited[i] < 0:
            other.q[at] = min(memory.last.q[at] + BENT, work.upper[i])
            work.lower[i] = max(work.lower[i], 0.5 * (flat.lower[i] + other.q[at]))
        elif memory.limited[i] > 0:
            other.q[at] = max(memory.last.q[at] - BENT, work.lower[i])
            work.upper[i] = min(work.upper[i], 0.5 * (flat.upper[i] + other.q[at]))
    _stand(flat, other, work)
    residual = project(flat, other, work.e, work.correction, work.right)
    if not closed(flat, other, residual) or _beyond(flat, other, work):
        _bound(flat, tables, work, memory.last, True)
        return result
    found = minimise(flat, other, tables, work, True, min(most, ENOUGH), objective(flat, other, tables), residual)
    _bound(flat, tables, work, memory.last, True)
    better = _is_better(flat, tables, guess, other, result, found)
    if better:
        again = minimise(flat, other, tables, work, True, most, found[0], found[3])
        found = again[0], found[1] + again[1], again[2], again[3]
        better = _is_better(flat, tables, guess, other, result, found)
    result = _take(guess, other, result, found, better)
    memory.looked[0] = result[0]
    return result


@kernel(entry=False)
def _let_loose(flat, tables, work, memory, bounded, most, result):
    """Solve a frame further with weaker posture and stillness, while its targets' errors are far smaller than assumed.

    So a target that comes back into reach is met at once. Returns what `minimise` does, with all iterations.
    """
    guess = memory.guess
    if tables.calm.weight[3] == 0.0:
        return result
    for _ in range(LOOSER):
        missed_by_cluster(flat, guess, tables, tables.calm.missed)
        if not calm.loosen(flat, tables.calm, tables.change_of_state):
            return result
        again = minimise(flat, guess, tables, work, bounded, most, objective(flat, guess, tables), result[3])
        result = again[0], result[1] + again[1], again[2], again[3]
    return result


@kernel
def solve_frame(flat, tables, work, memory, limits, most, afresh):
    """Solve one frame from the memory of those before.

    The solution becomes `memory.last`, which the objectives regard as the previous state. A frame that ends on a limit
    and misses its targets is tried from off that limit, too; with `afresh`, one that leaps and misses them also from
    the rest pose. The memory is unchanged where coordinates that are given cannot be brought onto the loops.

    Args:
        flat: The mechanism's arrays for the kernels.
        tables: The objectives with their targets.
        work: Scratch of the solver.
        memory: State of the frames before.
        limits: Whether joint limits hold.
        most: Largest number of iterations.
        afresh: Whether a frame that leaps is also tried from the rest pose.

    Returns:
        Objective, iterations, status and closure residual [m], as `minimise`; UNREACHED where given coordinates cannot
        be assembled.
    """
    last, guess = memory.last, memory.guess
    calm.begin(flat, tables.calm, tables.change_of_state, memory.missed)
    bounded = _bound(flat, tables, work, last, limits)
    if memory.given[0]:
        memory.given[0] = False
        value, residual = _begin(flat, tables, memory, work, bounded)
        if residual == np.inf:
            return value, 0, UNREACHED, residual
    else:
        value, residual = _predict(flat, memory, work, tables, bounded)
    result = minimise(flat, guess, tables, work, bounded, most, value, residual)
    result = _let_loose(flat, tables, work, memory, bounded, most, result)
    if limits and result[0] > UNMET and _is_time_to_look(flat, memory, result[0]):
        result = _bend_back(flat, tables, work, memory, most, result)
    for i in range(memory.recent.shape[0]):
        memory.earlier[i] = memory.recent[i]
    difference(flat, guess.q, last.q, memory.recent)
    memory.frames[0] += 1
    _, largest = largest_motion(flat, memory.recent)
    if afresh and largest > JUMP and result[0] > UNMET:
        result = _start_afresh(flat, tables, work, memory, bounded, most, result)
        difference(flat, guess.q, last.q, memory.recent)
    if largest > JUMP or result[2] != CONVERGED:
        memory.frames[0] = 0
    if tables.calm.weight[3] != 0.0:
        missed_by_cluster(flat, guess, tables, memory.missed)
    copy_placement(guess, last)
    return result


@kernel(nogil=True)
def solve_frames(flat, tables, work, memory, output, first, start, stop, clip_targets, speed, limits, most):
    """Solve frames `start` to `stop` into `output`.

    Args:
        flat: The mechanism's arrays for the kernels.
        tables: The objectives with their targets.
        work: Scratch of the solver.
        memory: State of the frames before.
        output: Filled from its row `start - first` on.
        first: Frame of the output's first row.
        start: First frame to solve.
        stop: Frame after the last.
        clip_targets: The compiled targets of the clip.
        speed: Speed (d,) that no coordinate may exceed [rad/s or m/s]; inf for none.
        limits: Whether joint limits hold.
        most: Largest number of iterations.
    """
    afresh = True
    for i in range(speed.shape[0]):
        afresh = afresh and speed[i] == np.inf  # else from one frame to the next it could not get there
    for k in range(start, stop):
        for i in range(tables.targets.shape[0]):
            tables.targets[i] = clip_targets.targets[k, i]
        for i in range(speed.shape[0]):
            tables.reach[i] = speed[i] * clip_targets.dt[k] if speed[i] < np.inf else np.inf
        tables.calm.dt[0] = clip_targets.dt[k]
        value, iterations, status, residual = solve_frame(flat, tables, work, memory, limits, most, afresh)
        now, row = memory.last, k - first
        for i in range(now.q.shape[0]):
            output.q[row, i] = now.q[i]
        output.value[row], output.iterations[row], output.status[row], output.residual[row] = (
            value,
            iterations,
            status,
            residual,
        )
        for b in range(flat.bodies):
            for i in range(4):
                output.quaternion[row, b, i] = output.quaternion[row - 1, b, i] if row > 0 else 1.0 - min(i, 1)
        read_state(flat, now, output.position[row], output.quaternion[row])
