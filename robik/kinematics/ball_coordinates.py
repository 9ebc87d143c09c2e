"""Compiled kernel for rotation vectors [rad] of balls: each the one nearest to the one before, beyond π if need be."""

from __future__ import annotations

from math import atan2, inf, pi, sqrt, tau

from ..jit import inlined, kernel

NEAR_WHOLE = 0.5  # rad: of what is left of a rotation after whole turns, when its direction is looked at
UNSEEN = 1e-5  # rad: less than any servo resolves
BESIDE = 0.02  # rad: how far the coordinates of a ball may be from its rotation beside a whole turn
SWING = 2.0  # times the ball's own turn: a longer step of the coordinates is one of their axis alone
BISECTIONS = 40


@kernel
def follow(vectors, quaternions, last):
    """Replace rotation vectors (T, 3) by those of the same rotations that are nearest to the ones before.

    The first follows `last` (3,). All vectors v (1 + 2π k / |v|) with a whole number k are the same rotation;
    `quaternions` (T, 4) has them as xyzw. Beside a whole turn, a small wobble gives what is left of the rotation
    any direction, and the nearest vector swings by many times as much. There the axis turns by steps of up to
    `SWING` times the ball's own turn, and by longer ones only where the rotation would be off by more than
    `BESIDE`.
    """
    a, b, c = last[0], last[1], last[2]
    for k in range(len(vectors)):
        x, y, z = vectors[k, 0], vectors[k, 1], vectors[k, 2]
        angle, past = sqrt(x * x + y * y + z * z), sqrt(a * a + b * b + c * c)
        if angle > 0.0:
            scale = 1.0 + tau * round(((a * x + b * y + c * z) / angle - angle) / tau) / angle
            x, y, z = scale * x, scale * y, scale * z
        most = SWING * _turned(quaternions, k) if angle < NEAR_WHOLE and past > pi else inf
        if _distance(a, b, c, x, y, z) > most:
            x, y, z = _swung(quaternions[k], a, b, c, x, y, z, most)
        vectors[k, 0], vectors[k, 1], vectors[k, 2] = x, y, z
        a, b, c = x, y, z


@inlined
def _distance(a, b, c, x, y, z):
    return sqrt((x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c))


@inlined
def _turned(quaternions, k):
    """Return the angle between a rotation and the one before it [rad]; zero where there is none."""
    if k == 0:
        return 0.0
    i, j, m, w = quaternions[k - 1]
    x, y, z, s = quaternions[k]
    u, v, t = w * x - s * i - j * z + m * y, w * y - s * j - m * x + i * z, w * z - s * m - i * y + j * x
    return 2.0 * atan2(sqrt(u * u + v * v + t * t), abs(w * s + i * x + j * y + m * z))


@inlined
def _unit(x, y, z):
    size = max(sqrt(x * x + y * y + z * z), 1e-300)
    return x / size, y / size, z / size


@kernel
def _about(q, share, a, b, c, u, v, t):
    """Return a rotation vector near (a, b, c), and how far its rotation is from q [rad].

    Its axis is the given share of the way from that of (a, b, c) to (u, v, t).
    """
    x, y, z = _unit(a, b, c)
    x, y, z = _unit(x + share * (u - x), y + share * (v - y), z + share * (t - z))
    along = x * q[0] + y * q[1] + z * q[2]
    angle = 2.0 * atan2(along, q[3])
    off = 2.0 * _distance(along * x, along * y, along * z, q[0], q[1], q[2])
    angle += tau * round((x * a + y * b + z * c - angle) / tau)
    return angle * x, angle * y, angle * z, off


@kernel
def _swung(q, a, b, c, x, y, z, most):
    """Return the rotation vector for q on the way from (a, b, c) to the exact one, (x, y, z).

    As far as a step of `most` [rad] leads, and at least so far that its rotation is within `BESIDE` of q. Where
    (a, b, c) has the right axis to within `UNSEEN`, that stays.
    """
    u, v, t = _unit(x, y, z)
    if not a * u + b * v + c * t > 0.0:
        u, v, t = (-u, -v, -t) if x != 0.0 or y != 0.0 or z != 0.0 else _unit(a, b, c)
    low, high, share = 0.0, 1.0, 0.0
    for _ in range(BISECTIONS + 1):
        x, y, z, off = _about(q, share, a, b, c, u, v, t)
        if off <= UNSEEN or (off <= BESIDE and _distance(a, b, c, x, y, z) >= most):
            if share == 0.0:
                return x, y, z
            high = share
        else:
            low = share
        share = 0.5 * (low + high)
    x, y, z, off = _about(q, high, a, b, c, u, v, t)
    return x, y, z
