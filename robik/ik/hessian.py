"""Second derivatives of the objective and of the loops.

As a matrix, and as a product with a vector in time that grows with the bodies.

With S the screws, P the bodies' stiffness summed over a subtree, and (τ, f) the torque and force that the subtree
exerts,

    ∂²f/∂yᵢ∂yⱼ = Sᵢ · (P Sⱼ + Cⱼ),   Cⱼ = ½ (ωⱼ × τ + vⱼ × f, ωⱼ × f)        for i an ancestor of j

where C stems from exp(Sᵢ yᵢ) exp(Sⱼ yⱼ) = exp(Sᵢ yᵢ + Sⱼ yⱼ + ½ [Sᵢ, Sⱼ] yᵢ yⱼ + …); motions of one ball have no order
and no such term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record, inlined, kernel
from ..kinematics.kernels import along
from ..kinematics.rotations import cross
from ..mechanism.topology import Flat
from ..objectives.hold import add_hold_answer
from ..objectives.registry import answer
from ..objectives.terms import TiedTerms


class System(NamedTuple):
    """The factors of the system, and scratch. Blocks are per cluster, with room for the largest (b, b)."""

    bend: np.ndarray  # (clusters, b, b) second derivatives of loops and couplings
    block: np.ndarray  # (clusters, b, b) factor of a cluster where `exact`, else its eigenvalues
    vectors: np.ndarray  # (clusters, b + 1, b) eigenvectors
    exact: np.ndarray  # (clusters,) whether the block is a factor
    chosen: np.ndarray  # (clusters, b) places in the cluster of its free independent coordinates
    chosen_count: np.ndarray  # (clusters,) their number
    lead: np.ndarray  # (clusters, b) column at which each row of a factor begins
    U: np.ndarray  # (d, 6) wrench that the motion of each degree of freedom makes its subtree exert
    Y: np.ndarray  # (d, 6) block⁻¹ U of the free independent coordinates
    P: np.ndarray  # (n + 1, 6, 6) stiffness of a body and all that hangs on it
    h: np.ndarray  # (n + 1, 6) its wrench
    xi: np.ndarray  # (n + 1, 6) its screw
    away: np.ndarray  # (r, d) the system's solutions for the low-rank rows (`Terms.rows`)
    border: np.ndarray  # (r, r) border of the system, by those rows
    H: np.ndarray  # (b, b) scratch
    span: np.ndarray  # (2, b) first entry of each row of H that may not be zero, and the one after the last
    z: np.ndarray  # (b,) scratch
    shares: np.ndarray  # (b,) scratch
    root: np.ndarray  # (6, 6) scratch
    answer: np.ndarray  # (n + 1, 6) scratch
    along: np.ndarray  # (r,) scratch
    tie: np.ndarray  # (13, 12) scratch
    tie_vectors: np.ndarray  # (13, 12) scratch
    D: np.ndarray  # (3, 3) scratch
    f: np.ndarray  # (3,) scratch


def new_system(flat: Flat, rows: int) -> System:
    """Return room for the system of a mechanism with at most `rows` low-rank rows."""
    n, d, clusters = len(flat.parent), len(flat.before), len(flat.cluster_on)
    most = int(np.diff(flat.cluster_dof_at).max(initial=0))
    blocks = (clusters, most, most)
    return by_reference(
        System(
            bend=np.zeros(blocks),
            block=np.zeros(blocks),
            vectors=np.zeros((clusters, most + 1, most)),
            exact=np.zeros(clusters, np.bool_),
            chosen=np.zeros((clusters, most), np.int64),
            chosen_count=np.zeros(clusters, np.int64),
            lead=np.zeros((clusters, most), np.int64),
            U=np.zeros((d, 6)),
            Y=np.zeros((d, 6)),
            P=np.zeros((n, 6, 6)),
            h=np.zeros((n, 6)),
            xi=np.zeros((n, 6)),
            away=np.zeros((rows, d)),
            border=np.zeros((rows, rows)),
            H=np.zeros((most, most)),
            span=np.zeros((2, most), np.int64),
            z=np.zeros(most),
            shares=np.zeros(most),
            root=np.zeros((6, 6)),
            answer=np.zeros((n, 6)),
            along=np.zeros(rows),
            tie=np.zeros((12, 12)),
            tie_vectors=np.zeros((13, 12)),
            D=np.zeros((3, 3)),
            f=np.zeros(3),
        )
    )


@inlined
def ordered(now, wrench, i, scale, out):
    """Add scale · Cᵢ to `out` (6,), with the wrench (τ, f) that the subtree beyond degree of freedom i exerts."""
    w, v = now.omega[i], now.v[i]
    s = 0.5 * scale
    x, y, z = cross(w[0], w[1], w[2], wrench[0], wrench[1], wrench[2])
    a, b, c = cross(v[0], v[1], v[2], wrench[3], wrench[4], wrench[5])
    out[0] += s * (x + a)
    out[1] += s * (y + b)
    out[2] += s * (z + c)
    x, y, z = cross(w[0], w[1], w[2], wrench[3], wrench[4], wrench[5])
    out[3] += s * x
    out[4] += s * y
    out[5] += s * z


@inlined
def one_ball(flat, i, j):
    """Return True if degrees of freedom i and j belong to one ball."""
    return flat.ball[i] >= 0 and flat.ball[i] == flat.ball[j]


@kernel(entry=False)
def exerted(flat, now, terms, A, b):
    """Fill A.U of the degrees of freedom of body b from A.P[b], which has everything beyond it."""
    P = A.P[b]
    for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
        w, v, u = now.omega[j], now.v[j], A.U[j]
        for k in range(6):
            u[k] = P[k, 0] * w[0] + P[k, 1] * w[1] + P[k, 2] * w[2] + P[k, 3] * v[0] + P[k, 4] * v[1] + P[k, 5] * v[2]
        ordered(now, terms.wrench[b], j, 1.0, u)


@kernel
def matrix(flat, now, terms, A, K):
    """Fill K (d, d) with all second derivatives.

    It is for a robot so small that a matrix is quicker, or whose system is not definite. A.P is scratch.
    """
    K[:] = 0.0
    for b in range(flat.parent.shape[0]):
        for i in range(6):
            for j in range(6):
                A.P[b, i, j] = terms.stiffness[b, i, j]
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        p = flat.parent[b]
        for i in range(6):
            for j in range(6):
                A.P[p, i, j] += A.P[b, i, j]
        if flat.first[b] < flat.last[b]:
            exerted(flat, now, terms, A, b)
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                i = j
                while i >= 0:
                    value = along(now, i, A.U[j])
                    if i != j and one_ball(flat, i, j):
                        value = 0.5 * (value + along(now, j, A.U[i]))
                    K[i, j] = value
                    K[j, i] = value
                    i = flat.before[i]
    for c in range(flat.cluster_on.shape[0]):
        if flat.cluster_group_at[c] < flat.cluster_group_at[c + 1]:
            start = flat.cluster_dof_at[c]
            for at in range(start, flat.cluster_dof_at[c + 1]):
                for to in range(start + flat.span_first[at], start + flat.span_beyond[at]):
                    value = A.bend[c, at - start, to - start]
                    if value != 0.0:
                        K[flat.cluster_dof[at], flat.cluster_dof[to]] += value
    _add_rows(terms, K)
    for i in range(K.shape[0]):
        K[i, i] += terms.hold[i]
    _add_all_tied(flat, now, A, K, terms)


@compiled_for_record(TiedTerms)
def _add_all_tied(flat, now, A, K, terms):
    """Add the second derivatives of all objectives over two bodies to K (d, d)."""
    for k in range(terms.tied.shape[0]):
        _add_tied(flat, now, terms, k, A, K)


@kernel
def _add_tied(flat, now, terms, k, A, K):
    """Add the second derivatives of an objective over two bodies to K (d, d)."""
    P, Q, u, w = terms.stiffness[flat.parent.shape[0] + k], terms.across[k], A.root[0], A.root[1]
    for side in range(2):
        j = flat.tip[terms.tied[k, side]]
        while j >= 0:
            screw, slide = now.omega[j], now.v[j]
            for i in range(6):
                u[i] = w[i] = 0.0
                for m in range(3):
                    u[i] += P[i, m] * screw[m] + P[i, 3 + m] * slide[m]
                    w[i] -= Q[i, m] * screw[m] + Q[i, 3 + m] * slide[m]
            i = flat.tip[terms.tied[k, side]]
            while i >= 0:
                K[i, j] += along(now, i, u)
                i = flat.before[i]
            if side == 1:
                i = flat.tip[terms.tied[k, 0]]
                while i >= 0:
                    value = along(now, i, w)
                    K[i, j] += value
                    K[j, i] += value
                    i = flat.before[i]
            j = flat.before[j]


@kernel
def _add_rows(terms, K):
    """Add the low-rank rows to K (d, d), three at a time."""
    for r in range(0, terms.row_count[0], 3):
        a, b, c, w = terms.rows[r], terms.rows[r + 1], terms.rows[r + 2], terms.row_weight
        for i in range(K.shape[0]):
            x, y, z = w[r] * a[i], w[r + 1] * b[i], w[r + 2] * c[i]
            for j in range(K.shape[0]):
                K[i, j] += x * a[j] + y * b[j] + z * c[j]


@inlined
def carry(flat, now, xi, b, x):
    """Fill xi[b] (6,) with the screw by which a step x (d,) moves body b, from its parent's."""
    p, out = flat.parent[b], xi[b]
    for k in range(6):
        out[k] = xi[p, k]
    if flat.first[b] < flat.last[b]:
        for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
            for k in range(3):
                out[k] += now.omega[j, k] * x[j]
                out[3 + k] += now.v[j, k] * x[j]


