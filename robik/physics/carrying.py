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
from ..servo.chain.chain import ServoChain
from ..servo.play.softening import soften
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
    """Return a motion's goals for servos, within limits of position and speed, and a text on what speeds took away.

    The goals are at the motion's own times; the text is empty where the loss is negligible. The motion has, where the
    robot floats, its base. `gains` are position P gains, by id of a servo or of all; the chain's if left out, else the
    factory's. At `speed` 2 the motion is played twice as fast, and needs other torques. `rate` of goals is in [Hz].

    Raise ServoError for a motor without a servo or a servo without motor data, ClipError for a motion without an
    actuator or a needed base, MechanismError for a robot without mass.
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

    Raise ClipError for a motion without an actuator or a needed base, MechanismError for a robot without mass.
    """
    found = motion_forces(InverseDynamics(mechanism), motion, source)
    return replace(found.motion, values=carry_weight(found.motion.values, found.dynamics, drives))


def limits_of(mechanism: Mechanism, chain: ServoChain) -> tuple[np.ndarray, np.ndarray]:
    """Return lowest and highest values (A,) that both the robot and its servos allow [rad or m].

    Raise ServoError where their limits have nothing in common.
    """
    servos = {servo.actuator: servo.position_limits for servo in chain.servos}
    own = np.array([servos.get(name, (-np.inf, np.inf)) for name in mechanism.actuators]).reshape(-1, 2)
    limits = mechanism.actuator_limits
    lows, highs = np.maximum(limits[:, 0], own[:, 0]), np.minimum(limits[:, 1], own[:, 1])
    if (lows > highs).any():
        name = mechanism.actuators[int(np.argmax(lows > highs))]
        raise ServoError(f"the limits of {name} and those of its servo have nothing in common")
    return lows, highs
