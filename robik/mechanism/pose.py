"""Poses as plain values: a position and a unit quaternion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, hypot, isfinite, sin

import numpy as np

from ..errors import MechanismError

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

UNIT_TOLERANCE = 1e-3  # a quaternion or an axis further from unit length is taken for a mistake, not for rounding


def numbers(values: Iterable[float], what: str, count: int | None = None) -> tuple[float, ...]:
    """Return finite floats.

    Args:
        values: The numbers.
        what: What they are in words, for errors.
        count: How many there must be; any number if left out.

    Returns:
        The floats.

    Raises:
        MechanismError: There are others, or they are not finite.
    """
    wanted = "finite numbers" if count is None else "a finite number" if count == 1 else f"{count} finite numbers"
    try:
        floats = tuple(map(float, values))
    except (TypeError, ValueError, OverflowError):
        raise MechanismError(f"{what} must be {wanted}, not {values!r}") from None
    if count not in (None, len(floats)) or not all(map(isfinite, floats)):
        raise MechanismError(f"{what} must be {wanted}, not {floats[0] if count == 1 and floats else floats}")
    return floats


def vector(values: Iterable[float], what: str) -> Vector:
    """Return three finite floats.

    Args:
        values: The numbers.
        what: What they are in words, for errors.

    Returns:
        The floats.

    Raises:
        MechanismError: There are not three, or they are not finite.
    """
    x, y, z = numbers(values, what, 3)
    return (x, y, z)


def quaternion(values: Iterable[float], what: str) -> Quaternion:
    """Return a unit quaternion wxyz with w >= 0.

    A length that is off by rounding is corrected.

    Args:
        values: Four numbers.
        what: What they are in words, for errors.

    Returns:
        The quaternion.

    Raises:
        MechanismError: There are not four, or the length is off by more.
    """
    q = numbers(values, what, 4)
    length = hypot(*q)
    if not abs(length - 1.0) < UNIT_TOLERANCE:
        raise MechanismError(f"{what} must be a unit quaternion wxyz, not {q}")
    divisor = (
        length if abs(length - 1.0) > 4e-16 else 1.0
    )  # what is unit already must survive a round trip to the last bit
    if next(value for value in q if value != 0.0) < 0.0:
        divisor = -divisor
    w, x, y, z = (value / divisor + 0.0 for value in q)
    return (w, x, y, z)


def quaternion_matrix(q: np.ndarray | Quaternion) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion.

    Args:
        q: Quaternion wxyz.

    Returns:
        Matrix (3, 3).
    """
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_quaternion(m: np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation matrix, by the numerically largest component.

    Args:
        m: Matrix (3, 3).

    Returns:
        Quaternion (4,) wxyz with w >= 0.
    """
    t = np.array([m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]])
    largest = int(np.argmax(t))
    if largest == 0:
        q = np.array([1 + t[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q = np.empty(4)
        q[0] = m[k, j] - m[j, k]
        q[1 + i] = 1 + m[i, i] - m[j, j] - m[k, k]
        q[1 + j] = m[j, i] + m[i, j]
        q[1 + k] = m[k, i] + m[i, k]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0 else q


def roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation about the fixed x, then y, then z axis.

    Angles of zero give the identity to the last bit.

    Args:
        roll: Angle about x [rad].
        pitch: Angle about y [rad].
        yaw: Angle about z [rad].

    Returns:
        Matrix (3, 3).
    """
    (cr, sr), (cp, sp), (cy, sy) = ((cos(a), sin(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a × b of vectors in the last axis.

    `np.cross` takes ten times as long for few vectors.

    Args:
        a: Vectors (..., 3).
        b: Vectors (..., 3).

    Returns:
        Vectors (..., 3).
    """
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def frame_matrix(axis: Iterable[float], axis2: Iterable[float] | None, where: str) -> np.ndarray:
    """Return a rotation whose x axis is along `axis`, and whose y axis is near `axis2` if that is given.

    `where` is named in errors.

    Args:
        axis: Three components.
        axis2: Three components, or None.
        where: The frame in words, for errors.

    Returns:
        Matrix (3, 3).

    Raises:
        MechanismError: An axis is zero, or both are parallel.
    """
    x = np.array(tuple(axis))
    x = x / max(float(np.abs(x).max()), 1e-300)
    if not np.linalg.norm(x) >= 0.5:
        raise MechanismError(f"{where}: its axis must not be zero; give a direction, for example 0 0 1")
    x = x / np.linalg.norm(x)
    y = np.array(tuple(axis2)) if axis2 is not None else cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    y = y / max(float(np.abs(y).max()), 1e-300)
    y = y - (x @ y) * x
    if not np.linalg.norm(y) >= 1e-6:
        raise MechanismError(f"{where}: its second axis must not be parallel to its axis")
    y = y / np.linalg.norm(y)
    return np.stack([x, y, cross(x, y)], axis=1)


@dataclass(frozen=True)
class Pose:
    """Pose: position [m] and unit quaternion wxyz, in the coordinates of something else."""

    position: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", vector(self.position, "a position"))
        object.__setattr__(self, "quaternion", quaternion(self.quaternion, "an orientation"))

    @classmethod
    def of(cls, matrix: np.ndarray, position: Iterable[float]) -> Pose:
        """Return a pose from a rotation matrix and a position.

        Args:
            matrix: Matrix (3, 3).
            position: Position (3,) [m].

        Returns:
            The pose.
        """
        (x, y, z), (w, i, j, k) = position, matrix_quaternion(matrix).tolist()
        return cls((x, y, z), (w, i, j, k))

    @property
    def matrix(self) -> np.ndarray:
        """Rotation matrix (3, 3)."""
        return quaternion_matrix(self.quaternion)

    def point(self, local: Iterable[float]) -> np.ndarray:
        """Return a point (3,) given in this pose's coordinates, in the outer ones.

        Args:
            local: Three components in this pose's coordinates [m].

        Returns:
            Point (3,) [m].
        """
        return self.matrix @ np.asarray(tuple(local)) + np.asarray(self.position)

    def __matmul__(self, other: Pose) -> Pose:
        """`other`, given in this pose's coordinates, in the outer ones."""
        return Pose.of(self.matrix @ other.matrix, self.point(other.position))

    def inverse(self) -> Pose:
        """Return the outer coordinates' pose, seen from this one."""
        return Pose.of(self.matrix.T, -(self.matrix.T @ np.asarray(self.position)))


IDENTITY = Pose()
