"""The compiled virtual twin: a robot without gravity and without velocity, whose mass sits in its end effectors.

    ÿ = H⁻¹ Jᵀ f,   Δy = ½ ÿ Δt²                                    (Scherzinger et al., eq. 9 and algorithm 1)

in the tree's degrees of freedom y. H = Σ Jᵀ M J is summed from the tips to the root: a body with what hangs on it is a
mass m, a first moment h = Σ m x and an inertia I about the world's origin, so a screw (ω, v) has the momentum p = m v +
ω × h and the angular momentum L = I ω + h × v, and Hᵢⱼ = ωᵢ · Lⱼ + vᵢ · pⱼ for i an ancestor of j.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.elimination import Elimination, new_elimination
from ..kinematics.kernels import Placement, carved, new_placement, rotate
from ..kinematics.rotations import cross
from ..mechanism.topology import Flat


class Twin(NamedTuple):
    """The twin's properties, and room for moving it."""

    mass: np.ndarray  # (4,) mass [kg] and inertia [kg m²] of an end effector, then of any other body
    proportional: np.ndarray  # (6,) gains of positions and rotations
    derivative: np.ndarray  # (6,) likewise
    error: np.ndarray  # (t + 1, 6) of the targets, the centre of mass's last
    before: np.ndarray  # (t + 1, 6) an iteration ago
    m: np.ndarray  # (n + 1,) mass of a body and all that hangs on it
    h: np.ndarray  # (n + 1, 3) its first moment
    I: np.ndarray  # (n + 1, 3, 3) its second moment  # noqa: E741
    f: np.ndarray  # (n + 1, 3) forces
    D: np.ndarray  # (n + 1, 3, 3) their moments Σ x fᵀ, of which a torque is the antisymmetric part
    share: np.ndarray  # (n + 1,) share of the real mass
    moment: np.ndarray  # (n + 1, 3) its moment
    sums: np.ndarray  # memory of these seven
    J: np.ndarray  # (d, 3) of the centre of mass
    H: np.ndarray  # (d, d) inertia
    R: np.ndarray  # (d, d) scratch
    packed: np.ndarray  # (d, d) scratch
    force: np.ndarray  # (d,) Jᵀ f
    step: np.ndarray  # (d,) of an iteration
    held: np.ndarray  # (d,) whether a bound holds it
    released: np.ndarray  # (d,) whether it was let go in this iteration
    independent: np.ndarray  # (d,) independent degrees of freedom
    reduced: np.ndarray  # (d,) scratch
    correction: np.ndarray  # (d,) scratch
    right: np.ndarray  # (rows,) scratch
    e: Elimination  # the loops' factors
    trial: Placement  # placement of a step that is tried


def new_twin(
    flat: Flat, rest: np.ndarray, targets: int, mass: np.ndarray, proportional: np.ndarray, derivative: np.ndarray
) -> Twin:
    """Return a twin for so many targets; masses (4,) and gains (6,) are as in `Twin`."""
    n, d, rows = len(flat.parent), len(flat.before), len(flat.row_kind) + len(flat.coupling_leader)
    sums, parts = carved((n,), (n, 3), (n, 3, 3), (n, 3), (n, 3, 3), (n,), (n, 3))
    errors, squares, vectors = np.zeros((2, targets + 1, 6)), np.zeros((3, d, d)), np.zeros((5, d))
    return by_reference(
        Twin._make([
            mass, proportional, derivative, *errors, *parts, sums, np.zeros((d, 3)), *squares, *vectors[:3],
            np.zeros(d, np.bool_),
            np.zeros(d, np.int64),
            *vectors[3:], np.zeros(rows), new_elimination(flat), new_placement(flat, rest),
        ])
    )  # fmt: skip


@kernel
def _turn_between(R, A, target):
    """Return the rotation vector (world) of target (R A)ᵀ, of an end effector with the axes A on a turned body."""
    trace, x, y, z = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        dx, dy, dz = rotate(R, A[:, k])
        gx, gy, gz = target[0, k], target[1, k], target[2, k]
        trace += dx * gx + dy * gy + dz * gz
        ux, uy, uz = cross(dx, dy, dz, gx, gy, gz)
        x, y, z = x + ux, y + uy, z + uz
    s = sqrt(x * x + y * y + z * z)  # twice the sine
    if s > 1e-7 or trace > 0.0:
        f = atan2(s, trace - 1.0) / s if s > 1e-12 else 0.5
        return f * x, f * y, f * z
    return _half_turn(R, A, target)


