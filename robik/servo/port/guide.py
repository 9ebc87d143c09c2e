"""Guides of a stream of goals: along a trajectory at a variable pace, or after requests as they come."""

from __future__ import annotations

import time
from math import inf
from typing import Protocol

import numpy as np

from ...limiter import Limiter
from ..chain.trajectory import Trajectory
from .show_clock import ShowClock

ROUNDING = 1e-9  # [s]
HORIZON, STEERING = 1.0, 0.02  # [s] in which a show's clock is caught up with, with this share of the pace at most
SOON = 0.4  # [s] likewise, where more of the pace than that may be used
CAUGHT_UP = (
    0.1  # [s] of the approach's way: an actuator nearer than this to its wish follows it at full speed from then on
)


class Guide(Protocol):
    """Guide of a stream: the values that come next.

    Attributes:
        at: where on the way [s].
        is_over: nothing more comes; the servos stand.
        is_resting: the servos stand, for now.
        left: to the end, as planned [s].
    """

    at: float

    @property
    def is_over(self) -> bool:
        """Return whether the stream has come to its end."""

    @property
    def is_resting(self) -> bool:
        """Return whether the servos stand where they are wanted."""

    @property
    def left(self) -> float:
        """Return the time that is left [s]."""

    def step(self, seconds: float, pace: float) -> np.ndarray:
        """Return the values (n,) [rad or m] after another span of time; pace 1 is as planned, 0 stands."""
        ...

    def stop(self) -> None:
        """From here on, come to a stand."""
        ...

    def stand(self) -> None:
        """Take note that the servos stand: go on from here as from any stand."""
        ...


class Journey:
    """Guide along a trajectory, from the time `begin` on its way.

    The pace changes evenly, from 1 to a stand in `stop_time` [s]. The robot stays on its way at any pace, also
    while it stops.
    """

    def __init__(self, trajectory: Trajectory, stop_time: float, begin: float = 0.0) -> None:
        self.at, self._pace = begin, 1.0
        self._trajectory, self._stop_time = trajectory, stop_time
        self._is_stopping = False

    @property
    def is_over(self) -> bool:
        """See `Guide`."""
        return self.at >= self._trajectory.duration or (self._is_stopping and self.is_resting)

    @property
    def is_resting(self) -> bool:
        """See `Guide`."""
        return self._pace == 0.0

    @property
    def left(self) -> float:
        """See `Guide`."""
        return self._trajectory.duration - self.at

    def step(self, seconds: float, pace: float) -> np.ndarray:
        """Return the values after another span of time, as `Guide.step`."""
        self._go(seconds, pace)
        return self._trajectory.at(np.array([self.at]))[0]

    def _go(self, seconds: float, pace: float) -> None:
        """Go on along the way."""
        before, change = self._pace, seconds / self._stop_time
        wanted = 0.0 if self._is_stopping else pace
        self._pace = max(min(wanted, before + change), before - change)
        self.at += 0.5 * (before + self._pace) * seconds
        if self.at > self._trajectory.duration - ROUNDING:
            self.at = self._trajectory.duration

    def stop(self) -> None:
        """See `Guide`."""
        self._is_stopping = True

    def stand(self) -> None:
        """See `Guide`."""
        self._pace = 0.0


class Timed(Journey):
    """Guide along a trajectory by the clock of a show.

    It stands at the beginning until the show begins. From then on its pace is

        1 + (clock's time − own time) / HORIZON,  within 1 ± STEERING

    so that it keeps to the clock, and comes back to it slowly after a stand. Own time is that of the goal that is
    due. It begins with `pace`: 1 as planned, 0 to join the show from a stand. A `steering` larger than STEERING
    catches up SOON.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        stop_time: float,
        clock: ShowClock,
        pace: float = 1.0,
        steering: float = STEERING,
    ) -> None:
        super().__init__(trajectory, stop_time)
        self._clock, self._pace, self._has_begun = clock, 0.0, False
        self._first_pace, self._steering = pace, steering
        self._horizon = SOON if steering > STEERING else HORIZON

    def _go(self, seconds: float, pace: float) -> None:
        wanted = self._clock.at(time.perf_counter())
        if self._has_begun and wanted is not None:
            behind = wanted - self.at - seconds
            share = min(max(behind / self._horizon, -self._steering), self._steering)
            super()._go(seconds, pace * (1.0 + share))
            if self._pace == pace * (1.0 + share) > 0.0:  # else it comes to a stand, or from one, as planned
                self._clock.note(behind)
        elif wanted is not None and wanted >= 0.0 and not self._is_stopping:
            self._has_begun, self._pace = True, self._first_pace
            self.at = min(wanted, self._pace * seconds, self._trajectory.duration)


class Wish:
    """Requested values of the robot. One thread sets them, another reads them."""

    def __init__(self) -> None:
        self._values: np.ndarray | None = None

    def set(self, values: np.ndarray | None) -> None:
        """Set the requested actuator values (n,) [rad or m]; None, or NaN in some, requests nothing."""
        self._values = None if values is None else np.array(values, dtype=float)

    @property
    def values(self) -> np.ndarray | None:
        """The latest."""
        return self._values


class Pursuit:
    """Guide after requests, by a limiter that is placed where the servos are.

    The limiter bounds speed and acceleration whatever is requested. An actuator goes at its approach speed until it
    has caught up with the request, and at its full speed from then on.
    """

    def __init__(self, limiter: Limiter, wish: Wish, approach_speeds: np.ndarray, speeds: np.ndarray) -> None:
        self.at = 0.0
        self._limiter, self._wish = limiter, wish
        self._slow, self._near = approach_speeds / speeds, approach_speeds * CAUGHT_UP
        self._is_stopping, self._is_caught_up = False, np.zeros(len(speeds), dtype=bool)

    @property
    def is_over(self) -> bool:
        """See `Guide`."""
        return self._is_stopping and self.is_resting

    @property
    def is_resting(self) -> bool:
        """See `Guide`."""
        return self._limiter.is_at_rest

    @property
    def left(self) -> float:
        """See `Guide`."""
        return inf

    def step(self, seconds: float, pace: float) -> np.ndarray:
        """Return the values after another span of time, as `Guide.step`.

        Periods that were dropped are not caught up with.
        """
        wished = None if self._is_stopping or pace == 0.0 else self._wish.values
        lost = np.ones(len(self._near), dtype=bool) if wished is None else ~np.isfinite(wished)
        self._is_caught_up &= ~(lost & (self._limiter.velocity == 0.0))  # whoever was let go comes back slowly
        if wished is not None:
            self._is_caught_up |= np.abs(self._limiter.clipped(wished) - self._limiter.position) <= self._near
        self.at += seconds
        return self._limiter.step(wished, 0.0, pace * np.where(self._is_caught_up, 1.0, self._slow))

    def stop(self) -> None:
        """See `Guide`."""
        self._is_stopping = True

    def stand(self) -> None:
        """See `Guide`."""
        self._limiter.place(self._limiter.position)
