"""Heartbeat of work that keeps Blender's main thread busy.

Servos that play stop when none comes for too long.
"""

from __future__ import annotations

from collections.abc import Callable

_told: Callable[[], None] | None = None


def tell(listener: Callable[[], None] | None) -> None:
    """Name the one who is told; None for nobody."""
    global _told
    _told = listener


def beat() -> None:
    """Beat: the main thread gets on with its work.

    Only for steps of which each is short and the number known.
    """
    if _told is not None:
        _told()