@kernel(allocates=True)
def _half_turn(R, A, target):
    """Return the rotation vector of a rotation by π, whose antisymmetric part is zero.

    From the largest column of ½ (Q + 1), scaled.
    """
    Q = np.zeros((3, 3))
    for k in range(3):
        d = rotate(R, A[:, k])
        for i in range(3):
            for j in range(3):
                Q[i, j] += 0.5 * target[i, k] * d[j]
    best = 0
    for i in range(3):
        Q[i, i] += 0.5
        if Q[i, i] > Q[best, best]:
            best = i
    f = np.pi / sqrt(Q[0, best] ** 2 + Q[1, best] ** 2 + Q[2, best] ** 2)
    return f * Q[0, best], f * Q[1, best], f * Q[2, best]


@kernel
def _turn_of_axes(R, A, target, weight):
    """Return the same where the axes weigh differently: each axis turns towards its target, as much as it weighs.

    The vector, and Σ w θ².
    """
    x = y = z = total = 0.0
    for k in range(3):
        dx, dy, dz = rotate(R, A[:, k])
        gx, gy, gz = target[0, k], target[1, k], target[2, k]
        ux, uy, uz = cross(dx, dy, dz, gx, gy, gz)
        s = sqrt(ux * ux + uy * uy + uz * uz)
        angle = atan2(s, dx * gx + dy * gy + dz * gz)
        f = weight[k] * (angle / s if s > 1e-12 else 1.0)
        x, y, z, total = x + f * ux, y + f * uy, z + f * uz, total + weight[k] * angle * angle
    return x, y, z, total


@kernel
def measure(flat, now, tables, twin):
    """Fill `error` with weight × distance from each target; return the springs' energy, ½ Σ K_p w distance².

    Metres along the world's axes, then the Rodrigues vector (eq. 10).
    """
    P, energy, frames, com = twin.proportional, 0.0, tables.frame_pose, tables.centre_of_mass
    for t in range(frames.body.shape[0]):
        R, c, e = now.R[frames.body[t]], now.c[frames.body[t]], twin.error[t]
        x, y, z = rotate(R, frames.point[t])
        energy += _distance(e, frames.position_weight[t], frames.position[t], x + c[0], y + c[1], z + c[2], P)
        w = frames.orientation_weight[t]
        if w[0] == w[1] and w[1] == w[2]:
            x, y, z = _turn_between(R, frames.axes[t], frames.rotation[t]) if w[0] > 0.0 else (0.0, 0.0, 0.0)
            energy += w[0] * (P[3] * x * x + P[4] * y * y + P[5] * z * z)
            x, y, z = w[0] * x, w[0] * y, w[0] * z
        else:
            x, y, z, total = _turn_of_axes(R, frames.axes[t], frames.rotation[t], w)
            energy += P[3] * total
        e[3], e[4], e[5] = x, y, z
    x = y = z = 0.0
    for b in range(1, flat.parent.shape[0]):
        c, m = now.c[b], flat.mass[b]
        x, y, z = x + m * c[0], y + m * c[1], z + m * c[2]
    return 0.5 * (energy + _distance(twin.error[frames.body.shape[0]], com.weight, com.target, x, y, z, P))


@inlined
def _distance(error, weight, target, x, y, z, P):
    """Write weight × distance of a point from its target, and return twice the energy of that."""
    dx, dy, dz = target[0] - x, target[1] - y, target[2] - z
    error[0], error[1], error[2] = weight[0] * dx, weight[1] * dy, weight[2] * dz
    return P[0] * weight[0] * dx * dx + P[1] * weight[1] * dy * dy + P[2] * weight[2] * dz * dz


@inlined
def most(weight):
    """Return the largest of three weights."""
    return max(weight[0], weight[1], weight[2])


