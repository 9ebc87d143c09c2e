"""Factors of the second derivatives over the coordinates that are free."""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.dense import cholesky, copy_chosen, solve_factored
from ..kinematics.elimination import eliminate
from ..kinematics.null_space import extend, reduce_matrix
from ..mechanism.topology import SMALL
from .hessian import matrix
from .work import factor_tree, solve_tree

INDEFINITE, DENSE, ARTICULATED = 0, 1, 2  # kinds of factored systems


@kernel(entry=False)
def list_independent(work, held):
    """List the free independent coordinates, with `held` also those on their bounds; return their number."""
    n = 0
    for i in range(work.step.shape[0]):
        if not work.e.dependent[i] and (held or work.e.free[i]):
            work.independent[n] = i
            n += 1
    work.listed[0] = n
    return n


@kernel(entry=False)
def fill(flat, now, work, n):
    """Fill `work.H` with the second derivatives over the n listed independent coordinates."""
    matrix(flat, now, work.terms, work.system, work.K)
    reduce_matrix(flat, work.e, work.K)
    copy_chosen(work.K, work.independent, n, work.H)


@kernel
def factor_listed(flat, now, work, changed, convex, held):
    """Factor the second derivatives over the free independent coordinates; return the kind of system.

    With `held` coordinates on their bounds are included, with `convex` the convex model stands in. Without
    `changed` only the list of coordinates is new. The kind is ARTICULATED, DENSE, or INDEFINITE where the matrix is
    not positive definite.
    """
    n = list_independent(work, held)
    if convex:
        if changed:
            copy_chosen(work.model, work.e.every, work.step.shape[0], work.K)
            reduce_matrix(flat, work.e, work.K)
        copy_chosen(work.K, work.independent, n, work.H)
    else:
        large = n > SMALL or work.step.shape[0] > 2 * SMALL  # most of some robots' freedoms are dependent
        if large and not work.program.number[1] and factor_tree(flat, now, work):
            return ARTICULATED
        if changed:
            fill(flat, now, work, n)
        else:
            copy_chosen(work.K, work.independent, n, work.H)
    return DENSE if cholesky(work.H, n) else INDEFINITE


@kernel(entry=False)
def solve_system(flat, now, work, kind, x):
    """Replace a reduced gradient x (d,) by the solution of the factored system, dependent coordinates included.

    The system's `kind` is ARTICULATED or DENSE.
    """
    if kind == ARTICULATED:
        solve_tree(flat, now, x, work)
        return
    n = work.listed[0]
    for a in range(n):
        work.reduced[a] = x[work.independent[a]]
    solve_factored(work.H, work.vectors, n, True, work.reduced, work.shares)
    for i in range(x.shape[0]):
        x[i] = 0.0
    for a in range(n):
        x[work.independent[a]] = work.reduced[a]
    extend(flat, work.e, x)


@inlined
def factor_matrix(flat, now, work):
    """Factor the listed coordinates' second derivatives in `work.H`; return DENSE, or INDEFINITE."""
    fill(flat, now, work, work.listed[0])
    return DENSE if cholesky(work.H, work.listed[0]) else INDEFINITE


@kernel(entry=False)
def make_held_independent(flat, now, work):
    """Eliminate again where the program holds dependent coordinates; return True if it does."""
    program = work.program
    for k in range(program.number[0]):
        if work.e.dependent[program.held[k]]:
            eliminate(flat, now, work.e)
            return True
    return False


@kernel(entry=False)
def prepare_free(flat, now, work, convex):
    """List the coordinates that no bound holds after the program; `factor_free` factors the system over them.

    Few steps need that: those whose end is corrected. With `convex` the system is that of the convex model.
    """
    pending = work.program.pending
    if work.program.number[0] > 0:
        pending[0], pending[2] = True, convex
        pending[1] = make_held_independent(flat, now, work)
        list_independent(work, False)


@kernel(entry=False)
def factor_free(flat, now, work):
    """Factor the system that `prepare_free` left to factor, if any; return False if it is not positive definite."""
    pending = work.program.pending
    if not pending[0]:
        return True
    pending[0] = False
    return factor_listed(flat, now, work, pending[1], pending[2], False) != INDEFINITE
