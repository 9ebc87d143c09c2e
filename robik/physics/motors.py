"""Motors of a simulation: a servo chain's, and the options of the command."""

from __future__ import annotations

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
        chain: The servos.
        mechanism: The robot that they move.
        p_gain: Position P gain of all servos; that of the factory if left out.

    Returns:
        Drive by actuator.

    Raises:
        ServoError: An actuator without a servo, or a model of which RobIK does not know what its motor can.
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
    """Return a motion at another speed: 2 is twice as fast.

    Args:
        motion: The motion.
        speed: Factor of the speed; 2 is twice as fast.

    Returns:
        The motion with other times.
    """
    return motion if speed == 1.0 else replace(motion, times=motion.times / speed)


def check_options(rate: float, speed: float, trials: int, p_gain: float | None, servos: str | None) -> None:
    """Check the numbers of the command.

    Args:
        rate: Samples per second [Hz].
        speed: Factor of the speed.
        trials: Number of trials.
        p_gain: Position P gain of the servos, or None.
        servos: File of the servos, or None.

    Raises:
        RobikError: Names the one that cannot.
    """
    for name, value in (("--rate", rate), ("--speed", speed), ("--p-gain", p_gain)):
        if value is not None and not (isfinite(value) and value > 0):
            raise RobikError(f"{name} must be a positive number, not {value:g}")
    if not 0 <= trials <= MOST_TRIALS:
        raise RobikError(f"--trials must be a number from 0 to {MOST_TRIALS}, not {trials}")
    if p_gain is not None and servos is None:
        raise RobikError("--p-gain is of servos; give them by --servos")
