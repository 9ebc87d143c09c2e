"""Sections of a long clip, which are solved one after another, so that memory does not grow with a clip's length.

A section begins at frames that the section before has left, and has a free end. What moves near that end does not know
what comes, so the last frames are thrown away: the overlap, in which each motor can brake from full speed and come to
rest. So from whatever frames are kept, limits leave a way on.

A cyclic clip's first section also begins in an overlap that is thrown away, before the first frame; its last one ends
at the first frames of the next lap, which stay.

An own range is a part of a clip. Its first section begins at the frames before it, its last one ends at those after it.
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


def sections(
    times: np.ndarray, cyclic: bool, overlap: float, most: int, own: tuple[int, int] | None = None
) -> list[Section]:
    """Return the sections of a clip, of at most `most` frames; one of all frames where they are few enough.

    Sections overlap by `overlap` [s]. With an own range `own`, its first frame and the one after its last, all
    others stay; the clip is then not cyclic.
    """
    count = len(times) - cyclic
    beside = max(ceil(overlap / float(np.median(np.diff(times)))), HELD) if count > 1 else HELD
    kept = max(most - beside - HELD, (FEWEST - 1) * beside)
    begin, stop = own or (0, count)
    if stop - begin > max(most, kept):
        ends = np.linspace(begin, stop, ceil((stop - begin) / kept) + 1).round().astype(int).tolist()
        return [_section(first, last, stop, count, cyclic, beside) for first, last in pairwise(ends)]
    if cyclic:
        return [Section(np.arange(count), np.zeros(count, bool), 0, count, (False, False))]
    return [_section(begin, stop, stop, count, cyclic, beside)]


def _section(first: int, last: int, stop: int, count: int, cyclic: bool, overlap: int) -> Section:
    """Return the section of which frames `first` to `last` of `count` are kept; those from `stop` on stay."""
    leads_in = cyclic and first == 0
    start = -overlap if leads_in else max(first - HELD, 0)
    most = last + overlap if leads_in else stop + HELD
    frames = np.arange(start, min(last + overlap, most if cyclic else min(most, count)))
    held = ((frames < first) | (frames >= stop)) & (not leads_in)
    return Section(frames, held, first - start, last - start, (cyclic or start > 0, cyclic or frames[-1] < count - 1))


def overlap_of(bounds: Bounds, times: np.ndarray, q: np.ndarray) -> float:
    """Return the overlap [s] in which motors can brake; one without a limit of speed is as fast as in q (T, nq)."""
    speed, acceleration, jerk = bounds.limits
    fastest = np.abs(np.diff(q[:, bounds.at], axis=0) / np.diff(times)[:, None]).max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        turned = np.where(np.isfinite(acceleration), acceleration, np.sqrt(np.minimum(speed, fastest) * jerk))
        brakes = np.minimum(speed, fastest) / turned + np.where(np.isfinite(jerk), turned / jerk, 0.0)
    return SEEN + BRAKING * float(np.nan_to_num(brakes, nan=0.0, posinf=0.0).max(initial=0.0))
