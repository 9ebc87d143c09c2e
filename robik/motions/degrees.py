"""Motions in degrees, given for ones in radians."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism

BEYOND = 2.0 * np.pi  # rad: farther beyond a limit is no motor that overshoots
SLACK, HASTE = 0.1, 3.0  # rad beyond limits, and times a motor's speed, of motions that are asked too much
FASTER = 20.0  # times a motor's speed, where it turns on and on


def check_radians(mechanism: Mechanism, times: np.ndarray, values: np.ndarray, source: str | Path) -> None:
    """Raise ClipError if a motion of actuators, times (T,) [s] and values (T, A), is in degrees.

    It is if a motor turns far beyond its limits, or far faster than it can, and all would keep them with numbers that
    mean degrees.
    """
    turning = np.array([unit == "rad" for unit in mechanism.actuator_units], dtype=bool)
    if not turning.any():
        return
    names = [name for name, turns in zip(mechanism.actuators, turning, strict=True) if turns]
    at, (low, high) = values[:, turning], mechanism.actuator_limits[turning].T
    beyond = np.maximum(low - at, at - high)
    speed = np.abs(np.diff(at, axis=0) / np.diff(times)[:, None]).max(axis=0, initial=0.0)
    fastest = mechanism.actuator_velocity_limits[turning]
    as_degrees = np.radians(at)
    keeps_limits = (as_degrees >= low - SLACK).all() and (as_degrees <= high + SLACK).all()
    fits = keeps_limits and (np.radians(speed) <= HASTE * fastest).all()
    is_far = (beyond > BEYOND).any(axis=0) | np.isinf(high - low) & (speed > FASTER * fastest)
    if not (fits and is_far.any()):
        return
    k = int(np.argmax(np.where(is_far, np.abs(at).max(axis=0), -1.0)))
    sample = int(np.argmax(np.abs(at[:, k])))
    limits = f"its limits are {low[k]:.3g} and {high[k]:.3g} rad"
    may = limits if np.isfinite(high[k] - low[k]) else f"it turns by at most {fastest[k]:.3g} rad/s"
    raise ClipError(
        f"{source}: {names[k]} is {at[sample, k]:.4g} in sample {sample}, and {may}; are these degrees? Write radians"
    )
