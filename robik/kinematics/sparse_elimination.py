"""Elimination in large groups of loops, by the entries that are there.

In a linkage of many loops that share links an equation touches few coordinates. Pivots are taken where they fill in
little, as Markowitz does: in the row with the fewest entries, and there in the column that the fewest rows have. So
coordinates of one loop depend on those that loops share. Pivots must not be small beside what is left: rows come by
levels, each a tenth of the one before. So the rank shows as with complete pivoting. Factors and null space are kept as
lists of entries. A factorization near by goes through the same lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..mechanism.topology import SMALL, Flat
from .kernels import group_entries

WIDE = 48  # coordinates of a group: wider ones of a robot that is not small are eliminated so
LEVEL = 0.1  # of the largest entry: pivots are not smaller than this before the others are done
NOISE = 1e-3  # of what counts as zero: rows without any larger entry are left out


class SparseFactors(NamedTuple):
    """Room for the factors of wide groups, of at most r rows and c columns; entry k of the lists is of pivot k."""

    slot: np.ndarray  # (groups,) place of each group among the wide ones, -1 for others
    pivot: np.ndarray  # (slots, c) pivots
    lower: np.ndarray  # (slots, c, c) factors of the pivots before
    lower_at: np.ndarray  # (slots, c, c) these pivots
    lower_count: np.ndarray  # (slots, c) their number
    upper: np.ndarray  # (slots, c, c) entries in columns of later pivots
    upper_at: np.ndarray  # (slots, c, c) these pivots
    upper_count: np.ndarray  # (slots, c) their number
    rest: np.ndarray  # (slots, c, c) T: minus what independent coordinates move the dependent one by
    rest_at: np.ndarray  # (slots, c, c) their places among the columns in pivoted order
    rest_count: np.ndarray  # (slots, c) their number
    chosen: np.ndarray  # (slots, c) the group's row of each pivot
    place: np.ndarray  # (slots, c) place of each of the group's columns in pivoted order
    columns: np.ndarray  # (r, c) scratch: columns of each row's entries
    width: np.ndarray  # (r,) scratch: their number
    below: np.ndarray  # (r, c) scratch: pivots that were subtracted from each row
    depth: np.ndarray  # (r,) scratch: their number
    rows: np.ndarray  # (c, r) scratch: rows that have an entry in each column
    listed: np.ndarray  # (c,) scratch: their number
    alive: np.ndarray  # (r,) scratch: rows that may become pivots
    done: np.ndarray  # (r,) scratch: whether a row is one
    at: np.ndarray  # (c,) scratch: column of each pivot
    pivot_at: np.ndarray  # (d,) scratch: pivot of each row of a matrix that is reduced, -1 without one
    mark: np.ndarray  # (c,) scratch
    line: np.ndarray  # (c,) scratch


def new_sparse_factors(flat: Flat) -> SparseFactors:
    """Return room for the factors of a mechanism's wide groups."""
    height, width = np.diff(flat.group_row_at), np.diff(flat.group_column_at)
    wide = (width > WIDE) & (len(flat.before) > SMALL)
    r, c, slots = int(height[wide].max(initial=0)), int(width[wide].max(initial=0)), int(wide.sum())

    def values() -> np.ndarray:
        return np.zeros((slots, c, c))

    def places(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int32)

    return by_reference(
        SparseFactors(
            slot=np.where(wide, np.cumsum(wide) - 1, -1), pivot=np.zeros((slots, c)),
            lower=values(), lower_at=places(slots, c, c), lower_count=places(slots, c),
            upper=values(), upper_at=places(slots, c, c), upper_count=places(slots, c),
            rest=values(), rest_at=places(slots, c, c), rest_count=places(slots, c),
            chosen=places(slots, c), place=places(slots, c),
            columns=places(r, c), width=places(r), below=places(r, c), depth=places(r),
            rows=places(c, r), listed=places(c), alive=places(r), done=np.zeros(r, np.bool_),
            at=places(c), pivot_at=np.full(len(flat.before), -1, np.int32),
            mark=np.zeros(c, np.int64), line=np.zeros(c),
        )
    )  # fmt: skip


