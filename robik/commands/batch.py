"""Command for folders of recordings: batch."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from .arguments import add_following, add_own_range, asked_of_bakes, command
from .numbers import whole

if TYPE_CHECKING:
    from ..batch.job import Plan
    from ..motions.format import MotionFormat

WORKERS = whole("the number of processes", 1, 10_000)


def add_batch(commands: argparse._SubParsersAction) -> None:
    """Add the command `batch`."""
    text = "follow every recording of a folder with a robot; goes on where an earlier run stopped"
    parser = command(commands, "batch", _batch, text)
    parser.add_argument("robot", metavar="ROBOT", help="a robot file, or the name of a robot that RobIK brings")
    parser.add_argument("folder", metavar="FOLDER", help="of BVH files and npz recordings, folders in it too")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the folder to write")
    parser.add_argument(
        "--format", metavar="NAME", default="csv", help="of the motions (default csv), see robik export"
    )
    parser.add_argument("--base", choices=("auto", "fixed", "floating"), default="auto")
    add_following(parser)
    add_own_range(parser, "FOLDER")
    parser.add_argument(
        "--workers", type=WORKERS, metavar="N", help="processes; as many as there are cores if left out"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler's address or file: its workers work")
    parser.add_argument("--shard", metavar="K/N", default="1/1", help="only the K-th of N parts, for several machines")


def _batch(options: argparse.Namespace) -> int:
    from pathlib import Path

    from ..batch.job import Plan
    from ..batch.progress import told_on_stderr
    from ..batch.run import run_batch, shard_of
    from ..errors import FormatError
    from ..motions.registry import format_to_write
    from ..robots import names

    chosen = format_to_write("motion", options.format)
    shard = shard_of(options.shard)
    robot = options.robot if options.robot in names() else str(Path(options.robot).resolve())
    plan = Plan(
        robot=robot,
        base=options.base,
        output=str(Path(options.output).resolve()),
        format=chosen.name,
        extension=chosen.extensions[0],
        balance=options.balance,
        pin_feet=options.pin_feet,
        settings=asked_of_bakes(options),
        mapping=None if options.mapping is None else str(Path(options.mapping).resolve()),
        body_model=None if options.body_model is None else str(Path(options.body_model).resolve()),
        servos=None if options.servos is None else str(Path(options.servos).resolve()),
        rate=options.rate,
        order=options.order,
        header=options.header,
        own_range=options.own_range and tuple(options.own_range),
        before=None if options.before is None else str(Path(options.before).resolve()),
    )
    if plan.before == plan.output:
        raise FormatError("--before is what stays as it was; write into another folder")
    if options.workers is not None and options.scheduler is not None:
        raise FormatError("--workers are processes of this machine, --scheduler has its own; give one of them")
    _check_format(chosen, plan)
    rows = run_batch(plan, options.folder, options.workers, shard, told_on_stderr(), options.scheduler)
    return _told(rows, options.output)


def _check_format(chosen: MotionFormat, plan: Plan) -> None:
    """Check that the robot can be read, and that the format can hold its motions."""
    from ..mechanism.base import with_base
    from ..motions.format import Companions
    from ..motions.trial import check_fits
    from ..robots import load

    robot = with_base(load(plan.robot), plan.base)
    check_fits(chosen, plan.output, Companions(robot=robot, order=plan.order, header=plan.header), plan.rate)


def _told(rows: list[dict[str, Any]], output: str) -> int:
    """Say what is to be known of recordings, and which failed; return the command's code."""
    failed = [row for row in rows if row["error"]]
    for row in rows:
        if row.get("note"):
            print(f"note: {row['file']}: {row['note']}", file=sys.stderr)
    for row in failed:
        print(f"robik: {row['file']}: {row['error']}", file=sys.stderr)
    print(f"{len(rows) - len(failed)} of {len(rows)} recordings; table.html in {output} has the worst first")
    return 1 if failed else 0
