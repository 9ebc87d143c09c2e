"""Elimination of dependent coordinates from the loops' equations, group by group.

Gaussian elimination with complete pivoting on a group's closure Jacobian reveals its rank r. Redundant rows drop out.
The columns split into r dependent coordinates and the independent rest. A step of the independent coordinates z gives
the step of all coordinates by dy = Z dz + s, with the null space Z = [1; -T] and any particular step s. Wide groups are
eliminated by their entries (`sparse_elimination.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record, inlined, kernel
from ..mechanism.topology import SMALL, Flat
from .kernels import group_jacobian
from .sparse_elimination import SparseFactors, factor_sparse, new_sparse_factors, refactor_sparse


class Elimination(NamedTuple):
    """Room for the factors of all groups; r and c are the rows and columns of the largest."""

    LU: np.ndarray  # (groups, r, c) factors, rows and columns in pivoted order
    other: np.ndarray  # (groups, r, c) scratch
    row: np.ndarray  # rows in pivoted order, at the groups' starts
    column: np.ndarray  # degrees of freedom in pivoted order, at the groups' starts
    rank: np.ndarray  # (groups,)
    free: np.ndarray  # (d,) whether it may be dependent
    dependent: np.ndarray  # (d,) whether it is
    allowed: np.ndarray  # (d,) what was `free` in the last elimination
    tied: np.ndarray  # (1,) whether a row remains that ties coordinates to each other that may not be
    right: np.ndarray  # (r,) scratch
    most: np.ndarray  # (r,) scratch
    where: np.ndarray  # (r,) scratch
    every: np.ndarray  # (d,) 0 to d - 1
    whole: np.ndarray  # (2, d) first entry of a row and the one after its last, where rows are full
    sparse: SparseFactors  # factors of wide groups


class SparseElimination(Elimination):
    """Elimination of a robot of more than `SMALL` degrees of freedom, which may have wide groups.

    A kind of its own, so that what only such a robot needs is compiled for it alone.
    """


RANK_TOLERANCE = 1e-8  # of the largest entry, at least of the robot's size


def new_elimination(flat: Flat) -> Elimination:
    """Return room for a mechanism's factors, with every degree of freedom free."""
    rows, columns = np.diff(flat.group_row_at), np.diff(flat.group_column_at)
    d, groups = len(flat.before), len(rows)
    most = (groups, rows.max(initial=0), columns.max(initial=0))
    kind = Elimination if d <= SMALL else SparseElimination
    return by_reference(
        kind(
            LU=np.zeros(most),
            other=np.zeros(most),
            row=flat.group_rows.copy(),
            column=flat.group_columns.copy(),
            rank=np.zeros(groups, np.int64),
            free=np.ones(d, np.bool_),
            dependent=np.zeros(d, np.bool_),
            allowed=np.zeros(d, np.bool_),
            tied=np.zeros(1, np.bool_),
            right=np.zeros(max(most[1:]) + 1),
            most=np.zeros(most[1] + 1),
            where=np.zeros(most[1] + 1, np.int64),
            every=np.arange(d),
            whole=np.array([np.zeros(d, np.int64), np.full(d, d)]),
            sparse=new_sparse_factors(flat),
        )
    )


@inlined
def _factors(flat, e, g):
    """Return a group's matrix, of which only its own rows and columns count, and its width."""
    return e.LU[g], flat.group_column_at[g + 1] - flat.group_column_at[g]


@kernel
def eliminate(flat, now, e):
    """Factor the closure Jacobian at `now`, with dependent coordinates among `free` ones; return the total rank."""
    total = 0
    e.dependent[:] = False
    for i in range(e.free.shape[0]):
        e.allowed[i] = e.free[i]
    e.tied[0] = False
    for g in range(e.rank.shape[0]):
        c0 = flat.group_column_at[g]
        rank = _factor_wide(flat, now, g, e) if e.sparse.slot[g] >= 0 else _factor(flat, now, g, e)
        e.rank[g] = rank
        for j in range(rank):
            e.dependent[e.column[c0 + j]] = True
        total += rank
    return total


@kernel
def _factor(flat, now, g, e):
    """Factor the closure Jacobian of a group at `now`; return its rank."""
    r0, r1, c0, c1 = (
        flat.group_row_at[g],
        flat.group_row_at[g + 1],
        flat.group_column_at[g],
        flat.group_column_at[g + 1],
    )
    A, width = _factors(flat, e, g)
    row, column = e.row[r0:r1], e.column[c0:c1]
    for j in range(width):
        column[j] = flat.group_columns[c0 + j]
    group_jacobian(flat, now, g, A)
    for i in range(r1 - r0):
        row[i] = flat.group_rows[r0 + i]
    free = _put_free_first(A, r1 - r0, width, column, e.free)
    rank, tiny = _pivoted_lu(A, r1 - r0, flat.row_kind.shape[0], width, free, flat.size, row, column, e.most, e.where)
    for i in range(rank, r1 - r0):
        for j in range(free, width):
            e.tied[0] = e.tied[0] or abs(A[i, j]) > tiny
    _back_substitute(A, rank, width)
    return rank


