"""The quadratic program of a step: the model's optimum on the loops and between the bounds.

The system H = L Lᵀ is factored once, over the coordinates that are free at first. In u = Lᵀ z the model is a sphere. A
bound that is met on the way is a plane v · u = 0 with v = L⁻¹ a, where a · z is the step of the bounded coordinate. The
rest of the way is orthogonal to the normals of these planes. So a bound costs one solution with the factors at hand,
for independent and dependent coordinates alike. Directions that are hardly held lose no more digits than L⁻¹ does.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.dense import cholesky, copy_chosen, solve_lower, solve_upper
from ..kinematics.kernels import largest_motion
from ..kinematics.null_space import extend, reduce_gradient
from .factoring import ARTICULATED, INDEFINITE, factor_listed, factor_matrix, list_independent, solve_system
from .hessian import times

FAR = 1.5  # rad: a step that meets a bound so far out ends there, as it will be shortened by much
HELD = 1e-12  # rad or m: a coordinate this near to its bound is on it
WANTED = 1e-15  # of the objective: a force that pulls a coordinate off its bound
LEFT = 0.1  # of a normal's square: less of it is made orthogonal to others once more
DEPENDENT = 1e-24  # of a normal's square: what is left of it where it depends on others


@kernel
def _begin(flat, work):
    """Begin at no step, with no bound, and with the gradient there, reduced to the independent coordinates."""
    work.step[:] = 0.0
    work.program.number[0] = 0
    work.program.pending[0] = False
    for i in range(work.step.shape[0]):
        work.gradient[i] = work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)


@kernel(entry=False)
def solve_program(flat, now, tables, work, limits, convex):
    """Solve for the step by an active set, beginning with no step; return the kind of the last system.

    It goes to the optimum over coordinates that no bound holds, or as far as the first bound, which then holds. At
    the optimum the bound with the greatest pull away from it is released. With `convex` the convex model stands in
    for an indefinite matrix. The kind is INDEFINITE where a system has no factors.
    """
    program, d = work.program, work.step.shape[0]
    _begin(flat, work)
    kind = factor_listed(flat, now, work, not convex, convex, convex)  # the convex model is in K
    if kind == INDEFINITE:
        return kind
    if kind == ARTICULATED or not limits:
        if _go_at_once(flat, now, tables, work, limits, kind, convex):
            return kind
        if kind == ARTICULATED:
            kind = factor_matrix(flat, now, work)
            if kind == INDEFINITE:
                return kind
    _lead_to_optimum(work)
    for i in range(d):
        if convex and not work.e.free[i]:
            _hold(flat, work, i)
    for _ in range(3 * d + 3):
        _direct(flat, work)
        reach, who = _reach(flat, now, work, program.direction)
        _advance(work, reach)
        if who >= 0:
            work.e.free[who] = False
            _hold(flat, work, who)
            if largest_motion(flat, work.step)[0] < FAR:
                continue
            break
        if program.number[0] == 0 and all_free(work):
            break
        _slope_by_matrix(flat, work)
        _lead_to_optimum(work)
        kind, done = _let_go_one(flat, now, work, kind, convex)
        if done or kind == INDEFINITE:
            break
    if kind == INDEFINITE:
        program.number[0] = 0
    else:
        program.number[1] = program.number[0]
    return kind


@kernel
def _go_at_once(flat, now, tables, work, limits, kind, convex):
    """Take the whole step; return whether it is the program's, as it meets no bound and none is let go."""
    for i in range(work.step.shape[0]):
        work.step[i] = -work.gradient[i]
    solve_system(flat, now, work, kind, work.step)
    if not limits:
        return True
    way = work.program.direction
    for i in range(way.shape[0]):
        way[i], work.step[i] = work.step[i], 0.0
    _, who = _reach(flat, now, work, way)
    if who >= 0:
        return False
    for i in range(way.shape[0]):
        work.step[i] = way[i]
    if all_free(work):
        return True
    _slope_after(flat, now, tables, work)
    _, who = _eager(flat, now, work, convex)
    if who < 0:
        return True
    for i in range(way.shape[0]):
        work.step[i], work.gradient[i] = 0.0, work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)
    return False


