"""Forces and second derivatives between two segments of a robot that are nearer to each other than asked for.

With x and p the nearest points, d their distance, n the direction from p to x, and u and v the unit directions of the
segments,

    ∂²d = (|δ⊥|² − hᵀ M⁻¹ h)/d + n · (∂²x − ∂²p),   M = [[1, −u · v], [−u · v, 1]],   h = (h_u, h_v)

over the motion δ of x against p across n; h_u and h_v say how fast the nearest points slide along u and v, and count
where these lie within their segments. All of them are relative motions along lines: h_u along u through p, h_v along −v
through x.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.kernels import along, rotate
from ..kinematics.rotations import cross
from ..kinematics.segments import nearest
from .terms import ROWS_APART, add_point, moved, seen_from

NEAREST = 1e-9  # of the robot's size: points nearer than this coincide
SKEW = 1e-4  # sine of the angle below which segments are parallel
LINES = 5  # of a pair, at most


class Clearances(NamedTuple):
    """The t pairs of segments, in compiled form."""

    body: np.ndarray  # (t,) that carries the first segment
    other: np.ndarray  # (t,) that carries the second
    segment: np.ndarray  # (t, 2, 3) ends of the first in its body's state frame [m]
    other_segment: np.ndarray  # (t, 2, 3) ends of the second in its body's [m]
    weight: np.ndarray  # (t,) over ℓ²
    least: np.ndarray  # (t,) least distance, zero where none is asked for [m]
    is_bent: np.ndarray  # (1,) whether second derivatives across the force count, as only a matrix of all can hold them
    line: np.ndarray  # (t, LINES, 2, 6) scratch: moments and directions of lines on the first body and on the second
    stiffness: np.ndarray  # (t, LINES) scratch: second derivatives along these, zero where nothing pushes


@inlined
def _end(now, b, point):
    """Return a body's point in the world."""
    x, y, z = rotate(now.R[b], point)
    c = now.c[b]
    return x + c[0], y + c[1], z + c[2]


@inlined
def _nearest_points(now, pairs, k):
    """Return the nearest points of both segments in the world, the segments' ways, and where on them the points lie."""
    b, o = pairs.body[k], pairs.other[k]
    p, p_end = _end(now, b, pairs.segment[k, 0]), _end(now, b, pairs.segment[k, 1])
    q, q_end = _end(now, o, pairs.other_segment[k, 0]), _end(now, o, pairs.other_segment[k, 1])
    u, v = (p_end[0] - p[0], p_end[1] - p[1], p_end[2] - p[2]), (q_end[0] - q[0], q_end[1] - q[1], q_end[2] - q[2])
    s, t = nearest(p, u, q, v)
    x = (p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2])
    a = (q[0] + t * v[0], q[1] + t * v[1], q[2] + t * v[2])
    return x, a, u, v, s, t


@kernel
def add_value(flat, now, pairs, total):
    """Return `total` with the objective added."""
    for k in range(pairs.body.shape[0]):
        if pairs.least[k] > 0.0:
            p, a, _, _, _, _ = _nearest_points(now, pairs, k)
            x, y, z = p[0] - a[0], p[1] - a[1], p[2] - a[2]
            short = min(0.0, sqrt(x * x + y * y + z * z) - pairs.least[k])
            total += 0.5 * pairs.weight[k] * short * short
    return total


@kernel
def add_terms(flat, now, pairs, terms, share):
    """Add forces to both bodies of each pair, and keep the lines on which they act in `pairs`.

    `share` of the forces: 1 for exact second derivatives, 0 for Gauss-Newton's.
    """
    for k in range(pairs.body.shape[0]):
        stiffness = pairs.stiffness[k]
        stiffness[:] = 0.0
        if pairs.least[k] > 0.0 and pairs.weight[k] > 0.0:
            p, a, u, v, s, t = _nearest_points(now, pairs, k)
            x, y, z = p[0] - a[0], p[1] - a[1], p[2] - a[2]
            far = sqrt(x * x + y * y + z * z)
            if far > NEAREST * flat.size:
                x, y, z = x / far, y / far, z / far
            else:
                x, y, z, far = 0.0, 0.0, 1.0, inf
            b, o, w = pairs.body[k], pairs.other[k], pairs.weight[k]
            mx, my, mz = moved(seen_from(terms, b, o), p[0], p[1], p[2])
            short = x * (mx - a[0]) + y * (my - a[1]) + z * (mz - a[2]) - pairs.least[k]
            if short < 0.0:
                force = share * w * short
                add_point(terms, b, p[0], p[1], p[2], force * x, force * y, force * z)
                add_point(terms, o, a[0], a[1], a[2], -force * x, -force * y, -force * z)
                _put_line(pairs, k, 0, p, a, (x, y, z), w)
                if pairs.is_bent[0]:
                    _bend(pairs, k, (p, a), (x, y, z), (u, v, s, t), force / far)


