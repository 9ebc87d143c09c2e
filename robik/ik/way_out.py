"""Way out of a dead end at the motors' speeds, over as many frames as it takes.

Limits can keep a limb from targets that it reaches in another pose, such as an arm behind the back. Where that lasts,
the frame is solved from the rest pose, too, as if motors were quick. If the limb's targets are met far better there,
its joints are led to that pose as fast as they may, and all others follow their targets meanwhile.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..kinematics.assembly import closed
from ..kinematics.kernels import copy_placement
from ..objectives import calm
from ..objectives.registry import missed, missed_by_cluster, objective
from .sqp import minimise, settle
from .starts import bend_limbs, beyond, bound, solve_from_other, stand

LOST = 2e-4  # the objective where a target of weight one is off by a 50th of the robot's size
PATIENT = 0.2  # s that targets are missed by so much before another pose is looked for
AGAIN = 1.0  # s until the next look, where there is none
MUCH_BETTER = 0.25  # of the objective: what the other pose must be worth
BETTER = 0.5  # of a limb's share of it


@kernel
def is_stuck(flat, tables, memory):
    """Return True if limits have kept a limb from its targets for a while, or if it is being led out of there.

    The time is counted in `memory.stuck`, for the frame's solution in `memory.guess`.
    """
    limited = False
    for i in range(memory.limited.shape[0]):
        limited = limited or memory.limited[i] != 0
    if not limited or missed(flat, memory.guess, tables) < LOST:
        memory.stuck[:] = 0.0
        return False
    if tables.calm.dt[0] < np.inf:
        memory.stuck[0] += tables.calm.dt[0]
    return memory.stuck[1] > 0.0 or memory.stuck[0] > PATIENT


@kernel
def _widen(flat, work):
    """Set the bounds to the limits alone."""
    for i in range(work.lower.shape[0]):
        if flat.dof_q[i] >= 0:
            work.lower[i], work.upper[i] = flat.lower[i], flat.upper[i]


@kernel
def _find_pose(flat, tables, work, memory, most):
    """Put the pose into `other` that is found from the rest pose between the limits.

    Returns whether it is far better.
    """
    other = memory.other
    tables.calm.missed[:] = 0.0  # the last pose, which is no good one, holds weakly
    calm.begin(flat, tables.calm, tables.change_of_state, tables.calm.missed)
    _widen(flat, work)
    bend_limbs(flat, work, memory)
    found = solve_from_other(flat, tables, work, memory, True, most)
    if found[0] == np.inf:
        return False
    _widen(flat, work)
    minimise(flat, other, tables, work, True, most, found[0], found[3])
    return missed(flat, other, tables) < MUCH_BETTER * missed(flat, memory.guess, tables)


@kernel
def _lead(flat, tables, work, memory):
    """Put into `other` the guess with the joints of better limbs led towards `other`, and hold those on the way.

    Returns whether any is still on its way.
    """
    last, guess, other = memory.last, memory.guess, memory.other
    missed_by_cluster(flat, guess, tables, tables.calm.missed)
    missed_by_cluster(flat, other, tables, memory.missed)
    bound(flat, tables, work, last, True)
    leads = False
    for i in range(work.lower.shape[0]):
        at, cluster = flat.dof_q[i], flat.cluster_of_dof[i]
        if at < 0:
            continue
        work.shares[i] = guess.q[at]
        before = tables.calm.missed[cluster]
        if before > LOST and memory.missed[cluster] < BETTER * before:
            work.shares[i] = min(max(other.q[at], work.lower[i]), work.upper[i])
            if work.shares[i] != other.q[at]:
                leads = True
                work.lower[i], work.upper[i] = work.shares[i], work.shares[i]
    for i in range(other.q.shape[0]):
        other.q[i] = guess.q[i]
    for i in range(work.lower.shape[0]):
        if flat.dof_q[i] >= 0:
            other.q[flat.dof_q[i]] = work.shares[i]
    return leads


@kernel(entry=False)
def lead_out(flat, tables, work, memory, most, result):
    """Solve a frame on the way out of a dead end; return as `minimise`.

    `guess` keeps its content, and `result`, where there is no way.
    """
    other = memory.other
    found = _find_pose(flat, tables, work, memory, most)
    calm.begin(flat, tables.calm, tables.change_of_state, memory.missed)
    if not found:
        bound(flat, tables, work, memory.last, True)
        memory.stuck[0], memory.stuck[1] = PATIENT - AGAIN, 0.0
        return result
    leads = _lead(flat, tables, work, memory)
    stand(flat, other, work)
    residual = settle(flat, other, work, True)
    good = closed(flat, other, residual) and not beyond(flat, other, work)
    if good:
        led = minimise(flat, other, tables, work, True, most, objective(flat, other, tables), residual)
        copy_placement(other, memory.guess)
        result = led[0], result[1] + led[1], led[2], led[3]
    bound(flat, tables, work, memory.last, True)
    memory.stuck[0], memory.stuck[1] = 0.0, 1.0 if good and leads else 0.0
    return result
