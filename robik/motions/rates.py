"""Velocities of a motion: derivatives of the cubic splines through its samples.

    ω = 2 vec(q̇ q*),    v_c = v + ω × R c

ω and v are the angular velocity of a body and the velocity of its frame in the world, v_c is that of a point c of it.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from ..errors import ClipError
from ..kinematics.rotations import quaternion_matrices

UNEVEN = 1e-4  # of a time step: samples that are off by more are not at equal distances


def derivatives(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the derivatives of values (T, …) at their times (T,) [1/s]; zero of a single sample.

    Args:
        times: Times (T,) [s].
        values: Values (T, …).

    Returns:
        Derivatives (T, …), by cubic splines.
    """
    if len(times) < 2:
        return np.zeros_like(values)
    return CubicSpline(times, values, axis=0)(times, 1)


def angular_velocities(times: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return angular velocities (T, …, 3) in the world [rad/s] of unit quaternions (T, …, 4) wxyz.

    Args:
        times: Times (T,) [s].
        quaternion: Unit quaternions (T, …, 4) wxyz; signs may change from sample to sample.

    Returns:
        Angular velocities (T, …, 3) [rad/s].
    """
    flips = np.where((quaternion[1:] * quaternion[:-1]).sum(axis=-1) < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones_like(quaternion[:1, ..., 0]), np.cumprod(flips, axis=0)])
    turned = quaternion * signs[..., None]
    change = derivatives(times, turned)
    w, v = turned[..., :1], turned[..., 1:]
    dw, dv = change[..., :1], change[..., 1:]
    return 2.0 * (w * dv - dw * v - np.cross(dv, v))


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
