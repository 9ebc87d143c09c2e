"""Folder of the compiled code that is kept on disk."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from numba import config

VARIABLE = "ROBIK_CACHE_DIR"


@cache
def folder() -> Path:
    """Return the folder that keeps compiled code.

    It is `NUMBA_CACHE_DIR`, else `ROBIK_CACHE_DIR`, which the add-on sets, else one of the user's. Where that cannot be
    written, it ends with this process.
    """
    named = config.CACHE_DIR or os.environ.get(VARIABLE)  # type: ignore[attr-defined]
    chosen = Path(named) if named else _users() / "robik"
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=chosen).close()
    except OSError:
        return Path(_own().name)
    return chosen


def _users() -> Path:
    """Return the user's folder for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


@cache
def _own() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="robik-")


@contextmanager
def kept_in(place: Path) -> Iterator[None]:
    """Let numba keep the functions that are declared meanwhile in this folder, never beside their source.

    Args:
        place: Folder of the compiled code.
    """
    with patch.object(config, "CACHE_DIR", str(place)):
        yield
