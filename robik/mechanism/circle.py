"""The circle through points, as of a hole's rim: where a hinge belongs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import MechanismError

ROUND = 0.05  # of the radius: points further off do not lie on a circle
COAXIAL = 0.02  # of the radius, or [rad]


@dataclass(frozen=True)
class Circle:
    """Its centre (3,) and unit normal (3,), its radius, and how far off the worst point lies [m]."""

    center: np.ndarray
    normal: np.ndarray
    radius: float
    off: float


def fit_circle(points: np.ndarray) -> Circle:
    """Return the circle of best fit to points (n, 3) [m], three or more; raise MechanismError where they form none.

    The plane is by least squares of distances, the circle in it by those of |x − c|² − r² (Kåsa, 1976).
    """
    points = np.asarray(points, dtype=float)
    if len(points) < 3:
        raise MechanismError(f"a circle needs three points or more, not {len(points)}; select the rim of a hole")
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    if spread[1] <= 1e-6 * max(spread[0], 1e-30):
        raise MechanismError("what is selected lies on a line, not on a circle; select the rim of a hole")
    flat = (points - middle) @ axes[:2].T
    rows = np.column_stack([2.0 * flat, np.ones(len(flat))])
    u, v, c = np.linalg.lstsq(rows, (flat**2).sum(axis=1), rcond=None)[0]
    radius = float(np.sqrt(max(c + u * u + v * v, 0.0)))
    center = middle + u * axes[0] + v * axes[1]
    normal = np.cross(axes[0], axes[1])
    height = (points - center) @ normal
    off = float(np.hypot(np.hypot(*(flat - [u, v]).T) - radius, height).max())
    if off > ROUND * radius:
        raise MechanismError(
            f"what is selected is no circle: it is {1e3 * off:.3g} mm off one of radius {1e3 * radius:.3g} mm"
        )
    return Circle(center, normal if normal[int(np.abs(normal).argmax())] > 0 else -normal, radius, off)


def common_axis(circles: Iterable[Circle]) -> tuple[np.ndarray, np.ndarray]:
    """Return a point (3,) [m] and the unit vector (3,) of the axis that circles share, such as both rims of a hole.

    The point is in the middle of them. Raise MechanismError where the circles have several axes.
    """
    first, *others = circles
    for other in others:
        gap = other.center - first.center
        beside = np.linalg.norm(gap - (gap @ first.normal) * first.normal)
        if np.linalg.norm(np.cross(first.normal, other.normal)) > COAXIAL or beside > COAXIAL * first.radius:
            raise MechanismError("the circles that are selected have several axes; select one hole")
    centers = np.array([first.center, *(other.center for other in others)])
    return (centers.min(axis=0) + centers.max(axis=0)) / 2.0, first.normal
