"""The command `robik`. Bad input ends in one line on stderr and exit code 2."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from . import __version__
from .errors import ClipError, RobikError
from .mechanism.base import BASES

if TYPE_CHECKING:
    from pathlib import Path

    from .mechanism.model import Mechanism

BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except RobikError as error:
        print(f"robik: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has left
        sys.stderr.close()
        return 141


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the call in one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="robik", description="Retargets animation onto robots, kinematic loops included.")
    parser.add_argument("--version", action="version", version=f"robik {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    robots, servos = (
        (_add_inspect, _add_convert, _add_solve, _add_report, _add_fk),
        (_add_play, _add_servos, _add_simulate, _add_export),
    )
    for add in (*robots, *servos, _add_bench):
        add(commands)
    return parser


def _command(commands: argparse._SubParsersAction, name: str, run: object, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run)
    return command


def _add_robot(command: argparse.ArgumentParser, name: str = "robot", whose: str = "") -> None:
    command.add_argument(
        name, metavar="ROBOT", help=f"{whose}a robot file, or the name of a robot that RobIK brings: boxer, walker, …"
    )
    command.add_argument(
        "--base", choices=BASES, default="auto", help="whether it stands fixed or floats; auto: as its file says"
    )
    command.add_argument(
        "--packages", default="", metavar="FOLDERS", help="folders of ROS packages, with a semicolon between"
    )
    command.add_argument(
        "--arguments", default="", metavar="NAME:=VALUE", help="of a xacro file, in quotes, with spaces between"
    )


def _add_inspect(commands: argparse._SubParsersAction) -> None:
    command = _command(commands, "inspect", _inspect, "what a robot is: bodies, joints, loops, degrees of freedom")
    _add_robot(command)
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.add_argument(
        "--motion", metavar="MOTION.csv", help="also how far from singular poses it stays along a motion"
    )
    command.add_argument("-o", "--output", metavar="DISTANCES.csv", help="with --motion: the distances frame by frame")


def _add_convert(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "convert", _convert, "write a robot in another format: .robik.json, .urdf, .xml (MJCF)"
    )
    _add_robot(command)
    command.add_argument(
        "output", metavar="OUTPUT", help="the file to write; meshes outside its folder are copied into meshes/ there"
    )


def _add_solve(commands: argparse._SubParsersAction) -> None:
    command = _command(commands, "solve", _solve, "follow a clip of targets with a robot")
    _add_robot(command)
    command.add_argument("clip", metavar="CLIP.npz", help="times, NAME.position, NAME.quaternion, com.position")
    command.add_argument(
        "--settings", metavar="SETTINGS.json", help="weights, regularizers, limits; all ones without it"
    )
    command.add_argument(
        "--prior", metavar="EXAMPLE.csv", help="a motion whose poses it shall prefer where targets leave a choice"
    )
    command.add_argument(
        "--prior-weight", type=float, default=1e-4, help="how much, beside targets that weigh 1 (default 1e-4)"
    )
    command.add_argument(
        "-o", "--output", metavar="MOTION.csv", required=True, help="time, a column per actuator, a floating base"
    )
    command.add_argument(
        "--report", metavar="REPORT.json", help="errors, residuals, velocities, frames that fall short"
    )
    command.add_argument("--states", metavar="STATES.npz", help="the bodies' poses as well")


def _add_report(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "report",
        _report,
        "one HTML page of plots: speeds and ranges against limits, errors, balance, contacts",
    )
    command.add_argument("motion", metavar="MOTION.csv")
    _add_robot(command, "--robot", "whose motion it is, for limits and balance: ")
    command.add_argument("--clip", metavar="CLIP.npz", help="what was followed, for errors and contacts")
    command.add_argument("--settings", metavar="SETTINGS.json", help="with which weights")
    command.add_argument(
        "--states",
        metavar="STATES.npz",
        help="the bodies' poses, for a floating robot whose motion has no base: solve --states writes them",
    )
    command.add_argument("-o", "--output", metavar="REPORT.html", help="default: beside the motion")


def _add_fk(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "fk", _fk, "poses of all bodies along a motion; a floating base without columns stays where it rests"
    )
    _add_robot(command)
    command.add_argument("motion", metavar="MOTION.csv")
    command.add_argument(
        "-o", "--output", metavar="STATES.npz", required=True, help="times, bodies, position, quaternion, residual"
    )


def _add_play(commands: argparse._SubParsersAction) -> None:
    command = _command(commands, "play", _play, "play a motion on Dynamixel servos; ESC stops, T turns torque off")
    command.add_argument("motion", metavar="MOTION.csv")
    command.add_argument("--servos", metavar="SERVOS.json", required=True, help="which servo turns which actuator")
    command.add_argument(
        "--port", required=True, help="a device such as /dev/ttyUSB0 or COM3, a URL for pyserial, or sim"
    )
    command.add_argument("--rate", type=float, default=100.0, help="goals per second (default 100)")
    command.add_argument(
        "--approach", type=float, default=0.5, help="speed on the way to the first frame [rad/s] (default 0.5)"
    )
    command.add_argument(
        "--interpolation", choices=("linear", "cubic"), default="linear", help="between the motion's samples"
    )
    command.add_argument(
        "--torque", choices=("on", "off"), default="on", help="how to leave the servos at the end (default on)"
    )
    command.add_argument("--loop", action="store_true", help="over and over, until it is stopped")
    command.add_argument("--range", type=float, nargs=2, metavar=("START", "END"), help="only this stretch of it [s]")
    command.add_argument("--speed", type=float, default=1.0, help="2 is twice as fast (default 1)")
    soften = "round off what the motors cannot do, and go slowly to a start far away, instead of refusing"
    command.add_argument("--soften", action="store_true", help=soften)
    command.add_argument(
        "--feed-forward", action="store_true", help="tell the servos with each goal how fast to go there"
    )
    command.add_argument("--without", type=int, nargs="+", metavar="ID", default=[], help="play without these servos")
    command.add_argument("--record", metavar="TELEMETRY.csv", default="", help="what the servos report while it plays")


def _add_servos(commands: argparse._SubParsersAction) -> None:
    servos = commands.add_parser(
        "servos", help="set servos up: scan, set, prepare, zero; turn torque off; report on a recording"
    )
    verbs = servos.add_subparsers(required=True, metavar="VERB")
    for name, text in (
        ("scan", "who is on the bus, at any baud rate"),
        ("set", "give a servo another id or baud rate"),
        ("prepare", "bring all servos to streaming settings, after asking"),
        ("torque-off", "turn the torque of all servos off, whoever they are"),
        ("zero", "take the pose that the robot was put into by hand as all zeros, into the chain's file"),
    ):
        verb = _command(verbs, name, _servos, text)
        verb.set_defaults(verb=name)
        verb.add_argument("--port", required=True, help="a device such as /dev/ttyUSB0 or COM3, or a URL for pyserial")
        if name == "set":
            verb.add_argument("--id", type=int, required=True, help="of the servo, as it is now")
            verb.add_argument("--new-id", type=int)
        if name == "zero":
            verb.add_argument("--servos", metavar="SERVOS.json", required=True)
        else:
            verb.add_argument(
                "--baud",
                type=int,
                help="set: the new one; prepare: 1000000 if left out; scan, torque-off: only this one",
            )
        if name == "prepare":
            verb.add_argument("--yes", action="store_true", help="do not ask")
    verb = _command(verbs, "report", _servos, "how well the servos followed, from the telemetry of robik play --record")
    verb.set_defaults(verb="report")
    verb.add_argument("recording", metavar="TELEMETRY.csv")
    verb.add_argument("-o", "--output", metavar="REPORT.html", required=True)


def _add_simulate(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "simulate-servos", _simulate, "a simulated chain; its first line is the path of its port"
    )
    command.add_argument("--servos", metavar="SERVOS.json", required=True)
    command.add_argument(
        "--socket", action="store_true", help="serve a socket:// URL instead of a pseudo-terminal, as on Windows"
    )


def _add_export(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "export", _export, "write a motion in another format; an unknown NAME lists those there are"
    )
    command.add_argument("motion", metavar="MOTION")
    command.add_argument("-o", "--output", metavar="FILE", required=True)
    command.add_argument("--format", metavar="NAME", help="to be written; by the extension of FILE if left out")
    command.add_argument(
        "--from", dest="source_format", metavar="NAME", help="the format of MOTION; by its content if left out"
    )
    command.add_argument(
        "--rate", type=float, metavar="HZ", help="samples per second to be written; the motion's own if left out"
    )
    command.add_argument("--servos", metavar="SERVOS.json", help="for formats that hold servo counts")
    _add_robot(command, "--robot", "whose motion it is, for the order of its columns: ")


def _add_bench(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "bench", _bench, "time per frame of the solver on the robots that ship, on this machine"
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")


def _load(options: argparse.Namespace) -> Mechanism:
    from .formats import load_robot
    from .formats.options import package_folders, xacro_arguments
    from .mechanism.base import with_base

    read = load_robot(_robot_file(options), package_folders(options.packages), xacro_arguments(options.arguments))
    return with_base(read, options.base)


def _robot_file(options: argparse.Namespace) -> str | Path:
    from .robots import names, path

    return path(options.robot) if options.robot in names() else options.robot


@contextmanager
def _naming(file: str | None) -> Iterator[None]:
    """Puts the file's name before an error that is about its content."""
    try:
        yield
    except ClipError as error:
        raise ClipError(f"{file}: {error}") from None


