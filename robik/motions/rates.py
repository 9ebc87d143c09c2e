"""Velocities of bodies and their points, and the rate of samples.

    ω = 2 vec(q̇ q*),    v_c = v + ω × R c

ω and v are the angular velocity of a body and the velocity of its frame in the world, v_c is that of a point c of it.
"""

from __future__ import annotations

import numpy as np

from ..errors import ClipError
from ..mechanism.orientations import quaternion_matrices, quaternions, rotation
from .motion import Rates

UNEVEN = 1e-4  # of a time step: samples that are off by more are not at equal distances
MOMENT = 1e-5  # [s] before and after a sample, for velocities


def moved(base: tuple[np.ndarray, np.ndarray], rates: Rates, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return where a base is a moment later.

    Args:
        base: Positions (T, 3) [m] and quaternions (T, 4) wxyz.
        rates: With the base's velocities; it stands still without them.
        step: The moment [s].

    Returns:
        Positions and quaternions.
    """
    from scipy.spatial.transform import Rotation  # takes long to import

    position, quaternion = base
    if rates.linear is None or rates.angular is None:
        return base
    turn = Rotation.from_rotvec(step * rates.angular) * rotation(quaternion)
    return position + step * rates.linear, quaternions(turn)


def turned_by(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the small rotations (T, …, 3) in the world that turn bodies from one orientation to another [rad].

    Args:
        before: Unit quaternions (T, …, 4) wxyz.
        after: Likewise, with the same sign or the other one.

    Returns:
        Rotation vectors, exact to the third order.
    """
    w, v = before[..., :1], before[..., 1:]
    u, x = after[..., :1], after[..., 1:]
    sign = np.where((before * after).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return 2.0 * sign * (w * x - u * v - np.cross(x, v))


def point_velocities(velocity: np.ndarray, omega: np.ndarray, quaternion: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the velocities of points of bodies.

    Args:
        velocity: Velocities (T, B, 3) of the bodies' frames in the world [m/s].
        omega: Angular velocities (T, B, 3) [rad/s].
        quaternion: Orientations (T, B, 4) wxyz.
        points: Points (B, 3) in the bodies' frames [m].

    Returns:
        Velocities (T, B, 3) [m/s].
    """
    R = quaternion_matrices(quaternion.reshape(-1, 4)).reshape(*quaternion.shape[:2], 3, 3)
    return velocity + np.cross(omega, np.einsum("tbij,bj->tbi", R, points))


def even_rate(times: np.ndarray) -> float:
    """Return the samples per second of times (T,) at equal distances [Hz].

    Args:
        times: Times (T,) [s].

    Returns:
        Samples per second [Hz], a whole number where it is one within rounding.

    Raises:
        ClipError: They are not, or there is only one.
    """
    if len(times) < 2:
        raise ClipError("this format needs at least two samples, to say how many there are per second")
    steps = np.diff(times)
    step = float(times[-1] - times[0]) / (len(times) - 1)
    if np.abs(steps - step).max() > UNEVEN * step:
        raise ClipError("this format needs samples at equal distances; give a rate (--rate HZ)")
    rate = 1.0 / step
    return round(rate) if abs(rate - round(rate)) < 1e-6 * rate else rate
