"""Centre of mass: the robot's at a point of the world (paper, IV-B).

    f = ½ Σₖ w_com,ₖ (cₖ − ĉₖ)²/ℓ²,   c = Σ_b m_b c_b

k is an axis of the world, m_b a body's share of the mass. The centre of mass ties every body to every other, by three
numbers: its Gauss-Newton part Σₖ wₖ ∇cₖ ∇cₖᵀ goes to the system's low-rank rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..kinematics.rotations import cross
from .terms import add_point, moved


class CentreOfMass(NamedTuple):
    """The centre of mass, in compiled form."""

    target: np.ndarray  # (3,) [m]
    weight: np.ndarray  # (3,) along the world's axes, over ℓ²; zero without a target
    mass: np.ndarray  # (n + 1,) scratch: of a body and all that hangs on it
    moment: np.ndarray  # (n + 1, 3) scratch: the same, times their centre


@kernel
def add_value(flat, now, com, total):
    """Return `total` with the objective added."""
    w = com.weight
    if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
        return total
    mx = my = mz = 0.0
    for b in range(1, flat.bodies + 1):
        c = now.c[b]
        mx, my, mz = mx + flat.mass[b] * c[0], my + flat.mass[b] * c[1], mz + flat.mass[b] * c[2]
    dx, dy, dz = mx - com.target[0], my - com.target[1], mz - com.target[2]
    return total + 0.5 * (w[0] * dx * dx + w[1] * dy * dy + w[2] * dz * dz)


@kernel
def add_terms(flat, now, com, terms, share):
    """Add a `share` of the objective's force to the bodies, by their mass."""
    w, aim = com.weight, com.target
    if share == 0.0 or (w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0):
        return
    mx = my = mz = 0.0
    for b in range(1, flat.bodies + 1):
        m, c = flat.mass[b], now.c[b]
        x, y, z = moved(terms.ahead[b], c[0], c[1], c[2])
        mx, my, mz = mx + m * x, my + m * y, mz + m * z
    ex, ey, ez = share * w[0] * (mx - aim[0]), share * w[1] * (my - aim[1]), share * w[2] * (mz - aim[2])
    if ex != 0.0 or ey != 0.0 or ez != 0.0:
        for b in range(1, flat.bodies + 1):
            m, c = flat.mass[b], now.c[b]
            add_point(terms, b, c[0], c[1], c[2], m * ex, m * ey, m * ez)


@kernel
def add_rows(flat, now, com, terms):
    """Append the derivatives of the centre of mass along the world's axes to the low-rank rows."""
    if com.weight[0] == 0.0 and com.weight[1] == 0.0 and com.weight[2] == 0.0:
        return
    start = terms.row_count[0]
    terms.row_count[0] += 3
    _sum_masses(flat, now, com)
    a, b, c = terms.rows[start], terms.rows[start + 1], terms.rows[start + 2]
    for k in range(3):
        terms.row_weight[start + k] = com.weight[k]
    for body in range(1, flat.parent.shape[0]):
        if flat.first[body] < flat.last[body]:
            m, h = com.mass[body], com.moment[body]
            for j in range(flat.at_v[flat.first[body]], flat.tip[body] + 1):
                w, v = now.omega[j], now.v[j]
                x, y, z = cross(w[0], w[1], w[2], h[0], h[1], h[2])
                a[j], b[j], c[j] = x + m * v[0], y + m * v[1], z + m * v[2]


@kernel
def add_answer(flat, now, com, xi, out):
    """Add to `out` (n + 1, 6) the change of exerted wrenches where bodies move by the screws `xi` (n + 1, 6)."""
    w = com.weight
    if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
        return
    u0 = u1 = u2 = 0.0
    for b in range(1, flat.bodies + 1):
        screw, c, m = xi[b], now.c[b], flat.mass[b]
        x, y, z = cross(screw[0], screw[1], screw[2], c[0], c[1], c[2])
        u0, u1, u2 = u0 + m * (x + screw[3]), u1 + m * (y + screw[4]), u2 + m * (z + screw[5])
    u0, u1, u2 = w[0] * u0, w[1] * u1, w[2] * u2
    for b in range(1, flat.bodies + 1):
        c, m, own = now.c[b], flat.mass[b], out[b]
        x, y, z = cross(c[0], c[1], c[2], m * u0, m * u1, m * u2)
        own[0], own[1], own[2] = own[0] + x, own[1] + y, own[2] + z
        own[3], own[4], own[5] = own[3] + m * u0, own[4] + m * u1, own[5] + m * u2


@kernel
def _sum_masses(flat, now, com):
    """Fill `mass` and `moment`, from the tips to the root."""
    com.mass[:] = 0.0
    com.moment[:] = 0.0
    for b in range(1, flat.bodies + 1):
        m, c = flat.mass[b], now.c[b]
        com.mass[b], com.moment[b, 0], com.moment[b, 1], com.moment[b, 2] = m, m * c[0], m * c[1], m * c[2]
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        p = flat.parent[b]
        com.mass[p] += com.mass[b]
        for i in range(3):
            com.moment[p, i] += com.moment[b, i]
