"""Motors of a simulation: a servo chain's, and the options of the command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite

from ..dynamics.actuators import MOTORS
from ..dynamics.drives import STANDING, Drive, standing_drives, standing_share
from ..dynamics.inverse import InverseDynamics
from ..errors import RobikError, ServoError
from ..mechanism import Mechanism
from ..motions import Motion
from ..servo.chain import ServoChain
from ..servo.chain_file import load_chain

MOST_TRIALS = 10_000
MOST_GAIN = 16383.0  # of a position P gain in the control table


def chain_drives(
    chain: ServoChain, mechanism: Mechanism, p_gain: Mapping[int, float] | float | None = None
) -> dict[str, Drive]:
    """Return drives by actuator.

    Args:
        chain: The servos.
        mechanism: The robot that they move.
        p_gain: Position P gain of all servos, or by their ids; that of the factory where it is left out.

    Returns:
        Drive by actuator.

    Raises:
        ServoError: An actuator without a servo, or a model of which RobIK does not know what its motor can.
    """
    if missing := [name for name in mechanism.actuators if name not in chain.actuators]:
        raise ServoError(f"no servo turns {', '.join(missing)} of robot {mechanism.name!r}")
    drives: dict[str, Drive] = {}
    for servo in chain.servos:
        if servo.actuator not in mechanism.actuators:
            continue
        if servo.model not in MOTORS:
            raise ServoError(f"what the motor of an {servo.model} can is unknown; known are {', '.join(MOTORS)}")
        motor, gear = MOTORS[servo.model], servo.gear_ratio
        gain = p_gain.get(servo.id) if isinstance(p_gain, Mapping) else p_gain
        stiffness, effort, speed = motor.stiffness(gain) * gear**2, motor.stall_torque * gear, motor.free_speed / gear
        if twin := drives.get(servo.actuator):  # both push
            stiffness, effort, speed = stiffness + twin.stiffness, effort + twin.effort, min(speed, twin.speed)
        drives[servo.actuator] = Drive(stiffness, effort, speed)
    return drives


@dataclass(frozen=True, kw_only=True)
class Motors:
    """Motors of a robot, whatever they are.

    Attributes:
        room: of the robot.
        chain: its servos; None where only the robot's file knows its motors.
        stiffness: of the legs without servos, at least this share of m g h.
    """

    room: InverseDynamics
    chain: ServoChain | None = None
    stiffness: float = STANDING

    def drives(self, p_gain: float | None = None) -> dict[str, Drive]:
        """Return drives by actuator, of servos at a P gain, that of the factory if left out.

        Args:
            p_gain: Position P gain.

        Returns:
            Drives by actuator.
        """
        if self.chain is None:
            return standing_drives(self.room, self.stiffness)
        return chain_drives(self.chain, self.room.mechanism, p_gain)

    def leg(self, p_gain: float | None = None) -> float:
        """Return the stiffness of the softest leg, in shares of m g h; infinite without legs.

        Args:
            p_gain: Position P gain.

        Returns:
            The share.
        """
        return min(standing_share(self.room, self.drives(p_gain)).values(), default=inf)

    @property
    def delay(self) -> float:
        """Return how long goals take on the bus [s]."""
        return self.chain.goal_seconds if self.chain else 0.0

    @property
    def factory_gain(self) -> float | None:
        """Return the least P gain that the servos come with; None without servos."""
        return min(MOTORS[servo.model].p_gain for servo in self.chain.servos) if self.chain else None


def told_of_legs(motors: Motors, p_gain: float | None = None) -> str:
    """Return whether a leg's motors in series can hold the robot up, a sentence; empty where they can, or has no legs.

    Args:
        motors: Of the robot.
        p_gain: Position P gain of its servos; that of the factory if left out.

    Returns:
        The sentence.
    """
    if not motors.room.mechanism.mass > 0 or (share := motors.leg(p_gain)) >= 0.999 * STANDING:
        return ""
    now = p_gain or motors.factory_gain
    raised = f"raise the P gain to {now * STANDING / share:.0f}" if now else "stiffer motors are needed"
    verb = "cannot stand on them" if share < 1.0 else "gives way under its weight"
    return f"legs have stiffness {share:.1f} of what standing needs (m g h), so the robot {verb}: {raised}"


def motors_of(servos: str | None, mechanism: Mechanism, stiffness: float | None = None) -> Motors:
    """Return a robot's motors.

    Args:
        servos: the file of its servos; None where there is none.
        mechanism: the robot.
        stiffness: of the legs without servos; the default's if left out.

    Returns:
        The motors.
    """
    chain = load_chain(servos) if servos else None
    return Motors(room=InverseDynamics(mechanism), chain=chain, stiffness=STANDING if stiffness is None else stiffness)


def slowed(motion: Motion, speed: float) -> Motion:
    """Return a motion at another speed: 2 is twice as fast.

    Args:
        motion: The motion.
        speed: Factor of the speed; 2 is twice as fast.

    Returns:
        The motion with other times.
    """
    return motion if speed == 1.0 else replace(motion, times=motion.times / speed)


def check_options(options: argparse.Namespace) -> None:
    """Make sure that the command's numbers can be.

    Args:
        options: rate, speed, trials, p_gain, stiffness and servos as they were parsed.

    Raises:
        RobikError: Names the one that cannot.
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
