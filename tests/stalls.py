"""Whether this machine stood still while a test ran that plays servos in real time: then what it saw says nothing of
RobIK."""

from __future__ import annotations

import os
import threading
import time

LOOK = 0.01  # [s] between looks
STALL = 0.1  # [s] that a processor let a thread wait


class Stalls:
    """Sleeps on each processor and notes how late it wakes up."""

    def __init__(self) -> None:
        self.worst = 0.0  # [s] since `forget`
        for processor in os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else (None,):
            threading.Thread(target=self._look, args=(processor,), daemon=True).start()

    def _look(self, processor: int | None) -> None:
        if processor is not None:
            os.sched_setaffinity(0, {processor})  # of this thread alone
        before = time.monotonic()
        while True:
            time.sleep(LOOK)
            now = time.monotonic()
            self.worst = max(self.worst, now - before - LOOK)
            before = now

    def forget(self) -> None:
        """From here on."""
        self.worst = 0.0

    def saw_one(self) -> bool:
        """Whether there was one since `forget`."""
        return self.worst > STALL
