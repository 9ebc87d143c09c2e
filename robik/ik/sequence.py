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
    integrate,
    largest_motion,
    read_state,
)
from ..mechanism.constraints import SLIDE
from ..objectives import calm
from ..objectives.hold import go_on_with_walls, is_held, put_up_walls
from ..objectives.registry import missed_by_cluster, objective, objective_of_pose
from .ball_steps import begin_step
from .sqp import CONVERGED, UNREACHED, hold, minimise, settle
from .starts import (
    bend_back,
    beyond,
    bound,
    is_time_to_look,
    is_turned_round,
    stand,
    start_afresh,
    start_bent,
    start_drawn,
)
from .way_out import is_stuck, lead_out

JUMP = 0.5  # rad, and of the robot's size: a frame that moves more says nothing of the next
UNMET = 2e-6  # the objective where a target of weight one is off by a 500th of the robot's size
WALLED = 15.0  # rad/s, and sizes/s: a frame that a wall turns aside goes round it no faster
LOOSER = 8  # times that one frame may be held less


@kernel
def _predict(flat, memory, work, tables, limits):
    """Put the extrapolated placement into `guess` if it can be assembled and is better than the last one.

    Otherwise the last one. Returns its objective and closure residual.
    """
    last, guess = memory.last, memory.guess
    value = objective_of_pose(flat, last, tables)
    if memory.frames[0] == 0:
        copy_placement(last, guess)
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
    good = closed(flat, guess, residual) and not (limits and beyond(flat, guess, work))
    if good:
        found = objective(flat, guess, tables)
        if found <= value:
            return found, residual
    copy_placement(last, guess)
    return value, close(flat, guess)


@kernel
def _begin(flat, tables, memory, work, limits):
    """Bring the coordinates that are given in `guess` onto the loops and between the bounds.

    Return the objective and the closure residual, infinite where that fails.
    """
    guess = memory.guess
    stand(flat, guess, work)
    residual = settle(flat, guess, work, limits)
    if not closed(flat, guess, residual) or (limits and beyond(flat, guess, work)):
        return np.inf, np.inf
    return objective(flat, guess, tables), residual


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


@kernel(entry=False)
def _slow_down(flat, tables, work, last):
    """Bound what coordinates may move by in a frame that goes along a wall; return whether that bounds any."""
    dt = tables.calm.dt[0]
    if dt == np.inf:
        return False
    for m in range(flat.kind.shape[0]):
        at = flat.dof_q[flat.at_v[m]]
        if at >= 0:
            reach = WALLED * dt * (flat.size if flat.kind[m] == SLIDE else 1.0)
            work.lower[flat.at_v[m]] = max(work.lower[flat.at_v[m]], last.q[at] - reach)
            work.upper[flat.at_v[m]] = min(work.upper[flat.at_v[m]], last.q[at] + reach)
    return True


@kernel(entry=False)
def _keep_hold(flat, tables, work, memory, limits, most, result):
    """Solve a frame again from the last one, with walls where motors lose hold; return as `minimise`."""
    last, guess = memory.last, memory.guess
    put_up_walls(last, tables.hold)
    copy_placement(last, guess)
    stand(flat, guess, work)
    bounded = bound(flat, tables, work, last, limits)
    bounded = _slow_down(flat, tables, work, last) or bounded
    found = minimise(flat, guess, tables, work, bounded, most, objective(flat, guess, tables), close(flat, guess))
    found = _let_loose(flat, tables, work, memory, bounded, most, found)
    difference(flat, guess.q, last.q, memory.recent)
    return found[0], result[1] + found[1], found[2], found[3]


@kernel
def _begin_with_walls(flat, tables, work, last, bounded):
    """Go on with the walls of the last frame; return whether the frame is bounded."""
    go_on_with_walls(last, tables.hold)
    return (tables.hold.is_up[0] and _slow_down(flat, tables, work, last)) or bounded


