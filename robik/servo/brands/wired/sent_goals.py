"""Goals that were sent to the servos of a line, so that one which somebody else sent is known."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from math import tau

from ...bus.telemetry import Telemetry
from ...chain.servo import Servo

REMEMBERED = 0.5  # [s]: an answer may be late, and a servo may have missed some goals
SAME = 0.02  # [rad], 1.1°: firmware may make where a servo stands its goal when torque comes on
DOUBT = 10.0  # [s] that a goal of somebody else's is remembered: one may be garbage, the second is not


class SentGoals:
    """Goals of servos, as they were sent here."""

    def __init__(self) -> None:
        self._sent: deque[tuple[float, Mapping[int, int]]] = deque()
        self._before: dict[int, int] = {}  # the last ones that are older than those
        self._doubted: dict[int, float] = {}  # when a goal of somebody else's was seen, by id

    def note(self, goals: Mapping[int, int]) -> None:
        """Take note of goals that are about to be sent."""
        now = time.perf_counter()
        self._sent.append((now, goals))
        while self._sent[0][0] < now - REMEMBERED:
            self._before |= self._sent.popleft()[1]

    def judged(self, servo: Servo, seen: Telemetry) -> Telemetry:
        """Return a servo's report, which says so where its goal is somebody else's, for the second time."""
        now = time.perf_counter()
        doubted = self._doubted.get(servo.id)
        if seen.goal is None or not seen.torque or self._is_ours(servo, seen.goal):
            if doubted is not None and now - doubted > DOUBT:
                del self._doubted[servo.id]
            return seen
        self._doubted[servo.id] = now
        return seen if doubted is None else replace(seen, is_foreign=True)

    def _is_ours(self, servo: Servo, goal: int) -> bool:
        """Return whether a goal was sent here not long ago, or nothing was."""
        near, is_known = SAME * servo.datasheet.counts_per_turn / tau, False
        for _, goals in reversed(self._sent):
            sent = goals.get(servo.id)
            if sent is not None and abs(goal - sent) <= near:
                return True
            is_known = is_known or sent is not None
        last = self._before.get(servo.id)
        return not is_known if last is None else abs(goal - last) <= near
