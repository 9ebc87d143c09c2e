"""Orientations as unit quaternions wxyz, and back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.spatial.transform import Rotation


def rotation(quaternion: Iterable[float]) -> Rotation:
    """Return the rotation of a quaternion wxyz of about unit length, or of rows of them.

    Args:
        quaternion: Quaternion (4,), or rows (N, 4) of them.

    Returns:
        The rotation, or N of them.
    """
    rows = quaternion if isinstance(quaternion, np.ndarray) else np.asarray(tuple(quaternion))
    return Rotation.from_quat(rows[..., [1, 2, 3, 0]])


def quaternions(orientations: Rotation) -> np.ndarray:
    """Return rotations as unit quaternions wxyz.

    Args:
        orientations: Orientations.

    Returns:
        Quaternions (..., 4).
    """
    return orientations.as_quat()[..., [3, 0, 1, 2]]
