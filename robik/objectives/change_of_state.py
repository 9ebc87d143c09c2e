"""Change of state: every body drawn to its pose in the frame before (paper, IV-C).

Each frame then has one answer.

    f = ½ Σ_b w_b (|c_b − c̄_b|²/ℓ² + |q_b − q̄_b|²)

c is a body's centre of mass, q its quaternion, the bar the frame before. Of q and −q the one nearer to q̄ counts, so
that ½ |q − q̄|² = 1 − q·q̄ with q·q̄ ≥ 0; its torque is ½ vec(q q̄⁻¹) and its Hessian ¼ q·q̄.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..kinematics.rotations import half_turn
from .terms import add_point, add_stiffness, moved


class ChangeOfState(NamedTuple):
    """The state of the frame before, in compiled form."""

    previous_R: np.ndarray  # (n + 1, 3, 3) orientations of the bodies' state frames
    previous_c: np.ndarray  # (n + 1, 3) their centres of mass [m]
    weight: np.ndarray  # (n + 1, 2) of each body: of its orientation, and of its position over ℓ²


@kernel
def add_value(flat, now, state, total):
    """Return `total` with the objective added."""
    placed = turned = 0.0
    for b in range(1, flat.bodies + 1):
        c, p = now.c[b], state.previous_c[b]
        dx, dy, dz = c[0] - p[0], c[1] - p[1], c[2] - p[2]
        w, x, y, z = half_turn(now.R[b], state.previous_R[b])
        placed += state.weight[b, 1] * 0.5 * (dx * dx + dy * dy + dz * dz)
        square = x * x + y * y + z * z if w > 0.5 else 1.0 - w * w  # each where it is exact
        turned += state.weight[b, 0] * square / (1.0 + w)
    return total + turned + placed


@kernel
def add_terms(flat, now, state, terms, share):
    """Add forces and stiffness to the bodies: with a `share` of 1 of the forces exact, with 0 Gauss-Newton's."""
    for b in range(1, flat.bodies + 1):
        c, D, M, ahead, p = now.c[b], terms.D[b], terms.Mww[b], terms.ahead[b], state.previous_c[b]
        turn, slide = state.weight[b, 0], state.weight[b, 1]
        x, y, z = moved(ahead, c[0], c[1], c[2])
        ws = share * slide
        add_point(terms, b, c[0], c[1], c[2], ws * (x - p[0]), ws * (y - p[1]), ws * (z - p[2]))
        add_stiffness(terms, b, c[0], c[1], c[2], slide, slide, slide)
        w, x, y, z = half_turn(now.R[b], state.previous_R[b])  # D holds half of the torque on each side of its diagonal
        ws, h = 0.25 * share * turn, 0.5 * w
        x, y, z = ws * (x + h * ahead[0]), ws * (y + h * ahead[1]), ws * (z + h * ahead[2])
        D[0, 1] += z
        D[1, 0] -= z
        D[1, 2] += x
        D[2, 1] -= x
        D[2, 0] += y
        D[0, 2] -= y
        for k in range(3):
            M[k, k] += 0.25 * turn * w
