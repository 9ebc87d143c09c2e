"""Patience with servos: how long an answer is waited for, and how often is asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isfinite

LATENCY = 0.034  # [s] that answers may take beyond their bytes: an adapter's 16 ms, twice
SHORTEST_LATENCY = 0.008  # [s]: the allowance between goals, where time is short, is at least this,
MARGIN = 4.0  # and so many times the slowest ping
UNHURRIED = 0.5  # [s] of asking who does not answer, where nobody says
TRIES = 3  # at what must not fail because of a lost packet


class Patience:
    """Time that servos get to answer, by how quickly they have done so.

    A servo is asked again for `silence` [s], unless goals are waiting, before it counts as gone.

    Attributes:
        latency: what an answer may take now beyond its bytes [s].
        is_hasty: whether goals are waiting.
        round_trip: of the slowest ping so far [s].
        quickest: of the quickest ping so far [s].
    """

    def __init__(self, silence: float = UNHURRIED) -> None:
        self._silence = silence
        self.latency, self.is_hasty = LATENCY, False
        self.round_trip, self.quickest = 0.0, inf

    def forget(self) -> None:
        """Know nothing of how quickly servos answer."""
        self.round_trip, self.quickest = 0.0, inf

    def note(self, seconds: float) -> None:
        """Note the time from a ping to its answer [s]."""
        self.round_trip, self.quickest = max(self.round_trip, seconds), min(self.quickest, seconds)

    @property
    def best(self) -> float:
        """Time from a ping to its answer, at best [s]; 0 before there was one."""
        return self.quickest if isfinite(self.quickest) else 0.0

    @contextmanager
    def in_haste(self, latency: float = 0.0) -> Iterator[None]:
        """Ask only once within this context, and wait for an answer no longer than goals can.

        That is MARGIN times what the slowest ping took, and at least `latency` [s].
        """
        self.latency = min(LATENCY, max(SHORTEST_LATENCY, latency, MARGIN * self.round_trip))
        self.is_hasty = True
        try:
            yield
        finally:
            self.latency, self.is_hasty = LATENCY, False

    def attempts(self) -> Iterator[None]:
        """Yield once for each time that a servo is asked: once in haste.

        Else some times, and on until it was silent for long, as where this computer stalls.
        """
        until, tries = time.perf_counter() + self._silence, 0
        while tries == 0 or (not self.is_hasty and (tries < TRIES or time.perf_counter() < until)):
            tries += 1
            yield
