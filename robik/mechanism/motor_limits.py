"""Limits of a robot's motors over time, and what is taken for those that nobody gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from ..errors import ClipError
from .model import Mechanism
from .parts import Joint

DEFAULT_SPEED = 20.0  # of a motor whose speed no file names [rad/s, or the robot's extents]: 0.17 rad in 1/120 s
FASTEST = 23.0  # of a motor between two limits, whatever its file names, likewise: 0.19 rad in 1/120 s
RISE = 0.05  # [s] in which a motor of unknown acceleration reaches its speed: 105 rad/s² at 5.24 rad/s
ONSET = 0.02  # [s] in which it reaches its acceleration


@dataclass(frozen=True)
class Limits:
    """Limits of A motors.

    Attributes:
        speed: (A,) [rad/s or m/s].
        acceleration: (A,) [rad/s² or m/s²].
        jerk: (A,) [rad/s³ or m/s³].
        torque: (A,) [N m or N]; infinite where nothing is to be kept.
    """

    speed: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray
    torque: np.ndarray

    @property
    def over_time(self) -> np.ndarray:
        """Return speed, acceleration and jerk (3, A)."""
        return np.array([self.speed, self.acceleration, self.jerk])


def limits_of(
    mechanism: Mechanism,
    acceleration: float | Mapping[str, float] | None = None,
    jerk: float | Mapping[str, float] | None = None,
    share: float = 1.0,
    torque: bool = False,
) -> Limits:
    """Return the limits of a robot's motors, with `share` of each one's speed and `torque` for efforts of its file.

    A motor that `acceleration` does not name reaches its speed in `RISE`; one that `jerk` does not name, its
    acceleration in `ONSET`. Both are as in `Settings`. Raise ClipError for a motor that the robot does not have, or
    a limit that is no positive number.
    """
    speed, effort = [], []
    for joint in mechanism.actuated:
        for name in joint.coordinate_names:
            speed.append(speed_limit(joint, name, mechanism.extent))
            effort.append(joint.effort_limit if torque else np.inf)
    speeds = np.array(speed)
    accelerations = _given(mechanism, acceleration, speeds / RISE, "acceleration")
    jerks = _given(mechanism, jerk, accelerations / ONSET, "jerk")
    return Limits(share * speeds, accelerations, jerks, np.array(effort))


def speed_limit(joint: Joint, coordinate: str, extent: float) -> float:
    """Return the speed limit [rad/s or m/s] of a motor: `DEFAULT_SPEED` where the robot's file names none.

    Files name placeholders, such as 100 rad/s for a knee. Between two limits no motor turns faster than `FASTEST`.
    `extent` is that of the robot [m].
    """
    motion = joint.coordinate_names.index(coordinate)
    size = extent if joint.coordinate_units[motion] == "m" else 1.0
    if not isfinite(joint.velocity_limit):
        return DEFAULT_SPEED * size
    lower, upper = joint.limits[motion]
    return min(joint.velocity_limit, FASTEST * size) if isfinite(upper - lower) else joint.velocity_limit


def motor_limits(mechanism: Mechanism, limit: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return the limit by actuator that has one [rad or m, per s² or s³], from a limit as in `Settings`."""
    if limit is None:
        return {}
    if isinstance(limit, Mapping):
        return dict(limit)
    units = zip(mechanism.actuators, mechanism.actuator_units, strict=True)
    return {name: limit * (mechanism.extent if unit == "m" else 1.0) for name, unit in units}


def named_efforts(mechanism: Mechanism) -> dict[str, float]:
    """Return the effort [N m or N] of each actuator with one in the robot's file; raise ClipError for none."""
    found = {
        name: joint.effort_limit
        for joint in mechanism.actuated
        for name in joint.coordinate_names
        if isfinite(joint.effort_limit)
    }
    if not found:
        raise ClipError(
            f"robot {mechanism.name!r} names no effort of its motors, so no torque can be kept; give efforts in its"
            " file, or torque_limit in the settings"
        )
    return found


def torque_limits(mechanism: Mechanism, limit: float | Mapping[str, float]) -> np.ndarray:
    """Return the largest torques (A,) [N m or N], from `Settings.torque_limit`; infinite for no limit."""
    given = limit if isinstance(limit, Mapping) else dict.fromkeys(mechanism.actuators, limit)
    return np.array([given.get(name, np.inf) for name in mechanism.actuators])


def _given(mechanism: Mechanism, limit: float | Mapping[str, float] | None, usual: np.ndarray, what: str) -> np.ndarray:
    """Return a limit per motor (A,): what is given, else what is usual."""
    found, wanted = usual.copy(), motor_limits(mechanism, limit)
    if unknown := set(wanted) - set(mechanism.actuators):
        raise ClipError(
            f"{what} of {', '.join(sorted(unknown))}, which robot {mechanism.name!r} does not have; its actuators are"
            f" {', '.join(mechanism.actuators)}"
        )
    for name, value in wanted.items():
        if not value > 0:
            raise ClipError(f"the {what} of {name} must be a positive number, not {value!r}")
        found[mechanism.actuators.index(name)] = value
    return found
