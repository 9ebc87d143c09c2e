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
    """Return the limits of a robot's motors.

    Args:
        mechanism: The robot.
        acceleration: As in `Settings.acceleration_limit`; a motor that is not named reaches its speed in `RISE`.
        jerk: As in `Settings.jerk_limit`; a motor that is not named reaches its acceleration in `ONSET`.
        share: How much of each motor's speed may be used, above 0 to 1.
        torque: Whether the efforts that the robot's file names are kept.

    Returns:
        The limits.

    Raises:
        ClipError: A limit of a motor that the robot does not have, or that is no positive number.
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
    """Return the speed limit of a motor: `DEFAULT_SPEED` where the robot's file names none.

    Files name placeholders, such as 100 rad/s for a knee. Between two limits no motor turns faster than `FASTEST`.

    Args:
        joint: With a motor.
        coordinate: The name of one of its motions.
        extent: Of the robot [m].

    Returns:
        Speed [rad/s or m/s].
    """
    motion = joint.coordinate_names.index(coordinate)
    size = extent if joint.coordinate_units[motion] == "m" else 1.0
    if not isfinite(joint.velocity_limit):
        return DEFAULT_SPEED * size
    lower, upper = joint.limits[motion]
    return min(joint.velocity_limit, FASTEST * size) if isfinite(upper - lower) else joint.velocity_limit


def motor_limits(mechanism: Mechanism, limit: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return the limit of each actuator that has one [rad or m, per s² or s³].

    Args:
        mechanism: The robot.
        limit: As `Settings.acceleration_limit` and `Settings.jerk_limit` have it.

    Returns:
        Limit by actuator [rad or m, per s² or s³].
    """
    if limit is None:
        return {}
    if isinstance(limit, Mapping):
        return dict(limit)
    units = zip(mechanism.actuators, mechanism.actuator_units, strict=True)
    return {name: limit * (mechanism.extent if unit == "m" else 1.0) for name, unit in units}


def named_efforts(mechanism: Mechanism) -> dict[str, float]:
    """Return the effort of each actuator that the robot's file names [N m or N].

    Args:
        mechanism: The robot.

    Returns:
        Effort by actuator, without those of which none is named.

    Raises:
        ClipError: None is named at all.
    """
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
    """Return the largest torque of each actuator (A,) [N m or N]; infinite where there is no limit.

    Args:
        mechanism: The robot.
        limit: As `Settings.torque_limit` has it.

    Returns:
        The limits.
    """
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