@inlined
def _put_line(pairs, k, m, on_first, on_second, direction, stiffness):
    """Put a line through a point of the first body and a parallel one through a point of the second."""
    for side in range(2):
        line, p = pairs.line[k, m, side], on_first if side == 0 else on_second
        a, b, c = cross(p[0], p[1], p[2], direction[0], direction[1], direction[2])
        line[0], line[1], line[2], line[3], line[4], line[5] = a, b, c, direction[0], direction[1], direction[2]
    pairs.stiffness[k, m] = stiffness


@inlined
def _unit(v):
    far = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return v[0] / far, v[1] / far, v[2] / far


@kernel
def _bend(pairs, k, points, n, ways, across):
    """Put the lines across the force, and those along which the nearest points slide, which take some of it away."""
    p, a = points
    u, v, s, t = ways
    first = _unit(cross(n[0], n[1], n[2], 1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else cross(n[0], n[1], n[2], 0.0, 1.0, 0.0))
    _put_line(pairs, k, 1, p, a, first, across)
    _put_line(pairs, k, 2, p, a, cross(n[0], n[1], n[2], first[0], first[1], first[2]), across)
    slides, other_slides = 0.0 < s < 1.0, 0.0 < t < 1.0
    if slides:
        u = _unit(u)
        _put_line(pairs, k, 3, a, a, u, -across)
    if other_slides:
        v = _unit(v)
        c = u[0] * v[0] + u[1] * v[1] + u[2] * v[2] if slides else 0.0
        skew = sqrt(max(1.0 - c * c, 0.0))
        if skew > SKEW:
            _put_line(pairs, k, 4, p, p, v, -across)
            if slides:  # −(h_v + c h_u) / skew
                for side in range(2):
                    line, beside = pairs.line[k, 4, side], pairs.line[k, 3, side]
                    for i in range(6):
                        line[i] = (line[i] - c * beside[i]) / skew


@kernel
def add_rows(flat, now, pairs, terms):
    """Append the second derivatives along the lines of `add_terms` to the low-rank rows, as far as they fit."""
    start, count = terms.row_count[0], 0
    for m in range(LINES):  # those of force first, should there be no room for all
        for k in range(pairs.body.shape[0]):
            if pairs.stiffness[k, m] != 0.0 and count < ROWS_APART:
                row = terms.rows[start + count]
                row[:] = 0.0
                _add_along_chain(flat, now, pairs.line[k, m, 0], flat.tip[pairs.body[k]], 1.0, row)
                _add_along_chain(flat, now, pairs.line[k, m, 1], flat.tip[pairs.other[k]], -1.0, row)
                terms.row_weight[start + count] = pairs.stiffness[k, m]
                count += 1
    while count % 3:
        terms.rows[start + count, :] = 0.0
        terms.row_weight[start + count] = 0.0
        count += 1
    terms.row_count[0] += count


@kernel
def _add_along_chain(flat, now, line, tip, sign, row):
    """Add to row (d,) how fast the degrees of freedom from a tip to the root move along a line."""
    while tip >= 0:
        row[tip] += sign * along(now, tip, line)
        tip = flat.before[tip]


@kernel
def add_answer(pairs, xi, out):
    """Add to `out` (n + 1, 6) the change of exerted wrenches where bodies move by the screws `xi` (n + 1, 6)."""
    for k in range(pairs.body.shape[0]):
        b, o = pairs.body[k], pairs.other[k]
        for m in range(LINES):
            if pairs.stiffness[k, m] != 0.0:
                line, moves = pairs.line[k, m], 0.0
                for i in range(6):
                    moves += line[0, i] * xi[b, i] - line[1, i] * xi[o, i]
                moves *= pairs.stiffness[k, m]
                for i in range(6):
                    out[b, i] += moves * line[0, i]
                    out[o, i] -= moves * line[1, i]
