"""The command `rehearse`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from .arguments import add_robot, add_stiffness, command, load, naming, robot_file
from .numbers import GAIN, whole
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..motions import Companions
    from ..physics.rehearsal import Rehearsal

FELL, INTERRUPTED = 1, 130  # exit codes


def add_rehearse(commands: argparse._SubParsersAction) -> None:
    """Add the command `rehearse`."""
    parser = command(
        commands, "rehearse", _rehearse, "try a motion in MuJoCo with a planner that looks ahead, until it stands"
    )
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION", help="with the base of a robot on its feet")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="the motion that physics made; by its extension"
    )
    parser.add_argument("--goals", metavar="GOALS.csv", help="also write what the motors were told")
    parser.add_argument("--servos", metavar="SERVOS.json", help="motors; the robot's own torque limits without it")
    parser.add_argument("--p-gain", type=GAIN, metavar="P", help="position P gain of the servos; that of the factory")
    add_stiffness(parser)
    parser.add_argument(
        "--seed", type=whole("a seed", 0, 2**32 - 1), default=1, metavar="N", help="of what is tried (default 1)"
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")


def _rehearse(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from ..files import check_writable
    from ..motions import Companions, load_motion
    from ..motions.registry import format_to_write
    from ..motions.trial import check_fits
    from ..physics.motors import check_gains, motors_of, told_of_data
    from ..physics.rehearsal import rehearse
    from ..skeleton.feet import on_its_feet
    from ..skeleton.shapes import shapes_of

    check_gains(options)
    chosen = format_to_write(options.output, None)
    chosen.check_writable(options.output)
    check_writable(options.goals)
    mechanism = load(options)
    companions = Companions(robot=mechanism)
    check_fits(chosen, options.output, companions)
    motion = load_motion(options.motion, companions=companions)
    mechanism = on_its_feet(mechanism, shapes_of(mechanism, robot_file(options)))
    motors = motors_of(options.servos, mechanism, options.stiffness)
    with naming(options.motion), _interruptible() as stopped, ProgressLine() as line:
        found = rehearse(
            mechanism,
            motion,
            motors.drives(options.p_gain),
            delay=motors.delay,
            seed=options.seed,
            tell=lambda until: line.tell(f"stands until {until:.2f} of {motion.times[-1]:.2f} s"),
            stop=stopped.is_set,
            source=options.motion,
        )
    found = replace(found, verdict=replace(found.verdict, raised=motors.raised))
    lines = filter(None, [*found.lines(), told_of_data(motors)])
    print(json.dumps(found.as_data(), indent=2) if options.json else "\n".join(lines))
    return _write(found, options, companions)


def _write(found: Rehearsal, options: argparse.Namespace, companions: Companions) -> int:
    """Write what stands, as far as it was rehearsed, and return the exit code."""
    from ..motions import save_motion

    if not found.verdict.stands:
        print(f"robik rehearse: {options.output} was not written", file=sys.stderr)
        return FELL
    save_motion(found.motion, options.output, companions=companions)
    if options.goals:
        save_motion(found.goals, options.goals, "csv")
    return 0 if found.is_whole else INTERRUPTED


@contextmanager
def _interruptible() -> Iterator[Event]:
    """Give an event that the first Ctrl-C sets; the second ends the command."""
    stopped = Event()

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