@inlined
def _entries(flat, row):
    """Return how many coordinates a closure row may touch."""
    m = flat.row_kind.shape[0]
    if row >= m:
        return 2 + flat.coupling_other_at[row - m + 1] - flat.coupling_other_at[row - m]
    cut = flat.row_cut[row]
    return flat.loop_at[cut + 1] - flat.loop_at[cut]


@inlined
def _column(flat, row, a):
    """Return the group's column of a closure row's entry."""
    m = flat.row_kind.shape[0]
    if row >= m:
        if a < 2:
            return flat.coupling_column[row - m, a]
        return flat.coupling_other_column[flat.coupling_other_at[row - m] + a - 2]
    return flat.loop_column[flat.loop_at[flat.row_cut[row]] + a]


@kernel(entry=False)
def factor_sparse(flat, now, g, e, tolerance):
    """Factor the closure Jacobian of the wide group g at `now`; return the rank.

    Pivots are larger than `tolerance` times the largest entry, at least the robot's size.
    """
    F, A, s = e.sparse, e.LU[g], e.sparse.slot[g]
    width = flat.group_column_at[g + 1] - flat.group_column_at[g]
    largest, alive = _list_entries(flat, now, g, e)
    tiny = tolerance * max(flat.size, largest)
    alive = _drop_noise(flat, g, e, NOISE * tiny, alive)
    rank, level, stamp = 0, max(tiny, LEVEL * largest), 0
    F.mark[:] = 0
    place = F.place[s]
    while rank < width:
        row, alive = _next_row(F, e.most, level, alive)
        if row < 0:
            if level <= tiny:
                break
            level = max(tiny, LEVEL * level)
            continue
        column = _next_column(flat, g, e, row)
        place[column], F.chosen[s, rank], F.at[rank], F.done[row] = rank, row, column, True
        for a in range(F.listed[column]):
            other = F.rows[column, a]
            if not F.done[other]:
                stamp += 1
                _subtract(flat, g, e, A, other, row, column, rank, stamp)
        rank += 1
    _note_tied(F, e, A, tiny, alive)
    _sort_out(flat, g, e, A, rank)
    _clear(F, A, flat.group_row_at[g + 1] - flat.group_row_at[g])
    _solve_upper(F, s, rank)
    return rank


@kernel
def _list_entries(flat, now, g, e):
    """List the entries of a group's rows and columns; return the largest, and how many rows there are."""
    F, A = e.sparse, e.LU[g]
    r0, c0 = flat.group_row_at[g], flat.group_column_at[g]
    rows, width = flat.group_row_at[g + 1] - r0, flat.group_column_at[g + 1] - c0
    group_entries(flat, now, g, A)
    F.mark[:] = 0
    for j in range(width):
        F.listed[j] = 0
        F.place[F.slot[g], j] = -1
    largest = 0.0
    for i in range(rows):
        F.width[i] = F.depth[i] = 0
        F.done[i] = False
        row = flat.group_rows[r0 + i]
        e.most[i] = 0.0
        for a in range(_entries(flat, row)):
            j = _column(flat, row, a)
            if F.mark[j] == i + 1:
                continue
            F.mark[j] = i + 1
            F.columns[i, F.width[i]] = j
            F.width[i] += 1
            largest = max(largest, abs(A[i, j]))
            if e.free[flat.group_columns[c0 + j]]:
                e.most[i] = max(e.most[i], abs(A[i, j]))
    return largest, rows


@kernel
def _drop_noise(flat, g, e, tiny, rows):
    """List the rows that say anything, and in the columns these rows alone; return how many there are."""
    F, A, alive = e.sparse, e.LU[g], 0
    for i in range(rows):
        largest = 0.0
        for a in range(F.width[i]):
            largest = max(largest, abs(A[i, F.columns[i, a]]))
        if largest > tiny:
            F.alive[alive] = i
            alive += 1
            for a in range(F.width[i]):
                j = F.columns[i, a]
                F.rows[j, F.listed[j]] = i
                F.listed[j] += 1
    return alive


