"""Velocities and accelerations of sampled coordinates, without the noise that differences of a bake bring."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from ..mechanism.constraints import BALL
from ..mechanism.topology import Flat

CUTOFF = 6.0  # [Hz]: bodies move slower than that; what is faster is the samples' noise
ORDER = 2  # of the Butterworth filter, which runs forwards and backwards
FEWEST = 4  # samples that can be filtered
EVEN = 1e-3  # of a step: times that are this even need no resampling


def derivatives(
    flat: Flat, times: np.ndarray, q: np.ndarray, cutoff: float | None = CUTOFF
) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations (T, d) of the degrees of freedom along coordinates (T, nq).

    `cutoff` is that of a low-pass filter [Hz]; None for no filter.
    """
    velocity, acceleration = np.zeros((2, len(times), len(flat.before)))
    if len(times) < 2:
        return velocity, acceleration
    q = _without_flips(flat, q)
    smooth = q if cutoff is None else low_pass(times, q, cutoff)
    curve = CubicSpline(times, smooth, bc_type="natural" if len(times) < FEWEST else "not-a-knot")
    place, rate, change = curve(times), curve(times, 1), curve(times, 2)
    for kind, at, i in zip(flat.kind.tolist(), flat.at_q.tolist(), flat.at_v.tolist(), strict=True):
        if kind == BALL:
            part = slice(at, at + 4)
            velocity[:, i : i + 3], acceleration[:, i : i + 3] = _turning(
                place[:, part], rate[:, part], change[:, part]
            )
        else:
            velocity[:, i], acceleration[:, i] = rate[:, at], change[:, at]
    return velocity, acceleration


def low_pass(times: np.ndarray, values: np.ndarray, cutoff: float) -> np.ndarray:
    """Return values (T, n) without what is faster than `cutoff` [Hz]; as they are if sampled too slowly."""
    steps = np.diff(times)
    step = float(steps.mean())
    if len(times) < FEWEST or 2.0 * cutoff * step >= 1.0:
        return values
    from scipy.signal import butter, sosfiltfilt  # takes long to import

    uneven = np.abs(steps - step).max() > EVEN * step
    grid = np.linspace(times[0], times[-1], len(times))
    even = CubicSpline(times, values)(grid) if uneven else values
    sections = butter(ORDER, cutoff, fs=1.0 / step, output="sos")
    padding = min(len(times) - 1, round(1.0 / (cutoff * step)))
    smooth = sosfiltfilt(sections, even, axis=0, padlen=padding)
    return CubicSpline(grid, smooth)(times) if uneven else smooth


def _without_flips(flat: Flat, q: np.ndarray) -> np.ndarray:
    """Return coordinates whose quaternions do not change sign from sample to sample."""
    q = np.array(q, dtype=float)
    for kind, at in zip(flat.kind.tolist(), flat.at_q.tolist(), strict=True):
        if kind == BALL:
            part = q[:, at : at + 4]
            part[1:] *= np.cumprod(np.where((part[1:] * part[:-1]).sum(axis=1) < 0, -1.0, 1.0))[:, None]
    return q


def _turning(q: np.ndarray, rate: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return angular velocities and accelerations (T, 3) of a path of quaternions (T, 4) and its derivatives.

    The path p = q s has any length 1/s; ω = 2 ṗ p⁻¹ and α = 2 p̈ p⁻¹ as vectors, with ṗ = q̇ s + q ṡ and so on.
    """
    length = np.linalg.norm(q, axis=1)[:, None]
    q, rate, change = q / length, rate / length, change / length
    along = (q * rate).sum(axis=1)[:, None]
    bent = (rate * rate).sum(axis=1)[:, None] + (q * change).sum(axis=1)[:, None]
    first = rate - q * along
    second = change - 2.0 * along * rate + q * (3.0 * along * along - bent)
    return 2.0 * _times_conjugate(first, q), 2.0 * _times_conjugate(second, q)


def _times_conjugate(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the vector part (T, 3) of a ⊗ b*."""
    return -a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] - np.cross(a[:, 1:], b[:, 1:])
