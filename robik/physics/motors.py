"""Motors of a simulation: a servo chain's, and the options of the command."""

from __future__ import annotations

import argparse
from dataclasses import replace
from math import isfinite

from ..dynamics.actuators import MOTORS
from ..dynamics.drives import Drive
from ..errors import RobikError, ServoError
from ..mechanism import Mechanism
from ..motions import Motion
from ..servo.chain import ServoChain

MOST_TRIALS = 10_000


def chain_drives(chain: ServoChain, mechanism: Mechanism, p_gain: float | None = None) -> dict[str, Drive]:
    """Return drives by actuator.

    Args:
        chain: the servos.
        mechanism: the robot that they move.
        p_gain: position P gain of all servos; that of the factory if left out.

    Raises:
        ServoError: an actuator without a servo, or a model of which RobIK does not know what its motor can.
    """
    if missing := [name for name in mechanism.actuators if name not in chain.actuators]:
        raise ServoError(f"no servo turns {', '.join(missing)} of robot {mechanism.name!r}")
    drives = {}
    for servo in chain.servos:
        if servo.actuator not in mechanism.actuators:
            continue
        if servo.model not in MOTORS:
            raise ServoError(f"what the motor of an {servo.model} can is unknown; known are {', '.join(MOTORS)}")
        motor, gear = MOTORS[servo.model], servo.gear_ratio
        drives[servo.actuator] = Drive(
            stiffness=motor.stiffness(p_gain) * gear**2, effort=motor.stall_torque * gear, speed=motor.free_speed / gear
        )
    return drives


def slowed(motion: Motion, speed: float) -> Motion:
    """Return a motion at another speed: 2 is twice as fast."""
    return motion if speed == 1.0 else replace(motion, times=motion.times / speed)


def check_options(options: argparse.Namespace) -> None:
    """Make sure that the command's numbers can be.

    Args:
        options: rate, speed, trials, p_gain, stiffness and servos as they were parsed.

    Raises:
        RobikError: names the one that cannot.
    """
    for name in ("rate", "speed", "p_gain", "stiffness"):
        value = getattr(options, name)
        if value is not None and not (isfinite(value) and value > 0):
            raise RobikError(f"--{name.replace('_', '-')} must be a positive number, not {value:g}")
    if not 0 <= options.trials <= MOST_TRIALS:
        raise RobikError(f"--trials must be a number from 0 to {MOST_TRIALS}, not {options.trials}")
    if options.p_gain is not None and options.servos is None:
        raise RobikError("--p-gain is of servos; give them by --servos")
    if options.stiffness is not None and options.servos is not None:
        raise RobikError("--stiffness is of motors that only the robot's file knows; of servos give --p-gain")
