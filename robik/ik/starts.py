"""Other starts of a frame: from the rest pose, from bent limbs, from off a limit. The best result counts.

A straight limb can bend either way. Where a limit is near on one side, that side soon becomes a dead end.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.assembly import closed, project
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import close, copy_placement, forward_kinematics
from ..objectives import calm
from ..objectives.registry import missed, objective
from .program import HELD
from .sqp import UNREACHED, minimise, settle

RISEN = 1.5  # by this factor the objective has changed since another way was looked for
BETTER = 0.5  # of the objective: what another way to stand must be worth
# rad, or of the robot's size: a coordinate that ends on a limit is moved back by so much to look for another way
BENT = 0.5
NEAR = 1.0  # likewise: one that rests so near to one of its limits can soon not turn any further there,
ONE_SIDED = 2.0  # if the other limit is so many times as far
MOVED = 1e-3  # rad, or of the robot's size: a coordinate that has left its rest by so much has moved
MET = 1e-11  # the objective where targets are met to 5 millionths of the robot's size
GAIN = 0.999  # of the objective: what that must be worth
ENOUGH = 20  # iterations of such a look
TURNED = 1.0  # rad, or the robot's size, from rest: a limb is turned round by more
DRAWN, EASED = 1e8, 100.0  # times as strongly as ever a first frame is drawn to the rest pose, and how that eases


@kernel
def beyond(flat, now, work):
    """Return True if a coordinate of the placement is beyond its bounds by more than rounding."""
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and (now.q[at] < work.lower[i] - HELD or now.q[at] > work.upper[i] + HELD):
            return True
    return False


@kernel
def bound(flat, tables, work, last, limits):
    """Set the frame's bounds, the limits and each coordinate's reach from `last`; return True if there are any."""
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
def stand(flat, other, work):
    """Place a robot by the coordinates in `other`, held by no bound; return its closure residual [m]."""
    forward_kinematics(flat, other)
    residual = close(flat, other)
    for i in range(work.e.free.shape[0]):
        work.e.free[i] = True
    eliminate(flat, other, work.e)
    return residual


@inlined
def _rest(memory):
    """Put the coordinates of the rest pose into `other`; return whether the last frame's are others."""
    others = 0
    for i in range(memory.rest.shape[0]):
        memory.other.q[i] = memory.rest[i]
        others += memory.last.q[i] != memory.rest[i]
    return others > 0


@kernel
def _take(guess, other, result, found, better):
    """Return the better of two results of `minimise`, with the iterations of both.

    `result` is at `guess`; where what was `found` at `other` is better, that becomes the guess.
    """
    if better:
        copy_placement(other, guess)
        return found[0], result[1] + found[1], found[2], found[3]
    return result[0], result[1] + found[1], result[2], result[3]


@kernel
def solve_from_other(flat, tables, work, memory, limits, most):
    """Solve a frame from the coordinates in `other`, wherever these stand; return as `minimise`.

    The objective is infinite and the status UNREACHED where they cannot be brought onto the loops.
    """
    other = memory.other
    residual = stand(flat, other, work)
    if not closed(flat, other, residual):  # the pose does not touch what the robot stands on
        residual = settle(flat, other, work, limits)
        if not closed(flat, other, residual):
            return np.inf, 0, UNREACHED, residual
    return minimise(flat, other, tables, work, limits, most, objective(flat, other, tables), residual)


@kernel(entry=False)
def start_afresh(flat, tables, work, memory, limits, most, result):
    """Solve a frame from the rest pose, too, unless it came from there; return as `minimise`, with all iterations.

    After a jump, the way from the last frame may end at a limit, or where turning on would first lead away; the
    frames after it would end there, too. `guess` keeps its content, and `result`, unless this is better by far.
    """
    other = memory.other
    if not _rest(memory):
        return result
    found = solve_from_other(flat, tables, work, memory, limits, most)
    return _take(memory.guess, other, result, found, found[0] < BETTER * result[0])


