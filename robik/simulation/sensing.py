"""Tilt feedback in a simulation: a sensor on the base, read at the rate of goals and late, as on a robot."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..tilt_feedback import TiltFeedback, TiltPlan

LATE = 0.01  # [s] from a lean to its reading: the sensor's own filter, and its serial line


class Sensing:
    """A sensor of tilt, and the changes of goals by tilt feedback.

    Goals come at `rate` [Hz], and reach the motors `delay` [s] late; `body` is MuJoCo's index of the sensor's body.
    """

    def __init__(self, plan: TiltPlan, rate: float, delay: float, body: int) -> None:
        self._feedback, self._period, self._late, self._body = TiltFeedback(plan), 1.0 / rate, LATE + delay, body
        self._told: deque[tuple[float, np.ndarray]] = deque()
        self._next, self._added = -np.inf, np.zeros(len(plan.actuators))

    def step(self, time: float, model: Any, data: Any) -> np.ndarray:
        """Return the changes of the goals (A,) [rad or m] at a time in the motion [s]."""
        gravity = np.array(model.opt.gravity)
        up = data.xmat[self._body].reshape(3, 3).T @ (-gravity / np.linalg.norm(gravity))
        self._told.append((time, up))
        if time >= self._next - 1e-9:
            self._next = time + self._period if self._next == -np.inf else self._next + self._period
            while len(self._told) > 1 and self._told[1][0] <= time - self._late + 1e-9:
                self._told.popleft()
            self._added = self._feedback.step(time - self._late, self._told[0][1], self._period)
        return self._added
