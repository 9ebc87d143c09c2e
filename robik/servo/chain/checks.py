"""Checks of numbers that a servo file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ServoError

LARGEST = 1e100  # of any number: beyond it products are no numbers any more


def positive(value: Any, what: str) -> float:
    """Return a positive number; else raise ServoError, which calls the value `what`."""
    if not _is_finite(value) or value < 1 / LARGEST:
        raise ServoError(f"{what} must be a positive number, not {value!r}")
    return float(value)


def span(values: Any, what: str) -> tuple[float, float]:
    """Return two finite numbers, low then high; else raise ServoError, which calls them `what`."""
    if (
        not isinstance(values, (tuple, list))
        or len(values) != 2
        or not all(_is_finite(v) for v in values)
        or values[0] >= values[1]
    ):
        raise ServoError(f"{what} must be two finite numbers, low then high, not {values!r}")
    return float(values[0]), float(values[1])


def entries(values: Any, what: str) -> tuple[tuple[str, int], ...]:
    """Return whole numbers by name."""
    pairs = tuple(values.items()) if isinstance(values, Mapping) else values
    if not isinstance(pairs, tuple) or any(
        type(pair) is not tuple or list(map(type, pair)) != [str, int] for pair in pairs
    ):
        raise ServoError(f"{what} must be whole numbers by name, not {values!r}")
    return pairs


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        return False
    return bool(-LARGEST <= value <= LARGEST)  # no NaN, no infinity