def _inspect(options: argparse.Namespace) -> None:
    from .kinematics.mobility import inspect
    from .retarget.singular_frames import along, describe, save_distances

    if options.output and not options.motion:
        raise ClipError("-o writes distances along a motion; give one by --motion MOTION.csv")
    mechanism = _load(options)
    found = inspect(mechanism)
    stretch = along(mechanism, options.motion) if options.motion else None
    if options.output and stretch:
        save_distances(stretch, options.output)
    if options.json:
        motion = {"singularity": stretch.as_data(), "unassembled": stretch.unassembled} if stretch else {}
        print(json.dumps(found.as_data() | motion, indent=2))
        return
    print("\n".join(found.lines()))
    if stretch:
        print("\n".join(describe(stretch)))


def _convert(options: argparse.Namespace) -> None:
    from .formats import save_robot

    for sentence in save_robot(_load(options), options.output, _robot_file(options)):
        print(f"robik: {sentence}", file=sys.stderr)


def _solve(options: argparse.Namespace) -> None:
    from .files import check_writable
    from .motions import load_motion, report_summary, save_motion, save_report, save_states, values_for
    from .objectives.pose_prior import PosePrior
    from .objectives.settings import Settings, load_settings
    from .retarget.clip import load_clip
    from .retarget.retarget import retarget
    from .warm_up import help_compiling

    mechanism = _load(options)
    clip = load_clip(options.clip)
    settings = load_settings(options.settings) if options.settings else Settings(state_weight=None)
    with _naming(options.clip):
        clip.check(mechanism)
    with _naming(options.settings):
        settings.check(mechanism)
    prior = None
    if options.prior:
        example = values_for(mechanism, load_motion(options.prior), options.prior)
        with _naming(options.prior):
            prior = PosePrior.of(example)
    check_writable(options.output, options.report, options.states)
    help_compiling()
    motion = retarget(mechanism, clip, settings, speed_cost=True, prior=prior, prior_weight=options.prior_weight)
    save_motion(motion, options.output, "csv")
    if options.report:
        save_report(motion, options.report)
    if options.states:
        save_states(motion, options.states, motion.report.residual if motion.report else None)
    found = report_summary(motion)
    print(
        f"{found['frames']} frames, {found['ms_per_frame_median']:.3f} ms each; off by at most"
        f" {1e3 * found['position_error_max_m']:.3g} mm, closed to {found['constraint_residual_max']:.1g} m;"
        f" {len(found['frames_short'])} frames fall short, {len(found['frames_too_fast'])} are too fast for a motor"
    )
    if found["peak_acceleration"]:
        name, most = max(found["peak_acceleration"].items(), key=lambda item: item[1])
        jumping = (
            f"; a motor jumps in {len(found['frames_jumping'])} frames"
            if found["frames_jumping"]
            else "; no motor jumps"
        )
        print(f"largest acceleration {most:.3g} /s² ({name}){jumping}")
    if motion.report and motion.report.speed_cost:
        print(motion.report.speed_cost)


