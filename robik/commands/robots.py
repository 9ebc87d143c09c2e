"""Commands about robots: inspect, convert."""

from __future__ import annotations

import argparse
import json
import sys

from ..errors import ClipError
from .arguments import add_robot, command, load, robot_file


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


def add_convert(commands: argparse._SubParsersAction) -> None:
    """Add the command `convert`."""
    parser = command(commands, "convert", _convert, "write a robot in another format: .robik.json, .urdf, .xml (MJCF)")
    add_robot(parser)
    parser.add_argument(
        "output", metavar="OUTPUT", help="the file to write; meshes outside its folder are copied into meshes/ there"
    )


def _inspect(options: argparse.Namespace) -> None:
    from ..files import check_writable
    from ..kinematics.mobility import inspect
    from ..report.singular_frames import along, describe, save_distances

    if options.output and not options.motion:
        raise ClipError("-o writes distances along a motion; give one by --motion MOTION.csv")
    check_writable(options.output)
    mechanism = load(options)
    found = inspect(mechanism)
    stretch = along(mechanism, options.motion) if options.motion else None
    if options.output and stretch:
        save_distances(stretch, options.output)
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
        print("\n".join(describe(stretch)))


def _convert(options: argparse.Namespace) -> None:
    from ..formats import save_robot

    for sentence in save_robot(load(options), options.output, robot_file(options)):
        print(f"robik: {sentence}", file=sys.stderr)
