"""Sections of a long clip, which are solved one after another, so that memory does not grow with a clip's length.

A section begins at frames that the section before has left, and has a free end. What moves near that end does not know
what comes, so the last frames are thrown away: the overlap, in which each motor can brake from full speed and come to
rest. So from whatever frames are kept, limits leave a way on.

A cyclic clip's first section also begins in an overlap that is thrown away, before the first frame; its last one ends
at the first frames of the next lap, which stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from .bounds import Bounds

AT_ONCE = 100_000  # frames times motors that are solved at once: about 1 GB
HELD = 3  # frames that a section begins at: a jerk is over four frames
BRAKING = 2.0  # times the time that the slowest motor needs to stop
SEEN = 1.0  # [s] beside that which a kept frame knows of what comes
FEWEST = 2  # times its overlap a section is long


@dataclass(frozen=True)
class Section:
    """Frames that are solved together.

    Attributes:
        frames: (S,) of the clip, which may be before its first or after its last where it is cyclic.
        held: (S,) whether each stays as it is.
        first, last: the frames that are kept, and the one after them, as places among `frames`.
        goes_on: whether there are other frames before the first, and after the last.
    """

    frames: np.ndarray
    held: np.ndarray
    first: int
    last: int
    goes_on: tuple[bool, bool]


def sections(times: np.ndarray, cyclic: bool, overlap: float, most: int) -> list[Section]:
    """Return the sections of a clip: one of all frames, where they are few enough.

    Args:
        times: (T,) of the frames [s].
        cyclic: Whether the last frame is the first.
        overlap: Of two sections [s].
        most: Frames of a section.

    Returns:
        The sections in order.
    """
    count = len(times) - cyclic
    beside = max(ceil(overlap / float(np.median(np.diff(times)))), HELD) if count > 1 else HELD
    kept = max(most - beside - HELD, (FEWEST - 1) * beside)
    if count <= max(most, kept):
        return [Section(np.arange(count), np.zeros(count, bool), 0, count, (False, False))]
    ends = np.linspace(0, count, ceil(count / kept) + 1).round().astype(int).tolist()
    return [_section(first, last, count, cyclic, beside) for first, last in pairwise(ends)]


def _section(first: int, last: int, count: int, cyclic: bool, overlap: int) -> Section:
    """Return the section of which frames `first` to `last` of `count` are kept."""
    begins, ends = first == 0, last == count
    start = (-overlap if cyclic else 0) if begins else first - HELD
    most = count if not cyclic else last + overlap if begins else count + HELD
    frames = np.arange(start, count + HELD if cyclic and ends else min(last + overlap, most))
    held = ((frames < first) | (frames >= count)) & (not begins)
    return Section(frames, held, first - start, last - start, (cyclic or not begins, cyclic or frames[-1] < count - 1))


def overlap_of(bounds: Bounds, times: np.ndarray, q: np.ndarray) -> float:
    """Return the overlap in which motors can brake [s].

    Args:
        bounds: Of the coordinates.
        times: (T,) of the frames [s].
        q: (T, nq) their coordinates: a motor without a limit of speed is as fast as there.

    Returns:
        The overlap [s].
    """
    speed, acceleration, jerk = bounds.limits
    fastest = np.abs(np.diff(q[:, bounds.at], axis=0) / np.diff(times)[:, None]).max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        turned = np.where(np.isfinite(acceleration), acceleration, np.sqrt(np.minimum(speed, fastest) * jerk))
        brakes = np.minimum(speed, fastest) / turned + np.where(np.isfinite(jerk), turned / jerk, 0.0)
    return SEEN + BRAKING * float(np.nan_to_num(brakes, nan=0.0, posinf=0.0).max(initial=0.0))