@kernel
def times(flat, now, tables, terms, A, x, out):
    """Fill `out` (d,) with the second derivatives times x (d,)."""
    n = flat.parent.shape[0]
    for b in range(1, n):
        carry(flat, now, A.xi, b, x)
    A.h[:] = 0.0
    A.answer[:] = 0.0
    answer(flat, now, tables, A.xi, A.answer)
    _answer_all_tied(n, A, terms)
    for b in range(n - 1, 0, -1):
        h, xi, P = A.h[b], A.xi[b], terms.stiffness[b]
        for i in range(6):
            for k in range(6):
                h[i] += P[i, k] * xi[k]
            h[i] += A.answer[b, i]
        if flat.first[b] < flat.last[b]:
            _through_joint(flat, now, terms, A, b, x, out)
        for i in range(6):
            A.h[flat.parent[b], i] += h[i]
    for c in range(flat.cluster_on.shape[0]):
        start = flat.cluster_dof_at[c]
        if flat.cluster_group_at[c] < flat.cluster_group_at[c + 1]:
            for at in range(start, flat.cluster_dof_at[c + 1]):
                for to in range(start + flat.span_first[at], start + flat.span_beyond[at]):
                    value = A.bend[c, at - start, to - start]
                    if value != 0.0:
                        out[flat.cluster_dof[at]] += value * x[flat.cluster_dof[to]]
    for i in range(x.shape[0]):
        out[i] += terms.hold[i] * x[i]
    add_hold_answer(terms, x, out, tables.hold)


