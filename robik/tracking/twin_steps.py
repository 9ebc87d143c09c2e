"""Steps of the virtual twin: on the loops, between the bounds, and never away from the targets.

The paper has no loops. Here the constraint forces of the cuts hold them. These forces do no work along the motions that
the loops leave free, dy = Z dz, so Zᵀ H Z z̈ = Zᵀ Jᵀ f. After the step the robot is projected onto the loops.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..kinematics.assembly import closed, project
from ..kinematics.dense import cholesky, copy_chosen, solve_factored
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import close, copy_placement, forward_kinematics, integrate, largest_motion
from ..kinematics.null_space import extend, reduce_gradient, reduce_matrix
from .virtual_twin import inertia, load, measure, most, stiffen

LARGEST_TURN = 0.5  # rad in one iteration
HELD = 1e-12  # rad or m: how far beyond a bound still counts as on it
HALVINGS = 6


@kernel
def _solve(flat, twin, factor):
    """`step` = factor · ÿ on the loops, where coordinates that are not free move by what `held` says.

    False where H is singular.
    """
    e, d = twin.e, twin.H.shape[0]
    for i in range(d):
        twin.correction[i] = factor * twin.force[i]
        for j in range(d):
            twin.R[i, j] = twin.H[i, j]
    reduce_gradient(flat, e, twin.correction)
    reduce_matrix(flat, e, twin.R)
    n = 0
    for i in range(d):
        twin.step[i] = 0.0
        if not e.dependent[i]:
            if e.free[i]:
                twin.independent[n] = i
                n += 1
            else:
                twin.step[i] = twin.held[i]
    for a in range(n):
        i = twin.independent[a]
        twin.reduced[a] = twin.correction[i]
        for j in range(d):
            if not e.free[j]:
                twin.reduced[a] -= twin.R[i, j] * twin.held[j]
    copy_chosen(twin.R, twin.independent, n, twin.packed)
    if not cholesky(twin.packed, n):
        return False
    solve_factored(twin.packed, twin.R, n, True, twin.reduced, twin.correction)
    for a in range(n):
        twin.step[twin.independent[a]] = twin.reduced[a]
    extend(flat, e, twin.step)
    return True


@kernel
def _hold(flat, now, twin):
    """Hold what the step takes beyond its bounds.

    All that are on a bound already, and of the others the furthest, which goes onto its own. Returns their number, and
    whether one of them depended on others.
    """
    found, followed, worst, furthest = 0, False, HELD, -1
    for i in range(twin.step.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and twin.e.free[i]:
            after = now.q[at] + twin.step[i]
            beyond = max(flat.lower[i] - after, after - flat.upper[i])
            if beyond > HELD:
                bound = flat.lower[i] if after < flat.lower[i] else flat.upper[i]
                twin.held[i] = bound - now.q[at]
                if abs(twin.held[i]) <= 1e-9:
                    twin.e.free[i] = False
                    found, followed = found + 1, followed or twin.e.dependent[i]
                elif beyond > worst:
                    worst, furthest = beyond, i
    if furthest >= 0:
        twin.e.free[furthest] = False
        found, followed = found + 1, followed or twin.e.dependent[furthest]
    return found, followed


@kernel
def _eager(flat, now, twin):
    """Return the held coordinate whose force points most away from its bound, -1 for none.

    No coordinate is released twice.
    """
    worst, who = 0.0, -1
    for i in range(twin.step.shape[0]):
        if not twin.e.free[i] and not twin.released[i]:
            force = twin.correction[i]
            for j in range(twin.step.shape[0]):
                if not twin.e.dependent[j]:
                    force -= twin.R[i, j] * twin.step[j]
            inward = force if now.q[flat.dof_q[i]] + twin.step[i] <= flat.lower[i] + HELD else -force
            if inward > worst and flat.lower[i] < flat.upper[i]:
                worst, who = inward, i
    return who


@kernel
def accelerate(flat, now, twin, factor):
    """Fill `step` = factor · ÿ from `H` and `force`, between the bounds; return False where no step is found.

    It is by an active set, as in Gauss's principle of least constraint.
    """
    e = twin.e
    e.free[:], twin.released[:] = True, False
    eliminate(flat, now, e)
    for _ in range(3 * twin.step.shape[0] + 3):
        if not _solve(flat, twin, factor):
            return False
        found, followed = _hold(flat, now, twin)
        if followed:
            eliminate(flat, now, e)
        if found == 0:
            who = _eager(flat, now, twin)
            if who < 0:
                return True
            e.free[who], twin.released[who] = True, True
    return False


@kernel
def _within(flat, now, twin):
    for i in range(flat.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and not (flat.lower[i] - HELD <= now.q[at] <= flat.upper[i] + HELD):
            return False
    return True


@kernel
def _settle(flat, now, twin):
    """Project onto the loops; a coordinate that this takes beyond a bound is put onto the bound and held.

    Returns whether the robot is assembled and within its bounds.
    """
    for _ in range(8):
        if not closed(flat, now, project(flat, now, twin.e, twin.correction, twin.right)):
            return False
        if _within(flat, now, twin):
            return True
        for i in range(flat.lower.shape[0]):
            at = flat.dof_q[i]
            if at >= 0 and not (flat.lower[i] - HELD <= now.q[at] <= flat.upper[i] + HELD):
                now.q[at] = min(max(now.q[at], flat.lower[i]), flat.upper[i])
                twin.e.free[i] = False
        forward_kinematics(flat, now)
        close(flat, now)
        eliminate(flat, now, twin.e)
    return False


@kernel
def _try(flat, now, tables, twin, scale):
    """Put `trial` where a share of the step leads.

    Returns the energy left there, infinite where it cannot be assembled.
    """
    copy_placement(now, twin.trial)
    integrate(flat, now.q, twin.step, scale, twin.trial.q)
    return measure(flat, twin.trial, tables, twin) if _settle(flat, twin.trial, twin) else np.inf


@kernel
def _iterate(flat, now, tables, twin, energy, factor, share):
    """Take one iteration; return the energy after it.

    The linear system would leave 1 - share / 2 of the energy that the step promises to remove. If less than half of
    that comes, the forces have turned against the step on the way. Then the step is repeated with `stiffen`, and after
    that halved.
    """
    inertia(flat, now, tables, twin)
    scale = 1.0
    for attempt in range(2 + HALVINGS):
        if attempt < 2:
            if attempt == 1:
                stiffen(flat, now, twin, factor)
            if not accelerate(flat, now, twin, factor):
                continue
            turn, _ = largest_motion(flat, twin.step)
            scale = LARGEST_TURN / max(LARGEST_TURN, turn)
        else:
            scale *= 0.5
        promised = 0.0
        for i in range(twin.step.shape[0]):
            promised += scale * twin.force[i] * twin.step[i]
        left = _try(flat, now, tables, twin, scale)
        if left <= energy - 0.5 * (1.0 - 0.5 * share) * promised + 1e-12 * energy:
            copy_placement(twin.trial, now)
            return left
    return measure(flat, now, tables, twin)


@kernel(nogil=True)
def advance(flat, now, tables, twin, iterations, interval):
    """Take steps towards the targets (paper, Algorithm 1) from the assembled placement `now`, which they change.

    `now` stays assembled and within its bounds. Each of `iterations` steps is over `interval` Δt [s]. Return the
    closure residual [m].
    """
    factor = 0.5 * interval * interval
    share = factor * max(most(twin.proportional[:3]) / twin.mass[0], most(twin.proportional[3:]) / twin.mass[1])
    energy = measure(flat, now, tables, twin)
    for k in range(iterations):
        load(flat, now, tables, twin, 1.0 / interval if k > 0 else 0.0)
        for i in range(twin.error.shape[0]):
            for k in range(6):
                twin.before[i, k] = twin.error[i, k]
        left = _iterate(flat, now, tables, twin, energy, factor, share)
        if left == energy:  # as near as it gets: another iteration would only say so again
            break
        energy = left
    return close(flat, now)
