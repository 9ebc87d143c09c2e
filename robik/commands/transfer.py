"""Command that brings a motion to another model of its robot: transfer."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .arguments import command
from .numbers import FPS

if TYPE_CHECKING:
    from ..retargeting.transfer import Transferred


def add_transfer(commands: argparse._SubParsersAction) -> None:
    """Add the command `transfer`."""
    text = "bring a motion from a serial model of a robot to one with its linkages, or back"
    parser = command(commands, "transfer", _transfer, text)
    parser.add_argument("source", metavar="FROM", help="the robot that the motion was made for")
    parser.add_argument("target", metavar="TO", help="the other model of it")
    parser.add_argument("motion", metavar="MOTION")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the motion file to write")
    parser.add_argument("--format", metavar="NAME", help="of OUT; by its extension if left out, see robik export")
    parser.add_argument("--from", dest="source_format", metavar="NAME", help="of MOTION; by its content if left out")
    parser.add_argument("--fps", type=FPS, metavar="HZ", help="samples per second of a MOTION that does not say")
    parser.add_argument("--table", metavar="T.json", help="coordinate of FROM to coordinate of TO, where names differ")
    parser.add_argument(
        "--torques", metavar="IN.csv", help="of FROM's motors at the samples of MOTION: time, a column each [N m or N]"
    )
    parser.add_argument("--loads", metavar="LOADS.csv", help="write speed, and torque with --torques, of TO's motors")


def _transfer(options: argparse.Namespace) -> None:
    from ..files import check_writable
    from ..motions import Companions, load_motion, save_motion, values_for
    from ..motions.registry import format_to_write
    from ..motions.trial import check_fits
    from ..retargeting.transfer import load_table, transfer
    from ..robots import load

    source, target = (load(robot) for robot in (options.source, options.target))
    chosen = format_to_write(options.output, options.format)
    chosen.check_writable(options.output)
    check_writable(options.loads)
    check_fits(chosen, options.output, Companions(robot=target))
    motion = load_motion(options.motion, options.source_format, Companions(robot=source, fps=options.fps))
    table = load_table(options.table) if options.table else None
    torques = values_for(source, load_motion(options.torques, "csv"), options.torques) if options.torques else None
    found = transfer(source, target, motion, table, torques)
    save_motion(found.motion, options.output, chosen.name, Companions(robot=target))
    if options.loads:
        _save_loads(options.loads, found)
    print(f"{len(motion.times)} frames by {', '.join(found.drivers)}, closed to {found.residual.max():.1g} m")
    for note in found.notes:
        print(f"robik: {note}", file=sys.stderr)


def _save_loads(path: str, found: Transferred) -> None:
    """Write speeds, and torques where they are known, of the motors as CSV."""
    import numpy as np

    from ..files import write_whole

    columns = [("speed", found.speeds), *([] if found.torques is None else [("torque", found.torques)])]
    names = [f"{name}.{what}" for what, _ in columns for name in found.motion.actuators]
    table = np.column_stack([found.motion.times, *(values for _, values in columns)])
    rows = [",".join(["time", *names]), *(",".join(map(repr, row)) for row in table.tolist())]
    write_whole(path, "\n".join(rows) + "\n")
