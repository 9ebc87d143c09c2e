"""Whether this machine stood still while a test ran that plays servos in real time: then what it saw says nothing of
RobIK."""

from __future__ import annotations

import os
import threading
import time

LOOK = 0.01  # [s] between looks
STALL = 0.05  # [s] that a processor let a thread wait; an answer of servos is waited for a little longer
BEHIND = 0.003  # [s] from which a look is late
BUSY = 0.03  # share of late looks on a machine that others need, or that is slow
FEW = 100  # looks that say nothing of a share yet


class Stalls:
    """Sleeps on each processor and notes how late it wakes up; at rest, which costs nothing, until `forget`."""

    def __init__(self) -> None:
        self._watched = threading.Event()
        self.forget()
        for processor in os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else (None,):
            threading.Thread(target=self._look, args=(processor,), daemon=True).start()

    def _look(self, processor: int | None) -> None:
        if processor is not None:
            os.sched_setaffinity(0, {processor})  # of this thread alone
        before = time.monotonic()
        while True:
            if not self._watched.is_set():
                self._watched.wait()
                before = time.monotonic()
            time.sleep(LOOK)
            now = time.monotonic()
            self.worst = max(self.worst, now - before - LOOK)
            self.looks += 1
            self.late += now - before - LOOK > BEHIND
            before = now

    def forget(self) -> None:
        """Look from here on."""
        self.worst = 0.0  # [s]
        self.looks = self.late = 0
        self._watched.set()

    def rest(self) -> None:
        """Look no more."""
        self._watched.clear()

    def saw_one(self) -> bool:
        """Whether there was one since `forget`, or many short ones."""
        return self.worst > STALL or self.late > BUSY * max(self.looks, FEW)
