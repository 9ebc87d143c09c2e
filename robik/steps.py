"""Long work as generators of steps: whoever runs them can show progress, or stop between two of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import process_time
from typing import Any, TypeVar

Step = TypeVar("Step")
Told = TypeVar("Told")
Result = TypeVar("Result")


def finish(steps: Generator[Step, None, Result], tell: Callable[[Step], Any] | None = None) -> Result:
    """Run steps to their end."""
    while True:
        try:
            step = next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
        if tell is not None:
            tell(step)


def relay(steps: Generator[Step, None, Result], tell: Callable[[Step], Told]) -> Generator[Told, None, Result]:
    """Run steps as a part of other work, and tell of each in the other work's own terms."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as done:
                result: Result = done.value
                return result
            yield tell(step)
    finally:
        steps.close()


def clocked(steps: Generator[Step, None, Result], seconds: list[float]) -> Generator[Step, None, Result]:
    """Run steps, and add the processor time [s] that they take to the one number of `seconds`."""
    try:
        while True:
            began = process_time()
            try:
                step = next(steps)
            except StopIteration as done:
                result: Result = done.value
                return result
            finally:
                seconds[0] += process_time() - began
            yield step
    finally:
        steps.close()
