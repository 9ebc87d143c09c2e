"""The robots that come with RobIK, each drawn by a script beside its file."""

from __future__ import annotations

from pathlib import Path

from ..errors import RobikError
from ..formats import load_robot
from ..mechanism import Mechanism

FOLDER = Path(__file__).parents[1] / "data" / "robots"
EXTENSION = ".robik.json"


def names() -> tuple[str, ...]:
    """The robots' names."""
    return tuple(sorted(p.name.removesuffix(EXTENSION) for p in FOLDER.glob(f"*{EXTENSION}")))


def path(name: str) -> Path:
    """The robot's file.

    Raises:
        RobikError: lists the names that exist.
    """
    return _existing(name, EXTENSION)


def load(name: str) -> Mechanism:
    """The robot itself.

    Raises:
        RobikError: lists the names that exist.
    """
    return load_robot(path(name))


def servos_path(name: str) -> Path:
    """The file of the robot's servo chain.

    Raises:
        RobikError: lists the names that exist.
    """
    return _existing(name, ".servos.json")


def _existing(name: str, extension: str) -> Path:
    file = FOLDER / f"{name}{extension}"
    if not file.is_file():
        have = sorted(p.name.removesuffix(extension) for p in FOLDER.glob(f"*{extension}"))
        raise RobikError(f"there is no {name}{extension} among our robots; there are {', '.join(have) or 'none'}")
    return file
