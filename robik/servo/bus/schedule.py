"""Schedule of goals: absolute deadlines, so that no lag builds up, and statistics of lateness.

The clock is `time.perf_counter`, in all of this package: on Windows `time.monotonic` goes in steps of 16 ms before
Python 3.13. On Linux and macOS both are the same clock.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np

BIN, BINS = 2e-5, 5000  # [s] and number, of the histogram: up to 0.1 s, the last bin for all beyond
SWITCH = 5e-4  # [s] that another thread may go on for once this one is due; Python's own choice is 5 ms
SLICE = 0.02  # [s] of waiting at a time
TIME_CRITICAL, USER_INTERACTIVE = 15, 0x21  # a thread's priority on Windows, and its class of service on macOS
DROPPED_SLACK = 1e-4  # [s]: a deadline that passes while we look at the clock is not missed


def take_precedence() -> None:
    """Ask the system to run this thread before ordinary ones when it wakes.

    Where that is not allowed, nothing changes.
    """
    if sys.platform == "win32":
        _take_precedence_on_windows(ctypes.WinDLL("kernel32"), ctypes.WinDLL("winmm"))
    elif sys.platform == "darwin":
        ctypes.CDLL(None).pthread_set_qos_class_self_np(USER_INTERACTIVE, 0)
    else:
        _take_precedence_on_linux()


def _take_precedence_on_windows(kernel: Any, timers: Any) -> None:
    current, set_priority = kernel.GetCurrentThread, kernel.SetThreadPriority
    current.restype = ctypes.c_void_p  # a handle, as wide as a pointer; half of it is none
    set_priority.argtypes = [ctypes.c_void_p, ctypes.c_int]
    set_priority(current(), TIME_CRITICAL)
    timers.timeBeginPeriod(1)  # [ms] that a sleep lasts at least: without it, 16


def _take_precedence_on_linux() -> None:
    if not hasattr(os, "sched_setscheduler"):
        return
    wishes = (
        lambda: os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1)),
        lambda: os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10),
    )
    for wish in wishes:
        try:
            wish()
        except PermissionError:
            continue
        return


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep Python's other work away from this thread.

    Other threads hand over soon when this one wakes, and nobody collects garbage among what is there already.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


class Lateness:
    """A histogram of how late goals were sent; its size does not grow with the length of a show."""

    def __init__(self) -> None:
        self._counts = np.zeros(BINS, dtype=np.int64)
        self.worst = 0.0

    def add(self, seconds: float) -> None:
        """Count one goal that left `seconds` late."""
        self._counts[min(BINS - 1, max(0, int(seconds / BIN)))] += 1
        self.worst = max(self.worst, seconds)

    def percentile(self, percent: float) -> float:
        """Return the lateness [s] that `percent` of the goals did not exceed; 0 without any."""
        total = int(self._counts.sum())
        if total == 0:
            return 0.0
        k = int(np.searchsorted(np.cumsum(self._counts), percent / 100.0 * total))
        return min((k + 1) * BIN, self.worst)


class Schedule:
    """Deadlines k / rate from `start` on.

    A goal goes out late if it must. Where a deadline and the one after it have both passed before anybody waits for
    the first, its goal is dropped: the newest goes out at once, and nothing is queued. `check` is called now and
    then while waiting, and may raise to end the wait.

    Attributes:
        sent, dropped: goals so far.
        dropped_at: when the last one was found to be dropped, by the clock [s]; 0 before.
        lateness: of those that were sent.
    """

    def __init__(self, rate: float, check: Callable[[], None] = lambda: None) -> None:
        self.period, self._check = 1.0 / rate, check
        self.sent = self.dropped = 0
        self.dropped_at = 0.0
        self.lateness = Lateness()
        self._origin = 0.0
        self._next = 0

    def start(self) -> None:
        """Begin: the next deadline is now, and is number 0."""
        self._origin = time.perf_counter()
        self._next = 0

    def wait(self, last: float = inf) -> int:
        """Sleep until the next deadline, and return its number.

        Numbers whose successor is due already are dropped, but for `last`.
        """
        due = int(min((time.perf_counter() - self._origin - DROPPED_SLACK) / self.period, last))
        if due > self._next:
            self._drop(due - self._next)
            self._next = due
        self._deadline = self._origin + self._next * self.period
        while (left := self._deadline - time.perf_counter()) > 0:
            time.sleep(min(left, SLICE))
            self._check()
        self._next += 1
        return self._next - 1

    def restart(self) -> None:
        """Let the last deadline be now: those that passed since are dropped, and the next one is a period away."""
        now = time.perf_counter()
        self._drop(int((now - self._deadline) / self.period))
        self._deadline = now
        self._origin = now - (self._next - 1) * self.period

    def _drop(self, count: int) -> None:
        self.dropped += count
        self.dropped_at = time.perf_counter() if count else self.dropped_at

    def done(self) -> None:
        """Count the goal of the last deadline as sent."""
        self.sent += 1
        self.lateness.add(time.perf_counter() - self._deadline)

    @property
    def account(self) -> dict[str, object]:
        """Return what was sent and dropped, and how late, by the names that a status has for it."""
        return {
            "sent": self.sent,
            "dropped": self.dropped,
            "dropped_at": self.dropped_at,
            "lateness_p99": self.lateness.percentile(99),
            "lateness_p999": self.lateness.percentile(99.9),
            "lateness_worst": self.lateness.worst,
        }

    @property
    def slack(self) -> float:
        """Time until the next deadline [s]."""
        return self._origin + self._next * self.period - time.perf_counter()
