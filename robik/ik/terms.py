"""The objective in compiled form: its value, its gradient over the tree's degrees of freedom, and by body what its second derivatives
are made of.

Every force F at a point x and every force G on a direction d adds f += F and D += x Fᵀ or D += d Gᵀ to its body; a torque is the
antisymmetric part of D. Summed over the bodies that a degree of freedom moves, they are the wrench (τ, f) that gives the gradient. The
residuals' Gauss-Newton parts add to M, 6 × 6 over screws (ω, v). With the symmetric part of D and f, which turn along with the body,

    stiffness = [[Mww + ½ (D + Dᵀ) - tr D, Mwv - ½ [f]×], [.., Mvv]]

is a body's own second derivative along the exponential of a screw (`hessian.py` makes a robot's of the bodies').
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.kernels import Placement, along, carved, rotate
from ..kinematics.rotations import cross
from ..mechanism.topology import Flat


class Goals(NamedTuple):
    """What a frame of the clip asks for, t targets.

    `body` (t,), `point` (t, 3), `axes` (t, 3, 3): where each target frame sits on its body's state frame; `position_weight`,
    `orientation_weight` (t, 3); `position` (t, 3), `rotation` (t, 3, 3): where it should be; `com`, `com_weight` (3,);
    `previous_R` (n + 1, 3, 3), `previous_c` (n + 1, 3): s̄; `state_weight` (2,) of orientations and of positions; `velocity_weight` (1,);
    `threshold` (2,);
    `reach` (d,): how far each coordinate may be from where it was.
    """

    body: np.ndarray
    point: np.ndarray
    axes: np.ndarray
    position_weight: np.ndarray
    orientation_weight: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    com: np.ndarray
    com_weight: np.ndarray
    previous_R: np.ndarray
    previous_c: np.ndarray
    state_weight: np.ndarray
    velocity_weight: np.ndarray
    threshold: np.ndarray
    reach: np.ndarray


def new_goals(flat: Flat, anchors: Sequence[tuple[int, np.ndarray, np.ndarray]], previous: Placement) -> Goals:
    """Goals that ask for nothing yet: all weights zero, no bounds. `anchors`: body, point (3,) and axes (3, 3) of each target's frame;
    `previous`: where the robot was is read from there."""
    t = len(anchors)
    return by_reference(
        Goals(
            body=np.array([a[0] for a in anchors], dtype=np.int64),
            point=np.array([a[1] for a in anchors]).reshape(t, 3),
            axes=np.array([a[2] for a in anchors]).reshape(t, 3, 3),
            position_weight=np.zeros((t, 3)),
            orientation_weight=np.zeros((t, 3)),
            position=np.zeros((t, 3)),
            rotation=np.zeros((t, 3, 3)),
            com=np.zeros(3),
            com_weight=np.zeros(3),
            previous_R=previous.R,
            previous_c=previous.c,
            state_weight=np.zeros(2),
            velocity_weight=np.zeros(1),
            threshold=np.full(2, np.inf),
            reach=np.full(len(flat.before), np.inf),
        )
    )


class Terms(NamedTuple):
    """Scratch: per body `f` (n + 1, 3), `D` (n + 1, 3, 3), `Mww`, `Mwv`, `Mvv` (n + 1, 3, 3), its
    own; `wrench` (n + 1, 6), `mass` (n + 1,) and `moment` (n + 1, 3) of it and all that hangs on it; `sums`: the memory of these;
    `stiffness` (n + 1, 6, 6), its own; `A` (3, 3). `ahead` (n + 1, 6): the screw by which a body will have moved when it exerts what is
    gathered; zero unless forces are foreseen."""

    f: np.ndarray
    D: np.ndarray
    Mww: np.ndarray
    Mwv: np.ndarray
    Mvv: np.ndarray
    wrench: np.ndarray
    mass: np.ndarray
    moment: np.ndarray
    sums: np.ndarray
    stiffness: np.ndarray
    A: np.ndarray
    ahead: np.ndarray


def new_terms(flat: Flat) -> Terms:
    """Room for the terms of a mechanism."""
    n = len(flat.parent)
    matrix = (n, 3, 3)
    sums, parts = carved((n, 3), matrix, matrix, matrix, matrix, (n, 6), (n,), (n, 3))
    return by_reference(Terms._make([*parts, sums, np.zeros((n, 6, 6)), np.zeros((3, 3)), np.zeros((n, 6))]))


@inlined
def _half_turn(R, P):
    """Cosine and vector (sine × axis) of half the angle between the orientations R and P: the quaternion of R Pᵀ."""
    t = 0.0
    for i in range(3):
        for k in range(3):
            t += R[i, k] * P[i, k]
    if t < -0.9:
        return _near_half_turn(R, P, t)
    w = 0.5 * sqrt(1.0 + t)
    x = y = z = 0.0
    for k in range(3):
        x += R[2, k] * P[1, k] - R[1, k] * P[2, k]
        y += R[0, k] * P[2, k] - R[2, k] * P[0, k]
        z += R[1, k] * P[0, k] - R[0, k] * P[1, k]
    s = 0.25 / w
    return w, s * x, s * y, s * z


@kernel
def _near_half_turn(R, P, t):
    """`_half_turn` where the cosine is small and the other way divides by it; t: the trace of R Pᵀ."""
    i, largest = 0, -2.0
    for a in range(3):
        along = 0.0
        for k in range(3):
            along += R[a, k] * P[a, k]
        if along > largest:
            i, largest = a, along
    j, m = (i + 1) % 3, (i + 2) % 3
    u = 0.5 * sqrt(1.0 + 2.0 * largest - t)
    w = v = n = 0.0
    for k in range(3):
        w += R[m, k] * P[j, k] - R[j, k] * P[m, k]
        v += R[i, k] * P[j, k] + R[j, k] * P[i, k]
        n += R[i, k] * P[m, k] + R[m, k] * P[i, k]
    s = 0.25 / u if w >= 0.0 else -0.25 / u
    u = u if w >= 0.0 else -u
    x = u if i == 0 else (s * n if i == 1 else s * v)
    y = u if i == 1 else (s * v if i == 0 else s * n)
    z = u if i == 2 else (s * n if i == 0 else s * v)
    return s * w, x, y, z


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
def objective(flat, now, goals):
    """f(s) as `objectives.py` states it."""
    total = 0.0
    for t in range(goals.body.shape[0]):
        R, c = now.R[goals.body[t]], now.c[goals.body[t]]
        px, py, pz = rotate(R, goals.point[t])
        ex = px + c[0] - goals.position[t, 0]
        ey = py + c[1] - goals.position[t, 1]
        ez = pz + c[2] - goals.position[t, 2]
        w = goals.position_weight[t]
        total += 0.5 * (w[0] * ex * ex + w[1] * ey * ey + w[2] * ez * ez)
        for a in range(3):
            if goals.orientation_weight[t, a] != 0.0:
                dx, dy, dz = rotate(R, goals.axes[t, :, a])
                dx, dy, dz = dx - goals.rotation[t, 0, a], dy - goals.rotation[t, 1, a], dz - goals.rotation[t, 2, a]
                total += 0.5 * goals.orientation_weight[t, a] * (dx * dx + dy * dy + dz * dz)
    mx = my = mz = 0.0
    placed = turned = velocity = 0.0
    for b in range(1, flat.bodies + 1):
        c, R, P = now.c[b], now.R[b], goals.previous_R[b]
        mx, my, mz = mx + flat.mass[b] * c[0], my + flat.mass[b] * c[1], mz + flat.mass[b] * c[2]
        dx, dy, dz = c[0] - goals.previous_c[b, 0], c[1] - goals.previous_c[b, 1], c[2] - goals.previous_c[b, 2]
        w, x, y, z = _half_turn(R, P)
        placed += 0.5 * (dx * dx + dy * dy + dz * dz)
        turned += (x * x + y * y + z * z) / (1.0 + w)
        if goals.velocity_weight[0] > 0.0:
            away = _turned_away(R, P)
            if away > goals.threshold[0]:
                ln = log(away / goals.threshold[0])
                velocity += ln * ln * ln
            away = dx * dx + dy * dy + dz * dz
            if away > goals.threshold[1]:
                ln = log(away / goals.threshold[1])
                velocity += ln * ln * ln
    dx, dy, dz = mx - goals.com[0], my - goals.com[1], mz - goals.com[2]
    w = goals.com_weight
    total += 0.5 * (w[0] * dx * dx + w[1] * dy * dy + w[2] * dz * dz)
    return total + goals.state_weight[0] * turned + goals.state_weight[1] * placed + goals.velocity_weight[0] * velocity


@inlined
def _add_point(terms, b, x, y, z, fx, fy, fz):
    """A force at a world point of a body."""
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
def _add_stiffness(terms, b, x, y, z, wx, wy, wz):
    """The Gauss-Newton part of ½ Σ w e² for a world point of a body: Mww = -[x] W [x], Mwv = [x] W, Mvv = W."""
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
def _moved(screw, x, y, z):
    """Where a screw takes a point, to first order."""
    a, b, c = cross(screw[0], screw[1], screw[2], x, y, z)
    return x + a + screw[3], y + b + screw[4], z + c + screw[5]


@kernel
def _add_targets(now, goals, terms, share):
    for t in range(goals.body.shape[0]):
        b = goals.body[t]
        R, c, ahead = now.R[b], now.c[b], terms.ahead[b]
        px, py, pz = rotate(R, goals.point[t])
        px, py, pz = px + c[0], py + c[1], pz + c[2]
        w, aim = goals.position_weight[t], goals.position[t]
        x, y, z = _moved(ahead, px, py, pz)
        _add_point(terms, b, px, py, pz, share * w[0] * (x - aim[0]), share * w[1] * (y - aim[1]), share * w[2] * (z - aim[2]))
        _add_stiffness(terms, b, px, py, pz, w[0], w[1], w[2])
        D = terms.D[b]
        for a in range(3):
            wa = goals.orientation_weight[t, a]
            if wa != 0.0:
                d = rotate(R, goals.axes[t, :, a])
                turned = cross(ahead[0], ahead[1], ahead[2], d[0], d[1], d[2])
                for k in range(3):  # without its force it is as if the target were where the axis is
                    g = -wa * (share * (goals.rotation[t, k, a] - turned[k]) + (1.0 - share) * d[k])
                    D[0, k] += d[0] * g
                    D[1, k] += d[1] * g
                    D[2, k] += d[2] * g


@kernel
def _add_regularizers(flat, now, goals, terms, share):
    turn, slide, wv, limit = goals.state_weight[0], goals.state_weight[1], goals.velocity_weight[0], goals.threshold[0]
    for b in range(1, flat.bodies + 1):
        c, R, P, D, M, ahead = now.c[b], now.R[b], goals.previous_R[b], terms.D[b], terms.Mww[b], terms.ahead[b]
        p = goals.previous_c[b]
        x, y, z = _moved(ahead, c[0], c[1], c[2])
        ws = share * slide
        _add_point(terms, b, c[0], c[1], c[2], ws * (x - p[0]), ws * (y - p[1]), ws * (z - p[2]))
        _add_stiffness(terms, b, c[0], c[1], c[2], slide, slide, slide)
        w, x, y, z = _half_turn(R, P)  # 1 - q · q̄ has the torque ½ vec(q q̄⁻¹), half of which D holds on each side, and the Hessian ¼ w
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
        if wv > 0.0:
            away = _turned_away(R, P)
            if away > limit:
                _add_velocity(terms.A, R, P, D, M, wv, away, log(away / limit))
            dx, dy, dz = c[0] - p[0], c[1] - p[1], c[2] - p[2]
            away = dx * dx + dy * dy + dz * dz
            if away > goals.threshold[1]:
                _add_linear_velocity(terms, b, c, dx, dy, dz, wv, away, log(away / goals.threshold[1]))


@kernel
def _add_linear_velocity(terms, b, c, dx, dy, dz, weight, x, ln):
    """weight · ln³(x / t) with x = |d|²: ∂x = 2 d, ∂²x = 2."""
    first, second = weight * 3.0 * ln * ln / x, weight * (6.0 * ln - 3.0 * ln * ln) / (x * x)
    w, k = 2.0 * first, 4.0 * second
    _add_point(terms, b, c[0], c[1], c[2], w * dx, w * dy, w * dz)
    _add_stiffness(terms, b, c[0], c[1], c[2], w, w, w)
    mx, my, mz = cross(c[0], c[1], c[2], dx, dy, dz)
    turn, slide = (mx, my, mz), (dx, dy, dz)
    for i in range(3):
        for j in range(3):
            terms.Mww[b, i, j] += k * turn[i] * turn[j]
            terms.Mwv[b, i, j] += k * turn[i] * slide[j]
            terms.Mvv[b, i, j] += k * slide[i] * slide[j]


@kernel
def _add_velocity(A, R, P, D, M, weight, x, ln):
    """weight · ln³(x / t) with x = 3 - tr(Pᵀ R): g′ = 3 ln² / x, g″ = (6 ln - 3 ln²) / x²."""
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


@kernel
def gather(flat, now, goals, terms, share):
    """Fills the terms at `now`, and sums wrenches and masses from the tips to the root.

    The second derivatives are exact with a `share` of 1 of the forces, Gauss-Newton's with 0; those of the velocity regularizer, which is
    no square, are exact in both.
    """
    terms.sums[:] = 0.0
    _add_targets(now, goals, terms, share)
    _add_regularizers(flat, now, goals, terms, share)
    _add_com(flat, now, goals, terms, share)
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        p, f, D, wrench = flat.parent[b], terms.f[b], terms.D[b], terms.wrench[b]
        wrench[0] += D[1, 2] - D[2, 1]
        wrench[1] += D[2, 0] - D[0, 2]
        wrench[2] += D[0, 1] - D[1, 0]
        for i in range(3):
            wrench[3 + i] += f[i]
        for i in range(6):
            terms.wrench[p, i] += wrench[i]
        terms.mass[p] += terms.mass[b]
        for i in range(3):
            terms.moment[p, i] += terms.moment[b, i]


@kernel
def _add_com(flat, now, goals, terms, share):
    wc, aim = goals.com_weight, goals.com
    mx = my = mz = 0.0
    for b in range(1, flat.bodies + 1):
        m, c = flat.mass[b], now.c[b]
        terms.mass[b], terms.moment[b, 0], terms.moment[b, 1], terms.moment[b, 2] = m, m * c[0], m * c[1], m * c[2]
        x, y, z = _moved(terms.ahead[b], c[0], c[1], c[2])
        mx, my, mz = mx + m * x, my + m * y, mz + m * z
    ex, ey, ez = share * wc[0] * (mx - aim[0]), share * wc[1] * (my - aim[1]), share * wc[2] * (mz - aim[2])
    if ex != 0.0 or ey != 0.0 or ez != 0.0:
        for b in range(1, flat.bodies + 1):
            m, c = flat.mass[b], now.c[b]
            _add_point(terms, b, c[0], c[1], c[2], m * ex, m * ey, m * ez)


@kernel
def gradient(flat, now, terms, out):
    """out (d,): ∂f/∂y from gathered terms."""
    for b in range(1, flat.parent.shape[0]):
        if flat.first[b] < flat.last[b]:
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                out[j] = along(now, j, terms.wrench[b])


@kernel
def stiffen(flat, terms):
    """Fills the bodies' own stiffness from gathered terms."""
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