@inlined
def _add_mass(twin, b, x, y, z, mass, inertia):
    """Add a point mass with an inertia that is the same about every axis."""
    h, M = twin.h[b], twin.I[b]
    twin.m[b] += mass
    h[0], h[1], h[2] = h[0] + mass * x, h[1] + mass * y, h[2] + mass * z
    M[0, 0] += mass * (y * y + z * z) + inertia
    M[1, 1] += mass * (x * x + z * z) + inertia
    M[2, 2] += mass * (x * x + y * y) + inertia
    M[0, 1] -= mass * x * y
    M[0, 2] -= mass * x * z
    M[1, 2] -= mass * y * z


@inlined
def _push(twin, b, x, y, z, fx, fy, fz):
    """Add a force at a world point of a body."""
    f, D = twin.f[b], twin.D[b]
    f[0], f[1], f[2] = f[0] + fx, f[1] + fy, f[2] + fz
    D[0, 0], D[0, 1], D[0, 2] = D[0, 0] + x * fx, D[0, 1] + x * fy, D[0, 2] + x * fz
    D[1, 0], D[1, 1], D[1, 2] = D[1, 0] + y * fx, D[1, 1] + y * fy, D[1, 2] + y * fz
    D[2, 0], D[2, 1], D[2, 2] = D[2, 0] + z * fx, D[2, 1] + z * fy, D[2, 2] + z * fz


@inlined
def _twist(twin, b, x, y, z):
    """Add a torque on a body."""
    D = twin.D[b]
    D[1, 2], D[2, 1] = D[1, 2] + 0.5 * x, D[2, 1] - 0.5 * x
    D[2, 0], D[0, 2] = D[2, 0] + 0.5 * y, D[0, 2] - 0.5 * y
    D[0, 1], D[1, 0] = D[0, 1] + 0.5 * z, D[1, 0] - 0.5 * z


@kernel(allocates=True)
def load(flat, now, tables, twin, rate):
    """Fill masses and PD forces f = K_p e + K_d ė (eq. 11) on the bodies, summed to the root.

    `rate` is 1 / Δt [1/s], or 0 where ė is unknown.
    """
    twin.sums[:] = 0.0
    frames, com = tables.frame_pose, tables.centre_of_mass
    P, Q, last, n = twin.proportional, twin.derivative, frames.body.shape[0], flat.parent.shape[0]
    g, com_mass = np.empty(6), twin.mass[0] * most(com.weight)
    for t in range(last + 1):
        e, p = twin.error[t], twin.before[t]
        for i in range(6):
            g[i] = P[i] * e[i] + Q[i] * rate * (e[i] - p[i])
        if t < last:
            b = frames.body[t]
            x, y, z = rotate(now.R[b], frames.point[t])
            x, y, z = x + now.c[b, 0], y + now.c[b, 1], z + now.c[b, 2]
            _add_mass(
                twin,
                b,
                x,
                y,
                z,
                twin.mass[0] * most(frames.position_weight[t]),
                twin.mass[1] * most(frames.orientation_weight[t]),
            )
            _push(twin, b, x, y, z, g[0], g[1], g[2])
            _twist(twin, b, g[3], g[4], g[5])
    for b in range(1, n):
        c, share = now.c[b], flat.mass[b]
        _add_mass(twin, b, c[0], c[1], c[2], twin.mass[2], twin.mass[3])
        if com_mass > 0.0:
            _push(twin, b, c[0], c[1], c[2], share * g[0], share * g[1], share * g[2])
            twin.share[b], twin.moment[b, 0], twin.moment[b, 1], twin.moment[b, 2] = (
                share,
                share * c[0],
                share * c[1],
                share * c[2],
            )
    _sum_to_root(flat, twin)


@kernel
def _sum_to_root(flat, twin):
    """Add masses, forces and their moments of each body to those of the body that it hangs on."""
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        a = flat.parent[b]
        twin.m[a] += twin.m[b]
        twin.share[a] += twin.share[b]
        for i in range(3):
            twin.h[a, i] += twin.h[b, i]
            twin.f[a, i] += twin.f[b, i]
            twin.moment[a, i] += twin.moment[b, i]
            for k in range(3):
                twin.D[a, i, k] += twin.D[b, i, k]
                twin.I[a, i, k] += twin.I[b, i, k]


