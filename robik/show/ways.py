"""Ways between motions: slow down at the end of one, go over, be at the speed with which the next one begins.

A way has three pieces, each within the limits of speed and acceleration. With u = t / T:

    slow down  x = a + v T (u − u³ + u⁴ / 2)             from speed v to a stand, at most 1.5 v / T
    go over    `Between`, as on the approach, from one stand to the other
    speed up   as slowing down, backwards
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ServoError
from ..servo.chain.chain import ServoChain
from ..servo.chain.trajectory import PEAK, Between

STANDS = 0.01  # [rad/s or m/s]: below it a motor counts as standing
SLOWING = 0.4  # [s] to a stand from any speed, as in a soft stop; less where a limit is near
PEAK_RATE = 10 / 3**0.5  # of the acceleration of a quintic between two stands, over its way / T²
MARGIN = 0.98  # of limits that are used, so that sampling does not cross them


@dataclass(frozen=True)
class Stretch:
    """Values over a span of time.

    Attributes:
        times: (K,) from 0 on [s].
        values: (K, n) [rad or m].
    """

    times: np.ndarray
    values: np.ndarray

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return float(self.times[-1])


class Ways:
    """Ways of one robot between motions, with a value for each of its `columns`.

    The servos' horns turn at most at `approach_speed` [rad/s] between motions; a way has `rate` samples a second
    [Hz].

    Attributes:
        top_speeds: of the actuators at all (n,) [rad/s or m/s].
    """

    def __init__(self, chain: ServoChain, columns: Sequence[str], approach_speed: float, rate: float) -> None:
        first = {servo.actuator: k for k, servo in reversed(list(enumerate(chain.servos)))}
        places = [first[name] for name in columns]
        self._names, self._period = tuple(columns), 1.0 / rate
        self._limits = np.sort(chain.limits[places], axis=1)
        self.top_speeds = chain.speed_limits[places]
        self._speeds = MARGIN * chain.approach_speeds(approach_speed)[places]
        self._accelerations = MARGIN * chain.acceleration_limits[places]

    def slow_down(self, values: np.ndarray, speeds: np.ndarray) -> Stretch:
        """Return the way to a stand from a motion's end with values (n,) [rad or m] and speeds (n,) [rad/s or m/s].

        It has no length where the motion ends in a stand. A ServoError names a motor that is too fast to come to a
        stand before its limit.
        """
        speeds = np.where(np.abs(speeds) < STANDS, 0.0, speeds)
        if not speeds.any():
            return Stretch(np.zeros(1), values[None, :])
        fast = np.abs(speeds)
        least = 1.5 * fast / self._accelerations
        room = np.where(speeds > 0, self._limits[:, 1] - values, values - self._limits[:, 0])
        most = 2.0 * np.maximum(room, 0.0) / np.maximum(fast, STANDS)
        if (wrong := (fast > 0) & (most < least)).any():
            k = int(np.argmax(wrong))
            raise ServoError(
                f"{self._names[k]} is at {fast[k]:.3g} per second, too near to its limit to stand before it"
            )
        seconds = np.where(fast > 0, np.minimum(np.maximum(SLOWING, least), most), SLOWING)
        times = self._times(float(seconds[fast > 0].max()))
        u = np.minimum(times[:, None] / seconds, 1.0)
        return Stretch(times, values + speeds * seconds * (u - u**3 + 0.5 * u**4))

    def speed_up(self, values: np.ndarray, speeds: np.ndarray) -> Stretch:
        """Return the way from a stand to a motion's begin: `slow_down` backwards."""
        way = self.slow_down(values, -speeds)
        return Stretch(way.duration - way.times[::-1], way.values[::-1])

    def over(self, start: np.ndarray, end: np.ndarray) -> Stretch:
        """Return the way from one stand to another, values (n,) [rad or m]."""
        length = np.abs(end - start)
        if not length.any():
            return Stretch(np.zeros(1), start[None, :])
        shortest = np.sqrt(PEAK_RATE * length / self._accelerations)
        slow = np.where(length > 0, np.minimum(self._speeds, PEAK * length / np.maximum(shortest, 1e-9)), self._speeds)
        between = Between(start, end, slow)
        times = self._times(between.duration)
        return Stretch(times, between.at(times))

    def _times(self, seconds: float) -> np.ndarray:
        steps = max(1, int(np.ceil(seconds / self._period)))
        return np.linspace(0.0, seconds, steps + 1)
