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
from ..ik.standing import StandingSolver
from ..jit import by_reference
from ..kinematics.assembly import ROUNDING
from ..mechanism.constraints import SLIDE
from ..objectives.calm import FIRST
from .bounds import FITS, Peak, bounds_of, differences, excess, peaks
from .independent_motors import make_independent
from .model import (
    Frames,
    Model,
    Neighbours,
    miss_frames,
    model_frames,
    new_model,
    state_frames,
    step_frames,
    value_frames,
)
from .program import Program, Step
from .stances import MET, NEAR, Stances

RADIUS = 0.5  # rad, or of the robot's size: trust region of a step
WIDEST = 8.0  # where no step within it keeps the bounds, it grows up to this
MOST = 12  # iterations
ENOUGH = 1e-3  # of the merit: a step that promises less is the last
NOTHING = 1e-9  # of the objective of a frame: 0.02 mm, for a robot of half a metre
SETTLED = 4  # iterations after which what holds a frame is no longer adapted to what it misses
HALVINGS = 12
SUFFICIENT = 1e-4  # of the promised decrease
BENT = 1e-6  # of limits: a step that is further beyond bounds than to first order is corrected
SLIGHT = 1.0  # likewise: what is beyond bounds by less is bent, not far away
DEAR = 10.0  # price of a violation, by the objective, where bounds cannot be kept
FIRM = 1e3  # times the weight of other targets: what contacts are asked for with that are not held
ROUNDS = 2  # in which contacts are held after all, or let go for a bound
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
        self._targets = clip_targets
        self.stances = Stances(solver, solver.contacts if isinstance(solver, StandingSolver) else {}, count)
        self._beside = self.stances.air.beside
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
        self._begun, self._most_independent, self._price = q[:count].copy(), 1, 0.0
        self._infeasible, self._nothing = False, min(NOTHING, enough * enough) * count
        self.iterations, self.converged = 0, False

    def steps(self) -> Iterator[int]:
        """Improve the clip step by step.

        Where no motor has reached a limit frame by frame, and no cycle is to be closed, there is nothing to improve.

        Yields:
            Number of steps that are done.
        """
        if not self._cyclic and max(peak.share for peak in self.peaks()) < FREE:
            self.converged = True
            return
        with self._ties_apart():
            self._hold((MET, MET))
            yield from self._improve()
            if self._infeasible or (self._holds and self._beyond().any()):
                self._frames.q[:] = self._begun
                self._let_go(np.ones(len(self._begun), bool))
                yield from self._improve()
            for _ in range(ROUNDS):
                kept = self._frames.q.copy(), self.stances.copy()
                if not self._hold(NEAR):
                    return
                yield from self._improve()
                if (beyond := self._beyond()).any():
                    self._let_go(beyond)
                    yield from self._improve()
                if self._infeasible or self._beyond().any():
                    self._frames.q[:], self.stances.held = kept
                    return

    def _improve(self) -> Iterator[int]:
        """Improve the clip on the contacts that are held now, until bounds cannot be kept on them."""
        frames, done = self._frames, 0
        self.converged, self._infeasible, self._price = False, False, 0.0
        make_independent(self.stances, frames.q, self.bounds.motors)
        while done < self._most and not self.converged:
            if self.iterations < SETTLED:
                miss_frames(self._flat, self._tables, self._beside, frames)
            model = self._model()
            values = frames.q[:, self.bounds.at]
            program = self._program(model, values)
            step = self._step(program, float(model.value.sum()))
            if step is None:
                self._infeasible = True
                return
            over = excess(self.bounds, self.orders, values)
            promised = step.decrease + self._price * (over - program.left(step))
            merit = float(model.value.sum()) + self._price * over
            self.converged = promised <= self._enough * merit + self._nothing
            moved = promised > 0.0 and self._search(model, program, step, merit, promised)
            self.iterations, done = self.iterations + 1, done + 1
            yield self.iterations
            if not moved:
                break
        self._come_back()

    def _program(self, model: Model, values: np.ndarray) -> Program:
        """Return the program where the frames are, as accurate as its step is worth."""
        enough = self._enough * float(model.value.sum()) + self._nothing
        return Program(model, values, self.bounds, self.orders, self._frames.previous, self._order, 0.1 * enough)

    def _come_back(self) -> None:
        """Move the frames into their bounds by the shortest steps, where dependent motors are beyond them by little."""
        for _ in range(ROUNDS):
            over, before = self.violation(self._frames.q), self._frames.q.copy()
            if over <= BENT:
                return
            model = self._model()
            step = self._program(model, before[:, self.bounds.at]).nearest(self._radius(RADIUS))
            if not step.solved or not self._try(model, step.dz, 1.0, np.inf)[0] or self.violation(self.q) >= over:
                self._frames.q[:] = before
                return

    @property
    def _holds(self) -> bool:
        """Return whether any contact is held."""
        return any(held.any() for held in self.stances.held.values())

    def _hold(self, near: tuple[float, float]) -> bool:
        """Hold the contacts that are this near to where they stand [sizes, rad]; returns whether there are new ones."""
        frames = self._frames
        position, quaternion = (np.zeros((len(frames.q), self._flat.bodies, n)) for n in (3, 4))
        residual = np.zeros(len(frames.q))
        state_frames(self._flat, self._beside, frames.q, position, quaternion, residual)
        found = self.stances.hold(position, quaternion, near)
        if found:
            model, q = self._model(), np.zeros_like(frames.q)
            self._move(model, np.zeros(model.gradient.shape), 1.0, q, residual)
            open_here = ~self._closed(q, residual)
            if open_here.any():
                self.stances.let_go(open_here)
            frames.q[~open_here] = q[~open_here]
        self._pull_late()
        return found

    def _let_go(self, frames: np.ndarray) -> None:
        """Hold no contact in and beside these frames (T,) any more."""
        self.stances.let_go(frames)
        self._pull_late()

    def _pull_late(self) -> None:
        """Ask contacts that are not held for what they should hold."""
        if isinstance(self._solver, StandingSolver):
            for name, late in self.stances.late().items():
                self._solver.pull(self._targets, name, late, FIRM)

    def _beyond(self) -> np.ndarray:
        """Return whether a frame (T,) has a part in a bound over time that is not kept."""
        values, found = self._frames.q[:, self.bounds.at], np.zeros(len(self._frames.q), bool)
        for order, limit in zip(self.orders, self.bounds.limits, strict=True):
            windows = (np.abs(order.of(values, self.bounds.winding)) > FITS * limit).any(axis=1)
            found[order.frames[windows]] = True
        return found

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
        self._tie_weights = kept
        self._tie(self._beside)
        state[:] = speed[:] = 0.0
        try:
            yield
        finally:
            state[:], speed[:] = kept

    def _tie(self, beside: Neighbours) -> None:
        """Give what ties frames together its weights."""
        for tie in (beside.back, beside.ahead):
            tie.state.weight[:], tie.velocity.weight[:] = self._tie_weights

    def _model(self) -> Model:
        """Return the model where the frames are."""
        while True:
            model, most = new_model(len(self._frames.q), self._most_independent, len(self.bounds.dof)), 0
            for stance, first, last in self.stances.placed():
                self._tie(stance.beside)
                parts = stance.flat, self._flat, self._tables, stance.work, stance.beside
                most = max(most, model_frames(*parts, self._frames, first, last, model))
            if most <= self._most_independent:
                return model
            self._most_independent = most

    def _step(self, program: Program, value: float) -> Step | None:
        """Return the program's step, within the trust region if bounds can be kept there.

        Else within a wider one, else with the least violation; None if contacts are held, which could be let go.
        """
        radius = RADIUS
        while radius <= WIDEST:
            step = program.solve(self._radius(radius))
            if step.solved:
                self._price = max(self._price, 2.0 * step.price)
                return step
            radius *= 4.0
        if self._holds:
            return None
        self._price = max(self._price, DEAR * value)
        return program.solve(self._radius(RADIUS), self._price)

    def _radius(self, radius: float) -> np.ndarray:
        """Return a trust region (d,) [rad or m] for turns by `radius`."""
        flat = self._flat
        found = np.full(len(flat.before), radius)
        found[np.asarray(flat.at_v)[np.asarray(flat.kind) == SLIDE]] *= flat.size
        return found

    def _search(self, model: Model, program: Program, step: Step, merit: float, promised: float) -> bool:
        """Go along a step until the merit has fallen enough; returns whether it has.

        Where dependent motors bend away from their bounds, a whole step is corrected once.
        """
        scale, noise, is_near = 1.0, 1e-12 * abs(merit), self.violation(self.q) < SLIGHT
        for halving in range(HALVINGS):
            least = merit - SUFFICIENT * scale * promised + noise
            found, q = self._try(model, step.dz, scale, least)
            if not found and not halving and is_near and self.violation(q) > program.left(step) + BENT:
                bent = program.corrected(step, self._radius(RADIUS), q[:, self.bounds.at])
                found = bent.solved and self._try(model, bent.dz, 1.0, least)[0]
            if found:
                return True
            scale *= 0.5
        return False

    def _try(self, model: Model, dz: np.ndarray, scale: float, least: float) -> tuple[bool, np.ndarray]:
        """Go a share of a step (T, m) if the merit is as low there; returns whether, and the coordinates there."""
        frames, before = self._frames, self._frames.q.copy()
        q, residual, value = np.zeros_like(before), np.zeros(len(before)), np.zeros(len(before))
        self._move(model, dz, scale, q, residual)
        if not self._closed(q, residual).all():
            return False, before
        frames.q[:] = q
        value_frames(self._flat, self._tables, self._beside, frames, value)
        found = value.sum() + self._price * self.violation(q) <= least
        if not found:
            frames.q[:] = before
        return bool(found), q

    def _move(self, model: Model, dz: np.ndarray, scale: float, q: np.ndarray, residual: np.ndarray) -> None:
        """Fill coordinates q (T, nq) and residuals (T,) [m] of the frames moved by a share of a step (T, m)."""
        for stance, first, last in self.stances.placed():
            parts = stance.flat, stance.work, stance.beside, self._frames
            step_frames(*parts, first, last, model, dz, scale, q, residual)

    def _closed(self, q: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return whether residuals (T,) [m] at coordinates q are as good as none."""
        far = np.abs(q).max(initial=0.0)
        return residual <= max(self._flat.accepted[0], ROUNDING * far)


def _folded(count: int) -> np.ndarray:
    """Return the frames of a cycle so that neighbours are at most two places apart: from its ends inwards."""
    order = np.zeros(count, np.int64)
    order[0::2] = np.arange((count + 1) // 2)
    order[1::2] = np.arange(count - 1, (count - 1) // 2, -1)
    return order
