"""Notice of compilations under way in this process, and lines of the log about long ones."""

from __future__ import annotations

import logging
from time import monotonic

from numba.core import event

LOG = logging.getLogger("robik.jit")  # whose warnings go to stderr, unless a program says otherwise
PATIENCE = 2.0  # s of compiling without a word
EVERY = 10.0  # s from one word to the next


class _Compilations(event.Listener):
    """Count of compilations under way; loading from the cache is none."""

    def __init__(self) -> None:
        self.under_way = 0
        self.functions = 0  # that were compiled
        self._before = self._began = 0.0  # s of earlier ones, and when those under way began
        self._next = PATIENCE  # s of compiling, until the next word

    def on_start(self, event: event.Event) -> None:
        if not self.under_way:
            self._began = monotonic()
        self.under_way += 1
        if self._seconds > self._next:
            self._tell(event.data["dispatcher"].py_func)

    def on_end(self, event: event.Event) -> None:
        self.functions += 1
        if self.under_way == 1:
            self._before = self._seconds
        self.under_way -= 1

    @property
    def _seconds(self) -> float:
        return self._before + monotonic() - self._began

    def _tell(self, function: object) -> None:
        """Say what is being compiled, and how far that is."""
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
        why = "" if self._next > PATIENCE else ", once for this machine (`robik warm-up` does it ahead)"
        done = f"{self.functions} functions in {self._seconds:.0f} s"
        LOG.warning("robik: compiling the solver%s: %s, now %s", why, done, name)
        self._next = self._seconds + EVERY


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def is_compiling() -> bool:
    """Return whether this process is compiling."""
    return _compilations.under_way > 0


def compiled_functions() -> int:
    """Return how many functions this process has compiled so far."""
    return _compilations.functions
