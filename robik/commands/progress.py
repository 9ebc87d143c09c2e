"""Progress of long work on stderr: on a terminal a line that changes, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
from time import monotonic

OFTEN, SELDOM = 0.5, 10.0  # s between two looks, on a terminal and elsewhere
WIDTH = 70  # characters


class ProgressLine:
    """A line on stderr that says how far work is; the context ends it."""

    def __init__(self) -> None:
        self._last = monotonic()
        self._is_terminal = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            print(f"\r{'':<{WIDTH}}\r", end="", file=sys.stderr, flush=True)

    def tell(self, text: str) -> None:
        """Say how far the work is, unless that was said a moment ago."""
        if monotonic() - self._last < (OFTEN if self._is_terminal else SELDOM):
            return
        self._last = monotonic()
        before, after = ("\r", "") if self._is_terminal else ("", "\n")
        print(f"{before}{text:<{WIDTH if self._is_terminal else 0}}", end=after, file=sys.stderr, flush=True)
