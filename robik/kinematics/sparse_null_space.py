"""Products with the null space of a wide group's equations, by the entries that are there."""

from __future__ import annotations

from ..jit import inlined, kernel


@kernel(entry=False)
def particular_sparse(flat, g, right, step, e):
    """Add to a step (d,) a motion that changes the closure rows of the wide group g by `right` (rows,) [m]."""
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
    """Fill the dependent degrees of freedom of the wide group g in a step (d,)."""
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        total = 0.0
        for a in range(F.rest_count[s, k]):
            total -= F.rest[s, k, a] * step[e.column[c0 + F.rest_at[s, k, a]]]
        step[e.column[c0 + k]] = total


@kernel(entry=False)
def reduce_gradient_sparse(flat, g, gradient, e):
    """Replace a gradient (d,) by Zᵀ gradient for the wide group g."""
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        f = gradient[e.column[c0 + k]]
        gradient[e.column[c0 + k]] = 0.0
        for a in range(F.rest_count[s, k]):
            gradient[e.column[c0 + F.rest_at[s, k, a]]] -= F.rest[s, k, a] * f


@kernel(entry=False)
def multipliers_sparse(flat, g, gradient, out, e):
    """Fill a wide group's rows of `out` with λ of Cᵀλ = gradient on the dependent coordinates."""
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


@inlined
def _widen(span, row, first, beyond):
    """Widen the span of a row so that it contains another one."""
    span[0, row] = min(span[0, row], first)
    span[1, row] = max(span[1, row], beyond)


@kernel(entry=False)
def reduce_sparse(flat, g, K, place, span, e):
    """Replace a symmetric K by Zᵀ K Z for the wide group g; `place` has the row of K of each degree of freedom.

    `span` (2, rows), each row's first entry that may not be zero and the one after the last, is kept up to date.
    """
    F, s, c0, rank = e.sparse, e.sparse.slot[g], flat.group_column_at[g], e.rank[g]
    width, at = flat.group_column_at[g + 1] - c0, F.at
    for j in range(width):
        at[j] = place[e.column[c0 + j]]
    for k in range(rank):
        source, first, beyond = K[at[k]], span[0, at[k]], span[1, at[k]]
        F.pivot_at[at[k]] = k
        for a in range(F.rest_count[s, k]):
            f, to = F.rest[s, k, a], at[F.rest_at[s, k, a]]
            _widen(span, to, first, beyond)
            target = K[to]
            for i in range(first, beyond):
                target[i] -= f * source[i]
    for b in range(rank, width):  # what remains is symmetric between independent coordinates, of no interest elsewhere
        row = K[at[b]]
        for i in range(span[0, at[b]], span[1, at[b]]):
            k, f = F.pivot_at[i], row[i]
            if k >= 0 and f != 0.0:
                row[i] = 0.0
                for a in range(F.rest_count[s, k]):
                    to = at[F.rest_at[s, k, a]]
                    _widen(span, at[b], to, to + 1)
                    row[to] -= F.rest[s, k, a] * f
    for k in range(rank):
        F.pivot_at[at[k]] = -1
    for b in range(rank, width):
        row, to = K[at[b]], at[b]
        for i in range(span[0, to], span[1, to]):
            _widen(span, i, to, to + 1)
            K[i, to] = row[i]


@kernel(entry=False)
def onto_independent_sparse(flat, g, U, e):
    """Add the wrenches U (d, 6) of a wide group's dependent degrees of freedom to those of the independent ones."""
    F, s, c0 = e.sparse, e.sparse.slot[g], flat.group_column_at[g]
    for k in range(e.rank[g]):
        source = U[e.column[c0 + k]]
        for a in range(F.rest_count[s, k]):
            target, f = U[e.column[c0 + F.rest_at[s, k, a]]], F.rest[s, k, a]
            for i in range(6):
                target[i] -= f * source[i]
