"""The loops' equations, solved group by group: which coordinates follow from which.

Gaussian elimination with complete pivoting on a group's closure Jacobian reveals its rank r, redundant rows simply fall out, and its
columns split into r that follow and the rest that lead. A step of the leading coordinates z extends to all by dy = Z dz + s, with the
null space Z = [1; -T] and any particular step s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robik.kinematics.kernels import row_gradient
from robik.mechanism.topology import Flat


class Elimination(NamedTuple):
    """Room for the factors of all groups.

    Per group g with rows R and columns C: `LU` from `LU_at[g]` as an R × C matrix in pivoted order; `row` and `column`: that order, at
    the group's starts; `rank` (groups,). `free` (d,): whether a degree of freedom may move at all. `follows` (d,): whether it follows.
    `gradient` (d,) and `right` (most rows,) are scratch.
    """

    LU: np.ndarray
    LU_at: np.ndarray
    row: np.ndarray
    column: np.ndarray
    rank: np.ndarray
    width: np.ndarray
    free: np.ndarray
    follows: np.ndarray
    gradient: np.ndarray
    right: np.ndarray


RANK_TOLERANCE = 1e-8  # of the largest entry


def new_elimination(flat: Flat) -> Elimination:
    """Room for a mechanism's factors, with every degree of freedom free."""
    rows, columns = np.diff(flat.group_row_at), np.diff(flat.group_column_at)
    at = np.concatenate([[0], np.cumsum(rows * columns)]).astype(np.int64)
    d, groups = len(flat.before), len(rows)
    most = int(max(rows.max(initial=0), columns.max(initial=0))) + 1
    return Elimination(
        np.zeros(at[-1]), at, flat.group_rows.copy(), flat.group_columns.copy(), np.zeros(groups, np.int64), np.zeros(groups, np.int64),
        np.ones(d, np.bool_), np.zeros(d, np.bool_), np.zeros(d), np.zeros(most),
    )  # fmt: skip


@njit(cache=True)
def eliminate(flat, now, e):
    """Factors the closure Jacobian at `now`, over the degrees of freedom that are `free`; returns the total rank."""
    total = 0
    e.follows[:] = False
    for g in range(e.rank.shape[0]):
        r0, r1, c0, c1 = flat.group_row_at[g], flat.group_row_at[g + 1], flat.group_column_at[g], flat.group_column_at[g + 1]
        rows = r1 - r0
        width = 0
        for k in range(c0, c1):
            if e.free[flat.group_columns[k]]:
                e.column[c0 + width] = flat.group_columns[k]
                width += 1
        e.width[g] = width
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
        largest = 0.0
        for i in range(rows):
            row = flat.group_rows[r0 + i]
            e.row[r0 + i] = row
            for k in range(c0, c1):
                e.gradient[flat.group_columns[k]] = 0.0
            row_gradient(flat, now, row, e.gradient)
            for j in range(width):
                A[i, j] = e.gradient[e.column[c0 + j]]
                largest = max(largest, abs(A[i, j]))
        rank = _pivoted_lu(A, rows, width, RANK_TOLERANCE * largest, e.row[r0:r1], e.column[c0 : c0 + width])
        e.rank[g] = rank
        for j in range(rank):
            e.follows[e.column[c0 + j]] = True
        _back_substitute(A, rank, width)
        total += rank
    return total


@njit(cache=True)
def _pivoted_lu(A, rows, width, tiny, row, column):
    """In place: L (unit, below) and U; swaps `row` and `column` along; returns the rank."""
    for k in range(min(rows, width)):
        best, bi, bj = 0.0, k, k
        for i in range(k, rows):
            for j in range(k, width):
                if abs(A[i, j]) > best:
                    best, bi, bj = abs(A[i, j]), i, j
        if best <= tiny:
            return k
        if bi != k:
            row[k], row[bi] = row[bi], row[k]
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
    return min(rows, width)


@njit(cache=True)
def _back_substitute(A, rank, width):
    """Turns U's right part into T = U₁⁻¹ U₂, so that followers move by -T times the leaders."""
    for k in range(rank - 1, -1, -1):
        for i in range(k + 1, rank):
            f = A[k, i]
            if f != 0.0:
                for j in range(rank, width):
                    A[k, j] -= f * A[i, j]
        inverse = 1.0 / A[k, k]
        for j in range(rank, width):
            A[k, j] *= inverse


@njit(cache=True)
def particular(flat, e, right, step):
    """Adds to `step` (d,) a move of the followers that changes the closure rows by `right` (rows,)."""
    for g in range(e.rank.shape[0]):
        r0, c0, rank, width = flat.group_row_at[g], flat.group_column_at[g], e.rank[g], e.width[g]
        rows = flat.group_row_at[g + 1] - r0
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
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


@njit(cache=True)
def extend(flat, e, step):
    """Completes a step (d,) of the leading degrees of freedom by what follows: dy = Z dz."""
    for g in range(e.rank.shape[0]):
        r0, c0, rank, width = flat.group_row_at[g], flat.group_column_at[g], e.rank[g], e.width[g]
        rows = flat.group_row_at[g + 1] - r0
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
        for k in range(rank):
            s = 0.0
            for j in range(rank, width):
                s -= A[k, j] * step[e.column[c0 + j]]
            step[e.column[c0 + k]] = s


@njit(cache=True)
def reduce_gradient(flat, e, gradient):
    """In place Zᵀ gradient: the leaders' entries are the reduced gradient, the followers' become zero."""
    for g in range(e.rank.shape[0]):
        r0, c0, rank, width = flat.group_row_at[g], flat.group_column_at[g], e.rank[g], e.width[g]
        rows = flat.group_row_at[g + 1] - r0
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
        for k in range(rank):
            f = gradient[e.column[c0 + k]]
            gradient[e.column[c0 + k]] = 0.0
            for j in range(rank, width):
                gradient[e.column[c0 + j]] -= A[k, j] * f


@njit(cache=True)
def multipliers(flat, e, gradient, out):
    """out (rows,): λ with Cᵀλ = gradient on the followers; rows that are redundant get zero."""
    out[:] = 0.0
    for g in range(e.rank.shape[0]):
        r0, c0, rank, width = flat.group_row_at[g], flat.group_column_at[g], e.rank[g], e.width[g]
        rows = flat.group_row_at[g + 1] - r0
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
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


@njit(cache=True)
def reduce_matrix(flat, e, K):
    """In place Zᵀ K Z of a symmetric K (d, d): afterwards the entries between leaders are the reduced matrix."""
    d = K.shape[0]
    for g in range(e.rank.shape[0]):
        r0, c0, rank, width = flat.group_row_at[g], flat.group_column_at[g], e.rank[g], e.width[g]
        rows = flat.group_row_at[g + 1] - r0
        A = e.LU[e.LU_at[g] : e.LU_at[g] + rows * width].reshape((rows, width))
        for k in range(rank):
            source = e.column[c0 + k]
            for j in range(rank, width):
                f = A[k, j]
                if f != 0.0:
                    target = e.column[c0 + j]
                    for i in range(d):
                        K[target, i] -= f * K[source, i]
        for i in range(d):
            for k in range(rank):
                f = K[i, e.column[c0 + k]]
                if f != 0.0:
                    for j in range(rank, width):
                        K[i, e.column[c0 + j]] -= A[k, j] * f
