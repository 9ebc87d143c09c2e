"""Phases in which one foot stands, from the height and the speed of its sole."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d, label

# Heights and speeds in sole lengths, so that they hold at any scale.
HIGH, RAISED = 0.15, 0.25  # a foot this high may be in a swing, and is if it moves; this high it surely is
SLOW, FAST = 0.5, 1.25  # a foot this fast may be in a swing; this fast it surely is, per second
LEVEL = 0.02  # a phase begins and ends where the foot is this near to the height at which it stands
SHORTEST = 0.06  # no phase is shorter [s]
SMOOTHING = 0.02  # of noisy tracks before speeds are taken from them [s]


def standing(times: np.ndarray, sole: np.ndarray, level: float, length: float) -> np.ndarray:
    """Return flags (T,) of when a foot stands, by its sole's centre (T, 3) [m].

    `level` is the sole's height where it stands, and its length the measure of heights and speeds [m].
    """
    if len(times) < 2:
        return sole[:, 2] - level < HIGH * length
    step = float(np.median(np.diff(times)))
    height = (_smooth(times, sole)[:, 2] - level) / length
    speed = speeds(times, sole) / length
    swings, _ = label((height > HIGH) | (speed > SLOW))
    sure = np.unique(swings[(height > RAISED) | (speed > FAST) | ((height > HIGH) & (speed > SLOW))])
    stands = ~np.isin(swings, sure[sure > 0])
    stands = _without_short(times, stands, step)
    return _without_short(times, _trimmed(stands, height), step)


def _smooth(times: np.ndarray, sole: np.ndarray) -> np.ndarray:
    """Return a sole's centre (T, 3) [m] without noise; T is at least 2."""
    return gaussian_filter1d(sole, SMOOTHING / float(np.median(np.diff(times))), axis=0, mode="nearest")


def speeds(times: np.ndarray, sole: np.ndarray) -> np.ndarray:
    """Return the speeds (T,) [m/s] of a sole's centre (T, 3) [m], without noise; zero in a single sample."""
    if len(times) < 2:
        return np.zeros(len(times))
    return np.linalg.norm(np.gradient(_smooth(times, sole), times, axis=0), axis=1)


def _trimmed(stands: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return phases shortened to where the foot is at the height at which it stands in the phase.

    Lift-off is when it leaves that height.
    """
    trimmed = stands.copy()
    for start, stop in runs(stands):
        down = np.flatnonzero(height[start:stop] <= np.median(height[start:stop]) + LEVEL)
        if start > 0:
            trimmed[start : start + down[0]] = False
        if stop < len(stands):
            trimmed[start + down[-1] + 1 : stop] = False
    return trimmed


def _without_short(times: np.ndarray, stands: np.ndarray, step: float) -> np.ndarray:
    """Short swings become standing, then short standing swinging.

    The clip's ends may cut a phase as short as they like.
    """
    for value in (False, True):
        stands = stands.copy()
        for start, stop in runs(stands == value):
            if start > 0 and stop < len(times) and times[stop - 1] - times[start] + step < SHORTEST:
                stands[start:stop] = not value
    return stands


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Return the first index and the one past the last of each stretch in which flags (T,) hold."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
