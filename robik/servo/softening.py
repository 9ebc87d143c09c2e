"""A motion that must not be played, made into one that may be: slower, or rounded off where it asks too much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..limiter import Limiter
from ..motions import Motion
from .chain import ServoChain
from .preflight import accelerations
from .trajectory import Along, check_length

MARGIN = 0.98  # of the limits that is used, so that rounding does not cross them


@dataclass(frozen=True)
class Softened:
    """Attributes: motion: that keeps the limits, at the rate at which it is to be sent.

    Columns in the chain's order, each actuator once, then those that no servo plays, as they are. deviation: farthest
    from what was asked for, per actuator [rad or m].
    """

    motion: Motion
    deviation: dict[str, float]


def soften(motion: Motion, chain: ServoChain, rate: float, interpolation: str = "linear") -> Softened:
    """Follow a motion as closely as the limits of positions, speeds and accelerations let one, in its own time.

    Args:
        motion: Has a column per actuator of the chain.
        chain: Whose limits.
        rate: Of goals [Hz].
        interpolation: See `Along`.

    Returns:
        The motion.

    Raises:
        ServoError: A column is missing, or the motion is too long.
    """
    along = Along(motion, chain, interpolation)
    check_length(along, rate)
    times = np.arange(int(np.ceil(along.duration * rate - 1e-9)) + 2) / rate
    wished = along.at(times)
    limiter = Limiter(chain.limits, MARGIN * chain.speed_limits, MARGIN * chain.acceleration_limits, 1.0 / rate)
    limiter.place(limiter.clipped(wished[0]))
    rows = [limiter.position]
    for now, then in pairwise(wished[1:]):
        rows.append(limiter.step(now, (then - now) * rate).copy())
    kept = [chain.actuators.index(name) for name in dict.fromkeys(chain.actuators)]
    values = np.array(rows)[:, kept]
    names = tuple(chain.actuators[k] for k in kept)
    off = np.abs(values - wished[:-1, kept]).max(axis=0)
    at = times[:-1] + motion.times[0]
    others = [k for k, name in enumerate(motion.actuators) if name not in names]  # which the preflight is to name
    columns = [np.interp(at, motion.times, motion.values[:, k]) for k in others]
    every = (*names, *(motion.actuators[k] for k in others))
    return Softened(
        Motion(times=at, actuators=every, values=np.column_stack([values, *columns])),
        dict(zip(names, off.tolist(), strict=True)),
    )


def fitting_speed(motion: Motion, chain: ServoChain) -> float:
    """Return the highest speed, at most 1, at which a motion keeps the chain's limits.

    Of speed and acceleration, at its samples.

    Args:
        motion: The motion.
        chain: The chain of servos.

    Returns:
        Factor of the speed.
    """
    fastest = 1.0
    for servo in chain.servos:
        values = motion.values[:, motion.actuators.index(servo.actuator)]
        speed = np.abs(np.diff(values) / np.diff(motion.times)).max(initial=0.0)
        acceleration = np.abs(accelerations(motion.times, values)).max(initial=0.0)
        if speed > MARGIN * servo.velocity_limit:
            fastest = min(fastest, MARGIN * servo.velocity_limit / speed)
        if acceleration > MARGIN * servo.acceleration_limit:
            fastest = min(fastest, float(np.sqrt(MARGIN * servo.acceleration_limit / acceleration)))
    return float(fastest)
