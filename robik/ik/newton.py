"""Newton's step on the loops and between the bounds.

The second derivatives are those of the Lagrangian: what targets and loops exert bends it. Where the step is large, what
they exert changes along it: a target that is nearly met pulls hardly at all, yet a hundredth of a radian beside it may
pull ten thousand times as hard as the weak pull that chooses among the poses that meet it, and Newton's steps become
tiny (as those of any penalty's minimiser). So the forces are first foreseen by a Gauss-Newton step, which knows none,
to where that step leads; they then bend the model. Where a step is small both are the same, and at the optimum the
convergence is that of Newton's method.
"""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.elimination import eliminate, extend, multipliers, reduce_gradient, reduce_matrix
from ..kinematics.kernels import largest_motion
from ..objectives.registry import gather, stiffen
from ..objectives.terms import gradient
from .curvature import closure_curvature
from .dense import cholesky, copy_chosen, diagonalise, make_positive, solve_factored
from .hessian import carry, matrix, times
from .work import SMALL, factor_tree, solve_tree

ASIDE = 0.1  # rad, and of the robot's size: the step away from a saddle
HELD = 1e-12  # rad or m: a coordinate this near to its bound is on it
INDEFINITE, DENSE, ARTICULATED = 0, 1, 2  # kinds of factored systems


@kernel
def _reach(flat, now, work, direction):
    """How much of a direction fits, after the step so far, before a free coordinate meets its bound.

    And which one does, -1 for none.
    """
    reach, who = 1.0, -1
    for i in range(work.lower.shape[0]):
        at = flat.dof_q[i]
        if at >= 0 and work.e.free[i] and abs(direction[i]) > HELD:
            bound = work.lower[i] if direction[i] < 0.0 else work.upper[i]
            part = max(0.0, (bound - now.q[at] - work.step[i]) / direction[i])
            if part < reach:
                reach, who = part, i
    return reach, who


@kernel
def _let_go(flat, now, work):
    """Lets go of coordinates that are off their bounds; returns whether any were held."""
    found = False
    for i in range(work.slope.shape[0]):
        if not work.e.free[i]:
            q = now.q[flat.dof_q[i]]
            work.e.free[i] = work.lower[i] + HELD < q < work.upper[i] - HELD
            found = found or work.e.free[i]
    return found


@kernel
def _bend(flat, now, goals, work, share, slope):
    """Second derivatives of the Lagrangian at `now`, and the objective's gradient into `slope`, with the forces as
    `gather` takes them."""
    gather(flat, now, goals, work.terms, share)
    stiffen(flat, now, goals, work.terms)
    gradient(flat, now, work.terms, slope)
    multipliers(flat, work.e, slope, work.multiplier)
    closure_curvature(flat, now, work.multiplier, work.system)


@kernel(entry=False)
def newton_step(flat, now, goals, work, limits, anyway):
    """Newton's step at `now` into `work.step`; returns its slope and the kind of its system.

    Where that is INDEFINITE there is a step only if one is wanted `anyway`.
    """
    _let_go(flat, now, work)
    eliminate(flat, now, work.e)
    _bend(flat, now, goals, work, 1.0, work.slope)
    return _step(flat, now, goals, work, limits, anyway)


@kernel(entry=False)
def foreseeing_step(flat, now, goals, work, limits, anyway):
    """After a Newton step at `now`: one with the forces as Gauss-Newton's step foresees them.

    Returns as that does; no step, and INDEFINITE, where Gauss-Newton's is of no use, or where these forces make the
    system indefinite and none is wanted `anyway`.
    """
    if _let_go(flat, now, work):
        eliminate(flat, now, work.e)
    _bend(flat, now, goals, work, 0.0, work.correction)
    slope, kind = _step(flat, now, goals, work, limits, False)
    if kind == INDEFINITE:
        return slope, kind
    ahead = work.terms.ahead
    for b in range(1, ahead.shape[0]):
        carry(flat, now, ahead, b, work.step)
    if _let_go(flat, now, work):
        eliminate(flat, now, work.e)
    _bend(flat, now, goals, work, 1.0, work.correction)
    ahead[:] = 0.0
    return _step(flat, now, goals, work, limits, anyway)


@kernel
def _list_leaders(work, held):
    """Lists the free independent coordinates, and the `held` ones too if they are wanted.

    Returns how many there are.
    """
    n = 0
    for i in range(work.step.shape[0]):
        if not work.e.follows[i] and (held or work.e.free[i]):
            work.independent[n] = i
            n += 1
    work.leading[0] = n
    return n


@kernel
def _fill(flat, now, work, n):
    """Fills H with the second derivatives over the n independent coordinates that are listed."""
    matrix(flat, now, work.terms, work.system, work.K)
    reduce_matrix(flat, work.e, work.K)
    copy_chosen(work.K, work.independent, n, work.H)


@kernel
def _factor(flat, now, work, anew, convex):
    """Factors the second derivatives over the free independent coordinates, or those of the convex model.

    Returns ARTICULATED, DENSE, or INDEFINITE where they are not positive definite. Without `anew` only the list of free
    independent coordinates has changed.
    """
    n = _list_leaders(work, False)
    if convex:
        if anew:
            copy_chosen(work.model, work.e.every, work.step.shape[0], work.K)
            reduce_matrix(flat, work.e, work.K)
        copy_chosen(work.K, work.independent, n, work.H)
    else:
        if work.step.shape[0] > SMALL and factor_tree(flat, now, work):
            return ARTICULATED
        if anew or work.step.shape[0] > SMALL:
            _fill(flat, now, work, n)
        else:
            copy_chosen(work.K, work.independent, n, work.H)
    return DENSE if cholesky(work.H, n) else INDEFINITE


