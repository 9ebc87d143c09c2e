"""Robot files: one module per format, chosen by the file's extension."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robik.errors import FormatError
from robik.formats import native
from robik.mechanism import Mechanism

READERS: dict[str, Callable[[Path], Mechanism]] = {native.EXTENSION: native.load}
WRITERS: dict[str, Callable[[Mechanism, Path], None]] = {native.EXTENSION: native.save}


def load_robot(path: str | Path) -> Mechanism:
    """The robot in a file.

    Raises:
        FormatError: names the file, the element and the remedy; for an unknown extension, those that can be read.
    """
    return _by_extension(READERS, path, "read")(Path(path))


def save_robot(mechanism: Mechanism, path: str | Path) -> None:
    """Writes a robot without loss: loading the file gives an equal `Mechanism`.

    Raises:
        FormatError: the extension is unknown, or the file cannot be written (what was there stays).
    """
    _by_extension(WRITERS, path, "written")(mechanism, Path(path))


def _by_extension(table: dict[str, Callable], path: str | Path, done: str) -> Callable:
    name = Path(path).name.lower()
    for extension, function in table.items():
        if name.endswith(extension):
            return function
    raise FormatError(f"{path}: not a kind of robot file that can be {done}; these can: {', '.join('*' + e for e in table)}")
