"""Commands about robots: inspect, reach, convert."""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ClipError
from ..mechanism import Mechanism
from .arguments import add_robot, command, load, robot_file
from .numbers import number
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..report.singular_frames import Stretch

HOLD = number("hold (0: any pose)", 0.99, 0.0)
FEW = 40  # bodies of a robot that Python describes in less time than it takes to load numba and compiled kernels


def add_inspect(commands: argparse._SubParsersAction) -> None:
    """Add the command `inspect`."""
    parser = command(commands, "inspect", _inspect, "what a robot is: bodies, joints, loops, degrees of freedom")
    add_robot(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--servos", metavar="SERVOS.json", help="also whether these servos can hold it up on its feet")
    parser.add_argument(
        "--motion", metavar="MOTION.csv", help="also how far from singular poses it stays along a motion"
    )
    parser.add_argument("-o", "--output", metavar="DISTANCES.csv", help="with --motion: the distances frame by frame")


def add_reach(commands: argparse._SubParsersAction) -> None:
    """Add the command `reach`."""
    parser = command(commands, "reach", _reach, "where a frame may go from the rest pose within limits and with hold")
    add_robot(parser)
    parser.add_argument("frame", metavar="FRAME", help="a frame, or a body; the robot's base is held")
    parser.add_argument(
        "--hold", type=HOLD, default=0.05, metavar="H", help="least hold that is kept (default 0.05; 0: any pose)"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON, the surfaces too: m and rad")


def add_convert(commands: argparse._SubParsersAction) -> None:
    """Add the command `convert`."""
    parser = command(commands, "convert", _convert, "write a robot in another format: .robik.json, .urdf, .xml (MJCF)")
    add_robot(parser)
    parser.add_argument(
        "output", metavar="OUTPUT", help="the file to write; meshes outside its folder are copied into meshes/ there"
    )


def _inspect(options: argparse.Namespace) -> None:
    from ..files import check_writable

    if options.output and not options.motion:
        raise ClipError("-o writes distances along a motion; give one by --motion MOTION.csv")
    check_writable(options.output)
    mechanism = load(options)
    if options.is_all and not (options.motion or options.servos) and len(mechanism.bodies) <= FEW:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # of no use where an import has loaded kernels already
    from ..kinematics.mobility import inspect

    with np.errstate(all="ignore"):
        found = inspect(mechanism)
    stretch = _along(mechanism, options) if options.motion else None
    if options.json:
        motion = {"singularity": stretch.as_data(), "unassembled": stretch.unassembled} if stretch else {}
        print(json.dumps(found.as_data() | motion, indent=2))
        return
    print("\n".join(found.lines()))
    if options.servos:
        from ..physics.motors import motors_of, told_of_data, told_of_legs
        from ..skeleton.feet import on_its_feet
        from ..skeleton.shapes import shapes_of

        motors = motors_of(options.servos, on_its_feet(mechanism, shapes_of(mechanism, robot_file(options))))
        print(told_of_legs(motors) or "its servos are stiff enough to stand on")
        if said := told_of_data(motors):
            print(said)
    if stretch:
        from ..report.singular_frames import describe

        print("\n".join(describe(stretch)))


def _along(mechanism: Mechanism, options: argparse.Namespace) -> Stretch:
    from ..report.singular_frames import along, save_distances

    stretch = along(mechanism, options.motion)
    if options.output:
        save_distances(stretch, options.output)
    return stretch


def _reach(options: argparse.Namespace) -> None:
    from ..retargeting.reach_map import reach_map

    with ProgressLine() as line:
        told = partial(_tell_share, line)
        found = reach_map(load(options), options.frame, options.hold, tell=told)
    print(json.dumps(found.as_data(), indent=2) if options.json else "\n".join(found.lines()))


def _tell_share(line: ProgressLine, share: float) -> None:
    line.tell(f"{100 * share:3.0f} % of the poses")


def _convert(options: argparse.Namespace) -> None:
    from ..formats import save_robot

    for sentence in save_robot(load(options), options.output, robot_file(options)):
        print(f"robik: {sentence}", file=sys.stderr)
