"""Orientations as unit quaternions wxyz, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def rotation(quaternion: Iterable[float]) -> Rotation:
    """Return the rotation of a quaternion wxyz of about unit length, or of rows (N, 4) of them."""
    from scipy.spatial.transform import Rotation  # takes long to import

    rows = quaternion if isinstance(quaternion, np.ndarray) else np.asarray(tuple(quaternion))
    return Rotation.from_quat(rows[..., [1, 2, 3, 0]])


def quaternions(orientations: Rotation) -> np.ndarray:
    """Return rotations as unit quaternions (..., 4) wxyz."""
    return orientations.as_quat()[..., [3, 0, 1, 2]]


def quaternion_matrices(q: np.ndarray) -> np.ndarray:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4) wxyz."""
    q = np.asarray(q, dtype=float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    found = np.empty((*w.shape, 3, 3))
    found[..., 0, 0], found[..., 1, 1] = 1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z)
    found[..., 2, 2] = 1 - 2 * (x * x + y * y)
    found[..., 0, 1], found[..., 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    found[..., 0, 2], found[..., 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    found[..., 1, 2], found[..., 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return found
