"""Commands about servos: play, teleoperate, servos, simulate-servos."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .arguments import add_robot, command, load
from .numbers import APPROACH, GOALS, ID, LIMIT, SECOND, TIMES, whole

if TYPE_CHECKING:
    from ..motions import Motion
    from ..tilt_feedback import TiltPlan


BAUD = whole("a baud rate", 1, 100_000_000)
UNITS = whole("a gain", 0, 65_535)
WHERE = "a device such as /dev/ttyUSB0 or COM3, a URL for pyserial, or reachy:HOST:PORT for Reachy Mini's daemon"


def add_play(commands: argparse._SubParsersAction) -> None:
    """Add the command `play`."""
    parser = command(commands, "play", _play, "play a motion on servos; ESC stops, T turns torque off")
    parser.add_argument("motion", metavar="MOTION.csv")
    parser.add_argument("--servos", metavar="SERVOS.json", required=True, help="which servo turns which actuator")
    parser.add_argument(
        "--port",
        required=True,
        help=f"{WHERE}; sim simulates them",
    )
    parser.add_argument("--rate", type=GOALS, default=100.0, help="goals per second (default 100)")
    parser.add_argument(
        "--approach", type=APPROACH, default=0.5, help="speed on the way to the first frame [rad/s] (default 0.5)"
    )
    parser.add_argument(
        "--interpolation", choices=("linear", "cubic"), default="linear", help="between the motion's samples"
    )
    parser.add_argument(
        "--torque", choices=("on", "off"), default="on", help="how to leave the servos at the end (default on)"
    )
    parser.add_argument("--loop", action="store_true", help="over and over, until it is stopped")
    parser.add_argument("--range", type=SECOND, nargs=2, metavar=("START", "END"), help="only this stretch of it [s]")
    parser.add_argument("--speed", type=TIMES, default=1.0, help="2 is twice as fast (default 1)")
    soften = "round off what the motors cannot do, and go slowly to a start far away, instead of refusing"
    parser.add_argument("--soften", action="store_true", help=soften)
    parser.add_argument(
        "--feed-forward", action="store_true", help="tell the servos with each goal how fast to go there"
    )
    parser.add_argument(
        "--carry-weight",
        metavar="ROBOT",
        help="goals that bring loaded servos to the motion, by this robot's masses and the servos' own P gains",
    )
    parser.add_argument(
        "--tilt-feedback",
        metavar="ROBOT",
        help="right this robot when it leans against the motion, by the IMU that SERVOS.json names",
    )
    _add_hold(parser)
    parser.add_argument("--without", type=ID, nargs="+", metavar="ID", default=[], help="play without these servos")
    parser.add_argument("--record", metavar="TELEMETRY.csv", default="", help="what the servos report while it plays")


def _add_hold(parser: argparse.ArgumentParser) -> None:
    """Add the robot whose motors are to keep hold of it, and whether they may lose it."""
    add_robot(
        parser, "--robot", "whose motors must determine it all the way; SERVOS.json may name one that RobIK brings: "
    )
    lost = "play on where the motors lose hold of the robot, so that it may come to another pose, instead of refusing"
    parser.add_argument("--lose-hold", action="store_true", help=lost)


def add_teleoperate(commands: argparse._SubParsersAction) -> None:
    """Add the command `teleoperate`."""
    text = "let a robot do what another one is moved to by hand; ESC stops, T turns torque off, space pauses"
    parser = command(commands, "teleoperate", _teleoperate, text)
    parser.add_argument("--servos", metavar="SERVOS.json", required=True, help="of the robot that follows")
    parser.add_argument("--port", required=True, help=f"of the robot that follows: {WHERE}; sim simulates it")
    parser.add_argument("--leader", metavar="SERVOS.json", required=True, help="of the robot that is moved by hand")
    parser.add_argument("--leader-port", required=True, help="its port")
    parser.add_argument("--soften", action="store_true", help="go slowly to a leader that is far away, not refuse it")
    torque = "how to leave the servos of the robot that follows at the end (default on)"
    parser.add_argument("--torque", choices=("on", "off"), default="on", help=torque)
    parser.add_argument("--rate", type=GOALS, default=100.0, help="goals per second (default 100)")
    _add_hand(parser, is_needed=False)


def _add_hand(parser: argparse.ArgumentParser, is_needed: bool) -> None:
    """Add the options of a motion that a hand makes."""
    parser.add_argument("-o", "--output", metavar="MOTION.csv", default="", required=is_needed)
    parser.add_argument(
        "--poses", action="store_true", help="keep only the poses that were held still, with smooth ways between them"
    )


def add_servos(commands: argparse._SubParsersAction) -> None:
    """Add the command `servos`."""
    servos = commands.add_parser(
        "servos",
        help="set servos up: models, scan, set, prepare, zero, gains; record by hand; stop; torque off; report",
    )
    verbs = servos.add_subparsers(required=True, metavar="VERB")
    verb = command(verbs, "models", _servos, "the servo models that are known, and where to add one")
    verb.set_defaults(verb="models")
    _add_brand(verb)
    for name, text in (
        ("scan", "who is on the bus, at any baud rate"),
        ("set", "give a servo another id or baud rate"),
        ("prepare", "bring all servos to streaming settings, after asking"),
        ("torque-off", "turn the torque of all servos off, whoever they are"),
        ("zero", "take the pose that the robot was put into by hand as all zeros, into the chain's file"),
    ):
        verb = command(verbs, name, _servos, text)
        verb.set_defaults(verb=name)
        verb.add_argument("--port", required=True, help=WHERE)
        if name == "set":
            verb.add_argument("--id", type=ID, required=True, help="of the servo, as it is now")
            verb.add_argument("--new-id", type=ID)
        if name == "zero":
            verb.add_argument("--servos", metavar="SERVOS.json", required=True)
        else:
            verb.add_argument(
                "--baud",
                type=BAUD,
                help="set: the new one; prepare: the one for playing if left out; scan, torque-off: only this one",
            )
            _add_brand(verb)
        if name == "prepare":
            verb.add_argument("--yes", action="store_true", help="do not ask")
    _add_gains(verbs)
    verb = command(verbs, "record", _servos, "record a motion that the robot is moved through by hand, torque off")
    verb.set_defaults(verb="record")
    verb.add_argument("--port", required=True, help=WHERE)
    verb.add_argument("--servos", metavar="SERVOS.json", required=True)
    _add_hand(verb, is_needed=True)
    _add_stop_and_report(verbs)


def _add_gains(verbs: argparse._SubParsersAction) -> None:
    verb = command(
        verbs, "gains", _servos, "the servos' gains as read back; or others for one servo, into the file too"
    )
    verb.set_defaults(verb="gains")
    verb.add_argument("--port", required=True, help=WHERE)
    verb.add_argument("--servos", metavar="SERVOS.json", required=True)
    verb.add_argument("--id", type=ID, help="of the servo that gets others")
    for name in ("p", "i", "d"):
        verb.add_argument(f"--{name}", type=UNITS, help=f"{name.upper()} gain of its position control, in its own unit")
    verb.add_argument("--acceleration", type=LIMIT, help="of its profile, rad/s² or m/s² of the actuator")


def _add_stop_and_report(verbs: argparse._SubParsersAction) -> None:
    """Add the verbs that need no bus: one stops another process, one reads a recording."""
    verb = command(verbs, "stop", _servos, "stop what Blender or robik play moves, from outside; torque stays on")
    verb.set_defaults(verb="stop")
    verb.add_argument("--port", default="", help="only what plays on this one")
    verb.add_argument("--torque-off", action="store_true", help="turn torque off at once instead")
    verb.add_argument("--on-key", action="store_true", help="wait for a key: ESC or space stops, T turns torque off")
    verb = command(verbs, "report", _servos, "how well the servos followed, from the telemetry of robik play --record")
    verb.set_defaults(verb="report")
    verb.add_argument("recording", metavar="TELEMETRY.csv")
    verb.add_argument("-o", "--output", metavar="REPORT.html", required=True)


def _add_brand(verb: argparse.ArgumentParser) -> None:
    brands = "dynamixel, dynamixel1 (AX, RX, EX and MX on Protocol 1.0) or feetech (default dynamixel)"
    verb.add_argument("--brand", default="dynamixel", help=f"of the servos: {brands}")


def add_simulate(commands: argparse._SubParsersAction) -> None:
    """Add the command `simulate-servos`."""
    parser = command(
        commands, "simulate-servos", _simulate, "a simulated chain; its first line is the path of its port"
    )
    parser.add_argument("--servos", metavar="SERVOS.json", required=True)
    parser.add_argument(
        "--socket", action="store_true", help="serve a socket:// URL instead of a pseudo-terminal, as on Windows"
    )


def _play(options: argparse.Namespace) -> int:
    from ..servo.play.command import How, play

    return play(
        options.motion,
        options.servos,
        options.port,
        rate=options.rate,
        approach_speed=options.approach,
        interpolation=options.interpolation,
        torque_after=options.torque == "on",
        how=How(
            options.loop,
            tuple(options.range) if options.range else None,
            options.speed,
            options.soften,
            _carry(options) if options.carry_weight else None,
            _tilt(options) if options.tilt_feedback else None,
            _hold(options),
            options.lose_hold,
        ),
        feed_forward=options.feed_forward,
        without=tuple(options.without),
        record=options.record,
    )


def _carry(options: argparse.Namespace) -> Callable[[Motion, Mapping[int, float], float], tuple[Motion, str]]:
    """Return what makes goals that carry the weight, of a motion, the servos' position P gains by id, and a speed."""
    from ..physics.carrying import carrying
    from ..robots import load
    from ..servo.chain.file import load_chain

    robot, chain = load(options.carry_weight), load_chain(options.servos)

    def carry(motion: Motion, gains: Mapping[int, float], speed: float) -> tuple[Motion, str]:
        return carrying(robot, motion, chain, gains, speed=speed, rate=options.rate, source=options.motion)

    return carry


