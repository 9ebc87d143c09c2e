"""Products with the null space Z of the loops' equations, group by group.

A group's factors are a dense matrix, or sparse where the group is wide (`sparse_null_space.py`).
"""

from __future__ import annotations

from ..jit import compiled_for_record, inlined, kernel
from .elimination import SparseElimination, _factors
from .sparse_null_space import (
    extend_sparse,
    multipliers_sparse,
    onto_independent_sparse,
    particular_sparse,
    reduce_gradient_sparse,
    reduce_sparse,
)


@kernel(entry=False)
def particular(flat, e, right, step):
    """Add to a step (d,) a motion of dependent coordinates that changes the closure rows by `right` (rows,) [m]."""
    for g in range(e.rank.shape[0]):
        if e.sparse.slot[g] >= 0:
            _particular_wide(flat, g, right, step, e)
            continue
        r0, c0, rank = flat.group_row_at[g], flat.group_column_at[g], e.rank[g]
        A, _ = _factors(flat, e, g)
        x = e.right
        for k in range(rank):
            s = right[e.row[r0 + k]]
            for i in range(k):
                s -= A[k, i] * x[i]
            x[k] = s
        for k in range(rank - 1, -1, -1):
            s = x[k]
            for i in range(k + 1, rank):
                s -= A[k, i] * x[i]
            x[k] = s / A[k, k]
            step[e.column[c0 + k]] += x[k]


@kernel
def extend(flat, e, step):
    """Fill the dependent degrees of freedom of a step (d,) from the independent ones: dy = Z dz."""
    for g in range(e.rank.shape[0]):
        extend_group(flat, e, g, step)


@inlined
def extend_group(flat, e, g, step):
    """Fill the dependent degrees of freedom of group g in a step (d,)."""
    if e.sparse.slot[g] >= 0:
        _extend_wide(flat, g, step, e)
    else:
        _extend_group(flat, e, g, step)


@inlined
def _extend_group(flat, e, g, step):
    """Complete a step in a group of dense factors."""
    c0, rank = flat.group_column_at[g], e.rank[g]
    A, width = _factors(flat, e, g)
    for k in range(rank):
        s = 0.0
        for j in range(rank, width):
            s -= A[k, j] * step[e.column[c0 + j]]
        step[e.column[c0 + k]] = s


@kernel(entry=False)
def reduce_gradient(flat, e, gradient):
    """Replace a gradient (d,) by Zᵀ gradient.

    The independent coordinates' entries are the reduced gradient, the dependent ones become zero.
    """
    for g in range(e.rank.shape[0]):
        reduce_group_gradient(flat, e, g, gradient)


@inlined
def reduce_group_gradient(flat, e, g, gradient):
    """Replace a gradient (d,) by Zᵀ gradient for group g."""
    if e.sparse.slot[g] >= 0:
        _reduce_gradient_wide(flat, g, gradient, e)
    else:
        _reduce_group_gradient(flat, e, g, gradient)


@inlined
def _reduce_group_gradient(flat, e, g, gradient):
    """Replace a gradient by Zᵀ gradient in a group of dense factors."""
    c0, rank = flat.group_column_at[g], e.rank[g]
    A, width = _factors(flat, e, g)
    for k in range(rank):
        f = gradient[e.column[c0 + k]]
        gradient[e.column[c0 + k]] = 0.0
        for j in range(rank, width):
            gradient[e.column[c0 + j]] -= A[k, j] * f


@kernel(entry=False)
def multipliers(flat, e, gradient, out):
    """Fill `out` (rows,) with λ of Cᵀλ = gradient on the dependent coordinates.

    Redundant rows get zero.
    """
    out[:] = 0.0
    for g in range(e.rank.shape[0]):
        if e.sparse.slot[g] >= 0:
            _multipliers_wide(flat, g, gradient, out, e)
            continue
        r0, c0, rank = flat.group_row_at[g], flat.group_column_at[g], e.rank[g]
        A, _ = _factors(flat, e, g)
        x = e.right
        for k in range(rank):
            s = gradient[e.column[c0 + k]]
            for i in range(k):
                s -= A[i, k] * x[i]
            x[k] = s / A[k, k]
        for k in range(rank - 1, -1, -1):
            s = x[k]
            for i in range(k + 1, rank):
                s -= A[i, k] * x[i]
            x[k] = s
            out[e.row[r0 + k]] = s


