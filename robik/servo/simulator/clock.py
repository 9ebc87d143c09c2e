"""Clock of simulated servos: the system's, unless a test holds it."""

from __future__ import annotations

import time


class Clock:
    """Goes with the system's monotonic clock until it is held, and never backwards."""

    def __init__(self) -> None:
        self._held: float | None = None

    @property
    def now(self) -> float:
        """[s]."""
        return time.perf_counter() if self._held is None else self._held

    def hold(self) -> None:
        """Time stands still from now on."""
        self._held = self.now

    def let_pass(self, seconds: float) -> None:
        """Let `seconds` pass of time that is held; raise ValueError if it is not held, or would go backwards."""
        if self._held is None or not seconds >= 0.0:
            raise ValueError(f"{seconds:g} s cannot pass")
        self._held += seconds
