"""Products with the null space of a wide group's equations, by the entries that are there."""

from __future__ import annotations

from ..jit import kernel


@kernel(entry=False)
def particular_sparse(flat, g, right, step, e):
    """Add to a step what changes the closure rows of a wide group by `right`.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        right: Change of the rows (rows,) [m].
        step: Step (d,) to add to.
        e: The elimination of dependent coordinates.
    """
    F, s, x = e.sparse, e.sparse.slot[g], e.right
    r0, c0, rank = flat.group_row_at[g], flat.group_column_at[g], e.rank[g]
    for k in range(rank):
        total = right[e.row[r0 + k]]
        for a in range(F.lower_count[s, k]):
            total -= F.lower[s, k, a] * x[F.lower_at[s, k, a]]
        x[k] = total
    for k in range(rank - 1, -1, -1):
        total = x[k]
        for a in range(F.upper_count[s, k]):
            total -= F.upper[s, k, a] * x[F.upper_at[s, k, a]]
        x[k] = total / F.pivot[s, k]
        step[e.column[c0 + k]] += x[k]


@kernel(entry=False)
def extend_sparse(flat, g, step, e):
    """Complete a step by the dependent degrees of freedom of a wide group.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        step: Step (d,); the dependent entries are filled.
        e: The elimination of dependent coordinates.
    """
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        total = 0.0
        for a in range(F.rest_count[s, k]):
            total -= F.rest[s, k, a] * step[e.column[c0 + F.rest_at[s, k, a]]]
        step[e.column[c0 + k]] = total


@kernel(entry=False)
def reduce_gradient_sparse(flat, g, gradient, e):
    """Replace a gradient by Zᵀ gradient for a wide group.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        gradient: Gradient (d,), changed in place.
        e: The elimination of dependent coordinates.
    """
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        f = gradient[e.column[c0 + k]]
        gradient[e.column[c0 + k]] = 0.0
        for a in range(F.rest_count[s, k]):
            gradient[e.column[c0 + F.rest_at[s, k, a]]] -= F.rest[s, k, a] * f


@kernel(entry=False)
def multipliers_sparse(flat, g, gradient, out, e):
    """Fill a wide group's rows of `out` with λ of Cᵀλ = gradient on the dependent coordinates.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        gradient: Gradient (d,).
        out: λ (rows,) to fill.
        e: The elimination of dependent coordinates.
    """
    F, s, x = e.sparse, e.sparse.slot[g], e.right
    r0, c0, rank = flat.group_row_at[g], flat.group_column_at[g], e.rank[g]
    for k in range(rank):
        x[k] = gradient[e.column[c0 + k]]
    for k in range(rank):
        x[k] /= F.pivot[s, k]
        for a in range(F.upper_count[s, k]):
            x[F.upper_at[s, k, a]] -= F.upper[s, k, a] * x[k]
    for k in range(rank - 1, -1, -1):
        out[e.row[r0 + k]] = x[k]
        for a in range(F.lower_count[s, k]):
            x[F.lower_at[s, k, a]] -= F.lower[s, k, a] * x[k]


@kernel(entry=False)
def reduce_sparse(flat, g, K, place, d, e):
    """Replace K[:d, :d] by Zᵀ K Z for a wide group.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        K: Matrix of at least d rows and columns, changed in place.
        place: Row of K of each degree of freedom.
        d: Number of rows that count.
        e: The elimination of dependent coordinates.
    """
    F, s, c0, rank = e.sparse, e.sparse.slot[g], flat.group_column_at[g], e.rank[g]
    width, at = flat.group_column_at[g + 1] - c0, F.at
    for j in range(width):
        at[j] = place[e.column[c0 + j]]
    for k in range(rank):
        source = K[at[k]]
        for a in range(F.rest_count[s, k]):
            f, target = F.rest[s, k, a], K[at[F.rest_at[s, k, a]]]
            for i in range(d):
                target[i] -= f * source[i]
    for b in range(rank, width):  # what remains is symmetric between independent coordinates, of no interest elsewhere
        row = K[at[b]]
        for k in range(rank):
            f = row[at[k]]
            row[at[k]] = 0.0
            if f != 0.0:
                for a in range(F.rest_count[s, k]):
                    row[at[F.rest_at[s, k, a]]] -= F.rest[s, k, a] * f
    for i in range(d):
        row = K[i]
        for b in range(rank, width):
            row[at[b]] = K[at[b], i]


@kernel(entry=False)
def onto_independent_sparse(flat, g, U, e):
    """Turn wrenches of a wide group's degrees of freedom into those of the independent ones.

    Args:
        flat: The mechanism's arrays for the kernels.
        g: Index of the group.
        U: Wrench (d, 6) of each degree of freedom; the independent ones are changed.
        e: The elimination of dependent coordinates.
    """
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        source = U[e.column[c0 + k]]
        for a in range(F.rest_count[s, k]):
            target, f = U[e.column[c0 + F.rest_at[s, k, a]]], F.rest[s, k, a]
            for i in range(6):
                target[i] -= f * source[i]
