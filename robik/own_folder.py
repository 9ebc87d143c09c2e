"""Folders of one user, which no other user can write to, or lead elsewhere.

What is read from them is believed (notices of running servos) or run (compiled code).
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

OTHERS = 0o077  # bits of a mode that let others in


def make(place: Path) -> str:
    """Make a folder for this user alone if nothing is there; return why it cannot be used, empty where it can."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(place):
            place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        return f"{place} cannot be made ({error.strerror or error})"
    return distrust(place)


def distrust(place: Path) -> str:
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
