"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import ClipError
from ..mechanism.base import BASES
from .numbers import FRAME, LIMIT_OR_NONE, RATE, number

if TYPE_CHECKING:
    from pathlib import Path

    from ..mechanism.model import Mechanism
    from ..retargeting.own_range import OwnRange


def command(
    commands: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], int | None], text: str
) -> argparse.ArgumentParser:
    """Add a command and return its parser; `run` returns an exit code or None, `text` is help and description."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def add_robot(parser: argparse.ArgumentParser, name: str = "robot", whose: str = "") -> None:
    """Add a robot, and the options of how to read it.

    It is an option if its name begins with dashes. `whose` begins the help's sentence.
    """
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


def add_following(parser: argparse.ArgumentParser) -> None:
    """Add options of how a robot follows recordings, and how its motion is written."""
    parser.add_argument(
        "--balance",
        choices=("off", "still", "moving", "auto"),
        default="auto",
        help="the centre of mass over the feet: still for slow walks, moving for dynamic ones, auto (the default) by "
        "the motion",
    )
    parser.add_argument(
        "--pin-feet",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="hold standing feet flat, without sliding (the default)",
    )
    parser.add_argument(
        "--keep-apart",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the robot's bodies out of each other (the default; needs the extra 'physics')",
    )
    _add_look_ahead(parser)
    parser.add_argument(
        "--mapping", metavar="M.json", help="which bone each frame follows; found by itself if left out"
    )
    parser.add_argument(
        "--body-model", metavar="MODEL.npz", help="of the SMPL family, for AMASS; none comes with RobIK"
    )
    parser.add_argument(
        "--servos",
        metavar="SERVOS.json",
        help="motors, for accelerations that they keep and what they give way by; those beside the robot's file if left"
        " out",
    )
    parser.add_argument("--rate", type=RATE, metavar="HZ", help="samples per second; the recording's if left out")
    parser.add_argument("--order", choices=("depth", "breadth"), default="depth", help="of bodies and joints in OUT")
    add_header(parser)


def _add_look_ahead(parser: argparse.ArgumentParser) -> None:
    """Declare whether all frames are solved at once, and the limits that are kept then."""
    parser.add_argument(
        "--look-ahead",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="solve all frames at once: motors slow down before they must (the default; needs the extra 'look-ahead')",
    )
    for name, unit, usual in (
        ("acceleration", "RAD/S²", "speed in 0.05 s"),
        ("jerk", "RAD/S³", "acceleration in 0.02 s"),
    ):
        parser.add_argument(
            f"--{name}",
            type=LIMIT_OR_NONE,
            metavar=unit,
            default=0.0,
            help=f"each motor's largest; by itself, its {usual}",
        )
    add_torque(parser)
    add_zero_moment(parser)
    parser.add_argument(
        "--cyclic", action="store_true", help="the last frame is the first: the motion plays in a loop without a seam"
    )


def add_torque(parser: argparse.ArgumentParser) -> None:
    """Declare `--torque`."""
    parser.add_argument("--torque", action="store_true", help="keep the efforts that the robot's file names, too")


def add_zero_moment(parser: argparse.ArgumentParser) -> None:
    """Declare `--zero-moment`."""
    parser.add_argument(
        "--zero-moment",
        action="store_true",
        help="keep the zero-moment point inside the feet that stand, by 10 mm",
    )


def add_own_range(parser: argparse.ArgumentParser, before: str = "MOTION") -> None:
    """Declare `--own-range` and `--before`, whose help names its argument as `before`."""
    what = "the motion" if before == "MOTION" else "the folder of motions"
    parser.add_argument(
        "--own-range", type=FRAME, nargs=2, metavar=("FIRST", "LAST"),
        help="solve these frames alone, counted from 0; all others stay as --before has them",
    )  # fmt: skip
    parser.add_argument("--before", metavar=before, help=f"{what} into which --own-range goes")


def check_own_range(options: argparse.Namespace) -> None:
    """Check that the options of an own range go together, and with the others; raise ClipError otherwise."""
    if options.own_range is None:
        if options.before is not None:
            raise ClipError("--before is what stays beside an own range; give --own-range FIRST LAST, too")
        return
    if options.before is None:
        raise ClipError("--own-range leaves other frames as they were before; say with --before as what")
    if getattr(options, "slow_down", False):
        raise ClipError("--own-range keeps the times of the clip, --slow-down takes more; give either")
    if getattr(options, "rate", None) is not None:
        raise ClipError("--own-range keeps the samples of the motion before; leave out --rate, or the range")


def own_range_of(options: argparse.Namespace, mechanism: Mechanism) -> OwnRange | None:
    """Return the own range that the options ask for, with the motion before; None where all frames are solved."""
    from ..motions import Companions, load_motion
    from ..retargeting.own_range import OwnRange

    if options.own_range is None:
        return None
    first, last = options.own_range
    return OwnRange(first, last, load_motion(options.before, companions=Companions(robot=mechanism)), options.before)


def asked_of_bakes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `BakeSettings` that these options ask for, by name.

    A limit of acceleration or jerk is kept by looking ahead. Raise ClipError for options that do not go together.
    """
    limits = {"acceleration": options.acceleration, "jerk": options.jerk}
    if any(limits.values()) and not options.look_ahead:
        raise ClipError("--acceleration and --jerk are kept by looking ahead; leave out --no-look-ahead, or these")
    if options.torque and not options.look_ahead:
        raise ClipError("--torque is kept by looking ahead; leave out --no-look-ahead, or --torque")
    if options.zero_moment and not options.look_ahead:
        raise ClipError("--zero-moment is kept by looking ahead; leave out --no-look-ahead, or --zero-moment")
    if options.cyclic and not options.look_ahead:
        raise ClipError("--cyclic closes the loop by looking ahead; leave out --no-look-ahead, or --cyclic")
    if options.own_range and not options.look_ahead:
        raise ClipError("--own-range is solved by looking ahead; leave out --no-look-ahead, or the range")
    if options.own_range and options.cyclic:
        raise ClipError("--own-range leaves the ends of the motion as they are; leave out --cyclic, or the range")
    check_own_range(options)
    return {
        "keep_apart": options.keep_apart,
        "look_ahead": options.look_ahead,
        "cyclic": options.cyclic,
        "torque": options.torque,
        "zero_moment": options.zero_moment,
        **limits,
    }


