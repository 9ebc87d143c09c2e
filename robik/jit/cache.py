"""Folders of the compiled code that is on disk: the one that keeps it, and the one that came with the extension.

In both, code lies in a room of its own for each version of Python and of the sources (`room`), so that two versions of
the library can share a folder.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from numba import config

from ..own_folder import make
from .replacing import replaced
from .sources import COMPILED, sources

LOG = logging.getLogger("robik.jit")
VARIABLE = "ROBIK_CACHE_DIR"
FOR_THIS_CPU = "ROBIK_FOR_THIS_CPU"  # the variable of processes that leave the code that came with the extension alone
UNUSED = 30 * 24 * 3600.0  # [s] after which a room of other sources is deleted


@cache
def folder() -> Path:
    """Return the folder that keeps compiled code.

    It is `NUMBA_CACHE_DIR`, else `ROBIK_CACHE_DIR`, which the add-on sets, else one of the user's; where that cannot be
    written, one of the user's among temporary files, else one that ends with this process, which the log says.
    """
    named = config.CACHE_DIR or os.environ.get(VARIABLE)  # type: ignore[attr-defined]
    chosen, temporary = Path(named) if named else _users() / "robik", Path(tempfile.gettempdir())
    if _can_write(chosen):
        return chosen
    shared = temporary / (f"robik-compiled-{os.getuid()}" if hasattr(os, "getuid") else "robik-compiled")
    if not (why := make(shared)) and _can_write(shared):
        return shared
    LOG.warning(
        "robik: compiled code cannot be kept, so each process compiles again: %s cannot be written%s; name a folder"
        " in %s",
        *(chosen, f", {why}" if why else "", VARIABLE),
    )
    return Path(_own().name)


def _can_write(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        return False
    return True


@cache
def room() -> Path:
    """Return the folder below `folder` for this Python and these sources; it is marked as used."""
    chosen = folder() / _room_name()
    try:
        chosen.mkdir(exist_ok=True)
        os.utime(chosen)
    except OSError:  # it was deleted meanwhile, or belongs to somebody else
        chosen = Path(_own().name) / _room_name()
        chosen.mkdir(exist_ok=True)
    return chosen


def shipped_room() -> Path | None:
    """Return the room of the code that came with the extension; None without it, and where it is to be ignored."""
    place = COMPILED / _room_name()
    return None if os.environ.get(FOR_THIS_CPU) or not place.is_dir() else place


def delete_unused_rooms() -> None:
    """Delete the rooms of other versions that no process has used for a month."""
    for place in folder().glob("py*-*"):
        try:
            if place != room() and time.time() - place.stat().st_mtime > UNUSED:
                shutil.rmtree(place)
        except OSError:  # another process deletes it too, or still reads it
            continue


def _room_name() -> str:
    return f"py{sys.version_info.major}{sys.version_info.minor}-{sources()[:16]}"


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
    """Keep the code of functions that are declared meanwhile in the folder `place`, never beside their source."""
    with replaced(config, "CACHE_DIR", str(place)):
        yield
