"""Nudges: one actuator goes a small way and back, so that one sees which way it turns, or how it follows."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np

from ...errors import ServoError
from ...motions import Motion
from ..chain.chain import ServoChain
from ..chain.trajectory import PEAK, Between

SHARE = 0.8  # of the limits of speed and acceleration that a quick nudge uses
STEEPEST = 10 / sqrt(3)  # of the acceleration of a quintic between two stands, over its way and time²
STANDING = 0.6  # [s] at either end of a quick one
STEP = 0.01  # [s] between its samples


def slow_nudge(chain: ServoChain, rest: Mapping[str, float], actuator: str, way: float, seconds: float) -> Motion:
    """Return a motion of one actuator by a way [rad or m] and back, evenly, in `seconds` each.

    All actuators begin at `rest`. It goes the other way where there is no room; raise ServoError if there is none
    either, or no such actuator.
    """
    start, end = _ends(chain, rest, actuator, way)
    times = np.array([0.0, seconds, 2.0 * seconds])
    return Motion(times=times, actuators=tuple(rest), values=np.array([start, end, start]))


def quick_nudge(chain: ServoChain, rest: Mapping[str, float], actuator: str, way: float) -> Motion:
    """Return a motion of one actuator by a way [rad or m] and back, as quickly as its limits allow.

    It stands after either. All actuators begin at `rest`. It goes the other way where there is no room; raise
    ServoError if there is none either, or no such actuator.
    """
    start, end = _ends(chain, rest, actuator, way)
    way = float(np.abs(end - start).max())
    servos = [servo for servo in chain.servos if servo.actuator == actuator]
    speed = SHARE * min(servo.velocity_limit for servo in servos)
    hardest = SHARE * min(servo.profile_acceleration or servo.acceleration_limit for servo in servos)
    took = max(PEAK * way / speed, sqrt(STEEPEST * way / hardest))
    share = np.linspace(0.0, 1.0, int(np.ceil(took / STEP)) + 1)
    out = Between(start, end, np.full(len(start), speed))
    way_out = out.at(share * out.duration)
    stand = np.repeat(end[None, :], round(STANDING / STEP), axis=0)
    values = np.concatenate([way_out, stand, way_out[::-1], np.repeat(start[None, :], len(stand), axis=0)])
    return Motion(times=np.arange(len(values)) * STEP, actuators=tuple(rest), values=values)


def _ends(chain: ServoChain, rest: Mapping[str, float], actuator: str, way: float) -> tuple[np.ndarray, np.ndarray]:
    """Return where all actuators rest, within their limits, and where they are with one of them gone its way."""
    if actuator not in rest:
        raise ServoError(f"the motor {actuator!r} has no servo; assign one")
    limits = {servo.actuator: servo.position_limits for servo in reversed(chain.servos)}
    low, high = limits[actuator]
    way = way if low <= rest[actuator] + way <= high else -way
    if not low <= rest[actuator] + way <= high:
        unit = f"{np.degrees(abs(way)):.3g}° (or {1e3 * abs(way):.3g} mm)"
        raise ServoError(f"the motor {actuator!r} has no room for {unit} between its limits")
    start = np.clip(np.array(list(rest.values())), *np.array([limits[name] for name in rest]).T)
    end = start.copy()
    end[list(rest).index(actuator)] += way
    return start, end
