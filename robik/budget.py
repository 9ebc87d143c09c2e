"""Limit of the time that each part of an import may take, with progress, and a way to stop it from another thread.

The limit counts processor time of the thread, so that a busy machine refuses no robot that an idle one assembles.
On the clock it is twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import monotonic, thread_time
from typing import Any

SECONDS = 10.0  # for closing one robot's loops
DESCRIBING = 3.0  # times as long for describing it: IIT's SoftFoot takes 10 s on a machine with ten other processes
REMEDY_SECONDS = 3.0  # for what would close them
ON_THE_CLOCK = 2.0  # how much longer it may take there


class OutOfTimeError(Exception):
    """The time is over; whoever searches returns the best that it has."""


@dataclass
class Budget:
    """Budget of an import.

    Attributes:
        seconds: processor time for closing the loops of one robot [s].
        is_unwanted: whether nobody waits for the result any more.
        tell: takes a sentence on how far the work is.
        offer: takes the best pose so far (an `OpenPose`), as often as a better one is found.
    """

    seconds: float = SECONDS
    is_unwanted: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda _: None
    offer: Callable[[Any], None] = lambda _: None
    _until: tuple[float, float] = (inf, inf)  # of the thread, on the clock

    @property
    def describing(self) -> float:
        """Processor time for describing the robot [s]."""
        return DESCRIBING * self.seconds

    @property
    def is_over(self) -> bool:
        """Return whether the time is over, or nobody waits."""
        return thread_time() > self._until[0] or monotonic() > self._until[1] or self.is_unwanted()

    def check(self) -> None:
        """Raise an `OutOfTimeError` if the time is over."""
        if self.is_over:
            raise OutOfTimeError

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Count from now on, to the end of this context."""
        before, self._until = self._until, (thread_time() + seconds, monotonic() + ON_THE_CLOCK * seconds)
        try:
            yield
        finally:
            self._until = before


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget:
    """Return the budget of this thread's import."""
    budget = _current.get()
    if budget is None:
        budget = Budget()
        _current.set(budget)
    return budget


@contextmanager
def within(budget: Budget) -> Iterator[None]:
    """Keep a budget for what is imported in this context, on this thread."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)