def _tilt(options: argparse.Namespace) -> Callable[[Motion, tuple[float, float] | None, float], TiltPlan]:
    """Return what makes, of a motion, a stretch of it and a speed, what tilt feedback must know."""
    from ..errors import ServoError
    from ..physics.tilt_plan import tilt_plan
    from ..robots import file_of, load
    from ..servo.chain.file import load_chain
    from ..skeleton.feet import on_its_feet
    from ..skeleton.shapes import shapes_of

    given = options.tilt_feedback
    robot, imu = load(given), load_chain(options.servos).imu
    robot = on_its_feet(robot, shapes_of(robot, file_of(given)))
    if imu is None:
        raise ServoError(
            f'{options.servos} names no IMU, which tilt feedback needs ("imu": {{"port": "/dev/ttyUSB1"}})'
        )

    def tilt(motion: Motion, stretch: tuple[float, float] | None, speed: float) -> TiltPlan:
        begin = float(motion.times[0])
        part = None if stretch is None else (stretch[0] - begin, stretch[1] - begin)
        return tilt_plan(robot, motion, imu.body, options.motion).played(part, speed)

    return tilt


def _hold(options: argparse.Namespace) -> Callable[[Motion], str] | None:
    """Return what says where the motors lose hold of the robot along a motion; None where no robot is known."""
    from ..motions import load_motion, values_for
    from ..report.motor_hold import hold_along
    from ..robots import load as load_named
    from ..robots import names
    from ..servo.chain.file import load_chain

    if options.robot:
        robot = load(options)
    elif given := options.carry_weight or options.tilt_feedback:
        robot = load_named(given)
    elif (name := load_chain(options.servos).robot) in names():
        robot = load_named(name)
        if not set(robot.actuators) <= set(load_motion(options.motion).actuators):
            return None  # another robot of this name
    else:
        return None

    def lost(motion: Motion) -> str:
        hold = hold_along(robot, values_for(robot, motion, options.motion))
        return hold.in_seconds(motion.times) if hold else ""

    return lost


