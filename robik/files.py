"""Reading and writing files, and folders of files that belong together.

Files are written so that no reader meets half of one, read whatever they hold, and JSON is checked with errors that say
where.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import EISDIR, ENOSPC
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from .errors import FormatError

ROOM = 20_000_000  # bytes that must be free before long work
MOST = 50_000_000  # bytes of a JSON file that is read
LISTS = (
    1_000_000,
    20,
)  # lists and objects in a JSON text, and characters for each more: empty ones take 30 times the text


def write_whole(path: str | Path, content: str | Callable[[BinaryIO], object]) -> None:
    """Write a file through a neighbour that then takes its place.

    Content is a text, or a function that writes into the open file.
    """
    partial = Path(f"{path}.part")
    try:
        partial.unlink(missing_ok=True)
        with open(partial, "xb") as file:  # through no link that somebody else made in a shared folder
            if callable(content):
                content(file)
            else:
                file.write(content.encode("utf-8"))
        os.replace(partial, path)
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)


def check_writable(*paths: str | Path | None) -> None:
    """Before long work: whether `write_whole` will be able to write what comes of it. None is no file."""
    for path in paths:
        if path is None:
            continue
        try:
            with _beside(Path(path)):
                if Path(path).is_dir():
                    raise IsADirectoryError(EISDIR, "it is a folder")
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {error.strerror or error}") from None


@contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Make a file beside a path for a moment; raise OSError where there is no room."""
    with NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}."):
        if (free := shutil.disk_usage(path.parent).free) < ROOM:
            raise OSError(ENOSPC, f"{free / 1e6:.3g} MB are free there, at least {ROOM / 1e6:g} MB are needed")
        yield


def write_folder(path: str | Path, files: dict[str, bytes]) -> None:
    """Write files that belong together into a folder of their own, through a neighbour that then takes its place.

    A folder that holds files of these names alone, hidden ones apart, is written again.
    """
    check_folder_writable(path, files)
    partial = Path(f"{Path(path)}.part")
    try:
        _take_away(partial)
        partial.mkdir()  # not one that somebody else made in a shared folder, nor a link
        for name, content in files.items():
            (partial / name).write_bytes(content)
        if Path(path).is_dir():
            for name in files:
                os.replace(partial / name, Path(path) / name)
        else:
            os.replace(partial, path)
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _take_away(folder: Path) -> None:
    """Delete a folder with all that is in it, or a file or link of its name."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)


def check_folder_writable(path: str | Path, names: Iterable[str]) -> None:
    """Before long work: check that `write_folder` will be able to write files of these names."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise FormatError(f"{path} cannot be written: it is a file; name a folder")
    try:
        others = sorted({file.name for file in folder.iterdir()} - {*names}) if folder.exists() else []
        with _beside(folder):
            pass
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror or error}") from None
    if others := [name for name in others if not name.startswith(".")]:
        raise FormatError(f"{path} cannot be written: the folder holds something else, {others[0]}; name a new folder")


def check_file(path: str | Path) -> None:
    """Check that there is a file to read.

    A pipe would keep its reader waiting, and a device may have no end.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError("there is no such file") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not S_ISREG(mode):
        raise FormatError(f"it is a {'folder' if S_ISDIR(mode) else 'pipe or a device'}; name a file")


def read_whole(path: str | Path, most: int) -> bytes:
    """Return the content of a file of up to `most` bytes."""
    check_file(path)
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise FormatError("it is empty")
            if size > most:
                raise FormatError(f"larger than {most // 1_000_000} MB, which no such file should be")
            return file.read(size)
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror or error}") from None


def read_folder(path: Path, names: Iterable[str], most: int) -> dict[str, bytes]:
    """Return the content of a folder's files of these names, as far as they are there."""
    files = {}
    for name in names:
        if os.path.lexists(path / name):
            try:
                files[name] = read_whole(path / name, most)
            except FormatError as error:
                raise FormatError(f"{name}: {error}") from None
    return files


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file."""
    try:
        content = read_whole(path, MOST)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    try:
        return parse_json(content)
    except FormatError as error:
        raise FormatError(f"{path}, {error}" if str(error).startswith("line") else f"{path}: {error}") from None


def parse_json(content: bytes, object_of: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return what is in a JSON file."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"it cannot be read as text: {error.reason} at byte {error.start}") from None
    if text.count("[") + text.count("{") > LISTS[0] + len(text) // LISTS[1]:
        raise FormatError("it is made of nearly nothing but lists, as no file of ours is")
    try:
        found = json.loads(text, object_pairs_hook=object_of)
        if "\\ud" in text.lower():  # may be half of a character, which no text can hold
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except UnicodeEncodeError as error:
        raise FormatError(f"{error.object[error.start]!r} is half of a character") from None
    except ValueError as error:  # a number of thousands of digits
        raise FormatError(f"not JSON that can be read: {error}") from None
    except RecursionError:
        raise FormatError("nested too deeply to be a file of ours") from None


def is_number(value: Any) -> bool:
    """Return whether a value of JSON is a number; `true` and `false` are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
