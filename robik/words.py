"""Words that several sentences need."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, "1 loop" or "2 loops"; `many` is the plural where an s does not make it."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
