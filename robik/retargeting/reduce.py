"""Fewer keys for the same curve: cubic pieces between chosen samples, each within a tolerance of all samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ClipError


@dataclass(frozen=True)
class Keys:
    """A smooth piecewise cubic curve (Hermite's form).

    Attributes:
        times: (K,) increasing.
        values: (K,).
        slopes: (K,) the curve's derivative at the keys.
    """

    times: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the curve at times (T,) [s]; it is constant before the first and after the last key."""
        return _hermite(self, np.clip(np.asarray(times, dtype=float), self.times[0], self.times[-1]))


def reduce_keys(times: np.ndarray, values: np.ndarray, tolerance: float) -> Keys:
    """Return the keys that keep a sampled curve within a tolerance, in its own unit, at every sample.

    Starting with the two ends, each piece that misses a sample by more than the tolerance is cut where it misses most.
    The slopes at keys are the samples' own, so neighbouring pieces join smoothly. Raise ClipError where the tolerance
    is not positive, or the arrays do not fit.
    """
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if not tolerance > 0:
        raise ClipError(f"the tolerance of a reduction must be positive, not {tolerance}")
    if times.shape != values.shape or times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any():
        raise ClipError("a curve to reduce needs increasing times and one value for each")
    if len(times) == 1:
        return Keys(times, values, np.zeros(1))
    slopes = np.gradient(values, times)
    chosen, open_pieces = {0, len(times) - 1}, [(0, len(times) - 1)]
    while open_pieces:
        first, last = open_pieces.pop()
        if last - first < 2:
            continue
        ends = [first, last]
        piece = Keys(times[ends], values[ends], slopes[ends])
        miss = np.abs(piece.at(times[first : last + 1]) - values[first : last + 1])
        worst = first + int(np.argmax(miss))
        if miss[worst - first] > tolerance:
            chosen.add(worst)
            open_pieces += [(first, worst), (worst, last)]
    kept = sorted(chosen)
    return Keys(times[kept], values[kept], slopes[kept])


def _hermite(keys: Keys, times: np.ndarray) -> np.ndarray:
    if len(keys.times) == 1:
        return np.full(len(times), keys.values[0])
    k = np.clip(np.searchsorted(keys.times, times, side="right") - 1, 0, len(keys.times) - 2)
    span = keys.times[k + 1] - keys.times[k]
    u = (times - keys.times[k]) / span
    start = (1 + 2 * u) * (1 - u) ** 2 * keys.values[k] + u * (1 - u) ** 2 * span * keys.slopes[k]
    return start + u * u * (3 - 2 * u) * keys.values[k + 1] + u * u * (u - 1) * span * keys.slopes[k + 1]
