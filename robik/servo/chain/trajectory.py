"""Trajectories of servos: along a motion, on the way to its start, and slowing to a stand."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import ServoError
from ...straight import straight
from .chain import ServoChain

if TYPE_CHECKING:
    from ...motions import Motion

INTERPOLATIONS = ("linear", "cubic")
MOST_GOALS = 3_600_000  # of one motion: ten hours at 100 Hz
PEAK = 15 / 8  # of the speed of a quintic between two stands, over its mean speed


class Trajectory(Protocol):
    """A way through the actuators' values.

    Attributes:
        duration: [s].
    """

    duration: float

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values (K, n) [rad or m] of the chain's servos at times (K,) [s].

        It stands before 0 and after its duration.
        """
        ...


class Samples(Protocol):
    """Samples of a motion that is played: see `Motion`.

    The process that has the port does without the rest, which it would have to import first.
    """

    @property
    def times(self) -> np.ndarray:
        """Times of the samples (T,) [s]."""

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators."""

    @property
    def values(self) -> np.ndarray:
        """Values (T, A) [rad or m]."""


class Along:
    """A motion's columns in the order of the chain's servos, from the motion's first time.

    Raise ServoError if a column is missing, or for an unknown interpolation.

    Attributes:
        motion: with a column per actuator of the chain.
        interpolation: between its samples; "linear" never exceeds their speeds, "cubic" is smoother.
    """

    def __init__(self, motion: Samples, chain: ServoChain, interpolation: str = "linear") -> None:
        missing = [name for name in chain.actuators if name not in motion.actuators]
        if missing:
            raise ServoError(f"the motion has no column for {', '.join(missing)}; it has {', '.join(motion.actuators)}")
        if interpolation not in INTERPOLATIONS:
            raise ServoError(f"unknown interpolation {interpolation!r}; there are {', '.join(INTERPOLATIONS)}")
        self.motion, self.interpolation = motion, interpolation
        self._times = motion.times - motion.times[0]
        self._values = motion.values[:, [motion.actuators.index(name) for name in chain.actuators]]
        self.duration = float(self._times[-1])
        is_cubic = interpolation == "cubic" and len(self._times) > 2
        self._spline = _spline(self._times, self._values) if is_cubic else None

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values at some times, as `Trajectory.at`."""
        times = np.clip(times, 0.0, self.duration)
        if self._spline is not None:
            return self._spline(times)
        if len(self._times) == 1:
            return np.repeat(self._values, len(times), axis=0)
        k = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, len(self._times) - 2)
        share = ((times - self._times[k]) / (self._times[k + 1] - self._times[k]))[:, None]
        return (1.0 - share) * self._values[k] + share * self._values[k + 1]


def _spline(times: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from scipy.interpolate import CubicSpline  # takes long to import, and most play without

    return CubicSpline(times, values)


class Between:
    """From one stand to another, all servos arriving together, none faster than its speed.

        x(u) = a + (b − a) (10 u³ − 15 u⁴ + 6 u⁵),  u = t / T

    Start and end are values (n,) [rad or m], speeds the highest (n,) [rad/s or m/s].
    """

    def __init__(self, start: np.ndarray, end: np.ndarray, speeds: np.ndarray) -> None:
        self._start, self._way = np.asarray(start, dtype=float), np.asarray(end, dtype=float) - start
        self.duration = float(np.max(PEAK * np.abs(self._way) / speeds))

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values at some times, as `Trajectory.at`."""
        u = np.clip(np.asarray(times, dtype=float) / max(self.duration, 1e-9), 0.0, 1.0)[:, None]
        return self._start + self._way * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2))


class Round:
    """A trajectory over and over, and back from its end to its start in between; without an end.

    Where its end and its start are a frame's step apart, it goes round without a halt; `frame` is the time of a
    step [s]. `speeds` are the highest (n,) on the way back, `limits` those at all [rad/s or m/s].
    """

    duration = inf

    def __init__(self, along: Trajectory, speeds: np.ndarray, frame: float, limits: np.ndarray) -> None:
        start, end = along.at(np.array([0.0, along.duration]))
        is_a_step = bool((np.abs(start - end) <= limits * frame).all())
        self._along = along
        self._back: Trajectory = Linear(end, start, frame) if is_a_step else Between(end, start, speeds)
        self.length = along.duration + self._back.duration

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values at some times, as `Trajectory.at`."""
        times = np.maximum(times, 0.0) % self.length if self.length > 0 else np.zeros(len(times))
        is_back = (times > self._along.duration)[:, None]
        return np.where(is_back, self._back.at(times - self._along.duration), self._along.at(times))


class Linear:
    """From one pose to another at one speed."""

    def __init__(self, start: np.ndarray, end: np.ndarray, duration: float) -> None:
        self._start, self._way, self.duration = start, end - start, duration

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values at some times, as `Trajectory.at`."""
        return self._start + self._way * np.clip(times / self.duration, 0.0, 1.0)[:, None]


class Standing:
    """One pose for a while."""

    def __init__(self, values: np.ndarray, duration: float) -> None:
        self._values, self.duration = np.asarray(values, dtype=float), duration

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return values at some times, as `Trajectory.at`."""
        return np.repeat(self._values[None, :], len(times), axis=0)


def part(motion: Motion, start: float | None = None, end: float | None = None, speed: float = 1.0) -> Motion:
    """Return a stretch of a motion, from 0 s on, at another speed; 2 is twice as fast.

    `start` and `end` are in the motion's own times [s]; its first and last if left out. Raise ServoError for a
    stretch outside the motion, or a speed that is not positive.
    """
    from ...motions import Motion

    first, last = float(motion.times[0]), float(motion.times[-1])
    begin, finish = first if start is None else start, last if end is None else end
    if not first - 1e-9 <= begin <= finish <= last + 1e-9:
        raise ServoError(
            f"the stretch from {begin:g} to {finish:g} s is not in the motion, which goes from {first:g} to {last:g} s"
        )
    if not 0 < speed < inf:
        raise ServoError(f"the speed of playing must be positive, not {speed!r}")
    inside = motion.times[(motion.times > begin + 1e-9) & (motion.times < finish - 1e-9)]
    times = np.unique(np.concatenate([[begin], inside, [finish]]))
    values = straight(times, motion.times, motion.values)
    return Motion(times=times / speed, actuators=motion.actuators, values=values)


def check_length(trajectory: Trajectory, rate: float) -> None:
    """Raise ServoError for a motion that is too long to be held against the limits at each goal; `rate` is in Hz."""
    if trajectory.duration * rate > MOST_GOALS:
        raise ServoError(
            f"the motion takes {trajectory.duration:.4g} s, more than {MOST_GOALS / rate / 3600:.3g} h at {rate:g} Hz; "
            "play a stretch of it, or play it faster"
        )


def sample_times(trajectory: Trajectory, rate: float) -> np.ndarray:
    """Return the times (K,) [s] at which goals are sent: every period, and once at or behind the end.

    `rate` is in Hz. Raise ServoError if the motion is too long.
    """
    check_length(trajectory, rate)
    return np.arange(int(np.ceil(trajectory.duration * rate - 1e-9)) + 1) / rate
