"""Sequential quadratic programming over all frames of a clip.

Every iterate is assembled. The merit function is exact: the objective, plus a price times what is beyond bounds, above
the multipliers of the bounds. So a step that keeps the bounds is taken only where the objective itself falls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..ik.memory import Output
from ..ik.solver import ClipTargets, Solver
from ..ik.sqp import CONVERGED, EXHAUSTED
from ..ik.work import new_work
from ..jit import by_reference
from ..kinematics.assembly import ROUNDING
from ..mechanism.constraints import SLIDE
from ..objectives.calm import FIRST
from .bounds import Peak, bounds_of, differences, excess, peaks
from .independent_motors import make_independent
from .model import (
    Frames,
    Model,
    miss_frames,
    model_frames,
    new_model,
    new_neighbours,
    state_frames,
    step_frames,
    value_frames,
)
from .program import Program, Step

RADIUS = 0.5  # rad, or of the robot's size: trust region of a step
WIDEST = 8.0  # where no step within it keeps the bounds, it grows up to this
MOST = 12  # iterations
ENOUGH = 1e-4  # of the merit: a step that promises less is the last
NOTHING = 1e-12  # of the objective of a frame
SETTLED = 4  # iterations after which what holds a frame is no longer adapted to what it misses
HALVINGS = 12
SUFFICIENT = 1e-4  # of the promised decrease
DEAR = 10.0  # price of a violation, by the objective, where bounds cannot be kept
FREE = 1.0 - 1e-6  # of a limit: a motor that uses less is held back by nothing


class ClipSolver:
    """Improves all frames of a solved clip at once, within bounds on speed, acceleration and jerk.

    Args:
        solver: of one frame.
        clip_targets: what T frames ask for.
        times: (T,) [s].
        q: (T, nq) coordinates to begin with, frame by frame.
        cyclic: whether the last frame is the first.
        held: (T,) frames that stay as they are; None for none. Without them, and where it is not cyclic, the clip
            begins and ends at rest as far as accelerations and jerks are limited.
        most: iterations.
        enough: share of the merit below which a step is the last.

    Attributes:
        iterations: taken.
        converged: whether the last step promised next to nothing.
    """

    def __init__(
        self,
        solver: Solver,
        clip_targets: ClipTargets,
        times: np.ndarray,
        q: np.ndarray,
        cyclic: bool = False,
        held: np.ndarray | None = None,
        most: int = MOST,
        enough: float = ENOUGH,
    ):
        self._solver, self._flat, self._tables = solver, solver.flat, solver.tables
        self._most, self._enough, self._cyclic = most, enough, cyclic
        count = len(times) - cyclic
        rest = solver.topology.rest
        self._work = new_work(self._flat, rest, self._tables.tied if solver.objectives else None)
        self._beside = new_neighbours(self._flat, rest)
        self.bounds = bounds_of(solver, q, cyclic)
        self.orders = differences(times[:count], times[-1] - times[0] if cyclic else None, rests=held is None)
        around = np.arange(count)
        steps = np.concatenate([[times[-1] - times[-2] if cyclic else FIRST], np.diff(times[:count])])
        self._frames = by_reference(
            Frames(
                q=q[:count].copy(),
                previous=np.where(around > 0, around - 1, count - 1 if cyclic else -1),
                following=np.where(around < count - 1, around + 1, 0 if cyclic else -1),
                targets=clip_targets.targets,
                dt=steps**2 / FIRST,
                missed=np.zeros((count, len(self._flat.cluster_on))),
                rest=rest.copy(),
                rows=self.bounds.dof,
            )
        )
        moving = np.ones(count, bool) if held is None else ~held[:count]
        self._order = _folded(count)[moving[_folded(count)]] if cyclic else np.flatnonzero(moving)
        self._most_independent, self._price = 1, 0.0
        self.iterations, self.converged = 0, False

    def steps(self) -> Iterator[int]:
        """Improve the clip step by step.

        Where no motor has reached a limit frame by frame, and no cycle is to be closed, there is nothing to improve.

        Yields:
            Number of steps that are done.
        """
        frames = self._frames
        if not self._cyclic and max(peak.share for peak in self.peaks()) < FREE:
            self.converged = True
        with self._ties_apart():
            make_independent(self._flat, self._work, self._beside, frames, self.bounds.motors)
            while self.iterations < self._most and not self.converged:
                if self.iterations < SETTLED:
                    miss_frames(self._flat, self._tables, self._beside, frames)
                model = self._model()
                values = frames.q[:, self.bounds.at]
                program = Program(model, values, self.bounds, self.orders, frames.previous, self._order)
                step = self._step(program, float(model.value.sum()))
                over = excess(self.bounds, self.orders, values)
                promised = step.decrease + self._price * (over - program.left(step))
                merit = float(model.value.sum()) + self._price * over
                self.converged = promised <= self._enough * merit + NOTHING * len(frames.q)
                moved = promised > 0.0 and self._search(model, step, merit, promised)
                self.iterations += 1
                yield self.iterations
                if not moved:
                    return

    def write(self, output: Output) -> None:
        """Write the clip where the solver of frames left its own: coordinates, bodies, objective and residual.

        Args:
            output: Output of the solver of frames; overwritten.
        """
        count, frames = len(self._frames.q), self._frames
        place, again = output.q.shape[0] - count, slice(0, 1)
        position, quaternion = output.position[:count], output.quaternion[:count]
        state_frames(self._flat, self._beside, frames.q, position, quaternion, output.residual[:count])
        output.q[:count] = frames.q
        with self._ties_apart():
            value_frames(self._flat, self._tables, self._beside, frames, output.value[:count])
        if place:
            for array in (output.q, output.position, output.quaternion, output.value, output.residual):
                array[count:] = array[again]
            output.q[count:, self.bounds.at] += self.bounds.winding
        output.iterations[:] = self.iterations
        output.status[:] = CONVERGED if self.converged else EXHAUSTED

    @property
    def q(self) -> np.ndarray:
        """Coordinates (T, nq) of the frames where they are."""
        return self._frames.q

    def objective(self, q: np.ndarray) -> float:
        """Return the objective of assembled coordinates q (T, nq), as the last iteration held the frames.

        Args:
            q: Coordinates (T, nq), assembled.

        Returns:
            The sum over all frames.
        """
        kept, value = self._frames.q.copy(), np.zeros(len(q))
        self._frames.q[:] = q
        with self._ties_apart():
            value_frames(self._flat, self._tables, self._beside, self._frames, value)
        self._frames.q[:] = kept
        return float(value.sum())

    def violation(self, q: np.ndarray) -> float:
        """Return the sum of what coordinates q (T, nq) have beyond bounds: shares of limits, positions [rad or m].

        Args:
            q: Coordinates (T, nq).

        Returns:
            The sum; 0.0 where all bounds are kept.
        """
        return excess(self.bounds, self.orders, q[:, self.bounds.at])

    def peaks(self) -> tuple[Peak, ...]:
        """Return the largest share of the limits of speed, acceleration and jerk that is used."""
        return peaks(self.bounds, self.orders, self._frames.q[:, self.bounds.at])

    @contextmanager
    def _ties_apart(self) -> Iterator[None]:
        """Take what ties frames together out of the tables of one frame meanwhile."""
        state, speed = self._tables.change_of_state.weight, self._tables.velocity.weight
        kept = state.copy(), speed.copy()
        for tie in (self._beside.back, self._beside.ahead):
            tie.state.weight[:], tie.velocity.weight[:] = kept
        state[:] = speed[:] = 0.0
        try:
            yield
        finally:
            state[:], speed[:] = kept

    def _model(self) -> Model:
        """Return the model where the frames are."""
        while True:
            model = new_model(len(self._frames.q), self._most_independent, len(self.bounds.dof))
            most = model_frames(self._flat, self._tables, self._work, self._beside, self._frames, model)
            if most <= self._most_independent:
                return model
            self._most_independent = most

    def _step(self, program: Program, value: float) -> Step:
        """Return the program's step, within the trust region if bounds can be kept there.

        Else within a wider one, else with the least violation.
        """
        radius = RADIUS
        while radius <= WIDEST:
            step = program.solve(self._radius(radius))
            if step.solved:
                self._price = max(self._price, 2.0 * step.price)
                return step
            radius *= 4.0
        self._price = max(self._price, DEAR * value)
        return program.solve(self._radius(RADIUS), self._price)

    def _radius(self, radius: float) -> np.ndarray:
        """Return a trust region (d,) [rad or m] for turns by `radius`."""
        flat = self._flat
        found = np.full(len(flat.before), radius)
        found[np.asarray(flat.at_v)[np.asarray(flat.kind) == SLIDE]] *= flat.size
        return found

    def _search(self, model: Model, step: Step, merit: float, promised: float) -> bool:
        """Go along a step until the merit has fallen enough; returns whether it has."""
        frames, scale = self._frames, 1.0
        before, q = frames.q.copy(), np.zeros_like(frames.q)
        residual, value = np.zeros(len(q)), np.zeros(len(q))
        noise = 1e-12 * abs(merit)
        for _ in range(HALVINGS):
            step_frames(self._flat, self._work, self._beside, frames, model, step.dz, scale, q, residual)
            if self._closed(q, residual):
                frames.q[:] = q
                value_frames(self._flat, self._tables, self._beside, frames, value)
                over = excess(self.bounds, self.orders, q[:, self.bounds.at])
                if value.sum() + self._price * over <= merit - SUFFICIENT * scale * promised + noise:
                    return True
                frames.q[:] = before
            scale *= 0.5
        return False

    def _closed(self, q: np.ndarray, residual: np.ndarray) -> bool:
        """Return whether residuals (T,) [m] at coordinates q are as good as none."""
        far = np.abs(q).max(initial=0.0)
        return bool(residual.max(initial=0.0) <= max(self._flat.accepted[0], ROUNDING * far))


def _folded(count: int) -> np.ndarray:
    """Return the frames of a cycle so that neighbours are at most two places apart: from its ends inwards."""
    order = np.zeros(count, np.int64)
    order[0::2] = np.arange((count + 1) // 2)
    order[1::2] = np.arange(count - 1, (count - 1) // 2, -1)
    return order
