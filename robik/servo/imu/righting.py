"""Righting a robot while it plays: what a sensor says goes, by the law of tilt feedback, to the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ServoError
from ...tilt_feedback import BOUNDS, TiltFeedback, TiltPlan
from .mount import ImuMount
from .on_bus import BusImu
from .tilt import Tilt

if TYPE_CHECKING:
    from ..bus.bus import Bus

FALLEN_FOR = 0.2  # [s] that a robot leans too far before it counts as fallen


class Righting:
    """Changes of the goals by tilt feedback, from the beginning of the motion on.

    `within` returns the motion's time of a time on the way [s].

    Attributes:
        trouble: why nothing can be righted any more, in words; empty before.
    """

    def __init__(self, imu: Tilt, plan: TiltPlan, within: Callable[[float], float] = lambda at: at) -> None:
        self._imu, self._plan, self._within = imu, plan, within
        self._feedback = TiltFeedback(plan)
        self._is_on, self._is_heard, self._fallen = False, True, 0.0
        self.trouble = ""

    @property
    def beside(self) -> BusImu | None:
        """Return the sensor if it is on the servos' bus and has to be asked between goals."""
        return self._imu if isinstance(self._imu, BusImu) else None

    def begin(self, at: float) -> str:
        """Right from the time `at` on the way; return in words why not, if the robot leans too far there."""
        self._is_on = True
        up = self._imu.up(BOUNDS.stale)
        lean = 0.0 if up is None else self._plan.lean(self._within(at), up)
        if lean <= BOUNDS.fallen:
            return ""
        return (
            f"the IMU says that the robot leans {degrees(lean):.0f}° against the first frame; stand it up, or say"
            " in the servo file how the IMU is mounted"
        )

    def step(self, at: float, seconds: float) -> np.ndarray | float:
        """Return changes (A,) of the actuators' values [rad or m], or 0, at the time `at` on the way [s].

        `seconds` have passed since the last step.
        """
        if not self._is_on:
            return 0.0
        up = self._imu.up(BOUNDS.stale)
        self._is_heard = up is not None
        added = self._feedback.step(self._within(at), up, seconds)
        is_fallen = self._is_heard and self._feedback.is_fallen
        self._fallen = self._fallen + seconds if is_fallen else 0.0
        if self._fallen > FALLEN_FOR and not self.trouble:
            self.trouble = f"the robot leans {degrees(self._feedback.lean):.0f}° against the motion: it has fallen"
        return added

    @property
    def words(self) -> str:
        """Return what it does, for the user."""
        if not self._is_on:
            return ""
        if self._imu.fault:
            return f"{self._imu.fault}: goals are as planned"
        if not self._is_heard:
            return f"{self._imu.where} is silent: goals are as planned"
        return f"leans {degrees(self._feedback.lean):.1f}° against the motion"


@contextmanager
def righted(bus: Bus, plan: TiltPlan | None, round: float) -> Iterator[Righting | None]:
    """Listen to a chain's sensor while a motion plays, and yield what rights the robot; None without a plan.

    `round` is the time of a motion that is played over and over [s], 0 for once. Raise ServoError, before anything
    moves, if no sensor is known or it does not say enough.
    """
    if plan is None:
        yield None
        return
    mount = bus.chain.imu
    if mount is None:
        raise ServoError("tilt feedback needs an IMU, and the chain names none")
    with closing(BusImu(mount, bus.line_with(mount)) if mount.is_on_bus else _opened(mount)) as imu:
        imu.listen(bus.emergency.pause)
        yield Righting(imu, plan.of(bus.chain.actuators), lambda at: at % round if round else at)


def _opened(mount: ImuMount) -> Tilt:
    """Return a sensor on a port of its own; pyserial, which most play without, is needed here alone."""
    from .reader import Imu

    return Imu(mount)
