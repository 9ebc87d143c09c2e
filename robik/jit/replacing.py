"""Replacement of attributes for a while, as `unittest.mock` does it, which takes as long to import as half of numpy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    """Let an attribute of a module or a class have another value.

    Args:
        owner: The module or class.
        name: The attribute.
        value: What it is meanwhile.
    """
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