@inlined
def _put_free_first(A, rows, width, column, free):
    """Swap columns so that those that may not become dependent come last; return the number of the others."""
    j, n = 0, width
    while j < n:
        if free[column[j]]:
            j += 1
            continue
        n -= 1
        column[j], column[n] = column[n], column[j]
        for i in range(rows):
            A[i, j], A[i, n] = A[i, n], A[i, j]
    return n


@compiled_for_record(SparseElimination, otherwise=0)
def _factor_wide(flat, now, g, e):
    """Factor a wide group by its entries; return its rank."""
    return factor_sparse(flat, now, g, e, RANK_TOLERANCE)


@compiled_for_record(SparseElimination, otherwise=True)
def _refactor_wide(flat, now, g, e):
    """Factor a wide group near by with the pivots that it has; return False where one vanishes."""
    return refactor_sparse(flat, now, g, e, RANK_TOLERANCE * flat.size)


@inlined
def _largest(row, start, stop):
    """Return the largest of a row's entries from `start` to `stop`, and where it is: -1 where all are zero."""
    best, at = 0.0, -1
    for j in range(start, stop):
        size = abs(row[j])
        if size > best:
            best, at = size, j
    return best, at


@kernel
def _pivoted_lu(A, rows, couplings, width, free, size, row, column, most, where):
    """Factor A in place: L (unit, below) and U; swap `row` and `column` along. Pivots are in its first `free` columns.

    Rows that are `couplings`, numbered from there on, come first: they have two entries each and cause hardly any
    fill-in. `most` and `where` (rows,) are scratch: each row's largest entry, which changes only where the row does.

    Returns the rank, and the size up to which entries count as zero.
    """
    largest = size  # what a hinge does to a row; a loop whose rows are all noise has rank zero
    for i in range(rows):
        most[i], where[i] = _largest(A[i], 0, free)
        largest = max(largest, most[i])
        for j in range(free, width):
            largest = max(largest, abs(A[i, j]))
    tiny, k, i = RANK_TOLERANCE * largest, 0, 0
    while k < min(rows, width):
        best, bi = tiny, -1
        while i < rows and bi < 0:
            if row[i] >= couplings and most[i] > tiny:
                bi = i
            i += 1
        for other in range(k, rows if bi < 0 else k):
            if most[other] > best:
                best, bi = most[other], other
        if bi < 0:
            break
        _pivot(A, k, bi, rows, width, free, row, column, most, where)
        k += 1
    return k, tiny


@inlined
def _pivot(A, k, bi, rows, width, free, row, column, most, where):
    """Bring row bi and its largest entry to place k, eliminate what is below, and note the rows' largest entries."""
    bj = where[bi]
    if bi != k:
        row[k], row[bi] = row[bi], row[k]
        most[bi], where[bi] = most[k], where[k]
        for j in range(width):
            A[k, j], A[bi, j] = A[bi, j], A[k, j]
    if bj != k:
        column[k], column[bj] = column[bj], column[k]
        for i in range(rows):
            A[i, k], A[i, bj] = A[i, bj], A[i, k]
    inverse = 1.0 / A[k, k]
    for i in range(k + 1, rows):
        f = A[i, k] * inverse
        A[i, k] = f
        if f != 0.0:
            for j in range(k + 1, width):
                A[i, j] -= f * A[k, j]
            most[i], where[i] = _largest(A[i], k + 1, free)
        elif where[i] == k:
            where[i] = bj


@kernel(entry=False)
def refactor(flat, now, e):
    """Factor the closure Jacobian near by with the pivots of the last elimination; return False where one vanishes.

    Dependent and independent coordinates stay the same.
    """
    for g in range(e.rank.shape[0]):
        if e.sparse.slot[g] >= 0:
            if not _refactor_wide(flat, now, g, e):
                return False
            continue
        r0, c0, rank = flat.group_row_at[g], flat.group_column_at[g], e.rank[g]
        A, width = _factors(flat, e, g)
        B = e.other[g]
        group_jacobian(flat, now, g, B)
        for k in range(rank):
            source = 0
            while flat.group_rows[r0 + source] != e.row[r0 + k]:
                source += 1
            for j in range(width):
                A[k, j] = B[source, flat.column_of[e.column[c0 + j]]]
        for k in range(rank):
            if abs(A[k, k]) <= RANK_TOLERANCE * flat.size:
                return False
            inverse = 1.0 / A[k, k]
            for i in range(k + 1, rank):
                f = A[i, k] * inverse
                A[i, k] = f
                if f != 0.0:
                    for j in range(k + 1, width):
                        A[i, j] -= f * A[k, j]
        _back_substitute(A, rank, width)
    return True


@kernel
def _back_substitute(A, rank, width):
    """Turn U's right part into T = U₁⁻¹ U₂.

    Dependent coordinates then move by -T times the independent ones.
    """
    for k in range(rank - 1, -1, -1):
        for i in range(k + 1, rank):
            f = A[k, i]
            if f != 0.0:
                for j in range(rank, width):
                    A[k, j] -= f * A[i, j]
        inverse = 1.0 / A[k, k]
        for j in range(rank, width):
            A[k, j] *= inverse
