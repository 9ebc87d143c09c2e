"""Names of what a format's file leaves without one, or where two would have the same."""

from __future__ import annotations

from collections.abc import Container
from itertools import count


def free_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that is not taken: the wanted one, else with a number from 2."""
    return wanted if wanted not in taken else next(name for k in count(2) if (name := f"{wanted}_{k}") not in taken)
