"""The command `physics`."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from .arguments import add_robot, add_stiffness, command, load, naming, robot_file
from .numbers import GAIN, GOALS, TIMES, whole

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..motions import Motion
    from ..motions.needs import Needs
    from ..physics.motors import Motors
    from ..physics.plan import Plan
    from ..physics.verdict import Verdict


def add_physics(commands: argparse._SubParsersAction) -> None:
    """Add the command `physics`."""
    parser = command(commands, "physics", _physics, "will it fall: play a motion in MuJoCo, as it is and disturbed")
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION", help="with the base of a floating robot")
    parser.add_argument("--servos", metavar="SERVOS.json", help="motors; the robot's own torque limits without it")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("--carry-weight", action="store_true", help="goals that bring loaded motors to the motion")
    parser.add_argument("--tilt-feedback", action="store_true", help="an IMU on the base rights the robot")
    parser.add_argument("--p-gain", type=GAIN, metavar="P", help="position P gain of the servos; that of the factory")
    add_stiffness(parser)
    parser.add_argument("--speed", type=TIMES, default=1.0, help="2 is twice as fast (default 1)")
    parser.add_argument("--rate", type=GOALS, default=100.0, metavar="HZ", help="goals per second (default 100)")
    parser.add_argument(
        "--trials", type=whole("a number of trials", 0, 10_000), default=20, metavar="N",
        help="disturbed trials (default 20; 0 for none)",
    )  # fmt: skip
    parser.add_argument(
        "--make-it-stand",
        metavar="STOOD",
        help="try what could help, and write the motion with the least change that stands in 9 of 10 trials",
    )
    parser.add_argument("--goals", metavar="GOALS.csv", help="also write the goals that were sent, for robik play")
    parser.add_argument("-o", "--output", metavar="SCENE.xml", help="also write the scene for MuJoCo's viewer")


def _physics(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from ..files import check_writable
    from ..motions import load_motion, save_motion
    from ..physics import SINGLE, draws, planned
    from ..physics.motors import check_gains, motors_of, slowed, told_of_data
    from ..physics.process import judge_steps
    from ..skeleton.feet import on_its_feet
    from ..skeleton.shapes import shapes_of
    from ..steps import finish

    check_gains(options)
    check_writable(options.make_it_stand, options.goals, options.output)
    mechanism, motion = load(options), slowed(load_motion(options.motion), options.speed)
    mechanism = on_its_feet(mechanism, shapes_of(mechanism, robot_file(options)))
    _set_needs(options, motion.needs)
    motors = motors_of(options.servos, mechanism, options.stiffness)
    if options.make_it_stand:
        return _make_it_stand(options, mechanism, motion, motors)
    plan = partial(
        planned,
        mechanism,
        motion,
        carry=options.carry_weight,
        rate=options.rate,
        delay=motors.delay,
        feedback=options.tilt_feedback,
        source=options.motion,
    )
    with naming(options.motion):
        own = plan(motors.drives(options.p_gain))
    if options.output:
        _save_scene(own, options)
    if options.goals:
        save_motion(replace(own.reference, values=own.goals), options.goals, "csv")
    trials = (*SINGLE, *draws(options.trials)) if options.trials else ()
    verdict = finish(judge_steps(plan, motors, options.p_gain, trials))
    return _print_verdict(options, verdict, told_of_data(motors))


def _print_verdict(options: argparse.Namespace, verdict: Verdict, more: str) -> int:
    """Print the verdict, and more that is to be said with it; return the exit code."""
    lines = filter(None, [*verdict.lines(), more])
    print(json.dumps(verdict.as_data(), indent=2) if options.json else "\n".join(lines))
    return 0


def _set_needs(options: argparse.Namespace, needs: Needs | None) -> None:
    """Set what the motion needs where the command says nothing else, and say so."""
    if needs is None:
        return
    options.carry_weight |= needs.carry_weight
    options.tilt_feedback |= needs.tilt_feedback
    name = "p_gain" if options.servos else "stiffness"
    given, needed = getattr(options, name), getattr(needs, name)
    setattr(options, name, needed if given is None else given)
    tried = ", and is tried so" if given in (None, needed) else ""
    print(f"note: {options.motion} was made to stand with {needs}{tried}", file=sys.stderr)


def _save_scene(plan: Plan, options: argparse.Namespace) -> None:
    """Write the scene for MuJoCo's viewer, and say what it cannot show."""
    from ..physics.export import save_scene

    for sentence in save_scene(plan, options.output, robot_file(options))[2]:
        print(f"robik: {sentence}", file=sys.stderr)


def _make_it_stand(options: argparse.Namespace, mechanism: Mechanism, motion: Motion, motors: Motors) -> int:
    """Search for the least change that stands, write what was chosen, and return the exit code."""
    from dataclasses import replace

    from ..collision.apart import walls_of
    from ..motions import save_motion
    from ..physics.remedies import source_of
    from ..physics.standing import make_it_stand

    with naming(options.motion):
        source = source_of(mechanism, motion, options.motion, partial(walls_of, mechanism, robot_file(options)))
    tell = partial(print, "trying:", file=sys.stderr, flush=True)
    how = {"p_gain": options.p_gain, "rate": options.rate, "feedback": options.tilt_feedback}
    search = make_it_stand(source, motors, options.trials, tell, **how)
    print(json.dumps(search.as_data(), indent=2) if options.json else "\n".join(search.lines()))
    best = search.best
    if not best.stands or best.motion is None or best.plan is None:
        print(f"robik physics: nothing makes it stand; {options.make_it_stand} was not written", file=sys.stderr)
        return 1
    save_motion(replace(best.motion, needs=best.remedy.needs), options.make_it_stand)
    if options.output:
        _save_scene(best.plan, options)
    if options.goals:
        save_motion(replace(best.plan.reference, values=best.plan.goals), options.goals, "csv")
    return 0
