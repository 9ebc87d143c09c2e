"""Velocity: bodies faster than a limit are slowed down smoothly.

Angular velocity (paper, IV-D), and linear velocity by the same objective.

    f = w_vel Σ_b g(3 − tr R̄_bᵀ R_b, t₀) + g(|c_b − c̄_b|², t₁),   g(x, t) = ln³(x / t) above t, else 0
    t₀ = 2 (1 − cos ω Δt),   t₁ = (v Δt)²

R and c are a body's orientation and centre of mass, the bar the frame before. g is smooth to second order at x = t: g′
= 3 ln² / x and g″ = (6 ln − 3 ln²) / x². It is no square, so its second derivatives are exact whatever share of the
forces counts.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.rotations import cross
from .terms import add_point, add_stiffness


class Velocity(NamedTuple):
    """The velocity limits of a frame, in compiled form."""

    previous_R: np.ndarray  # (n + 1, 3, 3) orientations of the bodies' state frames in the frame before
    previous_c: np.ndarray  # (n + 1, 3) their centres of mass there [m]
    weight: np.ndarray  # (1,)
    threshold: np.ndarray  # (2,) t₀ and t₁, angular and linear [m²]; infinite where a term does not act


@inlined
def _turned_away(R, P):
    """3 - tr(Pᵀ R) without cancellation."""
    x = 0.0
    for i in range(3):
        for k in range(3):
            difference = R[i, k] - P[i, k]
            x += difference * difference
    return 0.5 * x


@kernel
def add_value(flat, now, velocity, total):
    """Return `total` with the objective added."""
    if not velocity.weight[0] > 0.0:
        return total
    value = 0.0
    for b in range(1, flat.bodies + 1):
        away = _turned_away(now.R[b], velocity.previous_R[b])
        if away > velocity.threshold[0]:
            ln = log(away / velocity.threshold[0])
            value += ln * ln * ln
        c, p = now.c[b], velocity.previous_c[b]
        dx, dy, dz = c[0] - p[0], c[1] - p[1], c[2] - p[2]
        away = dx * dx + dy * dy + dz * dz
        if away > velocity.threshold[1]:
            ln = log(away / velocity.threshold[1])
            value += ln * ln * ln
    return total + velocity.weight[0] * value


@kernel
def add_terms(flat, now, velocity, terms):
    """Add forces and stiffness to the bodies."""
    weight = velocity.weight[0]
    if not weight > 0.0:
        return
    for b in range(1, flat.bodies + 1):
        away = _turned_away(now.R[b], velocity.previous_R[b])
        if away > velocity.threshold[0]:
            _add_angular(
                terms.A,
                now.R[b],
                velocity.previous_R[b],
                terms.D[b],
                terms.Mww[b],
                weight,
                away,
                log(away / velocity.threshold[0]),
            )
        c, p = now.c[b], velocity.previous_c[b]
        dx, dy, dz = c[0] - p[0], c[1] - p[1], c[2] - p[2]
        away = dx * dx + dy * dy + dz * dz
        if away > velocity.threshold[1]:
            _add_linear(terms, b, c, dx, dy, dz, weight, away, log(away / velocity.threshold[1]))


@kernel
def _add_linear(terms, b, c, dx, dy, dz, weight, x, ln):
    """Add weight · ln³(x / t) with x = |d|²: ∂x = 2 d, ∂²x = 2."""
    first, second = weight * 3.0 * ln * ln / x, weight * (6.0 * ln - 3.0 * ln * ln) / (x * x)
    w, k = 2.0 * first, 4.0 * second
    add_point(terms, b, c[0], c[1], c[2], w * dx, w * dy, w * dz)
    add_stiffness(terms, b, c[0], c[1], c[2], w, w, w)
    mx, my, mz = cross(c[0], c[1], c[2], dx, dy, dz)
    turn, slide = (mx, my, mz), (dx, dy, dz)
    for i in range(3):
        for j in range(3):
            terms.Mww[b, i, j] += k * turn[i] * turn[j]
            terms.Mwv[b, i, j] += k * turn[i] * slide[j]
            terms.Mvv[b, i, j] += k * slide[i] * slide[j]


@kernel
def _add_angular(A, R, P, D, M, weight, x, ln):
    """Add weight · ln³(x / t) with x = 3 - tr(Pᵀ R)."""
    first, second = weight * 3.0 * ln * ln / x, weight * (6.0 * ln - 3.0 * ln * ln) / (x * x)
    for i in range(3):
        for k in range(3):
            A[i, k] = -(R[i, 0] * P[k, 0] + R[i, 1] * P[k, 1] + R[i, 2] * P[k, 2])
            D[i, k] += first * A[i, k]
    tx, ty, tz = A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]
    M[0, 0] += second * tx * tx
    M[1, 1] += second * ty * ty
    M[2, 2] += second * tz * tz
    M[0, 1] += second * tx * ty
    M[1, 0] += second * tx * ty
    M[0, 2] += second * tx * tz
    M[2, 0] += second * tx * tz
    M[1, 2] += second * ty * tz
    M[2, 1] += second * ty * tz
