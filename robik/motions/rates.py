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
    """Return positions (T, 3) [m] and quaternions (T, 4) wxyz of a base after `step` [s] at its rates.

    Without velocities of the base it stands still.
    """
    from scipy.spatial.transform import Rotation  # takes long to import

    position, quaternion = base
    if rates.linear is None or rates.angular is None:
        return base
    turn = Rotation.from_rotvec(step * rates.angular) * rotation(quaternion)
    return position + step * rates.linear, quaternions(turn)


def turned_by(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the small rotation vectors (T, …, 3) in the world from one orientation to another [rad].

    Unit quaternions (T, …, 4) are wxyz, with either sign; the vectors are exact to the third order.
    """
    w, v = before[..., :1], before[..., 1:]
    u, x = after[..., :1], after[..., 1:]
    sign = np.where((before * after).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return 2.0 * sign * (w * x - u * v - np.cross(x, v))


def point_velocities(velocity: np.ndarray, omega: np.ndarray, quaternion: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return velocities (T, B, 3) of points (B, 3) in their bodies' frames [m], in the world [m/s].

    Velocities [m/s] and angular velocities [rad/s] of the frames are (T, B, 3) in the world, quaternions (T, B, 4)
    wxyz.
    """
    R = quaternion_matrices(quaternion.reshape(-1, 4)).reshape(*quaternion.shape[:2], 3, 3)
    return velocity + np.cross(omega, np.einsum("tbij,bj->tbi", R, points))


def has_rate(times: np.ndarray, rate: float) -> bool:
    """Return whether times (T,) are `rate` a second [Hz], within rounding."""
    return bool(np.abs((times - times[0]) * rate - np.arange(len(times))).max() <= UNEVEN)


def even_rate(times: np.ndarray) -> float:
    """Return the samples per second of evenly spaced times (T,) [Hz], whole where they are within rounding.

    Raise ClipError for uneven times, or a single one.
    """
    if len(times) < 2:
        raise ClipError("this format needs at least two samples, to say how many there are per second")
    steps = np.diff(times)
    step = float(times[-1] - times[0]) / (len(times) - 1)
    if np.abs(steps - step).max() > UNEVEN * step:
        raise ClipError("this format needs samples at equal distances; give a rate (--rate HZ)")
    rate = 1.0 / step
    return round(rate) if abs(rate - round(rate)) < 1e-6 * rate else rate
