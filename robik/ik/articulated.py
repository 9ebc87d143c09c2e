"""Newton's systems solved from the tips to the root and back, in time that grows with the bodies.

To second order, what a subtree adds to the objective depends on what lies nearer to the root only through the motion of
the body that it hangs on, a screw of six numbers. Eliminating the subtree's own freedoms leaves a stiffness of 6 × 6 on
that body, as in the articulated-body algorithm (Featherstone), so a tree takes time in proportion to its bodies.
Degrees of freedom that loops and couplings tie together form a cluster and are eliminated as one. What ties distant
bodies together does so by few numbers, as the centre of mass by three: it comes in by a bordered system.
"""

from __future__ import annotations

from math import sqrt

from ..jit import compiled_for_record, kernel
from ..kinematics.dense import copy_chosen, diagonalise, negative_pivots, solve_diagonalised
from ..kinematics.kernels import along
from ..kinematics.null_space import (
    extend_group,
    onto_independent,
    reduce_gradient,
    reduce_group,
    reduce_group_gradient,
)
from ..kinematics.rotations import cross
from ..objectives.terms import TiedTerms
from .envelope import copy_lower, factor_envelope, solve_envelope
from .hessian import carry, exerted, one_ball

TINY = 1e-13  # of the largest eigenvalue of an objective over two bodies: smaller ones are rounding
SINGULAR = 1e-12  # of a block's largest eigenvalue: nothing is known along smaller ones


@kernel
def _assemble(flat, now, e, terms, A, c):
    """Fill H with the second derivatives of cluster c, and `root` with the stiffness of its bodies.

    And of what hangs on them.
    """
    H, root, start = A.H, A.root, flat.cluster_dof_at[c]
    n, by_entries = flat.cluster_dof_at[c + 1] - start, True
    for at in range(flat.cluster_group_at[c], flat.cluster_group_at[c + 1]):
        by_entries = by_entries and e.sparse.slot[flat.cluster_group[at]] >= 0
    for i in range(n):
        H[i, A.span[0, i] : A.span[1, i]] = 0.0
        A.span[0, i] = flat.span_first[start + i] if by_entries else 0
        A.span[1, i] = flat.span_beyond[start + i] if by_entries else n
        for j in range(flat.span_first[start + i], flat.span_beyond[start + i]):
            H[i, j] = A.bend[c, i, j]
        H[i, i] += terms.hold[flat.cluster_dof[start + i]]
    root[:] = 0.0
    for at in range(flat.cluster_body_at[c + 1] - 1, flat.cluster_body_at[c] - 1, -1):
        b = flat.cluster_body[at]
        if flat.first[b] < flat.last[b]:
            exerted(flat, now, terms, A, b)
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                i, to = j, flat.place_in[j]
                while i >= 0 and flat.cluster_of_dof[i] == c:
                    value = along(now, i, A.U[j])
                    if i != j and one_ball(flat, i, j):
                        value = 0.5 * (value + along(now, j, A.U[i]))
                    H[flat.place_in[i], to] += value
                    if i != j:
                        H[to, flat.place_in[i]] += value
                    i = flat.before[i]
        beyond = A.P[flat.parent[b]] if flat.cluster_of[flat.parent[b]] == c else root
        for i in range(6):
            for j in range(6):
                beyond[i, j] += A.P[b, i, j]


@kernel
def _onto_independent(flat, e, A, c):
    """H and U of cluster c as functions of its independent coordinates."""
    for at in range(flat.cluster_group_at[c], flat.cluster_group_at[c + 1]):
        g = flat.cluster_group[at]
        reduce_group(flat, e, g, A.H, flat.place_in, flat.cluster_dof_at[c + 1] - flat.cluster_dof_at[c], A.span)
        onto_independent(flat, e, g, A.U)


@kernel
def _choose(flat, e, A, c):
    """List the free independent coordinates of cluster c and return how many there are."""
    n = 0
    for at in range(flat.cluster_dof_at[c], flat.cluster_dof_at[c + 1]):
        i = flat.cluster_dof[at]
        if e.free[i] and not e.dependent[i]:
            A.chosen[c, n] = at - flat.cluster_dof_at[c]
            n += 1
    A.chosen_count[c] = n
    return n


