"""Softening of a motion that exceeds the servos' limits: a lower speed, or rounding off where it asks too much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...limiter import Limiter
from ...motions import Motion
from ..chain.chain import ServoChain
from ..chain.trajectory import Along, check_length, sample_times
from .preflight import accelerations, limit_problems

MARGIN = 0.98  # of the limits that is used, so that rounding does not cross them


@dataclass(frozen=True)
class Softened:
    """A motion that keeps the limits.

    Attributes:
        motion: at the rate of the goals. Its columns are in the chain's order, each actuator once; then come those that
            no servo plays, unchanged. A motion that keeps the limits is itself.
        deviation: largest distance from what was asked for, by actuator [rad or m].
    """

    motion: Motion
    deviation: dict[str, float]


def soften(motion: Motion, chain: ServoChain, rate: float, interpolation: str = "linear") -> Softened:
    """Return a motion that follows another in its own time, as closely as the limits allow, and its deviation.

    The limits are those of positions, speeds and accelerations, at goals with a rate [Hz]; `interpolation` is that
    of `Along`. A motion that keeps them stays as it is, if it begins and ends in a stand. Raise ServoError if a
    column is missing, or the motion is too long.
    """
    along = Along(motion, chain, interpolation)
    check_length(along, rate)
    times = np.arange(int(np.ceil(along.duration * rate - 1e-9)) + 2) / rate
    wished = along.at(times)
    goals = sample_times(along, rate)
    if not limit_problems(_between_stands(motion), chain, goals, along.at(goals)):
        return Softened(motion, dict.fromkeys(chain.actuators, 0.0))
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
    others = [k for k, name in enumerate(motion.actuators) if name not in names]  # kept: the preflight names them
    columns = [np.interp(at, motion.times, motion.values[:, k]) for k in others]
    every = (*names, *(motion.actuators[k] for k in others))
    return Softened(
        Motion(times=at, actuators=every, values=np.column_stack([values, *columns])),
        dict(zip(names, off.tolist(), strict=True)),
    )


def _between_stands(motion: Motion) -> Motion:
    """Return the motion with its first pose one sample before it, and its last one sample after it."""
    if len(motion.times) < 2:
        return motion
    times = np.concatenate(
        [2 * motion.times[:1] - motion.times[1:2], motion.times, 2 * motion.times[-1:] - motion.times[-2:-1]]
    )
    values = np.concatenate([motion.values[:1], motion.values, motion.values[-1:]])
    return Motion(times=times, actuators=motion.actuators, values=values)


def fitting_speed(motion: Motion, chain: ServoChain, fastest: float = 1.0) -> float:
    """Return the highest factor of speed, at most `fastest`, at which a motion keeps the chain's limits.

    They are those of speed and acceleration, judged at the motion's samples.
    """
    for servo in chain.servos:
        values = motion.values[:, motion.actuators.index(servo.actuator)]
        speed = np.abs(np.diff(values) / np.diff(motion.times)).max(initial=0.0)
        acceleration = np.abs(accelerations(motion.times, values)).max(initial=0.0)
        if fastest * speed > MARGIN * servo.velocity_limit:
            fastest = MARGIN * servo.velocity_limit / speed
        if fastest**2 * acceleration > MARGIN * servo.acceleration_limit:
            fastest = float(np.sqrt(MARGIN * servo.acceleration_limit / acceleration))
    return float(fastest)
