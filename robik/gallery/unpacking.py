"""Robots taken out of a wheel: the robot's file and what lies beside it, no code."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from ..errors import RobikError
from .entry import Entry

CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib", ".sh", ".exe")
MOST = 1_000_000_000  # bytes that are unpacked


def unpacked(entry: Entry, folder: Path) -> Path:
    """Return the robot's file, taken out of its wheel with all that lies beside it, where it is in one.

    Each wheel has a folder of its own in `folder`; what is there already is kept. Raise RobikError where the wheel
    cannot be read or leads out of the folder, or that cannot be written.
    """
    if not entry.inside:
        return entry.file
    there = folder / entry.file.stem
    if (there / entry.inside).is_file():
        return there / entry.inside
    home = PurePosixPath(entry.inside).parents[1].as_posix() + "/"
    try:
        with zipfile.ZipFile(entry.file) as wheel:
            inside = [item for item in wheel.infolist() if item.filename.startswith(home)]
            wanted = [item for item in inside if not item.filename.lower().endswith(CODE)]
            for item in wanted:
                if ".." in PurePosixPath(item.filename).parts:
                    raise RobikError(f"{entry.file}: it holds {item.filename!r}, which leads out of it")
            if sum(item.file_size for item in wanted) > MOST:
                raise RobikError(f"{entry.file}: its robot is larger than {MOST / 1e9:g} GB")
            wanted.sort(key=lambda item: item.filename == entry.inside)  # last, so that it tells that all others came
            wheel.extractall(there, wanted)
    except (OSError, zipfile.BadZipFile) as error:
        raise RobikError(f"{entry.file} cannot be unpacked into {folder}: {error}") from None
    return there / entry.inside