@kernel
def _factor_block(A, c, n):
    """Factor H of the n free independent coordinates of cluster c.

    Returns how many of its eigenvalues are negative, -1 where one is zero.
    """
    block = A.block[c]
    copy_lower(A.H, A.span[0], A.chosen[c], n, block, A.lead[c])
    A.exact[c] = factor_envelope(block, n, A.lead[c])
    if A.exact[c]:
        return 0
    copy_chosen(A.H, A.chosen[c], n, block)
    diagonalise(block, A.vectors[c], n)
    top, negative = 0.0, 0
    for i in range(n):
        top = max(top, abs(block[i, i]))
    for i in range(n):
        if not abs(block[i, i]) > SINGULAR * top:
            return -1
        if block[i, i] < 0.0:
            negative += 1
    return negative


@kernel
def factor(flat, now, e, terms, A):
    """Factor the second derivatives over the free independent coordinates; return True if positive definite.

    Where they are not positive definite, the factors mean nothing.
    """
    for b in range(flat.parent.shape[0]):
        for i in range(6):
            for j in range(6):
                A.P[b, i, j] = terms.stiffness[b, i, j]
    negative = 0
    for c in range(flat.cluster_on.shape[0] - 1, -1, -1):
        _assemble(flat, now, e, terms, A, c)
        _onto_independent(flat, e, A, c)
        n = _choose(flat, e, A, c)
        found = _factor_block(A, c, n)
        if found < 0:
            return False
        negative += found
        _divide(flat, A, c, n)
        P, start = A.P[flat.cluster_on[c]], flat.cluster_dof_at[c]
        for i in range(6):
            for k in range(6):
                P[i, k] += A.root[i, k]
        for a in range(n):
            j = flat.cluster_dof[start + A.chosen[c, a]]
            U, Y = A.U[j], A.Y[j]
            for i in range(6):
                for k in range(6):
                    P[i, k] -= U[i] * Y[k]
    taken = _rows_tied(flat, now, A, terms)
    return _border(flat, now, e, terms, A) == negative + taken


@kernel
def _divide(flat, A, c, n):
    """Y = block⁻¹ U over the free independent coordinates of cluster c."""
    start, block, chosen, lead = flat.cluster_dof_at[c], A.block[c], A.chosen[c], A.lead[c]
    if not A.exact[c]:
        for k in range(6):
            for a in range(n):
                A.z[a] = A.U[flat.cluster_dof[start + chosen[a]], k]
            solve_diagonalised(block, A.vectors[c], n, A.z, A.shares)
            for a in range(n):
                A.Y[flat.cluster_dof[start + chosen[a]], k] = A.z[a]
        return
    for a in range(n):
        i = flat.cluster_dof[start + chosen[a]]
        row = A.Y[i]
        for k in range(6):
            row[k] = A.U[i, k]
        for b in range(lead[a], a):
            f, other = block[a, b], A.Y[flat.cluster_dof[start + chosen[b]]]
            for k in range(6):
                row[k] -= f * other[k]
        f = 1.0 / block[a, a]
        for k in range(6):
            row[k] *= f
    for a in range(n - 1, -1, -1):
        row = A.Y[flat.cluster_dof[start + chosen[a]]]
        f = 1.0 / block[a, a]
        for k in range(6):
            row[k] *= f
        for b in range(lead[a], a):
            f, other = block[a, b], A.Y[flat.cluster_dof[start + chosen[b]]]
            for k in range(6):
                other[k] -= f * row[k]


