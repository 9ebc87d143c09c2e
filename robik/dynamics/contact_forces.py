"""Compiled kernels for the smallest contact forces inside their friction cones.

Of all forces f at the touching points with G f = r, where r is what no motor can give, those are taken that solve

    minimise  ½ |f|²   subject to  G f = r,  |f_t| ≤ μ f_n  at each point.

The dual has one unknown per row of r, λ, and f = P(Gᵀ λ) with P the projection onto the cones. Newton's method solves
G P(Gᵀ λ) + ε (λ − c) = r with c the multiplier before. Few such proximal steps end in the solution; where no forces can
give r, they come as near to it as the cones allow. Where friction is infinite there are no cones: the ground holds, and
forces are linear in r.
"""

from __future__ import annotations

from math import isinf, sqrt
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel

SLACK, TIGHTER = 1e-5, 0.03  # ε above, and how it shrinks; forces count in weights of the robot, rows have length 1
ROUNDS, MOST, HALVINGS = 8, 40, 30  # proximal steps, steps of Newton's method, halvings of each
ENOUGH = 1e-11  # weights: how far the rows may be off
TINY = 1e-14  # least pivot
SETTLED, ROUNDING = 1e-24, 1e-15  # Newton's decrement at which it ends; of the value: what is no change


class ContactWork(NamedTuple):
    """Room for the forces of K points on rows of up to d independent coordinates."""

    rows: np.ndarray  # (1,) number of rows that count
    row: np.ndarray  # (d,) their coordinates
    G: np.ndarray  # (d, 3 K) forces of the points along the coordinates
    right: np.ndarray  # (d,) forces to be given
    slack: np.ndarray  # (1,) ε
    multiplier: np.ndarray  # (d,) of the rows
    centre: np.ndarray  # (d,) multipliers that the next round is drawn to
    trial: np.ndarray  # (d,) multipliers of a step that is tried
    step: np.ndarray  # (d,) of the multipliers
    slope: np.ndarray  # (d,) of the dual
    H: np.ndarray  # (d, d) second derivatives of the dual
    force: np.ndarray  # (3 K,) in weights
    normal: np.ndarray  # (3,) of the ground
    friction: np.ndarray  # (1,) coefficient


def new_contact_work(dofs: int, points: int, normal: np.ndarray, friction: float) -> ContactWork:
    """Return room for `points` contact points on a robot of `dofs` degrees of freedom.

    `normal` (3,) is the ground's unit normal.
    """
    vectors = np.zeros((6, dofs))
    return by_reference(
        ContactWork(
            rows=np.zeros(1, np.int64),
            row=np.zeros(dofs, np.int64),
            G=np.zeros((dofs, 3 * points)),
            right=vectors[0],
            slack=np.array([SLACK]),
            multiplier=vectors[1],
            trial=vectors[2],
            step=vectors[3],
            slope=vectors[4],
            centre=vectors[5],
            H=np.zeros((dofs, dofs)),
            force=np.zeros(3 * points),
            normal=np.array(normal, dtype=float),
            friction=np.array([friction]),
        )
    )


@inlined
def _pulled(w, point, multiplier):
    """Gᵀ λ at a point."""
    x = y = z = 0.0
    for i in range(w.rows[0]):
        x += w.G[i, 3 * point] * multiplier[i]
        y += w.G[i, 3 * point + 1] * multiplier[i]
        z += w.G[i, 3 * point + 2] * multiplier[i]
    return x, y, z


@inlined
def _in_cone(w, x, y, z):
    """Return the part of the cone that a force (x, y, z) is in, and its lengths.

    The part is 0 inside, 1 on its side, 2 at its tip; then the normal and tangential length, and the normal length of
    the projection.
    """
    a, b, c = w.normal[0], w.normal[1], w.normal[2]
    mu = w.friction[0]
    up = a * x + b * y + c * z
    along = sqrt(max((x - up * a) ** 2 + (y - up * b) ** 2 + (z - up * c) ** 2, 0.0))
    if along <= mu * up:
        return 0, up, along, up
    if mu * along <= -up:
        return 2, up, along, 0.0
    return 1, up, along, (mu * along + up) / (1.0 + mu * mu)


