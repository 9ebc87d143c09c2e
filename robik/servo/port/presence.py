"""Locks on files that end with the process that holds them, however it ends: whether it lives is then known at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, is_shared: bool = False) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int, is_shared: bool = False) -> None:
        fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class Presence:
    """A locked file, until `end` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, FLAGS | os.O_CREAT, 0o600)
        try:
            _lock(self._file)
        except OSError:
            os.close(self._file)
            raise

    def end(self) -> None:
        """Remove the file."""
        os.close(self._file)  # first: Windows removes no file that is open
        self._path.unlink(missing_ok=True)


def is_present(path: Path) -> bool:
    """Return whether the process that locked a file lives."""
    try:
        file = os.open(path, FLAGS)
    except OSError:
        return False
    try:
        _lock(file, is_shared=True)  # two that look at once do not take each other for the process
    except OSError:
        return True
    finally:
        os.close(file)
    return False
