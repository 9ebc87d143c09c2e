"""Convex polygons of the plane: the points of their edges that are nearest to others."""

from __future__ import annotations

import numpy as np

from ..jit import kernel

FLAT = 1e-7  # a hull thinner than this [m] is a segment or a point


@kernel
def closest_on_edges(points, corners, closest, inside):
    """Fill `closest` (T, 2) [m], the points of polygons' edges nearest to `points` (T, 2), and `inside` (T,).

    Corners (T, K, 2), or (1, K, 2) for all points, run counter-clockwise. No point is inside a polygon without
    area.
    """
    count = corners.shape[1]
    for t in range(points.shape[0]):
        k = t if corners.shape[0] > 1 else 0
        x, y = points[t, 0], points[t, 1]
        least, within, area2 = np.inf, True, 0.0
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            ax, ay = corners[k, i, 0], corners[k, i, 1]
            ux, uy = corners[k, j, 0] - ax, corners[k, j, 1] - ay
            px, py = x - ax, y - ay
            length2 = ux * ux + uy * uy
            share = min(max((px * ux + py * uy) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
            dx, dy = px - share * ux, py - share * uy
            if dx * dx + dy * dy < least:
                least = dx * dx + dy * dy
                closest[t, 0], closest[t, 1] = ax + share * ux, ay + share * uy
            within = within and ux * py - uy * px >= 0.0
            area2 += ax * corners[k, j, 1] - corners[k, j, 0] * ay
        inside[t] = within and area2 > FLAT**2