@kernel
def bend_limbs(flat, work, memory):
    """Fill `other` with the rest pose, with each coordinate that rests near one of its limits moved away from it.

    Bounds keep it from going back at first. Return True if `guess` has one of them moved towards that limit.
    """
    guess, other = memory.guess, memory.other
    towards = False
    _rest(memory)
    for i in range(memory.limited.shape[0]):
        at = flat.dof_q[i]
        if at < 0:
            continue
        below, above = memory.rest[at] - flat.lower[i], flat.upper[i] - memory.rest[at]
        near, far = min(below, above), max(below, above)
        if not near < NEAR or not ONE_SIDED * near < far < np.inf:
            continue
        away = 1.0 if below < above else -1.0
        other.q[at] += away * BENT
        if away > 0:
            work.lower[i] = memory.rest[at] + 0.5 * BENT
        else:
            work.upper[i] = memory.rest[at] - 0.5 * BENT
        towards = towards or away * (guess.q[at] - memory.rest[at]) < -MOVED
    return towards


@kernel(entry=False)
def start_bent(flat, tables, work, memory, limits, most, result):
    """Solve the first frame from bent limbs, too, where one has bent towards a near limit; return as `minimise`.

    A knee that is straight at rest would go through the whole clip bent backwards. `guess` keeps its content, and
    `result`, where the errors of the targets would be larger.
    """
    guess, other = memory.guess, memory.other
    if not bend_limbs(flat, work, memory):
        bound(flat, tables, work, memory.last, limits)
        return result
    found = solve_from_other(flat, tables, work, memory, limits, most)
    bound(flat, tables, work, memory.last, limits)
    if found[0] < np.inf:
        again = minimise(flat, other, tables, work, limits, most, found[0], found[3])
        found = again[0], found[1] + again[1], again[2], again[3]
    better = found[0] < np.inf and missed(flat, other, tables) <= missed(flat, guess, tables) + MET
    return _take(guess, other, result, found, better)


@kernel
def is_turned_round(flat, tables, guess):
    """Return True if a motor is so far from rest that a limb may be turned round, and posture and stillness act."""
    return tables.calm.weight[3] != 0.0 and calm.departure(flat, tables.calm, guess)[1] > TURNED


@kernel(entry=False)
def start_drawn(flat, tables, work, memory, limits, most, result):
    """Solve the first frame again, drawn to the rest pose less and less; return as `minimise`.

    A long way from the rest pose can end in a limb that is turned inside out. `guess` keeps its content, and
    `result`, unless this is better: a turn away from rest counts as a share of the objective, since all frames to
    come would keep it.
    """
    other, pull, iterations = memory.other, DRAWN, 0
    _rest(memory)
    calm.draw(flat, tables.calm, tables.change_of_state, pull)
    found = solve_from_other(flat, tables, work, memory, limits, ENOUGH)
    while pull > 1.0 and found[0] < np.inf:
        iterations += found[1]
        pull = max(pull / EASED, 1.0)
        calm.draw(flat, tables.calm, tables.change_of_state, pull)
        few = ENOUGH if pull > 1.0 else most
        found = minimise(flat, other, tables, work, limits, few, objective(flat, other, tables), found[3])
    calm.begin(flat, tables.calm, tables.change_of_state, memory.missed)
    found = found[0], found[1] + iterations, found[2], found[3]
    before = (1.0 + calm.departure(flat, tables.calm, memory.guess)[0]) * result[0]
    after = (1.0 + calm.departure(flat, tables.calm, other)[0]) * found[0]
    return _take(memory.guess, other, result, found, after < GAIN * before)


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
def is_time_to_look(flat, memory, value):
    """Return True if a frame that ends on a limit is worth a search for another way, with this objective.

    One coordinate has just come to its limit, or the objective has changed by much since the last search.
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
def bend_back(flat, tables, work, memory, most, result):
    """Solve a frame again, started with the coordinates on a limit moved off it; return as `minimise`.

    A limb that was pulled straight and is released can bend either way. A limit may soon block one of them, which
    is a dead end; so the first steps go the other way. `guess` keeps its content, and `result`, unless this is
    better.
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
    stand(flat, other, work)
    residual = project(flat, other, work.e, work.correction, work.right)
    if not closed(flat, other, residual) or beyond(flat, other, work):
        bound(flat, tables, work, memory.last, True)
        return result
    found = minimise(flat, other, tables, work, True, min(most, ENOUGH), objective(flat, other, tables), residual)
    bound(flat, tables, work, memory.last, True)
    better = _is_better(flat, tables, guess, other, result, found)
    if better or found[0] < RISEN * result[0]:  # the narrower bounds may have kept it from being better
        again = minimise(flat, other, tables, work, True, most, found[0], found[3])
        found = again[0], found[1] + again[1], again[2], again[3]
        better = _is_better(flat, tables, guess, other, result, found)
    result = _take(guess, other, result, found, better)
    memory.looked[0] = result[0]
    return result