def _report(options: argparse.Namespace) -> None:
    from pathlib import Path

    from .motions import load_motion, load_states
    from .objectives.settings import Settings, load_settings
    from .retarget.clip import load_clip
    from .retarget.report_page import save_page, with_states

    motion = load_motion(options.motion)
    for name in ("clip", "states"):
        if getattr(options, name) and not options.robot:
            raise RobikError(f"--{name} says nothing without its robot; give --robot too")
    mechanism = _load(options) if options.robot else None
    clip = load_clip(options.clip) if options.clip else None
    settings = load_settings(options.settings) if options.settings else Settings()
    if mechanism is not None:
        if clip is not None:
            with _naming(options.clip):
                clip.check(mechanism)
        if options.states:
            motion = load_states(options.states, motion, tuple(body.name for body in mechanism.bodies))
        if options.states or motion.base is not None or mechanism.is_grounded:
            with _naming(options.motion):
                motion = with_states(mechanism, motion)
    output = options.output or str(Path(options.motion).with_suffix(".html"))
    save_page(output, motion, mechanism, clip, settings)
    print(f"{output}: {len(motion.times)} samples of {len(motion.actuators)} motors")


def _fk(options: argparse.Namespace) -> None:
    from .motions import load_motion, save_states
    from .retarget.posing import posed
    from .retarget.shortfall import unassembled

    mechanism = _load(options)
    motion, residual = posed(mechanism, load_motion(options.motion), options.motion)
    save_states(motion, options.output, residual)
    print(f"{len(motion.times)} frames, closed to {residual.max():.1g} m")
    if apart := unassembled(mechanism, residual):
        print(f"robik: {options.motion}: {apart}", file=sys.stderr)


