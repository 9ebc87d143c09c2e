"""Distances and angles along the axes that count, over time."""

from __future__ import annotations

import numpy as np

from ..mechanism.pose import Vector


def length_along(error: np.ndarray, weight: Vector) -> np.ndarray:
    """Return the length (T,) of errors (T, 3) along the axes that have weight.

    Args:
        error: Errors (T, 3) [m].
        weight: Weight of each axis.

    Returns:
        Lengths (T,) [m].
    """
    return np.linalg.norm(error[:, np.array(weight) > 0], axis=1)


def angle_between(R: np.ndarray, target: np.ndarray, weight: Vector) -> np.ndarray:
    """Return the angle (T,) [rad] between orientations (T, 3, 3).

    Of the whole frame, or of one axis if that alone has weight.

    Args:
        R: Orientations (T, 3, 3).
        target: Orientations (T, 3, 3).
        weight: Weight of each axis; at least one is not zero.

    Returns:
        Angles (T,) [rad].
    """
    counted = np.flatnonzero(np.array(weight) > 0)
    difference = R - target
    if len(counted) > 1:  # |R - R̂|² = 8 sin²(angle / 2)
        return 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0)))
    return 2 * np.arcsin(np.minimum(1.0, 0.5 * np.linalg.norm(difference[:, :, counted[0]], axis=1)))
