"""Long work as generators of steps: a window drives them one by one, everything else at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Progress:
    """How far work is: `fraction` 0 to 1, and what it does."""

    fraction: float
    text: str


def finish(steps: Generator[Any, None, Result]) -> Result:
    """All steps at once; what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value
