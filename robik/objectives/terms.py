"""Forces and second derivatives that objectives add to bodies, in compiled form.

Every force F at a point x and every force G on a direction d adds f += F and D += x Fᵀ or D += d Gᵀ to its body; a torque is the
antisymmetric part of D. Summed over the bodies that a degree of freedom moves, they are the wrench (τ, f) that gives the gradient. The
residuals' Gauss-Newton parts add to M, 6 × 6 over screws (ω, v). With the symmetric part of D and f, which turn along with the body,

    stiffness = [[Mww + ½ (D + Dᵀ) - tr D, Mwv - ½ [f]×], [.., Mvv]]

is a body's own second derivative along the exponential of a screw (`ik/hessian.py` makes a robot's of the bodies').
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robik.compiled import inlined, kernel
from robik.kinematics.kernels import along, carved
from robik.kinematics.rotations import cross
from robik.mechanism.topology import Flat
from robik.structs import by_reference

MOST_ROWS = 3  # of the centre of mass


class Terms(NamedTuple):
    """Scratch of one placement."""

    f: np.ndarray  # (n + 1, 3) force on each body
    D: np.ndarray  # (n + 1, 3, 3) its moments
    Mww: np.ndarray  # (n + 1, 3, 3) Gauss-Newton parts of the second derivatives, over turns
    Mwv: np.ndarray  # (n + 1, 3, 3) over turns and slides
    Mvv: np.ndarray  # (n + 1, 3, 3) over slides
    wrench: np.ndarray  # (n + 1, 6) torque and force on a body and all that hangs on it
    sums: np.ndarray  # memory of all the above
    stiffness: np.ndarray  # (n + 1, 6, 6) each body's own second derivative
    rows: np.ndarray  # (r, d) low-rank part of the second derivatives, Σ weight row rowᵀ; they come in threes
    row_weight: np.ndarray  # (r,)
    row_count: np.ndarray  # (1,) how many of them count
    A: np.ndarray  # (3, 3) scratch
    ahead: np.ndarray  # (n + 1, 6) screw by which a body will have moved when it exerts what is gathered; zero unless foreseen


def new_terms(flat: Flat) -> Terms:
    """Return room for the terms of a mechanism."""
    n = len(flat.parent)
    matrix = (n, 3, 3)
    sums, parts = carved((n, 3), matrix, matrix, matrix, matrix, (n, 6))
    rows = np.zeros((MOST_ROWS, len(flat.before)))
    low_rank = rows, np.zeros(MOST_ROWS), np.zeros(1, np.int64)
    return by_reference(Terms._make([*parts, sums, np.zeros((n, 6, 6)), *low_rank, np.zeros((3, 3)), np.zeros((n, 6))]))


@inlined
def add_point(terms, b, x, y, z, fx, fy, fz):
    """Add a force at a world point of a body."""
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
    """Add the Gauss-Newton part of ½ Σ w e² for a world point of a body: Mww = -[x] W [x], Mwv = [x] W, Mvv = W."""
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
def moved(screw, x, y, z):
    """Return where a screw takes a point, to first order."""
    a, b, c = cross(screw[0], screw[1], screw[2], x, y, z)
    return x + a + screw[3], y + b + screw[4], z + c + screw[5]


@kernel
def collect(flat, terms):
    """Sum wrenches from the tips to the root."""
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
                out[j] = along(now, j, terms.wrench[b])


@kernel
def stiffen_bodies(flat, terms):
    """Fill the bodies' own stiffness from gathered terms."""
    for b in range(1, flat.parent.shape[0]):
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
