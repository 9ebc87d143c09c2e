"""Resampling of a motion at another rate."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from ..errors import ClipError
from ..mechanism.orientations import quaternions, rotation
from ..straight import straight
from .curves import Curves
from .motion import BaseTrack, Motion
from .rates import has_rate

MOST = 10_000_000  # samples


def resampled(motion: Motion, rate: float) -> Motion:
    """Return a motion with `rate` samples a second, from its first time on; the last one is at or before its end.

    They are taken from smooth curves through the motion's samples, and so are its rates. Bodies' states and the report,
    which belong to the original samples, are left out. Raise ClipError for a rate that is not positive and finite, or
    gives too many samples.
    """
    return replace(Curves(motion).at(_times(motion, rate)), needs=motion.needs)


def at_rate(motion: Motion, rate: float | None) -> Motion:
    """Return a motion with `rate` samples a second: itself where it has them or none is asked for, else resampled."""
    return motion if rate is None or has_rate(motion.times, rate) else resampled(motion, rate)


def played_straight(motion: Motion, rate: float) -> Motion:
    """Return a motion as a player of straight lines plays it; otherwise as `resampled`.

    Values and positions are interpolated linearly, the base's orientation along the shortest turn (slerp).
    """
    times = _times(motion, rate)
    inside = np.clip(times, *motion.times[[0, -1]])  # rounding may put the last one behind the end

    def at(values: np.ndarray) -> np.ndarray:
        return straight(inside, motion.times, values)

    values, base = at(motion.values), motion.base
    if base is not None:
        position = at(base.position)
        base = BaseTrack(
            body=base.body, position=position, quaternion=_orientations(motion.times, base.quaternion, inside)
        )
    passive = None if motion.passive is None else {name: at(column) for name, column in motion.passive.items()}
    return Motion(times=times, actuators=motion.actuators, values=values, base=base, passive=passive)


def _times(motion: Motion, rate: float) -> np.ndarray:
    start, end = float(motion.times[0]), float(motion.times[-1])
    return start + even_times(end - start, rate)


def even_times(duration: float, rate: float) -> np.ndarray:
    """Return times (T,) from 0 on at `rate` a second [s]; the last one is at or before the end, within rounding.

    Raise ClipError for a rate that is not positive and finite, or gives too many samples.
    """
    if not 0 < rate < inf:
        raise ClipError(f"a motion's rate must be a positive number of samples per second, not {rate:g}")
    if duration * rate > MOST:
        raise ClipError(f"{duration:.4g} s at {rate:g} Hz are more than {MOST:,} samples; choose a lower rate")
    return np.arange(int(duration * rate + 1e-6) + 1) / rate


def _orientations(times: np.ndarray, quaternion: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return unit quaternions wxyz at the wanted times."""
    if len(times) == 1:
        return np.repeat(quaternion, len(wanted), axis=0)
    from scipy.spatial.transform import Slerp  # takes long to import

    found = quaternions(Slerp(times, rotation(quaternion))(wanted))
    against = (found[1:] * found[:-1]).sum(axis=1) < 0
    signs = np.concatenate([[1.0 if found[0] @ quaternion[0] >= 0 else -1.0], np.where(against, -1.0, 1.0)])
    return found * np.cumprod(signs)[:, None]
