"""Decorators of functions to be compiled: a `kernel` on its own, an `inlined` function into each that calls it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

from numba import typeof

from .trial import numbas


def kernel(
    function: Callable | None = None, *, entry: bool = True, allocates: bool = False, nogil: bool = False
) -> Any:
    """Compile a function for itself, at its first call (a decorator, with or without options).

    `entry` says that Python calls it; if not, or if its name begins with an underscore, only compiled functions
    can. `allocates` says that it makes arrays, `nogil` that other threads run meanwhile.
    """
    if function is None:
        return partial(kernel, entry=entry, allocates=allocates, nogil=nogil)
    return _compiled(
        function, inline=False, entry=entry and not function.__name__.startswith("_"), allocates=allocates, nogil=nogil
    )


def inlined(function: Callable) -> Any:
    """Compile a small function into all compiled ones that call it (a decorator); Python cannot."""
    return _compiled(function, inline=True, entry=False, allocates=False, nogil=False)


def _compiled(function: Callable, **options: bool) -> Any:
    return _way().compiled(function, **options)


@cache
def _way() -> ModuleType:
    """Return the module that compiles with the numba at hand."""
    return import_module(".fast" if numbas().fast else ".plain", __package__)


def kinds_in_cache(function: Any) -> int | None:
    """Return the number of a kernel's signatures on disk, by whichever process; None where it is not known."""
    return _way().kinds_on_disk(function)


def compile_for(function: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of the types of these, or load it from disk, without calling it."""
    function.compile(tuple(typeof(argument) for argument in arguments))
