"""Kernels as Python runs them, without numba: for few calls on a small robot, done before numba could be loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def kernel(function: Callable | None = None, **options: bool) -> Any:
    """Return the function as it is (a decorator, with or without options)."""
    return (lambda function: function) if function is None else function


def inlined(function: Callable) -> Callable:
    """Return the function as it is (a decorator)."""
    return function


def compiled_for_record(record: type, *, otherwise: Any = None) -> Callable[[Callable], Callable]:
    """Return the function as it is (a decorator): with records of other kinds it does nothing."""
    return inlined


def by_reference(arrays: Any) -> Any:
    """Return a NamedTuple as it is."""
    return arrays


def is_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


def compiled_functions() -> int:
    """Return 0: nothing is compiled."""
    return 0


def kinds_in_cache(function: Any) -> None:
    """Return None: nothing is kept."""


def compile_for(function: Any, *arguments: Any) -> None:
    """Do nothing."""