@compiled_for_record(TiedTerms)
def _answer_all_tied(n, A, terms):
    """Add to `answer` how wrenches change where tied bodies move by the screws `xi`."""
    for k in range(terms.tied.shape[0]):
        _answer_tied(terms, k, terms.stiffness[n + k], A.xi[terms.tied[k, 0]], A.xi[terms.tied[k, 1]], A.answer)


@kernel
def _answer_tied(terms, k, P, a, b, out):
    """Add to `out` (n + 1, 6) how wrenches change where two tied bodies move by the screws a and b (6,)."""
    Q, on_a, on_b = terms.across[k], out[terms.tied[k, 0]], out[terms.tied[k, 1]]
    for i in range(6):
        for j in range(6):
            on_a[i] += P[i, j] * a[j] - Q[i, j] * b[j]
            on_b[i] += P[i, j] * b[j] - Q[j, i] * a[j]


@kernel
def _through_joint(flat, now, terms, A, b, x, out):
    """Products of body b's degrees of freedom, from the tip of its chain of motions to the parent.

    h[b] gets their Cⱼ xⱼ.
    """
    h, inner = A.h[b], A.root[0]
    for j in range(flat.tip[b], flat.at_v[flat.first[b]] - 1, -1):
        out[j] = along(now, j, h)
        for i in range(j + 1, flat.tip[b] + 1):  # they are in h already, but a ball's motions have no order
            if one_ball(flat, i, j):
                inner[:] = 0.0
                ordered(now, terms.wrench[b], i, x[i], inner)
                out[j] -= along(now, j, inner)
        inner[:] = 0.0
        ordered(now, terms.wrench[b], j, 1.0, inner)
        for k in range(6):
            out[j] += inner[k] * A.xi[flat.parent[b], k]
        for i in range(flat.at_v[flat.first[b]], j):
            if not one_ball(flat, i, j):
                out[j] += along(now, i, inner) * x[i]
        for k in range(6):
            h[k] += inner[k] * x[j]
