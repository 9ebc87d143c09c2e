"""Motors of a simulation: a servo chain's, and the options of the command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf

from ..dynamics.actuators import MotorData
from ..dynamics.drives import STANDING, Drive, file_drives, knows_gains, standing_share
from ..dynamics.inverse import InverseDynamics
from ..errors import RobikError, ServoError
from ..mechanism import Mechanism
from ..motions import Motion
from ..servo.brands.registry import BRANDS
from ..servo.chain.chain import ServoChain
from ..servo.chain.file import load_chain
from ..servo.chain.servo import Servo

SURELY = 0.999  # of a share, from which it is reached
COARSE = 100.0  # steps of P gains that go to thousands


def chain_drives(
    chain: ServoChain, mechanism: Mechanism, p_gain: Mapping[int, float] | float | None = None
) -> dict[str, Drive]:
    """Return the servos' drives by actuator.

    `p_gain` is the position P gain of all servos, or by their ids; the chain's if left out, else the factory's. Raise
    ServoError for an actuator without a servo, or a servo without motor data.
    """
    if missing := [name for name in mechanism.actuators if name not in chain.actuators]:
        raise ServoError(f"no servo turns {', '.join(missing)} of robot {mechanism.name!r}")
    drives: dict[str, Drive] = {}
    for servo in chain.servos:
        if servo.actuator not in mechanism.actuators:
            continue
        motor, gear = motor_data(servo), servo.gear_ratio
        asked = p_gain.get(servo.id) if isinstance(p_gain, Mapping) else p_gain
        gain = servo.p_gain if asked is None else asked
        stiffness, effort, speed = motor.stiffness(gain) * gear**2, motor.stall_torque * gear, motor.free_speed / gear
        if twin := drives.get(servo.actuator):  # both push
            stiffness, effort, speed = stiffness + twin.stiffness, effort + twin.effort, min(speed, twin.speed)
        drives[servo.actuator] = Drive(stiffness, effort, speed, motor.efficiency)
    return drives


def motor_data(servo: Servo) -> MotorData:
    """Return the data of a servo's motor at the vendor's voltage; raise ServoError if they are not known."""
    model, motor = servo.datasheet, servo.datasheet.motor
    if motor is None or not model.max_speed > 0:
        known = [name for brand in BRANDS.values() for name, one in brand.models.items() if one.motor is not None]
        raise ServoError(
            f"what the motor of an {servo.model} can is unknown; add a data file that is like it, with its motor"
            f" (docs/servo-models.md); known are {', '.join(known)}"
        )
    power = None if motor.stall_current is None else motor.voltage * motor.stall_current
    return MotorData(motor.stall_torque, model.max_speed, motor.p_gain, motor.drive, power)


@dataclass(frozen=True, kw_only=True)
class Raised:
    """Gains above those of the robot's file.

    Attributes:
        before: stiffness of the softest leg with the file's gains, as a share of m g h.
        after: likewise with these.
    """

    before: float
    after: float

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"gains of {self.after / self.before:.1f} times those of the file: legs have {self.after:.1f} instead of"
            f" {self.before:.1f} of what standing needs (m g h)"
        )


@dataclass(frozen=True, kw_only=True)
class Motors:
    """Motors of a robot, whatever they are.

    Attributes:
        room: of the robot.
        chain: its servos; None where only the robot's file knows its motors.
        stiffness: of the legs without servos, at least this share of m g h; 0 for the gains of the robot's file.
    """

    room: InverseDynamics
    chain: ServoChain | None = None
    stiffness: float = 0.0

    def drives(self, p_gain: float | None = None) -> dict[str, Drive]:
        """Return drives by actuator, at a position P gain; the chain's if left out, else the factory's."""
        if self.chain is None:
            return file_drives(self.room, self.stiffness)
        return chain_drives(self.chain, self.room.mechanism, p_gain)

    def leg(self, p_gain: float | None = None) -> float:
        """Return the stiffness of the softest leg at a position P gain, as a share of m g h; infinite without legs."""
        return min(standing_share(self.room, self.drives(p_gain)).values(), default=inf)

    @property
    def stiffer(self) -> Motors | None:
        """Return motors with gains that standing needs, twice; None with servos, and where the legs are as stiff."""
        if self.chain is not None or not knows_gains(self.room) or self.leg() >= SURELY * STANDING:
            return None
        return replace(self, stiffness=STANDING)

    @property
    def raised(self) -> Raised | None:
        """Return by how much gains are above those of the robot's file; None where they are not."""
        if self.chain is not None or not self.stiffness or not knows_gains(self.room):
            return None
        own, now = replace(self, stiffness=0.0).leg(), self.leg()
        return Raised(before=own, after=now) if now > own else None

    @property
    def delay(self) -> float:
        """Return how long goals take on the bus [s]."""
        return self.chain.goal_seconds if self.chain else 0.0

    @property
    def factory_gain(self) -> float | None:
        """Return the least P gain that the servos come with; None without servos."""
        return min(motor_data(servo).p_gain for servo in self.chain.servos) if self.chain else None

    @property
    def highest_gain(self) -> float:
        """Return the highest P gain that all servos take; infinite without servos."""
        found = [servo.datasheet.motor for servo in self.chain.servos] if self.chain else []
        return min((motor.highest_gain for motor in found if motor is not None), default=inf)

    def gain(self, wanted: float) -> float:
        """Return the round P gain to set for at least a wanted one, never above the highest that servos take."""
        step = COARSE if self.highest_gain > 10 * COARSE else 1.0
        return min(ceil(wanted / step - 1e-9) * step, self.highest_gain)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Return the models of servos whose motors' data no page of the vendor's confirms."""
        found = {servo.model: servo.datasheet.motor for servo in self.chain.servos} if self.chain else {}
        return tuple(model for model, motor in found.items() if motor is not None and not motor.is_checked)


def told_of_legs(motors: Motors, p_gain: float | None = None) -> str:
    """Return a clause on legs whose motors in series are too soft to hold the robot; empty where none is."""
    if not motors.room.mechanism.mass > 0 or (share := motors.leg(p_gain)) >= SURELY * STANDING:
        return ""
    now = p_gain or motors.factory_gain
    raised = "stiffer motors are needed"
    if now and now * STANDING / share <= motors.highest_gain:
        raised = f"raise the P gain to {motors.gain(now * STANDING / share):.0f}"
    verb = "cannot stand on them" if share < 1.0 else "gives way under its weight"
    return f"legs have stiffness {share:.1f} of what standing needs (m g h), so the robot {verb}: {raised}"


def told_of_data(motors: Motors) -> str:
    """Return a clause on servos whose data no vendor's page confirms; empty where there are none."""
    if motors.chain is None and not knows_gains(motors.room):
        return f"the file has no gains: legs are taken to have {motors.leg():.1f} of what standing needs (m g h)"
    return f"what the motor of {' and '.join(motors.unchecked)} can is not confirmed" if motors.unchecked else ""


def motors_of(servos: str | None, mechanism: Mechanism, stiffness: float | None = None) -> Motors:
    """Return a robot's motors, from the file of its servos where there is one.

    `stiffness` is that of legs without servos, at least this share of m g h; as the robot's file has it if left out.
    """
    chain = load_chain(servos) if servos else None
    return Motors(room=InverseDynamics(mechanism), chain=chain, stiffness=stiffness or 0.0)


def slowed(motion: Motion, speed: float) -> Motion:
    """Return a motion at another speed: 2 is twice as fast."""
    return motion if speed == 1.0 else replace(motion, times=motion.times / speed)


def check_gains(options: argparse.Namespace) -> None:
    """Check that gains that a command is given are of the motors that it is given."""
    if options.p_gain is not None and options.servos is None:
        raise RobikError("--p-gain is of servos; give them by --servos")
    if options.stiffness is not None and options.servos is not None:
        raise RobikError("--stiffness is of motors that only the robot's file knows; of servos give --p-gain")
