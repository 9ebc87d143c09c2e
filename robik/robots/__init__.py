"""The robots that come with RobIK, each drawn by a script beside its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

from ..errors import FormatError, RobikError
from ..formats import load_robot
from ..mechanism import Mechanism
from ..mechanism.base import with_base

FOLDER = Path(__file__).parents[1] / "data" / "robots"
EXTENSION = ".robik.json"


def names() -> tuple[str, ...]:
    """Return the robots' names."""
    return tuple(sorted(p.name.removesuffix(EXTENSION) for p in FOLDER.glob(f"*{EXTENSION}")))


def path(name: str) -> Path:
    """Return the robot's file.

    Args:
        name: Name of a robot that ships.

    Returns:
        The path of its `.robik.json`.

    Raises:
        RobikError: Lists the names that exist.
    """
    return _existing(name, EXTENSION)


def load(
    robot: str | Path,
    base: str = "auto",
    packages: Iterable[str | Path] = (),
    arguments: Mapping[str, str] | None = None,
) -> Mechanism:
    """Return a robot.

    Args:
        robot: The name of one that comes with RobIK (`names`), or a file: `.robik.json`, URDF, xacro, MJCF, SDF, USD.
        base: `fixed` or `floating`; `auto` for what the file says.
        packages: Folders of ROS packages, where `package://` URIs may lead.
        arguments: Values of a xacro file's arguments, by name.

    Returns:
        The robot.

    Raises:
        RobikError: Neither; lists the names that exist.
        FormatError: A file that cannot be read.
        AssemblyError: A loop that cannot be closed.
        MechanismError: A robot that cannot have that base.
    """
    return with_base(load_robot(file_of(robot), packages, arguments), base)


def file_of(robot: str | Path) -> Path:
    """Return the file of a robot.

    Args:
        robot: The name of one that comes with RobIK (`names`), or a file.

    Returns:
        The path of its file.

    Raises:
        RobikError: There is neither; says which name it may be, and lists those that exist.
        FormatError: It is a folder.
    """
    if str(robot) in names():
        return path(str(robot))
    file = Path(robot)
    if file.name and file.is_dir():
        raise FormatError(f"{robot}: it is a folder; name the robot's file in it")
    if not file.suffix and not file.exists():
        close = get_close_matches(str(robot), names(), 1)
        perhaps = f"is it {close[0]}? There" if close else "there"
        raise RobikError(f"there is no robot {str(robot)!r}, nor such a file; {perhaps} are {', '.join(names())}")
    return file


def servos_path(name: str) -> Path:
    """Return the file of the robot's servo chain.

    Args:
        name: Name of a robot that ships.

    Returns:
        The path of its `.servos.json`.

    Raises:
        RobikError: Lists the names that exist.
    """
    return _existing(name, ".servos.json")


def _existing(name: str, extension: str) -> Path:
    file = FOLDER / f"{name}{extension}"
    if not file.is_file():
        have = sorted(p.name.removesuffix(extension) for p in FOLDER.glob(f"*{extension}"))
        raise RobikError(f"there is no {name}{extension} among our robots; there are {', '.join(have) or 'none'}")
    return file
