"""Newton's step on the loops and between the bounds.

The second derivatives are those of the Lagrangian, to which the forces of targets and loops add. In a large step these
forces change on the way. A target that is nearly met pulls hardly at all; a hundredth of a radian beside it, it may
pull ten thousand times as hard as the weak objectives that choose among the poses that meet it. Newton's steps then
become tiny, as those of any penalty's minimiser do. So a Gauss-Newton step, which needs no forces, foresees the forces
at its end, and these enter the second derivatives. For small steps both are the same, and at the optimum the
convergence is Newton's.
"""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.curvature import closure_curvature
from ..kinematics.dense import add_absolute, copy_chosen, diagonalise
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import largest_motion
from ..kinematics.null_space import extend, multipliers
from ..mechanism.constraints import BALL, SLIDE
from ..objectives.registry import gather, stiffen
from ..objectives.terms import gradient
from .factoring import ARTICULATED, INDEFINITE, fill, list_independent, make_held_independent, prepare_free
from .hessian import carry
from .program import HELD, solve_program

ASIDE = 0.1  # rad, and of the robot's size: the step away from a saddle


@kernel
def _let_go(flat, now, work):
    """Release coordinates that are off their bounds; return whether any were held."""
    found = False
    for i in range(work.slope.shape[0]):
        if not work.e.free[i]:
            q = now.q[flat.dof_q[i]]
            work.e.free[i] = work.lower[i] + HELD < q < work.upper[i] - HELD
            found = found or work.e.free[i]
    return found


@kernel
def _eliminate(flat, now, work, again):
    """Eliminate dependent coordinates, held ones last.

    Where loops tie held coordinates to each other, none could be let go alone: then none is held at first. `again`
    says that the last elimination was at `now`, too; it stays if the same coordinates are held.
    """
    if again and _is_eliminated(work):
        return
    eliminate(flat, now, work.e)
    if work.e.tied[0]:
        work.e.free[:] = True
        eliminate(flat, now, work.e)


@inlined
def _is_eliminated(work):
    """Return whether the last elimination was of the coordinates that are free."""
    others = 0
    for i in range(work.e.free.shape[0]):
        others += work.e.free[i] != work.e.allowed[i]
    return others == 0


@kernel
def _start_again(flat, now, work):
    """Release what is off its bounds after a program at `now`; return whether coordinates are eliminated again."""
    if not _let_go(flat, now, work):
        return make_held_independent(flat, now, work)
    same = _is_eliminated(work)
    _eliminate(flat, now, work, True)
    return not same


@kernel
def _bend(flat, now, tables, work, share, slope):
    """Fill the second derivatives of the Lagrangian at `now`, and the objective's gradient into `slope`.

    With the forces as `gather` takes them.
    """
    gather(flat, now, tables, work.terms, share)
    stiffen(flat, now, tables, work.terms)
    gradient(flat, now, work.terms, slope)
    multipliers(flat, work.e, slope, work.multiplier)
    closure_curvature(flat, now, work.multiplier, work.system)


@kernel(entry=False)
def newton_step(flat, now, tables, work, limits, anyway, again):
    """Fill `work.step` with Newton's step at `now`; return the objective's slope along it and the kind of system.

    The kind is ARTICULATED, DENSE or INDEFINITE; where it is INDEFINITE there is a step only with `anyway`. `again`
    says that a step at `now` was computed before.
    """
    _let_go(flat, now, work)
    _eliminate(flat, now, work, again)
    _bend(flat, now, tables, work, 1.0, work.slope)
    return _step(flat, now, tables, work, limits, anyway)


@kernel(entry=False)
def convex_step(flat, now, tables, work, limits, again):
    """Fill `work.step` with the convex model's step, where Newton's is INDEFINITE; return as `newton_step`.

    `again` says that a step at `now` was computed before.
    """
    _let_go(flat, now, work)
    _eliminate(flat, now, work, again)
    _bend(flat, now, tables, work, 1.0, work.slope)
    return _step_convex(flat, now, tables, work, limits, False)


@kernel(entry=False)
def gauss_newton_step(flat, now, tables, work, limits, damping):
    """Fill `work.step` with Gauss-Newton's step at `now`, which knows no forces; return as `newton_step`.

    `damping` is a stiffness added to every coordinate, slides in the robot's size. There is no step where the
    system is INDEFINITE.
    """
    _let_go(flat, now, work)
    _eliminate(flat, now, work, False)
    gather(flat, now, tables, work.terms, 1.0)
    gradient(flat, now, work.terms, work.slope)
    _bend(flat, now, tables, work, 0.0, work.correction)
    for m in range(flat.kind.shape[0]):
        i = flat.at_v[m]
        if flat.kind[m] == SLIDE:
            work.terms.hold[i] += damping / (flat.size * flat.size)
        else:
            for k in range(3 if flat.kind[m] == BALL else 1):
                work.terms.hold[i + k] += damping
    return _step(flat, now, tables, work, limits, False)


