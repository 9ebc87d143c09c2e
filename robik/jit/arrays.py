"""Arrays of groups that compiled code gets by one pointer, or of the NamedTuples that these are otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np


def arrays_of(group: Any, without: type) -> list[np.ndarray]:
    """Return the arrays that own the memory of a group and of those in it, some more than once.

    Groups of the NamedTuple `without` are left out.
    """
    kind, values = _fields(group)
    found: list[np.ndarray] = []
    for value in () if kind is without else values:
        if isinstance(value, np.ndarray):
            found.append(value.base if isinstance(value.base, np.ndarray) else value)
        elif isinstance(value, tuple) or hasattr(value, "_numba_type_"):
            found += arrays_of(value, without)
    return found


def _fields(group: Any) -> tuple[type, list[Any]]:
    """Return the NamedTuple that a group is of, and its fields."""
    if isinstance(group, tuple):
        return type(group), list(group)
    kind = group._numba_type_
    return kind.record, [getattr(group, name) for name in kind.fields]
