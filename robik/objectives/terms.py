"""Forces and second derivatives that objectives add to bodies, in compiled form.

Every force F at a point x and every force G on a direction d adds f += F and D += x Fᵀ or D += d Gᵀ to its body; a
torque is the antisymmetric part of D. Summed over the bodies that a degree of freedom moves, they are the wrench (τ, f)
that gives the gradient. The residuals' Gauss-Newton parts add to M, 6 × 6 over screws (ω, v). With the symmetric part
of D and f, which turn along with the body,

    stiffness = [[Mww + ½ (D + Dᵀ) - tr D, Mwv - ½ [f]×], [.., Mvv]]

is a body's own second derivative along the exponential of a screw (`ik/hessian.py` makes a robot's of the bodies').

An objective over two bodies a and b is a function of the motion of b against a. Its forces on b and its P, the
stiffness of b while a stands still, go to a slot of its own beyond the bodies'. By exp(−Sₐ) exp(S_b) the rest follows:
a feels the opposite wrench, and

    ∂²f = [[P, −Qᵀ], [−Q, P]] over (S_b, S_a),   Q = P + C at a's side,   C S = ½ (ω × τ + v × f, ω × f)

with the wrench (τ, f) on b. Degrees of freedom that move both bodies alike cancel out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record, inlined, kernel
from ..kinematics.kernels import along, carved
from ..kinematics.rotations import cross
from ..mechanism.topology import Flat

ROWS = 3  # of the centre of mass
ROWS_TIED = 12  # of two bodies that are tied, at most
ROWS_APART = 36  # of bodies that are kept apart, at once and at most; whole threes
NOTHING_TIED = np.zeros((0, 2), np.int64)


class Terms(NamedTuple):
    """Scratch of one placement."""

    f: np.ndarray  # (n + 1 + k, 3) force on each body, and in the slot of each of k objectives over two bodies
    D: np.ndarray  # (n + 1 + k, 3, 3) its moments
    Mww: np.ndarray  # (n + 1 + k, 3, 3) Gauss-Newton parts of the second derivatives, over turns
    Mwv: np.ndarray  # (n + 1 + k, 3, 3) over turns and slides
    Mvv: np.ndarray  # (n + 1 + k, 3, 3) over slides
    pull: np.ndarray  # (d,) force on each degree of freedom itself
    hold: np.ndarray  # (d,) its stiffness
    wrench: np.ndarray  # (n + 1, 6) torque and force on a body and all that hangs on it
    sums: np.ndarray  # memory of all the above
    stiffness: np.ndarray  # (n + 1 + k, 6, 6) each body's and each slot's own second derivative
    tied: np.ndarray  # (k, 2) bodies a and b of each slot
    across: np.ndarray  # (k, 6, 6) Q
    rows: np.ndarray  # (r, d) low-rank part of the second derivatives, Σ weight row rowᵀ; they come in threes
    row_weight: np.ndarray  # (r,)
    row_count: (
        np.ndarray
    )  # (2,) how many of them count, and how many with those of bodies that are tied, which only large robots have
    A: np.ndarray  # (3, 3) scratch
    ahead: (
        np.ndarray
    )  # (n + 1, 6) screw by which a body will have moved when it exerts what is gathered; zero unless foreseen


class TiedTerms(Terms):
    """Terms where bodies may be tied, a kind of its own so that what only those need is compiled for them alone."""


def low_rank_rows(tied: np.ndarray | None) -> int:
    """Return the number of low-rank rows that there is room for.

    `tied` (k, 2) has bodies a and b of the objectives over two bodies; None for a clip without such objectives.
    """
    return ROWS if tied is None else ROWS + ROWS_APART + ROWS_TIED * len(tied)


def new_terms(flat: Flat, tied: np.ndarray | None = None, more: int = 0) -> Terms:
    """Return room for the terms of a mechanism, as zeros.

    `tied` (k, 2) has bodies a and b of the objectives over two bodies; None for a clip without such objectives.
    `more` is the number of low-rank rows beside theirs.
    """
    kind = Terms if tied is None else TiedTerms
    tied = NOTHING_TIED if tied is None else tied
    n, d, k = len(flat.parent), len(flat.before), len(tied)
    matrix, rows = (n + k, 3, 3), low_rank_rows(tied if kind is TiedTerms else None) + more
    sums, parts = carved((n + k, 3), matrix, matrix, matrix, matrix, (d,), (d,), (n, 6))
    bodies = np.zeros((n + k, 6, 6)), tied, np.zeros((k, 6, 6))
    low_rank = np.zeros((rows, d)), np.zeros(rows), np.zeros(2, np.int64)
    return by_reference(kind._make([*parts, sums, *bodies, *low_rank, np.zeros((3, 3)), np.zeros((n, 6))]))


@inlined
def add_point(terms, b, x, y, z, fx, fy, fz):
    """Add a force (fx, fy, fz) at the world point (x, y, z) [m] to body or slot b."""
    f, D = terms.f[b], terms.D[b]
    f[0] += fx
    f[1] += fy
    f[2] += fz
    D[0, 0] += x * fx
    D[0, 1] += x * fy
    D[0, 2] += x * fz
    D[1, 0] += y * fx
    D[1, 1] += y * fy
    D[1, 2] += y * fz
    D[2, 0] += z * fx
    D[2, 1] += z * fy
    D[2, 2] += z * fz


@inlined
def add_stiffness(terms, b, x, y, z, wx, wy, wz):
    """Add the Gauss-Newton part of ½ Σ w e² for the world point x of body or slot b.

    Mww = -[x] W [x], Mwv = [x] W, Mvv = W.
    """
    A, B, V = terms.Mww[b], terms.Mwv[b], terms.Mvv[b]
    V[0, 0] += wx
    V[1, 1] += wy
    V[2, 2] += wz
    B[0, 1] -= z * wy
    B[0, 2] += y * wz
    B[1, 0] += z * wx
    B[1, 2] -= x * wz
    B[2, 0] -= y * wx
    B[2, 1] += x * wy
    A[0, 0] += z * z * wy + y * y * wz
    A[1, 1] += z * z * wx + x * x * wz
    A[2, 2] += y * y * wx + x * x * wy
    A[0, 1] -= x * y * wz
    A[1, 0] -= x * y * wz
    A[0, 2] -= x * z * wy
    A[2, 0] -= x * z * wy
    A[1, 2] -= y * z * wx
    A[2, 1] -= y * z * wx


@inlined
def add_along(terms, b, x, y, z, nx, ny, nz, w):
    """Add the Gauss-Newton part of ½ w (n · e)² for a world point of body or slot b and a direction n."""
    m, n = cross(x, y, z, nx, ny, nz), (nx, ny, nz)
    A, B, V = terms.Mww[b], terms.Mwv[b], terms.Mvv[b]
    for i in range(3):
        for j in range(3):
            A[i, j] += w * m[i] * m[j]
            B[i, j] += w * m[i] * n[j]
            V[i, j] += w * n[i] * n[j]


@inlined
def seen_from(terms, b, a):
    """Return the screw (ω, v), by components, by which body b will have moved against body a."""
    x, y = terms.ahead[b], terms.ahead[a]
    return x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3], x[4] - y[4], x[5] - y[5]


@inlined
def moved(screw, x, y, z):
    """Return the point [m], by components, to which a screw (ω, v) (6,) takes (x, y, z), to first order."""
    a, b, c = cross(screw[0], screw[1], screw[2], x, y, z)
    return x + a + screw[3], y + b + screw[4], z + c + screw[5]


@kernel
def _collect_tied(flat, terms):
    """Give the wrenches in slots to both bodies of each."""
    n = flat.parent.shape[0]
    for k in range(terms.tied.shape[0]):
        a, b, f, D = terms.wrench[terms.tied[k, 0]], terms.wrench[terms.tied[k, 1]], terms.f[n + k], terms.D[n + k]
        for i in range(3):
            torque = D[(i + 1) % 3, (i + 2) % 3] - D[(i + 2) % 3, (i + 1) % 3]
            a[i] -= torque
            b[i] += torque
            a[3 + i] -= f[i]
            b[3 + i] += f[i]


@compiled_for_record(TiedTerms)
def collect_tied(flat, terms):
    """Add the wrenches of slots to both of their bodies, where objectives tie bodies."""
    _collect_tied(flat, terms)


@kernel
def _stiffen_tied(flat, terms):
    """Fill what ties two bodies, from the stiffness in their slot."""
    for k in range(terms.tied.shape[0]):
        slot = flat.parent.shape[0] + k
        Q, P, D, f = terms.across[k], terms.stiffness[slot], terms.D[slot], terms.f[slot]
        for i in range(6):
            for j in range(6):
                Q[i, j] = P[i, j]
        for i in range(3):  # C = −½ [[[τ], [f]], [[f], 0]]
            j, m = (i + 1) % 3, (i + 2) % 3
            half = 0.5 * (D[j, m] - D[m, j])
            Q[j, m] += half
            Q[m, j] -= half
            half = 0.5 * f[i]
            Q[j, 3 + m] += half
            Q[m, 3 + j] -= half
            Q[3 + j, m] += half
            Q[3 + m, j] -= half


@compiled_for_record(TiedTerms)
def stiffen_tied(flat, terms):
    """Fill the stiffness of slots, where objectives tie bodies."""
    _stiffen_tied(flat, terms)


@kernel
def collect(flat, terms):
    """Sum wrenches from the tips to the root, those of slots on both of their bodies."""
    collect_tied(flat, terms)
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        p, f, D, wrench = flat.parent[b], terms.f[b], terms.D[b], terms.wrench[b]
        wrench[0] += D[1, 2] - D[2, 1]
        wrench[1] += D[2, 0] - D[0, 2]
        wrench[2] += D[0, 1] - D[1, 0]
        for i in range(3):
            wrench[3 + i] += f[i]
        for i in range(6):
            terms.wrench[p, i] += wrench[i]


@kernel
def gradient(flat, now, terms, out):
    """Fill out (d,), the gradient ∂f/∂y, from gathered terms."""
    for b in range(1, flat.parent.shape[0]):
        if flat.first[b] < flat.last[b]:
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                out[j] = along(now, j, terms.wrench[b]) + terms.pull[j]


@kernel
def stiffen_bodies(flat, terms):
    """Fill the stiffness of bodies and of ties between two of them from gathered terms."""
    for b in range(1, terms.f.shape[0]):
        K, A, B, V, D, f = terms.stiffness[b], terms.Mww[b], terms.Mwv[b], terms.Mvv[b], terms.D[b], terms.f[b]
        trace = D[0, 0] + D[1, 1] + D[2, 2]
        for i in range(3):
            for k in range(3):
                K[i, k] = A[i, k] + 0.5 * (D[i, k] + D[k, i])
                K[i, 3 + k] = B[i, k]
                K[3 + i, 3 + k] = V[i, k]
            K[i, i] -= trace
        K[0, 4] += 0.5 * f[2]
        K[0, 5] -= 0.5 * f[1]
        K[1, 3] -= 0.5 * f[2]
        K[1, 5] += 0.5 * f[0]
        K[2, 3] += 0.5 * f[1]
        K[2, 4] -= 0.5 * f[0]
        for i in range(3):
            for k in range(3):
                K[3 + k, i] = K[i, 3 + k]
    stiffen_tied(flat, terms)
