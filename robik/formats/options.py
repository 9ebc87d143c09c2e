"""Options of reading a robot's file, as a user writes them in the import dialog and behind commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote

from ..errors import RobikError
from .mesh_files import MeshFiles

LEVELS = 4  # folders above a file in which a package that it names is looked for
MOST = 10_000_000  # bytes of a file that are looked through for names of packages


def xacro_arguments(text: str) -> dict[str, str]:
    """Return value by name of a text like `name:=value other:='two words'`; raise RobikError for another text."""
    try:
        pairs = [part.partition(":=") for part in shlex.split(text)]
    except ValueError:
        pairs = [("", "", "")]
    if any(not name or not sign for name, sign, _ in pairs):
        raise RobikError(f"arguments: {text!r} is not like name:=value other:='two words'")
    return {name: value for name, _, value in pairs}


def packages_nearby(path: Path, packages: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the folders near a robot's file that hold packages which the file names and cannot reach.

    They lie beside the file, or beside a folder around it. `packages` are those that the user has named already.
    """
    try:
        named = re.findall(rb"(?:package|model)://([^/\s\"'<>]+)|\$\(find +([\w.-]+)\)", path.read_bytes()[:MOST])
    except OSError:
        return ()
    files = MeshFiles(path, packages)
    found: list[Path] = []
    for name in sorted({uri or found for uri, found in named}):
        package = unquote(name.decode(errors="replace"))
        if package in (".", "..") or files.holds(package):
            continue
        around = (folder / package for folder in list(files.folder.parents)[:LEVELS])
        found += [folder for folder in around if folder.is_dir()][:1]
    return tuple(dict.fromkeys(found))


def package_folders(text: str, absolute: Callable[[str], str] = str) -> tuple[Path, ...]:
    """Return the folders in a list with semicolons; raise RobikError if one is not there.

    `absolute` makes a path of one as users write it.
    """
    folders = tuple(Path(absolute(part.strip())) for part in text.split(";") if part.strip())
    for folder in folders:
        if not folder.is_dir():
            raise RobikError(f"packages: there is no folder {folder}")
    return folders