@kernel
def _lead_to_optimum(work):
    """Fill `way` with what leads from the step so far to the optimum without bounds, in u."""
    for a in range(work.listed[0]):
        work.program.way[a] = -work.gradient[work.independent[a]]
    solve_lower(work.H, work.listed[0], work.program.way)


@kernel
def _hold(flat, work, i):
    """Add the plane of a coordinate that is held from now on."""
    program = work.program
    k = program.number[0]
    pull = program.pulls[k]
    pull[:] = 0.0
    pull[i] = 1.0
    reduce_gradient(flat, work.e, pull)
    program.held[k] = i
    program.number[0] = k + 1
    _put_plane(work, k)
    _span(work, k)


@kernel
def _put_plane(work, k):
    """Fill the normal of plane k as the factors at hand give it."""
    program, n = work.program, work.listed[0]
    plane, pull = program.planes[k], program.pulls[k]
    for a in range(n):
        plane[a] = pull[work.independent[a]]
    solve_lower(work.H, n, plane)


@inlined
def _dot(a, b, n):
    """Return the product of two vectors; four sums beside each other do not wait for each other."""
    p, q, r, s, i = 0.0, 0.0, 0.0, 0.0, 0
    while i + 4 <= n:
        p += a[i] * b[i]
        q += a[i + 1] * b[i + 1]
        r += a[i + 2] * b[i + 2]
        s += a[i + 3] * b[i + 3]
        i += 4
    for rest in range(i, n):
        p += a[rest] * b[rest]
    return (p + q) + (r + s)


@kernel
def _span(work, k):
    """Fill the normal of plane k, orthogonal to those before and of length one, and its shares of these.

    A normal that depends on those before is left out: its plane needs no force.
    """
    program, n = work.program, work.listed[0]
    own, shares, plane = program.normals[k], program.shares[k], program.planes[k]
    for a in range(n):
        own[a] = plane[a]
    whole = _dot(own, own, n)
    shares[:k] = 0.0
    before, rest = np.inf, whole
    while rest < LEFT * before:  # a second time for what rounding left, where little is left
        for j in range(k):
            other = program.normals[j]
            f = _dot(other, own, n)
            shares[j] += f
            for a in range(n):
                own[a] -= f * other[a]
        before, rest = rest if before == np.inf else 0.0, _dot(own, own, n)
    depends = not rest > DEPENDENT * whole
    shares[k] = np.inf if depends else sqrt(rest)
    for a in range(n):
        own[a] = 0.0 if depends else own[a] / shares[k]


@kernel
def _direct(flat, work):
    """Fill `along` and `direction` with the way to the optimum with the held coordinates.

    From the step so far: the way in u, and that of all coordinates.
    """
    program, n = work.program, work.listed[0]
    along, direction = program.along, program.direction
    for a in range(n):
        along[a] = program.way[a]
    for k in range(program.number[0]):
        normal = program.normals[k]
        f = _dot(normal, along, n)
        for a in range(n):
            along[a] -= f * normal[a]
    for a in range(n):
        work.reduced[a] = along[a]
    solve_upper(work.H, n, work.reduced)
    direction[:] = 0.0
    for a in range(n):
        direction[work.independent[a]] = work.reduced[a]
    extend(flat, work.e, direction)
    for k in range(program.number[0]):
        direction[program.held[k]] = 0.0


@inlined
def _advance(work, reach):
    """Add a part of the direction to the step."""
    for i in range(work.step.shape[0]):
        work.step[i] += reach * work.program.direction[i]
    for a in range(work.listed[0]):
        work.program.way[a] -= reach * work.program.along[a]


