"""Notice of compilations under way in this process."""

from __future__ import annotations

from numba.core import event


class _Compilations(event.Listener):
    """Count of compilations under way; loading from the cache is none."""

    def __init__(self) -> None:
        self.under_way = 0

    def on_start(self, event: event.Event) -> None:
        self.under_way += 1

    def on_end(self, event: event.Event) -> None:
        self.under_way -= 1


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def is_compiling() -> bool:
    """Return whether this process is compiling."""
    return _compilations.under_way > 0
