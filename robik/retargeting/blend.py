"""A new motion let into an old one: at its ends it comes out of the old and goes back into it."""

from __future__ import annotations

import numpy as np

Base = tuple[np.ndarray, np.ndarray]


def shares(frames: np.ndarray, length: float, at_start: bool, at_end: bool) -> np.ndarray:
    """Return the share (T,) of the new motion at each frame: 0 to 1 within `length` frames of an end that blends.

    It is at rest at both. A blend takes at most half of all frames, which increase.
    """
    length = min(length, 0.5 * (frames[-1] - frames[0]))
    share = np.ones(len(frames))
    if length <= 0:
        return share
    for blends, far in ((at_start, frames - frames[0]), (at_end, frames[-1] - frames)):
        if blends:
            u = np.clip(far / length, 0.0, 1.0)
            share *= u * u * (3.0 - 2.0 * u)
    return share


def blended(old: np.ndarray, new: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return rows (T, n) between the old and the new ones, by the share (T,) of the new ones."""
    return old + share[:, None] * (new - old)


def within_speeds(values: np.ndarray, times: np.ndarray, speeds: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return values (T, A) near these, none of which is faster than `speeds` (A,) [1/s].

    Rows that are `held` (T,) stay as they are, if they can be reached at all. Speeds are infinite where there is no
    limit.

    Each coordinate becomes the mean of the highest curve below it and the lowest above it that keep the speed: of all
    that keep it, one whose largest distance is the least (the Lipschitz extensions of McShane and Whitney).
    """
    steps = np.diff(times)[:, None] * speeds
    highest, lowest = (sign * _lowest(np.where(held[:, None], sign * values, np.inf), steps) for sign in (1.0, -1.0))
    near = np.clip(values, lowest, highest)
    return 0.5 * (_lowest(near, steps) - _lowest(-near, steps))


def _lowest(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return what can be reached from every row by at most these steps (T-1, A) a row, at its lowest."""
    low = values.copy()
    for k in range(1, len(low)):
        np.minimum(low[k], low[k - 1] + steps[k - 1], out=low[k])
    for k in range(len(low) - 1, 0, -1):
        np.minimum(low[k - 1], low[k] + steps[k - 1], out=low[k - 1])
    return low


def blended_base(old: Base | None, new: Base | None, share: np.ndarray) -> Base | None:
    """Return base poses between the old and the new ones, by the share (T,) of the new; None without a base."""
    if old is None or new is None:
        return None
    return blended(old[0], new[0], share), blended_turns(old[1], new[1], share)


def blended_turns(old: np.ndarray, new: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return unit quaternions (T, 4) between old and new, the short way round, by the share (T,) of the new."""
    signs = np.where((old * new).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    turned = blended(old, signs * new, share)
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)
