"""Goals that carry the weight, for servos: where to tell them to go so that their horns, loaded, are where a motion is.

A servo is a spring of stiffness k: a torque τ turns its horn τ/k away from its goal. So the goal is q + τ/k instead of
q. Exports and playing take such goals from here; physics has the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..dynamics import InverseDynamics
from ..dynamics.drives import Drive, carry_weight
from ..errors import ServoError
from ..mechanism import Mechanism
from ..motions import Motion
from ..servo.chain import ServoChain
from ..servo.softening import soften
from .motion_forces import motion_forces
from .motors import chain_drives, slowed

NOTICEABLE = 1e-3  # [rad or m] of difference that softening makes


def carrying(
    mechanism: Mechanism,
    motion: Motion,
    chain: ServoChain,
    gains: Mapping[int, float] | float | None = None,
    *,
    speed: float = 1.0,
    rate: float = 100.0,
    source: str = "the motion",
) -> tuple[Motion, str]:
    """Return a motion's goals for servos, within their limits of position and speed.

    Args:
        mechanism: the robot, with masses.
        motion: with a column per actuator and, where the robot floats, its base.
        chain: the robot's servos.
        gains: position P gains, by id of a servo or of all; those of the factory where they are left out.
        speed: at which it is played; 2 is twice as fast, and needs other torques.
        rate: of goals [Hz].
        source: the motion's file, for errors.

    Returns:
        The goals at the motion's own times, and what keeping the limits of speed took away from them, in words; empty
        where it is nothing to speak of.

    Raises:
        ServoError: a motor without a servo, or a servo of which it is not known what its motor can.
        ClipError: a motion without base of a robot that floats, or one that lacks an actuator.
        MechanismError: a robot without mass.
    """
    drives = chain_drives(chain, mechanism, gains)
    played = slowed(motion, speed)
    wanted = springs(mechanism, played, drives, source).values
    low, high = limits_of(mechanism, chain)
    goals = Motion(times=played.times, actuators=mechanism.actuators, values=np.clip(wanted, low, high))
    softened = soften(goals, chain, rate)
    name, worst = max(softened.deviation.items(), key=lambda item: item[1])
    said = f"carrying the weight: {name} leaves its goals by {worst:.3g} at most, to keep its speed"
    return slowed(softened.motion, 1.0 / speed), said if worst > NOTICEABLE else ""


def springs(mechanism: Mechanism, motion: Motion, drives: Mapping[str, Drive], source: str = "the motion") -> Motion:
    """Return the set-points that bring springs to where a motion is, whatever their limits.

    Args:
        mechanism: The robot, with masses.
        motion: As it is played.
        drives: By actuator.
        source: The motion's file, for errors.

    Returns:
        The motion that motors are told.

    Raises:
        ClipError: A motion without base of a robot that floats, or one that lacks an actuator.
        MechanismError: A robot without mass.
    """
    found = motion_forces(InverseDynamics(mechanism), motion, source)
    return replace(found.motion, values=carry_weight(found.motion.values, found.dynamics, drives))


def limits_of(mechanism: Mechanism, chain: ServoChain) -> tuple[np.ndarray, np.ndarray]:
    """Return lowest and highest values (A,) that both the robot and its servos allow.

    Args:
        mechanism: The robot.
        chain: Its servos.

    Returns:
        Lowest (A,) and highest (A,) [rad or m].

    Raises:
        ServoError: There are none.
    """
    servos = {servo.actuator: servo.position_limits for servo in chain.servos}
    own = np.array([servos.get(name, (-np.inf, np.inf)) for name in mechanism.actuators]).reshape(-1, 2)
    limits = mechanism.actuator_limits
    lows, highs = np.maximum(limits[:, 0], own[:, 0]), np.minimum(limits[:, 1], own[:, 1])
    if (lows > highs).any():
        name = mechanism.actuators[int(np.argmax(lows > highs))]
        raise ServoError(f"the limits of {name} and those of its servo have nothing in common")
    return lows, highs
