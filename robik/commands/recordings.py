"""Command about recordings: retarget."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..errors import ClipError
from .arguments import add_following, add_own_range, add_robot, asked_of_bakes, command, load, own_range_of, robot_file
from .judging import judged
from .numbers import SECOND
from .progress import ProgressLine
from .retiming import add_slow_down, slowed_down

if TYPE_CHECKING:
    from ..bake.settings import Balance
    from ..mechanism import Mechanism
    from ..motions import Motion
    from ..motions.format import MotionFormat
    from ..recordings.retargeting import Retargeted


def add_retarget(commands: argparse._SubParsersAction) -> None:
    """Add the command `retarget`."""
    parser = command(commands, "retarget", _retarget, "follow a recording with a robot: BVH, joints' positions, AMASS")
    add_robot(parser)
    parser.add_argument("recording", metavar="RECORDING", help="a BVH file, or an npz of joints' positions or poses")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the motion file to write")
    parser.add_argument("--format", metavar="NAME", help="of OUT; by its extension if left out, see robik export")
    add_following(parser)
    add_own_range(parser)
    add_slow_down(parser)
    parser.add_argument("--ground", metavar="MESH", help="an STL or OBJ to stand on [m]; level without it")
    parser.add_argument(
        "--obstacle", metavar="MESH", action="append", default=[], help="an STL or OBJ to keep off [m]; any number"
    )
    parser.add_argument("--start", type=SECOND, metavar="S", help="first second of the recording")
    parser.add_argument("--end", type=SECOND, metavar="S", help="last second of the recording")
    parser.add_argument("--report", metavar="REPORT.json", help="errors, residuals, velocities, frames that fall short")
    parser.add_argument("--save-mapping", metavar="M.json", help="write which bone each frame follows, to be changed")


def _retarget(options: argparse.Namespace) -> None:
    from ..bake.settings import BakeSettings, balance_by_name
    from ..files import check_writable
    from ..motions import save_report
    from ..motions.registry import format_to_write
    from ..recordings.retargeting import retarget_recording
    from ..surroundings.obstacle import read_surroundings
    from ..warm_up import help_compiling

    chosen, asked = format_to_write(options.output, options.format), asked_of_bakes(options)
    _check_times(options)
    balance = balance_by_name(options.balance, options.pin_feet)
    chosen.check_writable(options.output)
    check_writable(options.report, options.save_mapping)
    mechanism, around = load(options), read_surroundings(options.obstacle, options.ground)
    help_compiling()
    _check_format(chosen, options, mechanism)
    with ProgressLine() as line:
        found = retarget_recording(
            mechanism,
            options.recording,
            balance=options.balance,
            pin_feet=options.pin_feet,
            mapping=options.mapping,
            start=options.start,
            end=options.end,
            body_model=options.body_model,
            robot_file=robot_file(options),
            obstacles=around,
            settings=BakeSettings(**asked, enforce_velocity=not options.slow_down),
            servos=options.servos,
            progress=lambda now: line.tell(f"{100 * now.share:3.0f} %  {now.stage}"),
            own_range=own_range_of(options, mechanism),
        )
    _tell_feet(found, balance)
    _write(found, options, chosen.name)
    _tell(found)
    if options.report:
        save_report(judged(found.mechanism, found.motion, found.clip, robot_file(options)), options.report)


def _check_format(chosen: MotionFormat, options: argparse.Namespace, mechanism: Mechanism) -> None:
    """Check that the format can hold the motion that is to be made."""
    from ..motions.format import Companions
    from ..motions.trial import check_fits

    beside = Companions(robot=mechanism, order=options.order, header=options.header)
    check_fits(chosen, options.output, beside, options.rate)


def _check_times(options: argparse.Namespace) -> None:
    """Check that the part of time is one, and that what is slowed down has no limits that are kept another way."""
    if options.start is not None and options.end is not None and options.end < options.start:
        raise ClipError(f"--end {options.end:g} is before --start {options.start:g}")
    if options.slow_down and (options.acceleration or options.jerk or options.torque or options.zero_moment):
        kept = "--acceleration, --jerk, --torque and --zero-moment"
        raise ClipError(f"--slow-down takes more time, {kept} another way; give either")
    if options.slow_down and options.cyclic:
        raise ClipError("--slow-down begins and ends at rest, --cyclic has no end; give either")


def _write(found: Retargeted, options: argparse.Namespace, name: str) -> None:
    """Write the motion in the format of this name, and the mapping where that is asked for."""
    from ..motions.format import Companions
    from ..motions.registry import save_motion
    from ..skeleton.mapping_file import save_rows

    motion = slowed_down(found.mechanism, found.motion) if options.slow_down else found.motion
    beside = Companions(robot=found.mechanism, order=options.order, header=options.header, fps=options.rate)
    save_motion(motion, options.output, name, beside)
    if options.save_mapping:
        save_rows(found.rows, options.save_mapping)


def _tell(found: Retargeted) -> None:
    """Say what follows what, which footholds were moved, and how good the motion is."""
    from ..report.shortfall import beyond_the_robot

    print("\n".join(f"{row.frame} follows {row.bone}" for row in found.following.followers))
    for foothold in found.clip.moved:
        print(foothold)
    print(_told(found.motion))
    assert found.motion.report is not None  # a solved motion has one
    if found.motion.report.look_ahead:
        print(found.motion.report.look_ahead)
    if found.motion.report.hold and not found.motion.report.hold.is_kept:
        print(found.motion.report.hold)
    if beyond := beyond_the_robot(found.mechanism, found.motion):
        print(f"note: {beyond}", file=sys.stderr)


def _tell_feet(found: Retargeted, balance: Balance) -> None:
    """Say on stderr why no foot stands, where the robot floats and feet are to stand."""
    from ..skeleton.feet import missing_feet

    missing = missing_feet(found.mechanism, found.rows)
    if missing and balance.needs_contacts and not found.mechanism.is_grounded:
        print(f"note: {missing}", file=sys.stderr)


def _told(motion: Motion) -> str:
    """Return how good a motion is: how far off, how often within its targets, how often balanced."""
    import numpy as np

    from ..motions import report_summary
    from ..report.shortfall import millimetres

    found, off = report_summary(motion), "no target has a place"
    if motion.report is not None and not np.isnan(motion.report.position_error).all():
        mean, worst = (millimetres(found[f"position_error_{which}_m"]) for which in ("mean", "max"))
        off = f"off by {mean} on average, {worst} at most"
    met = found["frames"] - len(found["frames_short"])
    said = f"{found['frames']} frames: {off}; {met} meet their targets, {len(found['frames_nearly'])} more nearly"
    if (inside := found["quality"]["zero_moment_inside"]) is not None:
        said += f"; the zero-moment point is inside the feet in {100 * inside:.3g} % of those on the ground"
    return said
