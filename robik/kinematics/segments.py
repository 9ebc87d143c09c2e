"""Segments: the points where two of them are nearest to each other, and how far these are apart."""

from __future__ import annotations

from ..jit import inlined, kernel

PARALLEL = 1e-12  # squared sine of the angle between segments that are parallel


@inlined
def _clamp(x):
    return min(max(x, 0.0), 1.0)


@kernel
def nearest(p, u, q, v):
    """Return s and t, 0 to 1, at which the segments p + s u and q + t v are nearest to each other."""
    x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    a, e, b = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 0.0
    b = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    c, f = u[0] * x + u[1] * y + u[2] * z, v[0] * x + v[1] * y + v[2] * z
    across = a * e - b * b
    s = _clamp((b * f - c * e) / across) if across > PARALLEL * a * e else (0.5 if a > 0.0 else 0.0)
    t = _clamp((b * s + f) / e) if e > 0.0 else 0.0
    if a > 0.0:
        s = _clamp((b * t - c) / a)
    if e > 0.0:
        t = _clamp((b * s + f) / e)
    return s, t


@kernel
def distances(p, u, q, v, found):
    """Fill the distances (T,) of the segments p + s u and q + t v, each (T, 3)."""
    for k in range(found.shape[0]):
        s, t = nearest(p[k], u[k], q[k], v[k])
        total = 0.0
        for i in range(3):
            total += (p[k, i] + s * u[k, i] - q[k, i] - t * v[k, i]) ** 2
        found[k] = total**0.5
