"""Command about a motion's times: retime."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .arguments import add_robot, command, load
from .numbers import HERTZ, LIMIT, SHARE, number

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..motions import Motion
    from ..retiming import Shaper


def add_retime(commands: argparse._SubParsersAction) -> None:
    """Add the command `retime`."""
    parser = command(
        commands, "retime", _retime, "the same path, later where motors cannot keep up, and without vibration"
    )
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION", help="at even times; with its base, where the robot floats")
    parser.add_argument("-o", "--output", metavar="OUT", help="to be written; without it only what it costs is said")
    parser.add_argument("--format", metavar="NAME", help="of OUT; by its extension if left out, see robik export")
    add_limits(parser)
    parser.add_argument(
        "--catch-up", type=number("a share", 10.0, 0.0), default=0.0, metavar="SHARE",
        help="how much faster than MOTION it may be to make up for a delay: 0.1 for a tenth (default 0)",
    )  # fmt: skip
    parser.add_argument(
        "--vibration",
        type=_vibration,
        metavar="HZ or TELEMETRY.csv",
        help="a frequency not to be excited, or where to measure it",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add options of the motors' limits that are kept."""
    parser.add_argument(
        "--speed", type=SHARE, default=1.0, metavar="SHARE", help="how much of each motor's speed is used (default 1)"
    )
    parser.add_argument(
        "--acceleration", type=LIMIT, metavar="RAD/S²",
        help="of every motor; without it each reaches its speed in 0.05 s",
    )  # fmt: skip
    parser.add_argument(
        "--jerk",
        type=LIMIT,
        metavar="RAD/S³",
        help="of every motor; without it each reaches its acceleration in 0.02 s",
    )
    parser.add_argument("--torque", action="store_true", help="keep the efforts that the robot's file names")


def add_slow_down(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps motors' speeds by more time instead of a shorter way."""
    parser.add_argument(
        "--slow-down", action="store_true",
        help="slow the motion down where motors cannot keep up, instead of lagging behind; see robik retime",
    )  # fmt: skip


def slowed_down(mechanism: Mechanism, motion: Motion, share: float = 1.0, torque: bool = False) -> Motion:
    """Return a motion slowed down where its motors cannot keep up, and print the delay.

    `share` of each motor's speed may be used; with `torque` the efforts of the robot's file are kept, too.
    """
    from ..retiming import limits_of, slow_down

    slowed = slow_down(mechanism, motion, limits_of(mechanism, share=share, torque=torque))
    print(f"slowed down: {slowed}")
    return slowed.motion


def _retime(options: argparse.Namespace) -> None:
    from ..motions import load_motion
    from ..motions.format import Companions
    from ..motions.posing import posed
    from ..motions.registry import format_to_write, save_motion
    from ..motions.trial import check_fits
    from ..retiming import limits_of, shaped, slow_down

    chosen = format_to_write(options.output, options.format) if options.output else None
    if chosen is not None:
        chosen.check_writable(options.output)
    by, measured = (None, "") if options.vibration is None else _shaper(options.vibration)
    mechanism = load(options)
    if chosen is not None:
        check_fits(chosen, options.output, Companions(robot=mechanism))
    motion, _ = posed(mechanism, load_motion(options.motion), options.motion)
    limits = limits_of(mechanism, options.acceleration, options.jerk, options.speed, options.torque)
    slowed = slow_down(mechanism, motion, limits, options.catch_up)
    print(slowed)
    motion = slowed.motion
    if by is not None:
        print(measured)
        motion = shaped(mechanism, motion, by)
    if chosen is not None:
        save_motion(motion, options.output, chosen.name, Companions(robot=mechanism))


def _vibration(word: str) -> float | str:
    """Return a frequency [Hz], or the path of a recording where a word is no number."""
    try:
        float(word)
    except ValueError:
        return word
    return HERTZ(word)


def _shaper(wanted: float | str) -> tuple[Shaper, str]:
    """Return the shaper of a vibration that is given in Hz or measured in a recording, and what is to be said of it."""
    from ..retiming import measured_vibration, shaper
    from ..servo.port.recording import load_recording

    frequency, measured = wanted, ""
    if isinstance(frequency, str):
        frequency, name, share = measured_vibration(load_recording(frequency))
        measured = f"vibration: {frequency:.3g} Hz, best seen in {name} ({100 * share:.0f} % of its error)\n"
    by = shaper(frequency)
    return by, f"{measured}{by.length:.3g} s longer, so that {frequency:.3g} Hz are not excited"
