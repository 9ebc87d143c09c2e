"""The command `physics`."""

from __future__ import annotations

import argparse
import json

from .arguments import add_robot, command, load, naming


def add_physics(commands: argparse._SubParsersAction) -> None:
    """Add the command `physics`.

    Args:
        commands: Where the command is added.
    """
    parser = command(commands, "physics", _physics, "will it fall: play a motion in MuJoCo, as it is and disturbed")
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION", help="with the base of a floating robot")
    parser.add_argument("--servos", metavar="SERVOS.json", help="motors; the robot's own torque limits without it")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("--carry-weight", action="store_true", help="goals that bring loaded motors to the motion")
    parser.add_argument("--p-gain", type=float, metavar="P", help="position P gain of the servos; that of the factory")
    parser.add_argument("--speed", type=float, default=1.0, help="2 is twice as fast (default 1)")
    parser.add_argument("--rate", type=float, default=100.0, metavar="HZ", help="goals per second (default 100)")
    parser.add_argument("--trials", type=int, default=20, metavar="N", help="disturbed trials (default 20; 0 for none)")
    parser.add_argument("--goals", metavar="GOALS.csv", help="also write the goals that were sent, for robik play")
    parser.add_argument("-o", "--output", metavar="SCENE.xml", help="also write the scene for MuJoCo's viewer")


def _physics(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from ..motions import load_motion, save_motion
    from ..physics import draws, planned, run
    from ..physics.export import save_scene
    from ..physics.motors import chain_drives, check_options, slowed
    from ..servo.chain_file import load_chain

    check_options(options.rate, options.speed, options.trials, options.p_gain, options.servos)
    mechanism, motion = load(options), load_motion(options.motion)
    chain = load_chain(options.servos) if options.servos else None
    drives = chain_drives(chain, mechanism, options.p_gain) if chain else None
    with naming(options.motion):
        plan = planned(
            mechanism,
            slowed(motion, options.speed),
            drives,
            carry=options.carry_weight,
            rate=options.rate,
            delay=chain.goal_seconds if chain else 0.0,
            source=options.motion,
        )
    if options.output:
        save_scene(plan, options.output)
    if options.goals:
        save_motion(replace(plan.reference, values=plan.goals), options.goals, "csv")
    verdict = run(plan, draws(options.trials))
    print(json.dumps(verdict.as_data(), indent=2) if options.json else "\n".join(verdict.lines()))