@kernel
def _add_rows_tied(flat, now, terms, A):
    """Append rows for the objectives over two bodies, by the eigenvectors of their second derivatives.

    Return how many have negative weights. Those come last: as long as the whole is positive definite, so is every
    system on the way to it.
    """
    front, back, n = terms.row_count[0], terms.rows.shape[0], flat.parent.shape[0]
    for k in range(terms.tied.shape[0]):
        centre = now.c[terms.tied[k, 1]]
        _about(terms.stiffness[n + k], terms.across[k], centre, flat.size, A.tie)
        diagonalise(A.tie, A.tie_vectors, 12)
        top = 0.0
        for m in range(12):
            top = max(top, abs(A.tie[m, m]))
        for m in range(12):
            weight = A.tie[m, m]
            if abs(weight) > TINY * top:
                row = front
                if weight > 0.0:
                    front += 1
                else:
                    back -= 1
                    row = back
                terms.row_weight[row] = 1.0 if weight > 0.0 else -1.0
                _fill_row(flat, now, terms, k, centre, A.tie_vectors[m], sqrt(abs(weight)), terms.rows[row])
    negative = terms.rows.shape[0] - back
    for i in range(negative):
        terms.row_weight[front + i] = -1.0
        for j in range(terms.rows.shape[1]):
            terms.rows[front + i, j] = terms.rows[back + i, j]
    terms.row_count[1] = front + negative
    return negative


@compiled_for_record(TiedTerms, otherwise=0)
def _rows_tied(flat, now, A, terms):
    """Do so where bodies may be tied."""
    return _add_rows_tied(flat, now, terms, A)


@kernel
def _about(P, Q, centre, size, M):
    """Fill M (12, 12): the second derivatives [[P, -Q], [-Qᵀ, P]] over the screws of two tied bodies.

    About a point near them and with slides in units of the robot's size, so that its eigenvalues compare.
    """
    X = ((0.0, -centre[2], centre[1]), (centre[2], 0.0, -centre[0]), (-centre[1], centre[0], 0.0))
    for i in range(6):
        for j in range(6):
            M[i, j] = M[6 + i, 6 + j] = P[i, j]
            M[i, 6 + j] = M[6 + j, i] = -Q[i, j]
    for block in range(0, 12, 6):  # v = v′ + centre × ω: first the columns, then the rows
        for i in range(12):
            for j in range(3):
                for m in range(3):
                    M[i, block + j] += M[i, block + 3 + m] * X[m][j]
    for block in range(0, 12, 6):
        for i in range(12):
            for j in range(3):
                for m in range(3):
                    M[block + j, i] += M[block + 3 + m, i] * X[m][j]
    for block in range(3, 12, 6):
        for i in range(12):
            for j in range(3):
                M[i, block + j] *= size
                M[block + j, i] *= size


@kernel
def _fill_row(flat, now, terms, k, centre, vector, scale, row):
    """Fill a low-rank row (d,) with scale · vector · (screw of a, screw of b)."""
    row[:] = 0.0
    for side in range(2):
        j = flat.tip[terms.tied[k, side]]
        while j >= 0:
            w, v = now.omega[j], now.v[j]
            x, y, z = cross(w[0], w[1], w[2], centre[0], centre[1], centre[2])
            u = (w[0], w[1], w[2], (v[0] + x) / flat.size, (v[1] + y) / flat.size, (v[2] + z) / flat.size)
            for m in range(6):
                row[j] += scale * vector[6 * side + m] * u[m]
            j = flat.before[j]


@kernel
def _border(flat, now, e, terms, A):
    """Prepare the low-rank rows, which border the rest of the system.

    Return how many negative eigenvalues they take away.
    """
    count = terms.row_count[1]
    for k in range(count):
        x = A.away[k]
        for j in range(x.shape[0]):
            x[j] = terms.rows[k, j] if terms.row_weight[k] != 0.0 else 0.0
        reduce_gradient(flat, e, x)
        _solve_tree(flat, now, e, A, x)
    for k in range(count):
        for i in range(count):
            A.border[k, i] = 0.0
            for j in range(A.away.shape[1]):
                A.border[k, i] += terms.rows[k, j] * A.away[i, j] if terms.row_weight[k] != 0.0 else 0.0
        A.border[k, k] += 1.0 / terms.row_weight[k] if terms.row_weight[k] != 0.0 else 1.0
    return negative_pivots(A.border, count)


