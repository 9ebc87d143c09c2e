"""Folders for files between programs of one user."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path

from ...errors import ServoError
from ...own_folder import distrust, make

VARIABLE = "ROBIK_PORTS_DIR"


def folder() -> Path:
    """Return the folder to write to, which is made if it is not there: the first that can be trusted."""
    why = ""
    for place in _candidates():
        if not (why := make(place)):
            return place
    raise ServoError(f"{why}; name a folder of your own in {VARIABLE}")


def folders() -> list[Path]:
    """Return the folders to read: all that are there and can be trusted.

    Programs of one user may write to different ones, since not every shell has a folder of a session.
    """
    return [place for place in _candidates() if os.path.lexists(place) and not distrust(place)]


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
