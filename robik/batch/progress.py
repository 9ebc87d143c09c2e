"""Progress of a batch in words: how many are done, how fast, and how long it will take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

BAR = 20  # characters
LEAST = 1e-3  # s that anything takes


def told_on_stderr() -> Callable[[dict[str, Any], int, int], None]:
    """Return a function that tells on stderr how far a batch is: called with a row, how many are done, of how many.

    What an earlier run has done counts neither for the rate nor for the time that is left.
    """
    began, frames, first = monotonic(), 0, 0

    def tell(row: dict[str, Any], done: int, of: int) -> None:
        nonlocal frames, first
        frames, first = frames + int(row.get("frames") or 0), first or done
        spent = max(monotonic() - began, LEAST)
        left = spent / (done - first + 1) * (of - done)
        full = BAR * done // of
        bar = "█" * full + "░" * (BAR - full)
        pace = f": {frames / spent:.3g} frames/s, {left:.0f} s left" if frames and done < of else ""
        text = f"{done}/{of} {bar} {row['file']}{pace}"
        print(text, file=sys.stderr, flush=True)

    return tell