@kernel
def solve(flat, now, e, terms, A, x):
    """Replace a reduced gradient x (d,) by the solution for the factors in A, dependent coordinates included."""
    _solve_tree(flat, now, e, A, x)
    count, B, s = terms.row_count[1], A.border, A.along
    if count == 0:
        return
    for k in range(count):
        s[k] = 0.0
        for j in range(x.shape[0]):
            s[k] += terms.rows[k, j] * x[j] if terms.row_weight[k] != 0.0 else 0.0
        for i in range(k):
            s[k] -= B[k, i] * s[i]
    for k in range(count):
        s[k] /= B[k, k]
    for k in range(count - 1, -1, -1):
        for i in range(k + 1, count):
            s[k] -= B[i, k] * s[i]
    for j in range(x.shape[0]):
        total = 0.0
        for k in range(count):
            total += s[k] * A.away[k, j]
        x[j] -= total


@kernel
def _solve_tree(flat, now, e, A, x):
    """Do the same as `solve` without the low-rank rows."""
    A.h[:] = 0.0
    for c in range(flat.cluster_on.shape[0] - 1, -1, -1):
        _gather_below(flat, now, e, A, c, x)
    for c in range(flat.cluster_on.shape[0]):
        start, xi = flat.cluster_dof_at[c], A.xi[flat.cluster_on[c]]
        for at in range(start, flat.cluster_dof_at[c + 1]):
            i = flat.cluster_dof[at]
            if not e.dependent[i] and not e.free[i]:
                x[i] = 0.0
        for a in range(A.chosen_count[c]):
            i = flat.cluster_dof[start + A.chosen[c, a]]
            for k in range(6):
                x[i] -= A.Y[i, k] * xi[k]
        for at in range(flat.cluster_group_at[c], flat.cluster_group_at[c + 1]):
            extend_group(flat, e, flat.cluster_group[at], x)
        for at in range(flat.cluster_body_at[c], flat.cluster_body_at[c + 1]):
            carry(flat, now, A.xi, flat.cluster_body[at], x)


@kernel
def _gather_below(flat, now, e, A, c, x):
    """Turn x's entries of cluster c into block⁻¹ (x - what the subtrees say).

    Adds what that makes of the body it hangs on.
    """
    start, root, z, n = flat.cluster_dof_at[c], A.root[0], A.z, A.chosen_count[c]
    root[:] = 0.0
    for at in range(start, flat.cluster_dof_at[c + 1]):
        A.shares[at - start] = x[flat.cluster_dof[at]]
        x[flat.cluster_dof[at]] = 0.0
    for at in range(flat.cluster_body_at[c + 1] - 1, flat.cluster_body_at[c] - 1, -1):
        b = flat.cluster_body[at]
        if flat.first[b] < flat.last[b]:
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                x[j] = along(now, j, A.h[b])
        beyond = A.h[flat.parent[b]] if flat.cluster_of[flat.parent[b]] == c else root
        for i in range(6):
            beyond[i] += A.h[b, i]
    for at in range(flat.cluster_group_at[c], flat.cluster_group_at[c + 1]):
        reduce_group_gradient(flat, e, flat.cluster_group[at], x)
    h = A.h[flat.cluster_on[c]]
    for a in range(n):
        i = flat.cluster_dof[start + A.chosen[c, a]]
        z[a] = A.shares[A.chosen[c, a]] + x[i]
    for a in range(n):
        i = flat.cluster_dof[start + A.chosen[c, a]]
        for k in range(6):
            root[k] -= A.Y[i, k] * z[a]
    for k in range(6):
        h[k] += root[k]
    if A.exact[c]:
        solve_envelope(A.block[c], n, A.lead[c], z)
    else:
        solve_diagonalised(A.block[c], A.vectors[c], n, z, A.shares)
    for a in range(n):
        x[flat.cluster_dof[start + A.chosen[c, a]]] = z[a]