@kernel(entry=False)
def _make_convex(flat, now, work):
    """Fills `model` with the second derivatives over all independent coordinates, held ones too, their eigenvalues
    replaced by the absolute values.

    One model for the whole program: were each set of free independent coordinates given absolute eigenvalues of its
    own, the sum of its steps could lead uphill.
    """
    n = _list_leaders(work, True)
    _fill(flat, now, work, n)
    diagonalise(work.H, work.vectors, n)
    make_positive(work.H, n)
    work.model[:] = 0.0
    for a in range(n):
        for b in range(n):
            for k in range(n):
                work.model[work.independent[a], work.independent[b]] += (
                    work.vectors[a, k] * work.H[k, k] * work.vectors[b, k]
                )


@kernel(entry=False)
def leave_saddle(flat, now, work):
    """Where nothing but the second derivatives points down: puts a step along their lowest eigenvector over the free
    independent coordinates into `work.step` and returns the change that they promise, 0.0 where they promise none."""
    n = _list_leaders(work, False)
    _fill(flat, now, work, n)
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
        work.step[work.independent[a]] = work.vectors[a, lowest]
    extend(flat, work.e, work.step)
    _, largest = largest_motion(flat, work.step)
    scale = ASIDE / largest
    for i in range(work.step.shape[0]):
        work.step[i] *= scale
    return 0.5 * work.H[lowest, lowest] * scale * scale


@kernel(entry=False)
def solve_system(flat, now, work, kind, x):
    """In place: x (d,), a reduced gradient, to the solution of the factored system, dependent coordinates included."""
    if kind == ARTICULATED:
        solve_tree(flat, now, x, work)
        return
    n = work.leading[0]
    for a in range(n):
        work.reduced[a] = x[work.independent[a]]
    solve_factored(work.H, work.vectors, n, True, work.reduced, work.shares)
    for i in range(x.shape[0]):
        x[i] = 0.0
    for a in range(n):
        x[work.independent[a]] = work.reduced[a]
    extend(flat, work.e, x)


@kernel
def _slope_after(flat, now, goals, work, convex):
    """Fills `work.gradient` with the model's gradient after the step so far, reduced to the independent coordinates."""
    if convex:
        for i in range(work.slope.shape[0]):
            work.gradient[i] = work.slope[i]
            for j in range(work.slope.shape[0]):
                work.gradient[i] += work.model[i, j] * work.step[j]
    else:
        times(flat, now, goals, work.terms, work.system, work.step, work.gradient)
        for i in range(work.slope.shape[0]):
            work.gradient[i] += work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)


@kernel
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


@inlined
def all_free(work):
    """Whether no coordinate is held at a bound."""
    held = 0
    for i in range(work.e.free.shape[0]):
        held += not work.e.free[i]
    return held == 0


@kernel
def _step(flat, now, goals, work, limits, anyway):
    """Newton's step on the loops and between the bounds, into `work.step`.

    Where the second derivatives on its way are not definite, that of the convex model, if one is wanted `anyway`.
    Returns (slope, kind: INDEFINITE also for that).

    Each set of free independent coordinates may see a definite system and their union an indefinite one: then the step
    leads uphill at first.
    """
    kind = _solve_program(flat, now, goals, work, limits, False)
    if kind != INDEFINITE:
        slope = _slope_along(work)
        if not slope > 0.0:
            return slope, kind
    if not anyway:
        work.step[:] = 0.0
        return 0.0, INDEFINITE
    if _let_go(flat, now, work):
        eliminate(flat, now, work.e)
    _make_convex(flat, now, work)
    _solve_program(flat, now, goals, work, limits, True)
    return _slope_along(work), INDEFINITE


@inlined
def _slope_along(work):
    """The objective's change along `work.step`, to first order."""
    slope = 0.0
    for i in range(work.step.shape[0]):
        slope += work.slope[i] * work.step[i]
    return slope


@kernel
def _solve_program(flat, now, goals, work, limits, convex):
    """The quadratic program of the step, solved by an active set.

    Returns the kind of the last system, INDEFINITE where one has no factors.

    From no step at all: to the optimum of the free independent coordinates, or as far as the first bound, which then is
    held; at the optimum, the held coordinate that most wants back is let go.
    """
    d = work.step.shape[0]
    work.step[:] = 0.0
    for i in range(d):
        work.gradient[i] = work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)
    kind, anew = INDEFINITE, d > 0
    for _ in range(3 * d + 3):
        kind = _factor(flat, now, work, anew, convex)
        if kind == INDEFINITE:
            return kind
        anew = d < 0
        way = work.correction
        for i in range(d):
            way[i] = -work.gradient[i]
        solve_system(flat, now, work, kind, way)
        reach, who = _reach(flat, now, work, way) if limits else (1.0, -1)
        for i in range(d):
            work.step[i] += reach * way[i]
        if who >= 0:
            work.e.free[who] = False
            if work.e.follows[who]:
                eliminate(flat, now, work.e)
                anew = d > 0
        elif not limits or all_free(work):
            break
        _slope_after(flat, now, goals, work, convex)
        if who < 0:
            who = _eager(flat, now, work)
            if who < 0:
                break
            work.e.free[who] = True
    return kind