@kernel
def _balance(work):
    """Fill `forces` of the held coordinates at the optimum between them."""
    program, n = work.program, work.listed[0]
    count, forces = program.number[0], program.forces
    for k in range(count):
        forces[k] = _dot(program.normals[k], program.way, n)
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            forces[k] -= program.shares[j, k] * forces[j]
        forces[k] /= program.shares[k, k]


@kernel
def _reach(flat, now, work, direction):
    """Return the part of a direction that fits before a free coordinate meets its bound, and that coordinate.

    The direction begins after the step so far; the coordinate is -1 if none meets its bound.
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
def _slope_after(flat, now, tables, work):
    """Fill `work.gradient` with the model's gradient after the step so far, reduced to the independent coordinates."""
    times(flat, now, tables, work.terms, work.system, work.step, work.gradient)
    for i in range(work.slope.shape[0]):
        work.gradient[i] += work.slope[i]
    reduce_gradient(flat, work.e, work.gradient)


@kernel
def _slope_by_matrix(flat, work):
    """Fill `work.gradient` as `_slope_after` does, by the reduced matrix in `K`."""
    gradient, n = work.gradient, work.listed[0]
    for i in range(gradient.shape[0]):
        gradient[i] = work.slope[i]
    reduce_gradient(flat, work.e, gradient)
    for a in range(n):  # no others have moved
        work.reduced[a] = work.step[work.independent[a]]
    for i in range(gradient.shape[0]):
        if not work.e.dependent[i]:
            row, more = work.K[i], 0.0
            for a in range(n):
                more += row[work.independent[a]] * work.reduced[a]
            gradient[i] += more


@kernel
def _let_go_one(flat, now, work, kind, convex):
    """Release the held coordinate whose force points most away from its bound.

    Return the kind of the system, and whether no coordinate was released.
    """
    program = work.program
    _balance(work)
    row, who = _eager(flat, now, work, convex)
    if who < 0:
        return kind, True
    work.e.free[who] = True
    if row >= 0:
        last = program.number[0] - 1
        program.held[row] = program.held[last]
        for j in range(program.pulls.shape[1]):
            program.pulls[row, j] = program.pulls[last, j]
            program.planes[row, j] = program.planes[last, j]
        program.number[0] = last
    else:
        row = 0
        n = list_independent(work, False)
        copy_chosen(work.K, work.independent, n, work.H)
        if not cholesky(work.H, n):
            return INDEFINITE, False
        _lead_to_optimum(work)
        for k in range(program.number[0]):
            _put_plane(work, k)
    for k in range(row, program.number[0]):
        _span(work, k)
    return kind, False


@kernel
def _eager(flat, now, work, convex):
    """Return the held coordinate whose force points most away from its bound, -1 for none.

    And its row in the program; -1 for a coordinate that the system itself holds.
    """
    program = work.program
    count, worst, row, who = program.number[0], WANTED, -1, -1
    for k in range(count):
        i = program.held[k]
        inward = _inward(flat, now, work, i, -program.forces[k])
        if inward > worst:
            worst, row, who = inward, k, i
    for i in range(work.step.shape[0] if not convex else 0):
        if not work.e.free[i] and not work.e.dependent[i]:
            slope, own = work.gradient[i], False
            for k in range(count):
                slope += program.forces[k] * program.pulls[k, i]
                own = own or program.held[k] == i
            inward = _inward(flat, now, work, i, slope)
            if inward > worst and not own:
                worst, row, who = inward, -1, i
    return row, who


@inlined
def _inward(flat, now, work, i, slope):
    """Return the force of a held coordinate away from its bound, for this slope."""
    if not work.lower[i] < work.upper[i]:
        return 0.0
    at_lower = now.q[flat.dof_q[i]] + work.step[i] <= work.lower[i] + HELD
    return -slope if at_lower else slope


@inlined
def all_free(work):
    """Return True if no coordinate is held at a bound."""
    held = 0
    for i in range(work.e.free.shape[0]):
        held += not work.e.free[i]
    return held == 0