@kernel(entry=False)
def reduce_matrix(flat, e, K):
    """Replace a symmetric K (d, d) by Zᵀ K Z.

    The reduced matrix is in the entries between independent coordinates; no others may be read afterwards.
    """
    for g in range(e.rank.shape[0]):
        reduce_group(flat, e, g, K, e.every, K.shape[0], e.whole)


@kernel(entry=False)
def reduce_group(flat, e, g, K, place, d, span):
    """Replace K[:d, :d] by Zᵀ K Z for group g; `place` has the row of K of each degree of freedom.

    `span` (2, rows), each row's first entry that may not be zero and the one after the last, is kept up to date in
    groups of sparse factors.
    """
    if e.sparse.slot[g] >= 0:
        _reduce_wide(flat, g, K, place, span, e)
    else:
        _reduce_group(flat, e, g, K, place, d)


@kernel
def _reduce_group(flat, e, g, K, place, d):
    """Replace K[:d, :d] by Zᵀ K Z in a group of dense factors."""
    c0, rank = flat.group_column_at[g], e.rank[g]
    A, width = _factors(flat, e, g)
    for k in range(rank):
        source = place[e.column[c0 + k]]
        for j in range(rank, width):
            f = A[k, j]
            if f != 0.0:
                target = place[e.column[c0 + j]]
                for i in range(d):
                    K[target, i] -= f * K[source, i]
    own = e.other[g, 0] if rank > 0 else e.right
    for a in range(rank, width):  # the result is symmetric between independent coordinates; no other entry is read
        row = K[place[e.column[c0 + a]]]
        for j in range(rank, width):
            own[j] = row[place[e.column[c0 + j]]]
        for k in range(rank):
            f = row[place[e.column[c0 + k]]]
            if f != 0.0:
                for j in range(rank, width):
                    own[j] -= A[k, j] * f
        for j in range(rank, width):
            row[place[e.column[c0 + j]]] = own[j]
    for a in range(rank, width):
        at = place[e.column[c0 + a]]
        for i in range(d):
            K[i, at] = K[at, i]


@inlined
def onto_independent(flat, e, g, U):
    """Add the wrenches U (d, 6) of the dependent degrees of freedom of group g to those of the independent ones."""
    if e.sparse.slot[g] >= 0:
        _onto_independent_wide(flat, g, U, e)
    else:
        _onto_independent(flat, e, g, U)


@inlined
def _onto_independent(flat, e, g, U):
    """Turn wrenches into those of the independent coordinates in a group of dense factors."""
    c0, rank = flat.group_column_at[g], e.rank[g]
    A, width = _factors(flat, e, g)
    for k in range(rank):
        source = U[e.column[c0 + k]]
        for j in range(rank, width):
            target = U[e.column[c0 + j]]
            for i in range(6):
                target[i] -= A[k, j] * source[i]


@compiled_for_record(SparseElimination)
def _particular_wide(flat, g, right, step, e):
    """Add a particular motion in a group of sparse factors."""
    particular_sparse(flat, g, right, step, e)


@compiled_for_record(SparseElimination)
def _extend_wide(flat, g, step, e):
    """Complete a step in a group of sparse factors."""
    extend_sparse(flat, g, step, e)


@compiled_for_record(SparseElimination)
def _reduce_gradient_wide(flat, g, gradient, e):
    """Replace a gradient by Zᵀ gradient in a group of sparse factors."""
    reduce_gradient_sparse(flat, g, gradient, e)


@compiled_for_record(SparseElimination)
def _multipliers_wide(flat, g, gradient, out, e):
    """Fill the multipliers of a group of sparse factors."""
    multipliers_sparse(flat, g, gradient, out, e)


@compiled_for_record(SparseElimination)
def _reduce_wide(flat, g, K, place, span, e):
    """Replace K by Zᵀ K Z in a group of sparse factors."""
    reduce_sparse(flat, g, K, place, span, e)


@compiled_for_record(SparseElimination)
def _onto_independent_wide(flat, g, U, e):
    """Turn wrenches into those of the independent coordinates in a group of sparse factors."""
    onto_independent_sparse(flat, g, U, e)
