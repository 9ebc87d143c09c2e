"""Where the servos should be at any time: along a motion, on the way to its start, and slowing to a stand."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.interpolate import CubicSpline

from robik.errors import ServoError
from robik.retarget.motion import Motion
from robik.servo.chain import ServoChain

INTERPOLATIONS = ("linear", "cubic")
PEAK = 15 / 8  # of the speed of a quintic between two stands, over its mean speed


class Trajectory(Protocol):
    """A way through the actuators' values.

    Attributes:
        duration: [s].
    """

    duration: float

    def at(self, times: np.ndarray) -> np.ndarray:
        """Values (K, n) [rad or m] of the chain's servos at times (K,) [s]; it stands before 0 and after its duration."""
        ...


class Along:
    """A motion's columns in the order of the chain's servos, from the motion's first time.

    Args:
        motion: has a column per actuator of the chain.
        chain: whose servos.
        interpolation: between the motion's samples; "linear" never exceeds their speeds, "cubic" is smoother.

    Raises:
        ServoError: a column is missing, or an unknown interpolation.
    """

    def __init__(self, motion: Motion, chain: ServoChain, interpolation: str = "linear") -> None:
        missing = [name for name in chain.actuators if name not in motion.actuators]
        if missing:
            raise ServoError(f"the motion has no column for {', '.join(missing)}; it has {', '.join(motion.actuators)}")
        if interpolation not in INTERPOLATIONS:
            raise ServoError(f"unknown interpolation {interpolation!r}; there are {', '.join(INTERPOLATIONS)}")
        self._times = motion.times - motion.times[0]
        self._values = motion.values[:, [motion.actuators.index(name) for name in chain.actuators]]
        self.duration = float(self._times[-1])
        is_cubic = interpolation == "cubic" and len(self._times) > 2
        self._spline = CubicSpline(self._times, self._values) if is_cubic else None

    def at(self, times: np.ndarray) -> np.ndarray:
        """See `Trajectory`."""
        times = np.clip(times, 0.0, self.duration)
        if self._spline is not None:
            return self._spline(times)
        if len(self._times) == 1:
            return np.repeat(self._values, len(times), axis=0)
        k = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, len(self._times) - 2)
        share = ((times - self._times[k]) / (self._times[k + 1] - self._times[k]))[:, None]
        return (1.0 - share) * self._values[k] + share * self._values[k + 1]


class Between:
    """From one stand to another, all servos arriving together, none faster than its speed.

        x(u) = a + (b − a) (10 u³ − 15 u⁴ + 6 u⁵),  u = t / T

    Args:
        start, end: values (n,) [rad or m].
        speeds: highest (n,) [rad/s or m/s].
    """

    def __init__(self, start: np.ndarray, end: np.ndarray, speeds: np.ndarray) -> None:
        self._start, self._way = np.asarray(start, dtype=float), np.asarray(end, dtype=float) - start
        self.duration = float(np.max(PEAK * np.abs(self._way) / speeds))

    def at(self, times: np.ndarray) -> np.ndarray:
        """See `Trajectory`."""
        u = np.clip(np.asarray(times, dtype=float) / max(self.duration, 1e-9), 0.0, 1.0)[:, None]
        return self._start + self._way * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2))


class Slowing:
    """Another trajectory from a time on, at a speed that falls evenly to nothing: the robot stays on its way while it stops.

    Args:
        trajectory: the way.
        time: where on it [s].
        duration: until it stands [s].
    """

    def __init__(self, trajectory: Trajectory, time: float, duration: float) -> None:
        self._trajectory, self._time, self.duration = trajectory, time, duration

    def at(self, times: np.ndarray) -> np.ndarray:
        """See `Trajectory`."""
        t = np.clip(times, 0.0, self.duration)
        return self._trajectory.at(self._time + t - t**2 / (2.0 * self.duration))


class Standing:
    """One pose for a while."""

    def __init__(self, values: np.ndarray, duration: float) -> None:
        self._values, self.duration = np.asarray(values, dtype=float), duration

    def at(self, times: np.ndarray) -> np.ndarray:
        """See `Trajectory`."""
        return np.repeat(self._values[None, :], len(times), axis=0)


def sample_times(trajectory: Trajectory, rate: float) -> np.ndarray:
    """When goals are sent (K,) [s]: every period, and once at or behind the end."""
    return np.arange(int(np.ceil(trajectory.duration * rate - 1e-9)) + 1) / rate
