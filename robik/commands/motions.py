"""Commands about motions: solve, report, fk, export."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import RobikError
from .arguments import (
    add_header,
    add_own_range,
    add_robot,
    add_torque,
    add_zero_moment,
    check_own_range,
    command,
    load,
    naming,
    own_range_of,
    robot_file,
)
from .judging import judged
from .numbers import FPS, GAIN, RATE, WEIGHT
from .retiming import add_slow_down, slowed_down

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..motions import Motion
    from ..motions.format import FramePoses
    from ..objectives.settings import Settings
    from ..report.report_page import Plot
    from ..servo.chain.chain import ServoChain


def add_solve(commands: argparse._SubParsersAction) -> None:
    """Add the command `solve`."""
    parser = command(commands, "solve", _solve, "follow a clip of targets with a robot")
    add_robot(parser)
    parser.add_argument("clip", metavar="CLIP.npz", help="times, NAME.position, NAME.quaternion, com.position")
    parser.add_argument(
        "--settings", metavar="SETTINGS.json", help="weights, regularizers, limits; all ones without it"
    )
    parser.add_argument(
        "--prior", metavar="EXAMPLE.csv", help="a motion whose poses it shall prefer where targets leave a choice"
    )
    parser.add_argument(
        "--prior-weight", type=WEIGHT, default=1e-4, help="how much, beside targets that weigh 1 (default 1e-4)"
    )
    parser.add_argument(
        "-o", "--output", metavar="MOTION.csv", required=True, help="time, a column per actuator, a floating base"
    )
    parser.add_argument("--report", metavar="REPORT.json", help="errors, residuals, velocities, frames that fall short")
    parser.add_argument("--states", metavar="STATES.npz", help="the bodies' poses as well")
    parser.add_argument(
        "--look-ahead", action="store_true", help="solve all frames at once: the motors slow down before they must"
    )
    add_torque(parser)
    add_zero_moment(parser)
    add_own_range(parser)
    add_slow_down(parser)


def add_report(commands: argparse._SubParsersAction) -> None:
    """Add the command `report`."""
    parser = command(
        commands,
        "report",
        _report,
        "one HTML page of plots: speeds, ranges and torques against limits, errors, balance, contacts",
    )
    parser.add_argument("motion", metavar="MOTION.csv")
    add_robot(parser, "--robot", "whose motion it is, for limits and balance: ")
    parser.add_argument("--clip", metavar="CLIP.npz", help="what was followed, for errors and contacts")
    parser.add_argument("--settings", metavar="SETTINGS.json", help="with which weights")
    parser.add_argument("--servos", metavar="SERVOS.json", help="motors, for torques and power; the robot's own limits")
    parser.add_argument(
        "--states",
        metavar="STATES.npz",
        help="the bodies' poses, for a floating robot whose motion has no base: solve --states writes them",
    )
    parser.add_argument("-o", "--output", metavar="REPORT.html", help="default: beside the motion")


def add_fk(commands: argparse._SubParsersAction) -> None:
    """Add the command `fk`."""
    parser = command(
        commands, "fk", _fk, "poses of all bodies along a motion; a floating base without columns stays where it rests"
    )
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION.csv")
    parser.add_argument(
        "-o", "--output", metavar="STATES.npz", required=True, help="times, bodies, position, quaternion, residual"
    )


def add_export(commands: argparse._SubParsersAction) -> None:
    """Add the command `export`."""
    parser = command(
        commands, "export", _export, "write a motion in another format; an unknown NAME lists those there are"
    )
    parser.add_argument("motion", metavar="MOTION")
    parser.add_argument("-o", "--output", metavar="FILE", required=True)
    parser.add_argument("--format", metavar="NAME", help="to be written; by the extension of FILE if left out")
    parser.add_argument(
        "--from", dest="source_format", metavar="NAME", help="the format of MOTION; by its content if left out"
    )
    parser.add_argument(
        "--rate", type=RATE, metavar="HZ", help="samples per second to be written; the motion's own if left out"
    )
    parser.add_argument(
        "--fps", type=FPS, metavar="HZ", help="samples per second of a MOTION that does not say (LAFAN1: 30)"
    )
    parser.add_argument(
        "--order", choices=("depth", "breadth"), default="depth",
        help="of bodies and joints in formats without their names: as MuJoCo has them (default), or as Isaac",
    )  # fmt: skip
    add_header(parser)
    parser.add_argument("--servos", metavar="SERVOS.json", help="for formats that hold servo counts")
    parser.add_argument(
        "--carry-weight", action="store_true", help="goals that bring loaded servos to the motion: of --robot, --servos"
    )
    parser.add_argument("--p-gain", type=GAIN, metavar="P", help="position P gain of the servos; that of the factory")
    add_robot(parser, "--robot", "whose motion it is, for the order of its columns: ")


def _solve(options: argparse.Namespace) -> None:
    from ..clips.clip import load_clip
    from ..files import check_writable
    from ..motions import load_motion, save_motion, save_report, save_states, values_for
    from ..objectives.pose_prior import PosePrior
    from ..retargeting.retarget import retarget
    from ..warm_up import help_compiling

    check_writable(options.output, options.report, options.states)
    mechanism = load(options)
    clip = load_clip(options.clip)
    settings = _asked(options, mechanism)
    with naming(options.clip):
        clip.check(mechanism)
    with naming(options.settings):
        settings.check(mechanism)
    prior = None
    if options.prior:
        example = values_for(mechanism, load_motion(options.prior), options.prior)
        with naming(options.prior):
            prior = PosePrior.of(example)
    help_compiling()
    share = settings.velocity_share
    if options.slow_down:
        settings = _without_limits(settings)
    own, weight = own_range_of(options, mechanism), options.prior_weight
    motion = retarget(mechanism, clip, settings, prior=prior, prior_weight=weight, own_range=own)
    written = slowed_down(mechanism, motion, share, options.torque) if options.slow_down else motion
    save_motion(written, options.output, "csv")
    if options.states:
        save_states(written, options.states, motion.report.residual if motion.report and written is motion else None)
    _print_solved(motion)
    if options.report:
        save_report(judged(mechanism, motion, clip, robot_file(options)), options.report)


def _asked(options: argparse.Namespace, mechanism: Mechanism) -> Settings:
    """Return the settings that the options of `solve` ask for."""
    from ..bake.settings import Balance
    from ..mechanism.motor_limits import named_efforts
    from ..objectives.settings import Settings, load_settings

    settings = load_settings(options.settings) if options.settings else Settings()
    if options.look_ahead:
        settings = replace(settings, look_ahead=True)
    check_own_range(options)
    if options.own_range and not settings.look_ahead:
        raise RobikError("--own-range is solved by looking ahead; give --look-ahead, too")
    if options.torque and not options.slow_down:
        if not settings.look_ahead:
            raise RobikError("--torque is kept by looking ahead, or by slowing down; give --look-ahead or --slow-down")
        settings = replace(settings, torque_limit=named_efforts(mechanism))
    if options.zero_moment:
        if options.slow_down or not settings.look_ahead:
            raise RobikError("--zero-moment is kept by looking ahead; give --look-ahead, and no --slow-down")
        if settings.zero_moment_margin is None:
            settings = replace(settings, zero_moment_margin=Balance().margin)
    return settings


def _without_limits(settings: Settings) -> Settings:
    """Return settings that keep no limit over time: a motion that is slowed down keeps them by its times."""
    return replace(settings.frame_by_frame(), enforce_velocity=False)


def _print_solved(motion: Motion) -> None:
    """Print how well a solved motion follows its clip."""
    from ..motions import report_summary
    from ..report.shortfall import millimetres

    found = report_summary(motion)
    nearly = f" ({len(found['frames_nearly'])} of them slightly)" if found["frames_nearly"] else ""
    print(
        f"{found['frames']} frames, {found['ms_per_frame_median']:.3f} ms each; off by at most"
        f" {millimetres(found['position_error_max_m'])}, closed to {found['constraint_residual_max']:.1g} m;"
        f" {len(found['frames_short'])} frames fall short{nearly},"
        f" {len(found['frames_too_fast'])} are too fast for a motor"
    )
    if found["peak_acceleration"]:
        name, most = max(found["peak_acceleration"].items(), key=lambda item: item[1])
        jumping = (
            f"; a motor jumps in {len(found['frames_jumping'])} frames"
            if found["frames_jumping"]
            else "; no motor jumps"
        )
        print(f"largest acceleration {most:.3g} /s² ({name}){jumping}")
    assert motion.report is not None  # a solved motion has one
    if motion.report.look_ahead:
        print(motion.report.look_ahead)
    if motion.report.speed_cost:
        print(motion.report.speed_cost)
    if motion.report.hold and not motion.report.hold.is_kept:
        print(motion.report.hold)


def _report(options: argparse.Namespace) -> None:
    from pathlib import Path

    from ..clips.clip import load_clip
    from ..files import check_writable
    from ..motions import load_motion, load_states
    from ..objectives.settings import Settings, load_settings
    from ..report.report_page import save_page, with_states

    for name in ("clip", "states", "servos"):
        if getattr(options, name) and not options.robot:
            raise RobikError(f"--{name} says nothing without its robot; give --robot too")
    output = options.output or str(Path(options.motion).with_suffix(".html"))
    check_writable(output)
    motion = load_motion(options.motion)
    mechanism = load(options) if options.robot else None
    clip = load_clip(options.clip) if options.clip else None
    settings = load_settings(options.settings) if options.settings else Settings()
    if mechanism is not None:
        if clip is not None:
            with naming(options.clip):
                clip.check(mechanism)
        if options.states:
            motion = load_states(options.states, motion, tuple(body.name for body in mechanism.bodies))
        if options.states or motion.base is not None or mechanism.is_grounded:
            with naming(options.motion):
                motion = with_states(mechanism, motion)
    more = _forces(mechanism, motion, options.servos) if mechanism is not None and mechanism.mass > 0 else []
    save_page(output, motion, mechanism, clip, settings, more=more)
    print(f"{output}: {len(motion.times)} samples of {len(motion.actuators)} motors")


def _forces(mechanism: Mechanism, motion: Motion, servos: str | None) -> list[Plot]:
    """Return plots of what the motors must give."""
    from ..physics.motors import motors_of
    from ..physics.report_plots import force_plots

    motors = motors_of(servos, mechanism)
    return force_plots(motors.room, motion, motors.drives())


def _fk(options: argparse.Namespace) -> None:
    from ..files import check_writable
    from ..motions import load_motion, save_states
    from ..motions.posing import posed
    from ..report.shortfall import unassembled

    check_writable(options.output)
    mechanism = load(options)
    motion, residual = posed(mechanism, load_motion(options.motion), options.motion)
    save_states(motion, options.output, residual)
    print(f"{len(motion.times)} frames, closed to {residual.max():.1g} m")
    if apart := unassembled(mechanism, residual):
        print(f"robik: {options.motion}: {apart}", file=sys.stderr)


def _export(options: argparse.Namespace) -> None:
    from ..servo.chain.export import export

    robot = load(options) if options.robot else None
    export(
        options.motion,
        options.output,
        source_format=options.source_format,
        format=options.format,
        servos=options.servos,
        robot=robot,
        rate=options.rate,
        fps=options.fps,
        order=options.order,
        header=options.header,
        carry=_carry(options, robot) if options.carry_weight else None,
        follow=_follow,
    )


def _follow(robot: Mechanism, poses: FramePoses) -> Motion:
    """Follow the poses that a motion file holds, and say what is out of reach."""
    from ..retargeting.following_poses import follow_poses, out_of_reach

    motion = follow_poses(robot, poses)
    if missed := out_of_reach(robot, motion):
        print(f"robik: {missed}", file=sys.stderr)
    return motion


def _carry(options: argparse.Namespace, robot: Mechanism | None) -> Callable[[Motion, ServoChain], Motion]:
    """Return what makes goals that carry the weight."""
    from ..physics.carrying import carrying

    def carry(motion: Motion, chain: ServoChain) -> Motion:
        assert robot is not None
        goals, said = carrying(robot, motion, chain, options.p_gain, source=options.motion)
        if said:
            print(said, file=sys.stderr)
        return goals

    return carry
