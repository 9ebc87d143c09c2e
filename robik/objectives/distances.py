"""Distances and angles along the axes that count, over time."""

from __future__ import annotations

import numpy as np

from ..mechanism.pose import Vector


def length_along(error: np.ndarray, weight: Vector) -> np.ndarray:
    """Return the lengths (T,) [m] of errors (T, 3) along the axes that have weight."""
    return np.linalg.norm(error[:, np.array(weight) > 0], axis=1)


def angle_between(R: np.ndarray, target: np.ndarray, weight: Vector) -> np.ndarray:
    """Return the angles (T,) [rad] between orientations (T, 3, 3).

    The angle is that of the whole frame, or of one axis if that alone has weight; at least one axis has.
    """
    counted = np.flatnonzero(np.array(weight) > 0)
    difference = R - target
    if len(counted) > 1:  # |R - R̂|² = 8 sin²(angle / 2)
        return 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0)))
    return 2 * np.arcsin(np.minimum(1.0, 0.5 * np.linalg.norm(difference[:, :, counted[0]], axis=1)))