@kernel
def inertia(flat, now, tables, twin):
    """Fill `H` and `force` = Jᵀ f from the loads."""
    H, com_mass = twin.H, twin.mass[0] * most(tables.centre_of_mass.weight)
    H[:] = 0.0
    for b in range(1, flat.parent.shape[0]):
        if flat.first[b] == flat.last[b]:
            continue
        m, h, M, f, D = twin.m[b], twin.h[b], twin.I[b], twin.f[b], twin.D[b]
        tx, ty, tz = D[1, 2] - D[2, 1], D[2, 0] - D[0, 2], D[0, 1] - D[1, 0]
        for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
            w, v = now.omega[j], now.v[j]
            twin.force[j] = w[0] * tx + w[1] * ty + w[2] * tz + v[0] * f[0] + v[1] * f[1] + v[2] * f[2]
            px, py, pz = cross(w[0], w[1], w[2], h[0], h[1], h[2])
            px, py, pz = px + m * v[0], py + m * v[1], pz + m * v[2]
            lx, ly, lz = cross(h[0], h[1], h[2], v[0], v[1], v[2])
            lx += M[0, 0] * w[0] + M[0, 1] * w[1] + M[0, 2] * w[2]
            ly += M[0, 1] * w[0] + M[1, 1] * w[1] + M[1, 2] * w[2]
            lz += M[0, 2] * w[0] + M[1, 2] * w[1] + M[2, 2] * w[2]
            i = j
            while i >= 0:
                u, s = now.omega[i], now.v[i]
                value = u[0] * lx + u[1] * ly + u[2] * lz + s[0] * px + s[1] * py + s[2] * pz
                H[i, j] = value
                H[j, i] = value
                i = flat.before[i]
            if com_mass > 0.0:
                c = twin.moment[b]
                x, y, z = cross(w[0], w[1], w[2], c[0], c[1], c[2])
                twin.J[j, 0], twin.J[j, 1], twin.J[j, 2] = (
                    x + twin.share[b] * v[0],
                    y + twin.share[b] * v[1],
                    z + twin.share[b] * v[2],
                )
    if com_mass > 0.0:
        J, d = twin.J, H.shape[0]
        for i in range(d):
            for j in range(d):
                H[i, j] += com_mass * (J[i, 0] * J[j, 0] + J[i, 1] * J[j, 1] + J[i, 2] * J[j, 2])


@kernel
def stiffen(flat, now, twin, factor):
    """Add to H's diagonal what keeps an explicit step stable where the forces themselves are stiff, times `factor`.

        Σⱼ |Gᵢⱼ|,   Gᵢⱼ = (ωᵢ · ωⱼ) tr Dⱼ - ωᵢ · Dⱼ ωⱼ - fⱼ · (ωᵢ × vⱼ),

    the change of Jᵀ f with the pose, which nothing but the links' mass would oppose in an arm stretched towards
    what it cannot reach.
    """
    for b in range(1, flat.parent.shape[0]):
        if flat.first[b] == flat.last[b]:
            continue
        D, f = twin.D[b], twin.f[b]
        trace = D[0, 0] + D[1, 1] + D[2, 2]
        for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
            w, v = now.omega[j], now.v[j]
            gx, gy, gz = cross(v[0], v[1], v[2], f[0], f[1], f[2])
            gx = trace * w[0] - gx - D[0, 0] * w[0] - D[0, 1] * w[1] - D[0, 2] * w[2]
            gy = trace * w[1] - gy - D[1, 0] * w[0] - D[1, 1] * w[1] - D[1, 2] * w[2]
            gz = trace * w[2] - gz - D[2, 0] * w[0] - D[2, 1] * w[1] - D[2, 2] * w[2]
            i = j
            while i >= 0:
                u = now.omega[i]
                g = factor * (u[0] * gx + u[1] * gy + u[2] * gz)
                if i == j:
                    twin.H[j, j] += max(g, 0.0)
                else:
                    twin.H[i, i] += abs(g)
                    twin.H[j, j] += abs(g)
                i = flat.before[i]
