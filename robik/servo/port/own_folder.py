"""Folders for files between programs of one user, which no other user can write to, or lead elsewhere."""

from __future__ import annotations

import os
import platform
import stat
import sys
import tempfile
from pathlib import Path

from ...errors import ServoError

VARIABLE = "ROBIK_PORTS_DIR"
OTHERS = 0o077  # bits of a mode that let others in


def folder() -> Path:
    """Return the folder to write to, which is made if it is not there: the first that can be trusted."""
    why = ""
    for place in _candidates():
        try:
            _make(place)
        except OSError as error:
            why = f"{place} cannot be made ({error.strerror or error})"
            continue
        if not (why := _distrust(place)):
            return place
    raise ServoError(f"{why}; name a folder of your own in {VARIABLE}")


def folders() -> list[Path]:
    """Return the folders to read: all that are there and can be trusted.

    Programs of one user may write to different ones, since not every shell has a folder of a session.
    """
    return [place for place in _candidates() if os.path.lexists(place) and not _distrust(place)]


def _candidates() -> list[Path]:
    if named := os.environ.get(VARIABLE):
        return [Path(named)]
    if sys.platform == "win32":
        return [Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / "robik" / "ports"]
    user = os.getuid()
    sessions = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"]
    places = [Path(place) for place in dict.fromkeys(sessions) if place and os.path.isdir(place)]
    shared = [place / f"robik-ports-{user}" for place in [*places, Path(tempfile.gettempdir())]]
    home = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    own = Path(home) / "robik" / f"ports-{platform.node()}"  # a home may be several computers'
    return [*shared, *([own] if own.is_absolute() else [])]  # a user of a container may have none


def _make(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(place):
        place.mkdir(mode=0o700, exist_ok=True)


def _distrust(place: Path) -> str:
    """Return why a folder cannot be trusted, in words; empty where it can, as those of Windows' users."""
    if sys.platform == "win32":
        return ""
    try:
        there, above = os.lstat(place), os.stat(place.parent)
    except OSError as error:
        return f"{place} cannot be read ({error.strerror})"
    if not stat.S_ISDIR(there.st_mode):
        return f"{place} is no folder"
    if there.st_uid != os.getuid():
        return f"{place} belongs to another user"
    if there.st_mode & OTHERS:
        return f"{place} is open to other users (its mode is {stat.S_IMODE(there.st_mode):o}, not 700)"
    if above.st_uid not in (0, os.getuid()) or (above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX):
        return f"{place.parent} lets other users rename what is in it"
    return ""
