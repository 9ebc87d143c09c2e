"""Tilt feedback: a robot that leans against its motion rights itself at ankles and hips.

A sensor on the base says which way is up. Where that is not the up of the motion, the base has turned by

    e = up × up_meant        [rad, in the base's axes; turns about the vertical are not seen]

and the legs that stand are told to turn it back, by the motors' goals

    dq = −G(t) (K e + D ė)

where G says how ankles and hips turn the base (`robik/physics/tilt_plan.py`). The turn is bounded, so is its speed, and
no motor's goal moves by more than `Bounds.motor`. Simulations and servos take the same law from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .errors import RobikError


@dataclass(frozen=True)
class Bounds:
    """Gains and bounds of the law.

    Attributes:
        gain: K, turn asked for by turn seen.
        damping: D [s], turn asked for by speed seen.
        smoothing: time constant of the speed's low-pass filter [s].
        turn: largest turn asked for [rad].
        speed: fastest change of the turn [rad/s].
        motor: largest change of a motor's goal [rad or m].
        fallen: lean beyond which nothing can be righted any more [rad].
        stale: how long a reading counts [s].
    """

    gain: float = 0.8
    damping: float = 0.1
    smoothing: float = 0.02
    turn: float = 0.15
    speed: float = 2.0
    motor: float = 0.2
    fallen: float = 0.6
    stale: float = 0.1


BOUNDS = Bounds()


@dataclass(frozen=True, kw_only=True)
class TiltPlan:
    """Knowledge that feedback needs of a motion, at T times.

    Attributes:
        body: the body on which the sensor sits.
        actuators: names (A,).
        times: (T,) from 0 on [s].
        up: (T, 3) the world's up, in the body's axes.
        gains: (T, A, 3) changes of the actuators that turn the body by one about its axes [rad/rad or m/rad].
    """

    body: str
    actuators: tuple[str, ...]
    times: np.ndarray
    up: np.ndarray
    gains: np.ndarray

    def __post_init__(self) -> None:
        count = len(self.times)
        if not count or self.up.shape != (count, 3) or self.gains.shape != (count, len(self.actuators), 3):
            raise RobikError("a tilt plan needs as many ups and gains as times, and gains for each actuator")
        if not (np.isfinite(self.times).all() and np.isfinite(self.up).all() and np.isfinite(self.gains).all()):
            raise RobikError("a tilt plan needs finite numbers")

    def index(self, at: float) -> int:
        """Return the row that counts at a time."""
        return max(int(np.searchsorted(self.times, at + 1e-9, side="right")) - 1, 0)

    def lean(self, at: float, up: np.ndarray) -> float:
        """Return how far a body leans against the motion [rad]."""
        meant = self.up[self.index(at)]
        return float(np.arctan2(np.linalg.norm(np.cross(up, meant)), up @ meant))

    def played(self, stretch: tuple[float, float] | None, speed: float) -> TiltPlan:
        """Return the plan for a stretch of the motion at another speed."""
        start = 0.0 if stretch is None else stretch[0]
        first = self.index(start)
        rows = slice(first, None if stretch is None else self.index(stretch[1]) + 1)
        times = np.maximum(self.times[rows] - start, 0.0) / speed
        return replace(self, times=times, up=self.up[rows], gains=self.gains[rows])

    def of(self, actuators: Sequence[str]) -> TiltPlan:
        """Return the plan for these actuators, in this order; those that it does not know stay as they are."""
        gains = np.zeros((len(self.times), len(actuators), 3))
        for k, name in enumerate(actuators):
            if name in self.actuators:
                gains[:, k] = self.gains[:, self.actuators.index(name)]
        return replace(self, actuators=tuple(actuators), gains=gains)


class TiltFeedback:
    """The law, step by step.

    Attributes:
        lean: how far the body leans against the motion, as last seen [rad].
        is_fallen: whether it leans too far to be righted.
    """

    def __init__(self, plan: TiltPlan, bounds: Bounds = BOUNDS) -> None:
        self._plan, self._bounds = plan, bounds
        self.lean, self.is_fallen = 0.0, False
        self._turn, self._last, self._speed = np.zeros(3), np.zeros(3), np.zeros(3)
        self._is_blind = True  # no reading before this one: its speed is not known

    def step(self, at: float, up: np.ndarray | None, seconds: float) -> np.ndarray:
        """Return what is to be added to the goals."""
        bounds, plan = self._bounds, self._plan
        k = plan.index(at)
        wanted = np.zeros(3)
        seen = None if up is None or not np.isfinite(up).all() else up / max(float(np.linalg.norm(up)), 1e-9)
        if seen is None:
            self._is_blind = True
        else:
            e = np.cross(seen, plan.up[k])
            self.lean = plan.lean(at, seen)
            self.is_fallen = self.lean > bounds.fallen
            raw = np.zeros(3) if self._is_blind else (e - self._last) / max(seconds, 1e-6)
            share = seconds / (seconds + bounds.smoothing)
            self._speed = np.zeros(3) if self._is_blind else (1.0 - share) * self._speed + share * raw
            self._last, self._is_blind = e, False
            if not self.is_fallen:
                wanted = -_within(bounds.gain * e + bounds.damping * self._speed, bounds.turn)
        self._turn = self._turn + _within(wanted - self._turn, bounds.speed * seconds)
        return np.clip(plan.gains[k] @ self._turn, -bounds.motor, bounds.motor)


def _within(vector: np.ndarray, most: float) -> np.ndarray:
    """Return a vector, shortened where it is longer than this."""
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