@kernel
def _note_step(flat, memory):
    """Note the step from the last frame to the guess; return its largest motion."""
    for i in range(memory.recent.shape[0]):
        memory.earlier[i] = memory.recent[i]
    difference(flat, memory.guess.q, memory.last.q, memory.recent)
    memory.frames[0] += 1
    _, largest = largest_motion(flat, memory.recent)
    return largest


@kernel
def solve_frame(flat, tables, work, memory, limits, most, afresh):
    """Solve one frame from the memory of those before; return as `minimise`.

    The solution becomes `memory.last`, which the objectives regard as the previous state. The first frame is tried
    from bent limbs, too. A frame that ends on a limit and misses its targets is tried from off that limit; with
    `afresh`, one that leaps and misses them also from the rest pose. The memory is unchanged, and the status
    UNREACHED, where given coordinates cannot be brought onto the loops.
    """
    last, guess = memory.last, memory.guess
    calm.begin(flat, tables.calm, tables.change_of_state, memory.missed)
    bounded = _begin_with_walls(flat, tables, work, last, bound(flat, tables, work, last, limits))
    given, walled = memory.given[0], tables.hold.is_up[0]
    first = memory.frames[0] == 0 and tables.calm.dt[0] == np.inf and not given
    if given:
        memory.given[0] = False
        value, residual = _begin(flat, tables, memory, work, bounded)
        if residual == np.inf:
            return value, 0, UNREACHED, residual
    else:
        value, residual = _predict(flat, memory, work, tables, bounded)
    result = minimise(flat, guess, tables, work, bounded, most, value, residual)
    if first and limits and not walled:
        result = start_bent(flat, tables, work, memory, bounded, most, result)
        if result[0] > UNMET and is_turned_round(flat, tables, guess):
            result = start_drawn(flat, tables, work, memory, bounded, most, result)
    result = _let_loose(flat, tables, work, memory, bounded, most, result)
    if limits and not walled and result[0] > UNMET and is_time_to_look(flat, memory, result[0]):
        result = bend_back(flat, tables, work, memory, most, result)
    if limits and not walled and not afresh and is_stuck(flat, tables, memory):
        result = lead_out(flat, tables, work, memory, most, result)
    largest = _note_step(flat, memory)
    if afresh and not walled and largest > JUMP and result[0] > UNMET:
        result = start_afresh(flat, tables, work, memory, bounded, most, result)
        difference(flat, guess.q, last.q, memory.recent)
    if not given and not is_held(last, guess, tables.hold):
        result = _keep_hold(flat, tables, work, memory, limits, most, result)
        _, largest = largest_motion(flat, memory.recent)
    if largest > JUMP or result[2] != CONVERGED:
        memory.frames[0] = 0
    if tables.calm.weight[3] != 0.0:
        missed_by_cluster(flat, guess, tables, memory.missed)
    copy_placement(guess, last)
    return result


@kernel(nogil=True)
def solve_frames(flat, tables, work, memory, output, first, start, stop, clip_targets, speed, steps, limits, most):
    """Solve frames `start` to `stop` into `output`, whose first row is frame `first`.

    No coordinate is faster than `speed` (d,) [rad/s or m/s], inf for no limit, and no ball than `steps` allow.
    `most` is the largest number of iterations of a frame.
    """
    afresh = steps.speed.shape[0] == 0
    for i in range(speed.shape[0]):
        afresh = afresh and speed[i] == np.inf  # else from one frame to the next it could not get there
    for k in range(start, stop):
        for i in range(tables.targets.shape[0]):
            tables.targets[i] = clip_targets.targets[k, i]
        for i in range(speed.shape[0]):
            tables.reach[i] = speed[i] * clip_targets.dt[k] if speed[i] < np.inf else np.inf
        tables.calm.dt[0] = clip_targets.dt[k]
        begin_step(flat, tables, work, memory, steps, clip_targets.dt[k])
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