def _servos(options: argparse.Namespace) -> int:
    from ..servo.setup import command as servos

    match options.verb:
        case "models":
            servos.models(options.brand)
        case "scan":
            servos.scan(options.port, options.baud, options.brand)
        case "set":
            servos.change(options.port, options.id, options.new_id, options.baud, options.brand)
        case "prepare":
            servos.prepare(options.port, options.baud, options.yes, options.brand)
        case "torque-off":
            return servos.torque_off(options.port, options.baud, options.brand)
        case "stop":
            return servos.stop(options.port, options.torque_off, options.on_key)
        case "zero":
            servos.zero(options.port, options.servos)
        case "gains":
            from ..servo.setup.tuning_command import gains

            new = {f"{name}_gain": getattr(options, name) for name in ("p", "i", "d")}
            gains(options.port, options.servos, options.id, **new, profile_acceleration=options.acceleration)
        case "record":
            return _record(options)
        case "report":
            servos.report(options.recording, options.output)
    return 0


def _record(options: argparse.Namespace) -> int:
    from ..servo.teach.command import Made, record

    return record(options.port, options.servos, Made(path=options.output, as_poses=options.poses))


def _teleoperate(options: argparse.Namespace) -> int:
    from ..servo.teach.command import Made, teleoperate

    made = Made(path=options.output, as_poses=options.poses)
    leader, follower = (options.leader, options.leader_port), (options.servos, options.port)
    torque = options.torque == "on"
    return teleoperate(leader, follower, made, options.soften, rate=options.rate, torque_after=torque)


def _simulate(options: argparse.Namespace) -> None:
    from ..servo.play.command import simulate

    simulate(options.servos, over_socket=options.socket)