def _play(options: argparse.Namespace) -> int:
    from .servo.command import How, play

    return play(
        options.motion,
        options.servos,
        options.port,
        rate=options.rate,
        approach_speed=options.approach,
        interpolation=options.interpolation,
        torque_after=options.torque == "on",
        how=How(options.loop, tuple(options.range) if options.range else None, options.speed, options.soften),
        feed_forward=options.feed_forward,
        without=tuple(options.without),
        record=options.record,
    )


def _servos(options: argparse.Namespace) -> int:
    from .servo import setup_command as servos

    match options.verb:
        case "scan":
            servos.scan(options.port, options.baud)
        case "set":
            servos.change(options.port, options.id, options.new_id, options.baud)
        case "prepare":
            servos.prepare(options.port, options.baud or 1_000_000, options.yes)
        case "torque-off":
            return servos.torque_off(options.port, options.baud)
        case "zero":
            servos.zero(options.port, options.servos)
        case "report":
            servos.report(options.recording, options.output)
    return 0


def _simulate(options: argparse.Namespace) -> None:
    from .servo.command import simulate

    simulate(options.servos, over_socket=options.socket)


def _export(options: argparse.Namespace) -> None:
    from .servo.export import export

    export(
        options.motion,
        options.output,
        source_format=options.source_format,
        format=options.format,
        servos=options.servos,
        robot=_load(options) if options.robot else None,
        rate=options.rate,
    )


def _bench(options: argparse.Namespace) -> None:
    from .bench import print_table, run

    found = run()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print_table(found)


if __name__ == "__main__":
    sys.exit(main())
