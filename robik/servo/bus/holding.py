"""Turning torque on where the servos stand: sure of where that is before, and that they are still there after."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ...errors import ServoError
from .bus import Bus
from .connecting import names
from .line import ServoSilent
from .telemetry import Telemetry

APART = 0.3  # [s] between two looks at where the servos stand: no answer that is this late is taken for a newer one
STEADY = 0.06  # [rad], 3.4°, that a servo which nothing holds yet may stir between two looks
KEPT = 0.09  # [rad], 5°, that it may give way once it holds
WATCHED = 0.3  # [s] after torque is on, in which one that goes somewhere at the approach's speed has left its place
GLANCE = 0.03  # [s] between looks meanwhile


class Stand:
    """Places where the servos stand while torque is turned on."""

    def __init__(self, bus: Bus, counts: Sequence[int], is_single_turn: np.ndarray) -> None:
        self._bus, self._counts, self._is_single_turn = bus, np.array(counts), is_single_turn
        self._looked = -np.inf

    def look(self) -> np.ndarray:
        """Look again, a while after the last time and with another question, and make sure that nothing has stirred."""
        self._bus.emergency.pause(max(0.0, self._looked + APART - time.perf_counter()))
        now = self._bus.positions()  # unlike the last time: see `Entries.spans`
        self._looked = time.perf_counter()
        away = self._away(now, self._counts)
        k = int(np.argmax(away))
        if away[k] > STEADY:
            servo, before = self._bus.chain.servos[k], int(self._counts[k])
            raise ServoError(
                f"servo {servo.id} ({servo.actuator}) stood at {before} counts, then at {int(now[k])}, so that torque"
                " is not turned on; hold it still, check the adapter and its cable, then turn torque on again"
            )
        self._counts = now
        return np.where(self._is_single_turn, now % self._bus.chain.counts_per_turn, now)

    def check_gains(self) -> None:
        """Make sure that the servos' position control does something."""
        for servo, tuning in zip(self._bus.chain.servos, self._bus.tunings(), strict=True):
            if tuning.p == 0:
                raise ServoError(
                    f"servo {servo.id} ({servo.actuator}) has a P gain of 0, so that it would hold nothing; give it a"
                    " p_gain, or switch its power off and on"
                )

    def watch(self, goals: np.ndarray) -> list[Telemetry]:
        """Look for a moment whether the servos hold where they stood; else cut their torque."""
        ends = time.perf_counter() + WATCHED
        while True:
            try:
                seen = self._bus.look_at_each()
            except ServoSilent as silent:
                raise ServoError(f"{silent} after torque was turned on, {self._cut()}") from None
            there = np.array([one.position for one in seen])
            away = self._away(there, goals)
            k = int(np.argmax(away))
            if away[k] > KEPT:
                servo = self._bus.chain.servos[k]
                left = f"left {int(goals[k])} counts for {int(there[k])} when torque was turned on"
                raise ServoError(f"servo {servo.id} ({servo.actuator}) {left}, {self._cut()}")
            if time.perf_counter() >= ends:
                return seen
            self._bus.emergency.pause(GLANCE)

    def _cut(self) -> str:
        """Cut torque, and return what came of it, in words."""
        both = zip(self._bus.chain.servos, self._bus.cut_torque(), strict=True)
        if still := [servo for servo, torque in both if torque is not False]:
            return f"and {names(still)} did not confirm that it is off again; switch the power off"
        return "which is off again; check the adapter, its cable and whether another program speaks to the servos"

    def _away(self, counts: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return how far horns at one place (n,) are from another [rad]."""
        turn = self._bus.chain.counts_per_turn
        away = np.abs(counts - others)
        away = np.where(self._is_single_turn, np.minimum(away % turn, -away % turn), away)
        return away / turn * 2 * np.pi
