"""Kernels compiled as numba does it by itself: slower to compile, equal in what they compute, with any numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from .cache import kept_in, room


def compiled(function: Callable, *, inline: bool, entry: bool, allocates: bool, nogil: bool) -> Any:
    """Return a function that is compiled at its first call, kept in a folder for these sources under its name.

    It is linked into all that call it, and Python may call it, whatever the options say; of these only `nogil` has
    an effect.
    """
    with kept_in(room() / (__package__ or "")):  # numba keeps names of modules with the code
        return njit(function, cache=True, error_model="numpy", nogil=nogil)


def kinds_on_disk(function: Any) -> None:
    """Return None: only numba knows the number."""