@kernel(entry=False)
def foreseeing_step(flat, now, tables, work, limits, anyway, again):
    """Fill `work.step` with a step for the forces that Gauss-Newton's step foresees; return as `newton_step`.

    Where these forces make the system indefinite, there is a step only with `anyway`. It is INDEFINITE, too, where
    Gauss-Newton's step is of no use.
    """
    _let_go(flat, now, work)
    _eliminate(flat, now, work, again)
    gather(flat, now, tables, work.terms, 1.0)
    gradient(flat, now, work.terms, work.slope)
    _bend(flat, now, tables, work, 0.0, work.correction)
    if solve_program(flat, now, tables, work, limits, False) == INDEFINITE or _slope_along(work) > 0.0:
        work.step[:] = 0.0
        return 0.0, INDEFINITE
    ahead = work.terms.ahead
    for b in range(1, ahead.shape[0]):
        carry(flat, now, ahead, b, work.step)
    _start_again(flat, now, work)
    _bend(flat, now, tables, work, 1.0, work.correction)
    ahead[:] = 0.0
    return _step(flat, now, tables, work, limits, anyway)


@kernel(entry=False)
def _make_convex(flat, now, work, filled):
    """Fill `model` and `K` with the second derivatives, their eigenvalues replaced by the absolute values.

    Over all independent coordinates, held ones too.

    One model for the whole program: were each set of free independent coordinates given absolute eigenvalues of its
    own, the sum of its steps could lead uphill.
    """
    n = list_independent(work, True)
    if filled:
        copy_chosen(work.K, work.independent, n, work.H)
    else:
        fill(flat, now, work, n)
    work.model[:] = 0.0
    for a in range(n):
        for b in range(n):
            work.model[work.independent[a], work.independent[b]] = work.H[a, b]
    diagonalise(work.H, work.vectors, n)
    add_absolute(work.H, work.vectors, n, work.model, work.independent)
    copy_chosen(work.model, work.e.every, work.step.shape[0], work.K)


@kernel(entry=False)
def leave_saddle(flat, now, work):
    """Fill `work.step` with a step along the lowest eigenvector, where nothing else points down.

    It is over the free independent coordinates. Return the change that the second derivatives promise, 0.0 where
    they promise none.
    """
    n = list_independent(work, False)
    fill(flat, now, work, n)
    diagonalise(work.H, work.vectors, n)
    lowest, top = 0, 0.0
    for k in range(n):
        top = max(top, abs(work.H[k, k]))
        if work.H[k, k] < work.H[lowest, lowest]:
            lowest = k
    if n == 0 or not work.H[lowest, lowest] < -1e-9 * top:
        return 0.0
    work.step[:] = 0.0
    for a in range(n):
        work.step[work.independent[a]] = work.vectors[lowest, a]
    extend(flat, work.e, work.step)
    _, largest = largest_motion(flat, work.step)
    scale = ASIDE / largest
    for i in range(work.step.shape[0]):
        work.step[i] *= scale
    return 0.5 * work.H[lowest, lowest] * scale * scale


@kernel
def _step(flat, now, tables, work, limits, anyway):
    """Fill `work.step` with Newton's step on the loops and between the bounds.

    If the second derivatives are not definite on its way, with that of the convex model, provided that a step is wanted
    `anyway`. Returns the slope and the kind of the system, INDEFINITE also in that case. Each set of free independent
    coordinates may see a definite system and their union an indefinite one: then the step leads uphill at first.
    """
    kind = solve_program(flat, now, tables, work, limits, False)
    if kind != INDEFINITE:
        slope = _slope_along(work)
        if not slope > 0.0:
            prepare_free(flat, now, work, False)
            return slope, kind
    if not anyway:
        work.step[:] = 0.0
        return 0.0, INDEFINITE
    is_new = _start_again(flat, now, work)
    return _step_convex(flat, now, tables, work, limits, kind != ARTICULATED and not is_new)


@kernel
def _step_convex(flat, now, tables, work, limits, filled):
    """Fill `work.step` with that of the convex model; return its slope, and INDEFINITE.

    `filled` says whether `K` has the second derivatives.
    """
    _make_convex(flat, now, work, filled)
    if solve_program(flat, now, tables, work, limits, True) != INDEFINITE:
        prepare_free(flat, now, work, True)
    return _slope_along(work), INDEFINITE


@inlined
def _slope_along(work):
    """Return the objective's change along `work.step`, to first order."""
    slope = 0.0
    for i in range(work.step.shape[0]):
        slope += work.slope[i] * work.step[i]
    return slope
