"""Goals that carry the weight, for servos: where to tell them to go so that their horns, loaded, are where a motion is.

A servo is a spring of stiffness k: a torque τ turns its horn τ/k away from its goal. So the goal is q + τ/k instead of
q. Exports and playing take such goals from here; physics has the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..dynamics import InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..dynamics.derivatives import derivatives
from ..dynamics.drives import Drive, carry_weight
from ..errors import ClipError, ServoError
from ..mechanism import Mechanism
from ..motions import Motion
from ..retarget.posing import posed
from ..servo.chain import ServoChain
from ..servo.softening import soften
from .motors import chain_drives, slowed
from .plan import standing_phases

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
    low, high = _limits(mechanism, chain)
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
    room = InverseDynamics(mechanism)
    if room.topology.base is not None and motion.base is None:
        raise ClipError(
            f"{source} has no base columns, but robot {mechanism.name!r} floats; bake or solve it with RobIK"
        )
    states = posed(mechanism, motion, source)[0]
    q = room.coordinates(states, source)
    stands = standing_phases(mechanism, states) if room.topology.base is not None else {}
    contacts = sole_contacts(mechanism, stands, len(q))
    forces = room.solve(states.times, q, *derivatives(room.flat, states.times, q), contacts)
    return replace(states, values=carry_weight(states.values, forces, drives))


def _limits(mechanism: Mechanism, chain: ServoChain) -> tuple[np.ndarray, np.ndarray]:
    """Return lowest and highest values (A,) that both the robot and its servos allow.

    Raises:
        ServoError: there are none.
    """
    limits = {n: pair for j in mechanism.actuated for n, pair in zip(j.coordinate_names, j.limits, strict=True)}
    for servo in chain.servos:
        low, high = limits.get(servo.actuator, (-np.inf, np.inf))
        limits[servo.actuator] = max(low, servo.position_limits[0]), min(high, servo.position_limits[1])
    lows, highs = np.array([limits[name] for name in mechanism.actuators]).T
    if (lows > highs).any():
        name = mechanism.actuators[int(np.argmax(lows > highs))]
        raise ServoError(f"the limits of {name} and those of its servo have nothing in common")
    return lows, highs
