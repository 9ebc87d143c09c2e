"""Limits of motion: speeds and accelerations, and speeds towards the ends of joints.

A coordinate at a distance g from its bound may take at most K g of it in a step, with the limit gain K in (0, 1]
(Kanoun, 2011); and, where its acceleration a is limited, go no faster than it can still brake:

    v Δt + v² / (2 a) ≤ g        ⇔        v ≤ a (√(Δt² + 2 g / a) - Δt)

A coordinate that keeps to this can always keep to it in the next step, however long that is: braking by a Δt leaves v²
/ (2 a) ≤ g true. `limiter.braking_speed` is a little faster, half a step at the end of the way, and counts on steps of
one length; a tracker's are as long as a window takes to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, pi, sqrt

import numpy as np

from ..errors import ClipError
from ..jit import inlined, kernel
from ..mechanism.model import Mechanism

RISE = 0.15  # s from rest to full speed
BRAKES = 0.8  # share of an acceleration that an error may count on; the rest is for the target's own motion
SPEED = 2 * pi  # rad/s or m/s of a motor whose speed is not known


@dataclass(frozen=True)
class MotionLimits:
    """Limits of actuators, in the order of `Mechanism.actuators`; raise ClipError for a wrong shape or bound.

    Attributes:
        lower, upper: (A,) positions [rad or m]; infinite for none.
        velocity: (A,) [rad/s or m/s].
        acceleration: (A,) [rad/s² or m/s²].
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "velocity", "acceleration"):
            values = np.array(getattr(self, name), dtype=float)
            if values.shape != np.shape(self.velocity):
                raise ClipError(f"motion limits need as many values of {name} as of velocity, not {values.shape}")
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if not (np.all(self.velocity > 0) and np.all(self.acceleration > 0) and np.all(self.lower <= self.upper)):
            raise ClipError("velocities and accelerations must be positive, and positions run from low to high")

    @classmethod
    def of(cls, mechanism: Mechanism, rise: float = RISE) -> MotionLimits:
        """Return a robot's own limits; raise ClipError unless `rise` is a positive number.

        They are its joints' limits and speeds, and the acceleration that reaches full speed within `rise` [s].
        """
        if not (isfinite(rise) and rise > 0):
            raise ClipError(f"the time to full speed must be a positive number of seconds, not {rise}")
        known = mechanism.actuator_velocity_limits
        speed = np.where(np.isfinite(known), known, SPEED)
        low, high = mechanism.actuator_limits.T
        return cls(low, high, speed, speed / rise)


@inlined
def approach(gap, dt, gain, acceleration):
    """Return the highest velocity towards a bound at a distance `gap`; zero where it is passed already.

    One step of dt [s] may take the share `gain` of the gap, and the acceleration can brake it before the bound.
    """
    if gap <= 0.0:
        return 0.0
    fastest = gain * gap / dt
    if acceleration < np.inf:
        fastest = min(fastest, acceleration * (sqrt(dt * dt + 2.0 * gap / acceleration) - dt))
    return fastest


@kernel
def velocity_range(q, v, lower, upper, speed, acceleration, gain, dt):
    """Return the lowest and highest velocity of a coordinate q with velocity v between its limits.

    Where the bounds contradict each other, the acceleration's has priority over the limit gain's and the speed's.
    One step of dt [s] may take the share `gain` of the gap to a limit.
    """
    low = max(-speed, -approach(q - lower, dt, gain, acceleration))
    high = min(speed, approach(upper - q, dt, gain, acceleration))
    if acceleration < np.inf:
        change = acceleration * dt
        low, high = max(low, v - change), min(high, v + change)
        if low > high:
            low = high = v - change if v > 0.0 else v + change
    return low, high
