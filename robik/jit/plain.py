"""Kernels compiled as numba does it by itself: slower to compile, equal in what they compute, with any numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from .cache import kept_in, room


def compiled(function: Callable, *, inline: bool, entry: bool, allocates: bool, nogil: bool) -> Any:
    """Return a function that is compiled at its first call, kept in a folder for these very sources under this name.

    It is linked into all that call it, and Python may call it, whatever the options say.

    Args:
        function: The function in Python.
        inline: Of no effect.
        entry: Of no effect.
        allocates: Of no effect.
        nogil: Whether other threads of Python run meanwhile.

    Returns:
        The compiled function.
    """
    with kept_in(room() / (__package__ or "")):  # numba keeps names of modules with the code
        return njit(function, cache=True, error_model="numpy", nogil=nogil)


def kinds_on_disk(function: Any) -> None:
    """Return None: only numba knows the number.

    Args:
        function: Of no effect.
    """
