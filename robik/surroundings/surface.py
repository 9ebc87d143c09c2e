"""Surface of a triangle mesh as ground: heights over places, and the plane on which a sole comes to rest there."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.optimize import linprog

CELLS = 256  # of the grid in which triangles are found, along each side at most
OVER = 1e-9  # of an edge's length: a point this far outside of a triangle still is on it


class Surface:
    """Topmost surface of a mesh: what is under a roof is not seen.

    Triangles (M, 3) index vertices (N, 3) [m]; the height is `beyond` [m] where there is no triangle.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, beyond: float = -np.inf) -> None:
        self._corners, self._beyond = np.asarray(vertices, dtype=float)[np.asarray(triangles)], beyond

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return origin (2,) and size (2,) of the grid's cells, cells along each side (2,), and triangles by cell."""
        low, high = self._corners[..., :2].min(axis=1), self._corners[..., :2].max(axis=1)
        origin, extent = low.min(axis=0), np.maximum(np.ptp(np.concatenate([low, high]), axis=0), 1e-9)
        side = int(np.clip(np.sqrt(len(low)), 1, CELLS))
        size = extent / side * (1 + 1e-9)
        first, last = ((np.clip((x - origin) / size, 0, side - 1)).astype(int) for x in (low, high))
        spans = last - first + 1
        counts = spans.prod(axis=1)
        triangle = np.repeat(np.arange(len(low)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        column = first[triangle, 0] + within % spans[triangle, 0]
        row = first[triangle, 1] + within // spans[triangle, 0]
        cell = row * side + column
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(side * side + 1))
        return origin, size, np.array([side, side]), starts, triangle[order]

    def heights(self, places: np.ndarray) -> np.ndarray:
        """Return the surface's heights (…) over places (…, n) [m], of which the first two numbers count."""
        flat = places.reshape(-1, places.shape[-1])[:, :2]
        origin, size, sides, starts, triangles = self._grid
        at = np.floor((flat - origin) / size).astype(int)
        inside = ((at >= 0) & (at < sides)).all(axis=1)
        cell = np.where(inside, at[:, 1] * sides[0] + at[:, 0], 0)
        counts = np.where(inside, starts[cell + 1] - starts[cell], 0)
        query = np.repeat(np.arange(len(flat)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        found = np.full(len(flat), -np.inf)
        is_met = counts > 0
        if is_met.any():
            met = self._over(triangles[starts[cell[query]] + within], flat[query])
            found[is_met] = np.maximum.reduceat(met, (np.cumsum(counts) - counts)[is_met])
        return np.where(np.isneginf(found), self._beyond, found).reshape(places.shape[:-1])

    @cached_property
    def _planes(self) -> np.ndarray:
        """Return of each triangle (M, 9): its first corner, the gradients of its other two corners' shares, its slope.

        Over a place at *d* from the first corner their shares are *g·d*, and the height is the first corner's + *s·d*.
        Upright triangles have no place over them: NaN.
        """
        a = self._corners[:, 0]
        b, c = self._corners[:, 1] - a, self._corners[:, 2] - a
        area = b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]
        area = np.where(area == 0.0, np.nan, area)[:, None]
        of_b, of_c = np.column_stack([c[:, 1], -c[:, 0]]) / area, np.column_stack([-b[:, 1], b[:, 0]]) / area
        return np.column_stack([a, of_b, of_c, of_b * b[:, 2:] + of_c * c[:, 2:]])

    def _over(self, triangles: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the heights (P,) of triangles (P,) over places (P, 2); −inf where a place is not on its triangle."""
        ax, ay, az, bx, by, cx, cy, sx, sy = self._planes[triangles].T
        x, y = places[:, 0] - ax, places[:, 1] - ay
        of_b, of_c = bx * x + by * y, cx * x + cy * y
        is_on = (of_b >= -OVER) & (of_c >= -OVER) & (of_b + of_c <= 1.0 + OVER)
        return np.where(is_on, az + sx * x + sy * y, -np.inf)


def resting_plane(points: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the plane of a plate that rests on points (K, 3) with its weight over a centre (2,) [m].

    It is given by its unit normal (3,), which points up, and its height along that from the origin [m]. It is the
    lowest plane at the centre that has no point above it: the facet of the points' upper hull.
    """
    own = points - [*centre, 0.0]
    rows = np.column_stack([own[:, :2], np.ones(len(own))])
    found = linprog([0.0, 0.0, 1.0], A_ub=-rows, b_ub=-own[:, 2], bounds=[(None, None)] * 3, method="highs")
    slope = found.x if found.success else np.array([0.0, 0.0, own[:, 2].max()])
    slope[2] += np.maximum(own[:, 2] - rows @ slope, 0.0).max()  # the program's own tolerance
    normal = np.array([-slope[0], -slope[1], 1.0])
    normal /= np.linalg.norm(normal)
    return normal, float(normal @ [*centre, slope[2]])


def planes_above(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return planes near to points (T, K, 3) [m] that have none of them above.

    They are given by unit normals (T, 3), which point up, and heights (T,) along them from the origin [m].
    """
    middle = points.mean(axis=1, keepdims=True)
    own = points - middle
    flat = np.einsum("tki,tkj->tij", own[..., :2], own[..., :2])
    flat += 1e-12 * np.trace(flat, axis1=1, axis2=2)[:, None, None] * np.eye(2) + 1e-300 * np.eye(2)
    slope = np.linalg.solve(flat, np.einsum("tki,tk->ti", own[..., :2], own[..., 2])[..., None])[..., 0]
    normal = np.column_stack([-slope, np.ones(len(slope))])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return normal, np.einsum("ti,tki->tk", normal, points).max(axis=1)
