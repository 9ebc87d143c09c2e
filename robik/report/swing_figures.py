"""Figures of swings: how far soles clear the ground, and how fast they land."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..feet.phases import runs

MIDDLE = (0.4, 0.6)  # of a swing, in which its clearance counts


class Swings(NamedTuple):
    """Swings of a foot."""

    clearance: np.ndarray  # (S,) of each [m]
    landing: np.ndarray  # (S,) speed downwards of each [m/s]

    @classmethod
    def of(cls, times: np.ndarray, stands: np.ndarray, above: np.ndarray) -> Swings:
        """Return the swings between phases in which a foot stands (T,), by heights (T,) of its lowest point [m].

        Heights are over the ground below. Where a foot steps up or down on level ground, what counts is the height over
        the straight line from where it stood to where it stands next.
        """
        clear, landing = [], []
        for (_, lifted), (landed, _) in pairwise(runs(stands)):
            before, after = lifted - 1, landed
            share = (times[lifted:landed] - times[before]) / (times[after] - times[before])
            over = above[lifted:landed] - above[before] - share * (above[after] - above[before])
            middle = (share >= MIDDLE[0]) & (share <= MIDDLE[1])
            if middle.any():
                clear.append(float(over[middle].min()))
            landing.append(float((above[after - 1] - above[after]) / (times[after] - times[after - 1])))
        return cls(np.array(clear), np.array(landing))