@kernel
def _next_row(F, most, level, alive):
    """Return the row with the fewest entries of those with one above a level, -1 for none, and how many are left."""
    kept, found, fewest = 0, -1, F.mark.shape[0] + 1
    for a in range(alive):
        i = F.alive[a]
        if not F.done[i]:
            F.alive[kept] = i
            kept += 1
            if F.width[i] < fewest and most[i] > level:
                found, fewest = i, F.width[i]
    return found, kept


@kernel
def _next_column(flat, g, e, row):
    """Return the free column with the fewest entries of those in which a row has a large one."""
    F, A, c0 = e.sparse, e.LU[g], flat.group_column_at[g]
    found, fewest, best = -1, F.alive.shape[0] + 1, 0.0
    for a in range(F.width[row]):
        j = F.columns[row, a]
        size = abs(A[row, j])
        fewer = F.listed[j] < fewest or (F.listed[j] == fewest and size > best)
        if fewer and size >= LEVEL * e.most[row] and e.free[flat.group_columns[c0 + j]]:
            found, fewest, best = j, F.listed[j], size
    return found


@kernel
def _note_tied(F, e, A, tiny, alive):
    """Note whether a row remains with entries, all of coordinates that may not be dependent."""
    for a in range(alive):
        i = F.alive[a]
        for b in range(0 if F.done[i] else F.width[i]):
            e.tied[0] = e.tied[0] or abs(A[i, F.columns[i, b]]) > tiny


@kernel
def _subtract(flat, g, e, A, i, row, column, k, stamp):
    """Subtract pivot k's row from row i, so that its entry in the pivot's column goes."""
    F, c0 = e.sparse, flat.group_column_at[g]
    f = A[i, column] / A[row, column]
    A[i, column] = f
    F.below[i, F.depth[i]] = k
    F.depth[i] += 1
    kept = 0
    for a in range(F.width[i]):
        j = F.columns[i, a]
        if j != column:
            F.mark[j] = stamp
            F.columns[i, kept] = j
            kept += 1
    for a in range(F.width[row]):
        j = F.columns[row, a]
        if j == column:
            continue
        if F.mark[j] != stamp:
            F.columns[i, kept] = j
            kept += 1
            F.rows[j, F.listed[j]] = i
            F.listed[j] += 1
        A[i, j] -= f * A[row, j]
    F.width[i] = kept
    most = 0.0
    for a in range(kept):
        j = F.columns[i, a]
        if e.free[flat.group_columns[c0 + j]]:
            most = max(most, abs(A[i, j]))
    e.most[i] = most


@kernel
def _sort_out(flat, g, e, A, rank):
    """Fill the group's rows and columns in pivoted order, and the lists of entries."""
    F, s = e.sparse, e.sparse.slot[g]
    r0, c0 = flat.group_row_at[g], flat.group_column_at[g]
    place, last = F.place[s], rank
    for j in range(flat.group_column_at[g + 1] - c0):
        if place[j] < 0:
            place[j] = last
            last += 1
        e.column[c0 + place[j]] = flat.group_columns[c0 + j]
    last = rank
    for i in range(flat.group_row_at[g + 1] - r0):
        if not F.done[i]:
            e.row[r0 + last] = flat.group_rows[r0 + i]
            last += 1
    for k in range(rank):
        i, upper, rest = F.chosen[s, k], 0, 0
        e.row[r0 + k] = flat.group_rows[r0 + i]
        F.pivot[s, k] = A[i, F.at[k]]
        F.lower_count[s, k] = F.depth[i]
        for a in range(F.depth[i]):
            F.lower_at[s, k, a] = F.below[i, a]
            F.lower[s, k, a] = A[i, F.at[F.below[i, a]]]
        for a in range(F.width[i]):
            j = F.columns[i, a]
            if place[j] >= rank:
                F.rest_at[s, k, rest], F.rest[s, k, rest] = place[j], A[i, j]
                rest += 1
            elif place[j] != k:
                F.upper_at[s, k, upper], F.upper[s, k, upper] = place[j], A[i, j]
                upper += 1
        F.upper_count[s, k], F.rest_count[s, k] = upper, rest


