"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import ClipError
from ..mechanism.base import BASES

if TYPE_CHECKING:
    from pathlib import Path

    from ..mechanism.model import Mechanism


def command(
    commands: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], int | None], text: str
) -> argparse.ArgumentParser:
    """Add a command and return its parser; `run` takes the parsed options and returns an exit code or None."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def add_robot(parser: argparse.ArgumentParser, name: str = "robot", whose: str = "") -> None:
    """Add a robot and how to read it."""
    parser.add_argument(
        name, metavar="ROBOT", help=f"{whose}a robot file, or the name of a robot that RobIK brings: boxer, walker, …"
    )
    parser.add_argument(
        "--base", choices=BASES, default="auto", help="whether it stands fixed or floats; auto: as its file says"
    )
    parser.add_argument(
        "--packages", default="", metavar="FOLDERS", help="folders of ROS packages, with a semicolon between"
    )
    parser.add_argument(
        "--arguments", default="", metavar="NAME:=VALUE", help="of a xacro file, in quotes, with spaces between"
    )


def load(options: argparse.Namespace) -> Mechanism:
    """Return the robot that the options name."""
    from ..formats import load_robot
    from ..formats.options import package_folders, xacro_arguments
    from ..mechanism.base import with_base

    read = load_robot(robot_file(options), package_folders(options.packages), xacro_arguments(options.arguments))
    return with_base(read, options.base)


def robot_file(options: argparse.Namespace) -> str | Path:
    """Return the path of the robot that the options name, one that RobIK brings or the user's own."""
    from ..robots import names, path

    return path(options.robot) if options.robot in names() else options.robot


@contextmanager
def naming(file: str | None) -> Iterator[None]:
    """Put the file's name before an error that is about its content."""
    try:
        yield
    except ClipError as error:
        raise ClipError(f"{file}: {error}") from None