def add_header(parser: argparse.ArgumentParser) -> None:
    """Declare `--header`."""
    parser.add_argument("--header", action="store_true", help="a row of names above the numbers of lafan1-csv")


def add_stiffness(parser: argparse.ArgumentParser) -> None:
    """Declare `--stiffness`."""
    parser.add_argument(
        "--stiffness",
        type=number("a share", 1e6),
        metavar="K",
        help="without --servos: least share of what standing needs in the legs (default: the file's gains, else 2)",
    )


def load(options: argparse.Namespace) -> Mechanism:
    """Return the robot that the options name, on the base that they name."""
    from ..formats import load_robot
    from ..formats.options import package_folders, xacro_arguments
    from ..mechanism.base import with_base

    read = load_robot(robot_file(options), package_folders(options.packages), xacro_arguments(options.arguments))
    return with_base(read, options.base)


def robot_file(options: argparse.Namespace) -> Path:
    """Return the path of the robot that the options name, one that RobIK brings or the user's own."""
    from ..robots import file_of

    return file_of(options.robot)


@contextmanager
def naming(file: str | None) -> Iterator[None]:
    """Put the file's name before a ClipError that is about its content, unless it is there."""
    try:
        yield
    except ClipError as error:
        raise ClipError(str(error) if str(error).startswith(str(file)) else f"{file}: {error}") from None