@kernel
def _clear(F, A, rows):
    """Set what an elimination has written into its matrix back to zero."""
    for i in range(rows):
        for a in range(F.width[i]):
            A[i, F.columns[i, a]] = 0.0
        for a in range(F.depth[i]):
            A[i, F.at[F.below[i, a]]] = 0.0


@kernel
def _solve_upper(F, s, rank):
    """Turn the entries in independent columns into T = U₁⁻¹ U₂."""
    line, mark = F.line, F.mark
    mark[:] = -1
    for k in range(rank - 1, -1, -1):
        at, own, count = F.rest_at[s, k], F.rest[s, k], F.rest_count[s, k]
        for a in range(count):
            mark[at[a]], line[at[a]] = k, own[a]
        for a in range(F.upper_count[s, k]):
            i, f = F.upper_at[s, k, a], F.upper[s, k, a]
            for b in range(F.rest_count[s, i]):
                p = F.rest_at[s, i, b]
                if mark[p] != k:
                    mark[p], line[p] = k, 0.0
                    at[count] = p
                    count += 1
                line[p] -= f * F.rest[s, i, b]
        F.rest_count[s, k] = count
        inverse = 1.0 / F.pivot[s, k]
        for a in range(count):
            own[a] = line[at[a]] * inverse


@kernel(entry=False)
def refactor_sparse(flat, now, g, e, tiny):
    """Factor the closure Jacobian of the wide group g near by with the pivots of the last elimination.

    Return False where one of the pivots is at most `tiny`.
    """
    A = e.LU[g]
    group_entries(flat, now, g, A)
    is_sound = _follow(flat, g, e, A, tiny)
    for i in range(flat.group_row_at[g + 1] - flat.group_row_at[g]):
        row = flat.group_rows[flat.group_row_at[g] + i]
        for a in range(_entries(flat, row)):
            A[i, _column(flat, row, a)] = 0.0
    if is_sound:
        _solve_upper(e.sparse, e.sparse.slot[g], e.rank[g])
    return is_sound


@kernel
def _follow(flat, g, e, A, tiny):
    """Factor a group's entries in A by the lists of its last elimination; return False where a pivot vanishes."""
    F, s, line = e.sparse, e.sparse.slot[g], e.sparse.line
    for k in range(e.rank[g]):
        for a in range(F.lower_count[s, k]):
            line[F.lower_at[s, k, a]] = 0.0
        for a in range(F.upper_count[s, k]):
            line[F.upper_at[s, k, a]] = 0.0
        for a in range(F.rest_count[s, k]):
            line[F.rest_at[s, k, a]] = 0.0
        line[k] = 0.0
        i = F.chosen[s, k]
        row = flat.group_rows[flat.group_row_at[g] + i]
        for a in range(_entries(flat, row)):
            j = _column(flat, row, a)
            line[F.place[s, j]] = A[i, j]
        for a in range(F.lower_count[s, k]):
            before = F.lower_at[s, k, a]
            f = line[before] / F.pivot[s, before]
            F.lower[s, k, a] = f
            for b in range(F.upper_count[s, before]):
                line[F.upper_at[s, before, b]] -= f * F.upper[s, before, b]
            for b in range(F.rest_count[s, before]):
                line[F.rest_at[s, before, b]] -= f * F.rest[s, before, b]
        if abs(line[k]) <= tiny:
            return False
        F.pivot[s, k] = line[k]
        for a in range(F.upper_count[s, k]):
            F.upper[s, k, a] = line[F.upper_at[s, k, a]]
        for a in range(F.rest_count[s, k]):
            F.rest[s, k, a] = line[F.rest_at[s, k, a]]
    return True