@kernel(entry=False)
def _value(w, multiplier):
    """Return the dual's value, to be minimised; leaves the forces in `force`."""
    total = 0.0
    for k in range(w.force.shape[0] // 3):
        x, y, z = _pulled(w, k, multiplier)
        part, up, along, axial = _in_cone(w, x, y, z)
        if part == 1:
            ratio = w.friction[0] * axial / along
            x = ratio * (x - up * w.normal[0]) + axial * w.normal[0]
            y = ratio * (y - up * w.normal[1]) + axial * w.normal[1]
            z = ratio * (z - up * w.normal[2]) + axial * w.normal[2]
        elif part == 2:
            x, y, z = 0.0, 0.0, 0.0
        w.force[3 * k], w.force[3 * k + 1], w.force[3 * k + 2] = x, y, z
        total += 0.5 * (x * x + y * y + z * z)
    for i in range(w.rows[0]):
        total += 0.5 * w.slack[0] * (multiplier[i] - w.centre[i]) ** 2 - multiplier[i] * w.right[i]
    return total


@kernel(entry=False)
def _residual(w):
    """Write the dual's slope G f + ε (λ − c) − r at `multiplier`, with the forces at hand.

    Returns the largest |G f − r|.
    """
    worst = 0.0
    for i in range(w.rows[0]):
        s = -w.right[i]
        for j in range(w.force.shape[0]):
            s += w.G[i, j] * w.force[j]
        worst = max(worst, abs(s))
        w.slope[i] = s + w.slack[0] * (w.multiplier[i] - w.centre[i])
    return worst


@kernel(entry=False)
def _hessian(w):
    """Write G P′ Gᵀ + ε."""
    n, mu = w.rows[0], w.friction[0]
    for i in range(n):
        for j in range(i + 1):
            w.H[i, j] = w.slack[0] if i == j else 0.0
    for k in range(w.force.shape[0] // 3):
        x, y, z = _pulled(w, k, w.multiplier)
        part, up, along, axial = _in_cone(w, x, y, z)
        if part == 2:
            continue
        a, b, c = w.normal[0], w.normal[1], w.normal[2]
        tx = ty = tz = 0.0
        if part == 1:
            tx, ty, tz = (x - up * a) / along, (y - up * b) / along, (z - up * c) / along
        length, across = 1.0 / sqrt(1.0 + mu * mu), mu * axial / max(along, 1e-300)
        for i in range(n):
            gx, gy, gz = w.G[i, 3 * k], w.G[i, 3 * k + 1], w.G[i, 3 * k + 2]
            side, normal = gx * tx + gy * ty + gz * tz, gx * a + gy * b + gz * c
            for j in range(i + 1):
                hx, hy, hz = w.G[j, 3 * k], w.G[j, 3 * k + 1], w.G[j, 3 * k + 2]
                inner = gx * hx + gy * hy + gz * hz
                if part == 1:
                    other_side, other = hx * tx + hy * ty + hz * tz, hx * a + hy * b + hz * c
                    edge = length * length * (mu * side + normal) * (mu * other_side + other)
                    inner = edge + across * (inner - normal * other - side * other_side)
                w.H[i, j] += inner


@kernel(entry=False)
def _solve(w):
    """Write the step −H⁻¹ slope, by Cholesky factors in place of H."""
    n, H, x = w.rows[0], w.H, w.step
    for i in range(n):
        for j in range(i + 1):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            H[i, j] = sqrt(max(s, TINY)) if i == j else s / H[j, j]
    for i in range(n):
        s = -w.slope[i]
        for k in range(i):
            s -= H[i, k] * x[k]
        x[i] = s / H[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= H[k, i] * x[k]
        x[i] = s / H[i, i]


@kernel(entry=False)
def _start(w):
    """Write the multiplier of the smallest forces without cones."""
    n = w.rows[0]
    for i in range(n):
        w.slope[i] = -w.right[i]
        for j in range(i + 1):
            s = 1e-8 if i == j else 0.0
            for k in range(w.force.shape[0]):
                s += w.G[i, k] * w.G[j, k]
            w.H[i, j] = s
    _solve(w)
    for i in range(n):
        w.multiplier[i] = w.step[i]


@kernel(entry=False)
def _settle(w):
    """Newton's method for one proximal step, with the forces at hand; returns the largest |G f − r|."""
    value = _value(w, w.multiplier)
    missing = _residual(w)
    for _ in range(MOST):
        _hessian(w)
        _solve(w)
        slope = 0.0
        for i in range(w.rows[0]):
            slope += w.step[i] * w.slope[i]
        if slope > -SETTLED:
            break
        scale = 1.0
        for _ in range(HALVINGS):
            for i in range(w.rows[0]):
                w.trial[i] = w.multiplier[i] + scale * w.step[i]
            new = _value(w, w.trial)
            if new <= value + 1e-4 * scale * slope + ROUNDING * abs(value):
                break
            scale *= 0.5
        value = new
        for i in range(w.rows[0]):
            w.multiplier[i] = w.trial[i]
        missing = _residual(w)
    return missing


@kernel(entry=False)
def smallest_forces(w):
    """Fill `w.force` with the smallest forces in the cones that give `w.right`, or come nearest to it.

    Return the missing share of `right`.
    """
    _start(w)
    if isinf(w.friction[0]):
        for k in range(w.force.shape[0] // 3):
            w.force[3 * k], w.force[3 * k + 1], w.force[3 * k + 2] = _pulled(w, k, w.multiplier)
        return 0.0
    before, w.slack[0] = np.inf, SLACK
    for _ in range(ROUNDS):
        for i in range(w.rows[0]):
            w.centre[i] = w.multiplier[i]
        missing = _settle(w)
        if missing <= ENOUGH or missing > 0.5 * before:
            break
        before = missing
        w.slack[0] *= TIGHTER
    return missing
