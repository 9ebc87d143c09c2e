"""The sole of a foot, found on its shape."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..feet.support import TOUCH, convex_hull

DIRECTIONS = 16  # in each of which the farthest point of a sole is kept
STEEPEST = 0.5  # cosine: what is turned farther from the ground is no sole
PLANE = 3  # decimals of the normals of what lies in one plane
FLAT = 0.5  # of what would touch the ground: so much lies in one plane where a sole is flat


def find_sole(points: np.ndarray) -> np.ndarray | None:
    """Return the outline (K, 3) on which a foot stands, counter-clockwise from above; None if nothing is flat.

    It is the area that touches the ground as the foot's points (N, 3) stand, z up, or its flat side below where that is
    larger, as in a rest pose in which the foot does not stand level.
    """
    if len(points) < 3:
        return None
    as_it_stands = _touching(points, np.array([0.0, 0.0, -1.0]))
    below, area = _flat_side(points)
    flat = _touching(points, below)
    if area >= FLAT * _area(flat) and _area(flat) > _area(as_it_stands):
        return flat
    return as_it_stands if _area(as_it_stands) > 0 else None


def _touching(points: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the outline (K, 3) of what touches a plane on which a shape lies that way down (3,)."""
    along = np.cross([0.0, -1.0, 0.0], down)  # x, where that is level
    along /= np.linalg.norm(along)
    axes = np.stack([along, np.cross(along, down)])
    flat, depth = points @ axes.T, points @ down
    length = float(np.ptp(flat, axis=0).max())
    hull = convex_hull(flat[depth >= depth.max() - TOUCH * length])
    turns = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
    farthest = np.argmax(hull @ np.array([np.cos(turns), np.sin(turns)]), axis=0)
    return hull[np.unique(farthest)] @ axes + depth.max() * down


def _flat_side(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the normal (3,) of the largest side of a shape's hull that is turned to the ground, and its area."""
    try:
        hull = ConvexHull(points)
    except QhullError:  # it is flat itself
        return np.array([0.0, 0.0, -1.0]), 0.0
    corners = points[hull.simplices]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    down = hull.equations[:, 2] < -STEEPEST
    if not down.any():
        return np.array([0.0, 0.0, -1.0]), 0.0
    normals, areas = hull.equations[down, :3], areas[down]
    _, plane = np.unique(np.round(normals, PLANE), axis=0, return_inverse=True)
    together = np.bincount(plane.ravel(), weights=areas)
    normal = (areas[:, None] * normals)[plane.ravel() == together.argmax()].sum(axis=0)
    return normal / np.linalg.norm(normal), float(together.max())


def _area(outline: np.ndarray) -> float:
    """Of a convex outline (K, 3) in one plane."""
    if len(outline) < 3:
        return 0.0
    return float(np.linalg.norm(np.cross(outline[1:-1] - outline[0], outline[2:] - outline[0]).sum(axis=0)) / 2)
