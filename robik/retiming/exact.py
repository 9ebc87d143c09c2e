"""Exact limits of a retimed path at the frames that are played, by sequential quadratic programs over all of them.

The unknown of a frame is how late it is: its time less the place s on the path at which the robot is then. Motors'
speeds, accelerations and jerks are differences of the path's values there, as they will be played. Lateness may not be
negative, nor fall faster than the path may be caught up with. Least is its sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..clip_solver.bounds import Bounds, Differences, differences, excess
from ..clip_solver.model import Model, new_model
from ..clip_solver.program import Program

STEPS = 30
RADIUS = 6.0  # frames: how far a step may go along the path
HALVINGS = 8
KEPT = 1e-4  # what all frames may be beyond their limits in sum, in shares
SETTLED = 1e-4  # of the lateness: a step that promises less is the last
LEAST = 1.0  # price of a violation at the least, in frames' lateness
MENDING = 10  # ever shorter steps at the end, with a price at which limits go before lateness
FIRMLY = 1e5

Path = Callable[[np.ndarray, int], np.ndarray]


class ExactTimes:
    """Frames of a retimed path on their way into the limits.

    `path` gives the values (T, A) at places s (T,) [s], or their derivatives by s of an order. The first and the last
    of the frames' times (T,) [s] stay where they are on the path. `along` (T,) are the places, from which it begins and
    which it moves. `limits` (3, A) are of speed, acceleration and jerk; `most` is that of ṡ.
    """

    def __init__(self, path: Path, times: np.ndarray, along: np.ndarray, limits: np.ndarray, most: float):
        self._path, self._times, self.along = path, times, along.copy()
        motors, self._step = limits.shape[1], float(np.median(np.diff(times)))
        over_time = np.full((3, motors + 2), np.inf)
        over_time[:, 2:] = limits
        over_time[0, :2] = 1.0, most  # time does not run backwards, and no faster than it may
        rows, far = np.arange(motors + 2), np.full(motors + 2, np.inf)
        lower = -far
        lower[0] = 0.0
        self._bounds = Bounds(rows, rows, lower, far, over_time, np.zeros((3, motors + 2)))
        self._orders: tuple[Differences, ...] = differences(times, rests=(True, True))
        self._price = LEAST

    @property
    def beyond(self) -> float:
        """Return what the frames are beyond their limits in sum, in shares of these."""
        return self._excess(self.along)

    def steps(self) -> Iterator[int]:
        """Move the frames along the path, and yield the number of steps that are done."""
        kept = None
        for done in range(STEPS):
            promised = self._go()
            yield done + 1
            if self.beyond <= KEPT:
                kept = self.along
            if promised is None or (promised <= SETTLED * self._late(self.along) and kept is self.along):
                break
        for done in range(MENDING):
            if self.beyond <= KEPT:
                return
            if self._go(0.5**done, FIRMLY) is None:
                break
            yield STEPS + done + 1
        if kept is not None and self.beyond > KEPT:
            self.along = kept

    def _go(self, reach: float = RADIUS, least: float = LEAST) -> float | None:
        """Make a step of at most `reach` frames; return the decrease in frames that it promised, None without one.

        `least` is the smallest price of a violation.
        """
        values, count = self._values(self.along), len(self.along)
        program = Program(
            self._model(), values, self._bounds, self._orders, np.full(count, -1), np.arange(1, count - 1), 1e-4
        )
        radius = np.full((count, 1), reach * self._step)
        step = program.solve(radius)
        if step.solved:
            self._price = max(least, 2.0 * step.price)
        else:
            self._price = 10.0 * self._price
            step = program.solve(radius, self._price)
        over = excess(self._bounds, self._orders, values)
        merit = self._late(self.along) + self._price * over
        promised = step.decrease + self._price * (over - program.left(step))
        scale = 1.0
        for _ in range(HALVINGS):
            tried = self.along - scale * step.dz[:, 0]
            if self._late(tried) + self._price * self._excess(tried) <= merit - 1e-4 * scale * promised + 1e-9:
                self.along = tried
                return promised
            scale *= 0.5
        return None

    def _late(self, along: np.ndarray) -> float:
        """Return the sum of all frames' lateness, in frames."""
        return float((self._times - along).sum() / self._step)

    def _values(self, along: np.ndarray) -> np.ndarray:
        """Return lateness, place and motors' values (T, A + 2) at places on the path (T,)."""
        return np.column_stack([self._times - along, along, self._path(along, 0)])

    def _excess(self, along: np.ndarray) -> float:
        return excess(self._bounds, self._orders, self._values(along))

    def _model(self) -> Model:
        """Return the model of the frames: one unknown each, by which they come later."""
        count = len(self.along)
        model = new_model(count, 1, len(self._bounds.dof))
        model.number[:], model.definite[:], model.gradient[:] = 1, True, 1.0 / self._step
        model.motion[:, :, 0] = self._slopes()
        return model

    def _slopes(self) -> np.ndarray:
        """Return the derivatives (T, A + 2) of lateness, place and motors' values by the unknown."""
        ones = np.ones(len(self.along))
        return np.column_stack([ones, -ones, -self._path(self.along, 1)])
