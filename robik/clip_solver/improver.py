"""Steps of all frames at once on contacts that stay, until nothing is left to improve.

The merit function is exact: the objective, plus a price times what is beyond bounds, above the multipliers of the
bounds. So a step that keeps the bounds is taken only where the objective itself falls. Frames that have nothing to gain
stay out of the program (`spans`), and each run of frames that moves has a merit of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..ik.solver import Solver
from ..kinematics.assembly import ROUNDING
from .constraints import Constraints
from .independent_motors import make_independent
from .model import Frames, Model, Neighbours, miss_frames, model_frames, new_model, step_frames, value_frames
from .planning import Planner
from .program import Program, Step
from .quadratic import Quadratic
from .spans import Multipliers, Spans, gains, promising, widened
from .stances import Stances
from .torques import TorqueRows, free
from .trust import FAIR, Trust

SETTLED = 4  # iterations after which what holds a frame is no longer adapted to what it misses
HALVINGS = 12
TINY = 1e-300  # instead of no promise at all
SUFFICIENT = 1e-4  # of the promised decrease
SHARE = 0.3  # of what is next to nothing: frames that gain less together stay
PRICED = 2.0  # times the largest multiplier is what a violation is priced by
BENT = 1e-6  # of limits: a step that is further beyond bounds than to first order is corrected
SLIGHT = 1.0  # likewise: what is beyond bounds by less is bent, not far away
COMES_BACK = 1e-2  # likewise, in sum over all frames: what is beyond bounds by less comes back in the end anyway
SETTLINGS = 4  # rounds in which what no bound is on settles, frame by frame
SHORTEST = 6  # halvings of its steps
RETURNS, TORQUE_RETURNS = 2, 8  # tries to come back into bounds by the shortest steps, and where torques are limited


class Improver:
    """Improver of all frames of a clip at once.

    It moves the coordinates of `frames` that are in `order`, the program's, on the contacts that `stances` hold.
    Iterations end after `most`, or where a step lowers the merit by less than the share `enough` of it plus
    `nothing`. Then `converged` is set; `infeasible`, where bounds cannot be kept on the contacts that are held.
    `tie` gives a frame's neighbours the weights of what ties frames together.
    """

    def __init__(
        self,
        solver: Solver,
        frames: Frames,
        stances: Stances,
        constraints: Constraints,
        order: np.ndarray,
        times: np.ndarray,
        cyclic: bool,
        most: int,
        enough: float,
        nothing: float,
        multipliers: Multipliers,
        tie: Callable[[Neighbours], None],
    ):
        self._flat, self._tables, self._beside = solver.flat, solver.tables, stances.air.beside
        self._frames, self._stances, self._constraints, self._bounds = frames, stances, constraints, constraints.bounds
        self._times, self._cyclic, self._tie = times, cyclic, tie
        self._planner = Planner(frames, stances, constraints, order)
        self._may = np.zeros(len(frames.q), bool)
        self._may[order] = True
        self._most, self._enough, self._nothing, self._multipliers = most, enough, nothing, multipliers
        self._most_independent, self._price = 1, 0.0
        self._stuck, self._short = np.zeros(len(frames.q), bool), False  # frames that stay; whether steps of any failed
        self._before = np.inf, 0.0  # objective and violation a step ago
        self._trust = Trust(solver.flat, len(frames.q), nothing / len(frames.q))
        self._model: Model | None = None  # the last one, and the frames that it is of
        self._modelled = np.zeros((0, 0))
        self.iterations, self.converged, self.infeasible = 0, False, False

    def steps(self) -> Iterator[int]:
        """Improve the clip on the contacts that are held now, until bounds cannot be kept on them.

        Yield the number of iterations that are done.
        """
        frames, done = self._frames, 0
        self.converged, self.infeasible, self._price = False, False, 0.0
        self._stuck, self._short = np.zeros(len(frames.q), bool), False
        self._before, self._model = (np.inf, 0.0), None
        self._trust = Trust(self._flat, len(frames.q), self._nothing / len(frames.q))
        make_independent(self._stances, frames.q, self._bounds.motors)
        while done < self._most and not self.converged:
            if self.iterations < SETTLED:
                miss_frames(self._flat, self._tables, self._beside, frames)
            model = self._renewed()
            rows = self._planner.torque_rows(model)
            local = free(model, rows) & self._trust.is_whole[:, None]  # what is eliminated knows no trust region
            quadratic = Quadratic.of(model, frames.previous, local, self._trust.concave)
            spans = self._spans(model, quadratic, rows)
            if not spans.count:
                self.converged = not self._short
                break
            asked = model, quadratic, spans, rows, self._trust, 0.1 * self._least(model), self._price
            program, step, spans, self._price = self._planner.plan(*asked)
            if not step.solved:
                self.infeasible = True
                return
            price = self._multipliers.take(
                program.rows_of, step.multipliers, spans.labels >= 0, self._constraints.windows
            )
            self._price = max(self._price, price if step.gives_way else PRICED * price)
            moved = self._take(model, program, step, spans)
            self.iterations, done = self.iterations + 1, done + 1
            yield self.iterations
            if not moved:
                break
        self._come_back()
        self._settle()

    def _least(self, model: Model) -> float:
        """Return what is next to nothing, of the objective."""
        return self._enough * float(model.value.sum()) + self._nothing

    def _spans(self, model: Model, quadratic: Quadratic, rows: TorqueRows | None) -> Spans:
        """Return the runs of frames that have something to gain, or are beyond bounds."""
        previous = self._frames.previous
        may = self._may & ~self._stuck
        if self._cyclic:
            return Spans(may, previous, self._constraints.windows, False)
        pull = self._multipliers.pull(model, self._constraints, rows)
        gain = gains(model, quadratic, self._bounds, self._frames.q[:, self._bounds.at], pull)
        least = self._least(model)
        wanting = promising(gain, SHARE * least) | self._constraints.frames_beyond(self._frames.q, BENT)
        moves = widened(wanting & may, self._times) & may
        return Spans(moves, previous, self._constraints.windows, True)

    def _excess(self, spans: Spans, q: np.ndarray) -> np.ndarray:
        """Return the sums (S,) over each span of what coordinates q (T, nq) have beyond bounds."""
        return spans.excess(self._constraints.beyond(q))

    def _take(self, model: Model, program: Program, step: Step, spans: Spans) -> bool:
        """Go along a step; returns whether any frame moved."""
        over, left = self._excess(spans, self._frames.q), spans.sums(program.left_at(step))
        promised = spans.sums(step.decreases) + self._price * (over - left)
        merit = spans.tied_sums(np.asarray(model.value)) + self._price * over
        self.converged = self._is_enough(float(model.value.sum()), step.decrease, float((over - left).sum()))
        return self._search(model, program, step, spans, merit, promised)

    def _is_enough(self, value: float, promised: float, returning: float) -> bool:
        """Note the gain of the last step; return True if it brought, or the next promises, next to nothing.

        The objective has a `value`, of which the next step promises to take away `promised` and, of the violation,
        `returning`.
        """
        violation = self.violation(self._frames.q)
        priced, before = self._priced(violation), self._priced(self._before[1])
        least = self._enough * (value + priced) + self._nothing
        brought = self._before[0] - value + before - priced
        self._before = value, violation
        return min(brought, promised + priced - self._priced(violation - returning)) <= least

    def _priced(self, violation: float) -> float:
        """Return the price of a violation, without what comes back in the end anyway."""
        return self._price * max(violation - COMES_BACK, 0.0)

    def _search(
        self, model: Model, program: Program, step: Step, spans: Spans, merit: np.ndarray, promised: np.ndarray
    ) -> bool:
        """Go along a step in each span until its merit has fallen enough; returns whether any has.

        Where dependent motors bend away from their bounds, a whole step is corrected once.
        """
        over = self._excess(spans, self._frames.q)
        scale, noise, left = np.ones(spans.count), 1e-12 * np.abs(merit), spans.sums(program.left_at(step))
        open_, moved, rise, fell = promised > 0.0, False, np.zeros(len(step.decreases)), np.zeros(spans.count)
        self._stuck |= ~self._mine(spans, open_) & (spans.labels >= 0) & (not self._cyclic)
        for halving in range(HALVINGS):
            if not open_.any():
                break
            least = merit - SUFFICIENT * scale * promised + noise
            found, q, value = self._try(model, step.dz, scale, spans, open_, least)
            if not halving:
                fell = merit - spans.tied_sums(value) - self._price * self._excess(spans, q)
                rise = np.where(self._constraints.bent(q, program.left_at(step)), np.inf, value - model.value)
                self._constraints.grow(q)
            moved, open_ = moved or bool(found.any()), open_ & ~found
            further = self._excess(spans, q)
            if not halving and (open_ & (over < SLIGHT) & (further > left + BENT)).any():
                bent = program.corrected(step, self._trust.radius(), *self._constraints.values(q))
                if bent.solved:
                    found, _, _ = self._try(model, bent.dz, np.ones(spans.count), spans, open_, least)
                    moved, open_ = moved or bool(found.any()), open_ & ~found
            scale = 0.5 * scale
        poor = self._mine(spans, fell < FAIR * promised)
        self._trust.learn(step, rise, poor, float(fell.sum() / max(promised.sum(), TINY)))
        self._stuck |= self._mine(spans, open_)
        self._short |= bool(open_.any())
        return moved

    @staticmethod
    def _mine(spans: Spans, chosen: np.ndarray) -> np.ndarray:
        """Return the frames (T,) of chosen spans (S,)."""
        return np.append(chosen, False)[spans.labels]

    def _try(
        self, model: Model, dz: np.ndarray, scale: np.ndarray, spans: Spans, chosen: np.ndarray, least: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Try shares `scale` (S,) of a step (T, m) in chosen spans (S,); undo those whose merit is above `least`.

        Return flags (S,) of the spans that stay where they went, and the coordinates (T, nq) and objectives (T,)
        that were tried.
        """
        frames, before = self._frames, self._frames.q.copy()
        q, residual, value = before.copy(), np.zeros(len(before)), np.array(model.value)
        mine = self._mine(spans, chosen)
        self.move(model, np.append(scale, 0.0)[spans.labels][:, None] * dz, mine, q, residual)
        opened = spans.sums((~self.closed(q, residual) & mine).astype(float)) > 0
        frames.q[:] = q
        tied = mine | (mine[frames.previous] & (frames.previous >= 0))
        value_frames(self._flat, self._tables, self._beside, frames, tied, value)
        merit = spans.tied_sums(value) + self._price * self._excess(spans, q)
        found = chosen & ~opened & (merit <= least)
        back = ~self._mine(spans, found)
        frames.q[back] = before[back]
        return found, q, value

    def _settle(self) -> None:
        """Move what no bound is on, such as a floating base, to where each frame has it best beside its neighbours.

        A step to first order does not see coming that a sole meets the ground: steps that are not judged by the
        objective, and those with little to gain in sum, left bases up and down from frame to frame by 12 mm. Bounds
        over time are not touched. Every other frame moves at once.
        """
        for _ in range(SETTLINGS):
            over, before = self.violation(self._frames.q), self._frames.q.copy()
            moved = [self._settle_every_other(first) for first in (0, 1)]
            if self.violation(self._frames.q) > over + BENT:  # torques that were not near their limits before
                self._frames.q[:] = before
                return
            if not any(moved):
                return

    def _settle_every_other(self, first: int) -> bool:
        """Settle every other frame from the first on; returns whether any has moved by more than next to nothing."""
        model, previous = self._renewed(), self._frames.previous
        local = free(model, self._planner.torque_rows(model))
        moves = self._may & local.any(axis=1)
        moves[1 - first :: 2] = False
        spans = Spans(moves, previous, self._constraints.windows, True)
        if not spans.count:
            return False
        dz = np.zeros(local.shape)
        quadratic = Quadratic.of(model, previous, local)
        quadratic.complete(dz, np.flatnonzero(moves))
        dz = self._trust.within(model, dz)
        merit = spans.tied_sums(np.asarray(model.value)) + self._price * self._excess(spans, self._frames.q)
        open_, moved = spans.sums(quadratic.decrease(dz)) > self._nothing / len(moves), False
        scale = np.ones(spans.count)
        for _ in range(SHORTEST):
            if not open_.any():
                break
            found, _, _ = self._try(model, dz, scale, spans, open_, merit * (1.0 - 1e-12))
            moved, open_, scale = moved or bool(found.any()), open_ & ~found, 0.5 * scale
        return moved

    def _come_back(self) -> None:
        """Move the frames into their bounds by the shortest steps, where dependent motors are beyond them by little.

        Only frames beside these move; all of them where that is not enough. A torque that comes beyond its limit by
        such a step, and has no row yet, gets one for the next.
        """
        for _ in range(RETURNS if self._constraints.torques is None else TORQUE_RETURNS):
            over, before = self.violation(self._frames.q), self._frames.q.copy()
            if over <= BENT:
                return
            beside, has_grown = self._beside_beyond(), False
            for moves in (beside, self._may) if (beside != self._may).any() else (beside,):
                self._shorten(moves)
                if self.violation(self._frames.q) < over:
                    break
                has_grown |= self._constraints.grow(self._frames.q)
                self._frames.q[:] = before
            else:
                if not has_grown:
                    return

    def _beside_beyond(self) -> np.ndarray:
        """Return frames (T,) that are beyond bounds, with those around them."""
        beyond = self._constraints.frames_beyond(self._frames.q, BENT)
        return self._may & (widened(beyond, self._times) | self._cyclic)

    def _shorten(self, moves: np.ndarray) -> None:
        """Take the shortest step into the bounds by which some frames (T,) move."""
        model = self._renewed()
        spans = Spans(moves, self._frames.previous, self._constraints.windows, False)
        rows, least = self._planner.torque_rows(model), 0.1 * self._least(model)
        step = self._planner.program(model, spans, rows, least).nearest(self._trust.radius())
        if step.solved:
            self._try(model, step.dz, np.ones(1), spans, np.ones(1, bool), np.full(1, np.inf))

    def violation(self, q: np.ndarray) -> float:
        """Return the sum of the excess of q (T, nq) beyond bounds: shares of limits, positions [rad or m]."""
        return self._constraints.excess(q)

    def model(self) -> Model:
        """Return the model where the frames are."""
        while True:
            model = new_model(len(self._frames.q), self._most_independent, len(self._bounds.dof))
            if self._fill(model, np.ones(len(self._frames.q), bool)):
                return model

    def _renewed(self) -> Model:
        """Return the model where the frames are, made again only beside frames that have changed."""
        frames = self._frames
        last, now = self._modelled, np.concatenate([frames.q, frames.missed], axis=1)
        if self._model is not None:
            changed = (now != last).any(axis=1)
            beside = [changed[each] & (each >= 0) for each in (frames.previous, frames.following)]
            around = changed | beside[0] | beside[1]
            for part in Model._fields:
                getattr(self._model, part)[around] = 0
            if not self._fill(self._model, around):
                self._model = None
        if self._model is None:
            self._model = self.model()
        self._modelled = now
        return self._model

    def _fill(self, model: Model, chosen: np.ndarray) -> bool:
        """Fill the model of chosen frames (T,); return whether there is room for all their independent coordinates."""
        most = self._most_independent
        for stance, first, last in self._stances.placed():
            self._tie(stance.beside)
            parts = stance.flat, self._flat, self._tables, stance.work, stance.beside
            most = max(most, model_frames(*parts, self._frames, first, last, chosen, model))
        has_room, self._most_independent = most == self._most_independent, most
        return has_room

    def move(self, model: Model, dz: np.ndarray, chosen: np.ndarray, q: np.ndarray, residual: np.ndarray) -> None:
        """Fill q (T, nq) and residuals (T,) [m] with chosen frames moved by a step (T, m), onto loops and contacts."""
        for stance, first, last in self._stances.placed():
            parts = stance.flat, stance.work, stance.beside, self._frames
            step_frames(*parts, first, last, chosen, model, dz, q, residual)

    def closed(self, q: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return flags (T,) of frames whose closure residual (T,) [m] is as good as none at q (T, nq)."""
        far = np.abs(q).max(initial=0.0)
        return residual <= max(self._flat.accepted[0], ROUNDING * far)
