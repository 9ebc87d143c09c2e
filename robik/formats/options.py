"""How a robot's file is read, as its user writes it: in the import dialog, and behind the commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from ..errors import RobikError


def xacro_arguments(text: str) -> dict[str, str]:
    """Values by name of a text like `name:=value other:='two words'`.

    Raises:
        RobikError: it is not such a text.
    """
    try:
        pairs = [part.partition(":=") for part in shlex.split(text)]
    except ValueError:
        pairs = [("", "", "")]
    if any(not name or not sign for name, sign, _ in pairs):
        raise RobikError(f"arguments: {text!r} is not like name:=value other:='two words'")
    return {name: value for name, _, value in pairs}


def package_folders(text: str, absolute: Callable[[str], str] = str) -> tuple[Path, ...]:
    """The folders in a list with semicolons.

    Args:
        absolute: what makes a path of one that is written as its user may write it.

    Raises:
        RobikError: one is not there.
    """
    folders = tuple(Path(absolute(part.strip())) for part in text.split(";") if part.strip())
    for folder in folders:
        if not folder.is_dir():
            raise RobikError(f"packages: there is no folder {folder}")
    return folders
