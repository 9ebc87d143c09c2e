"""The step of all frames of a clip: the program that it solves, and what gives way where not all bounds can be kept."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .constraints import Constraints
from .model import Frames, Model
from .program import Program, Step
from .quadratic import Quadratic
from .spans import Spans
from .stances import Stances
from .torques import TorqueRows
from .trust import Trust

WIDEST = 16.0  # times as wide the trust region may grow where no step within it keeps the bounds
DEAR = 10.0  # price of a violation, by the objective, where bounds cannot be kept; and times as much at each raise
RAISES = 5  # of the price, until less torque beyond limits cannot be had
LITTLE = 0.9  # of what a price before has left: more is no gain
LEFT = 1e-6  # of limits: no torque is left beyond them


class Plan(NamedTuple):
    """A step of frames."""

    program: Program  # that it solves
    step: Step  # the step
    spans: Spans  # frames that it moves
    price: float  # of a violation


class Planner:
    """Planner of the steps of a clip's frames on the contacts that are held.

    `order` has the frames that may move, in the program's order.
    """

    def __init__(self, frames: Frames, stances: Stances, constraints: Constraints, order: np.ndarray):
        self._frames, self._stances, self._constraints, self._order = frames, stances, constraints, order
        self._may = np.zeros(len(frames.q), bool)
        self._may[order] = True

    def torque_rows(self, model: Model) -> TorqueRows | None:
        """Return the torques that are near their limits; None where none is limited."""
        torques = self._constraints.torques
        return None if torques is None else torques.rows(self._stances, self._frames, model)

    def plan(
        self,
        model: Model,
        quadratic: Quadratic,
        spans: Spans,
        rows: TorqueRows | None,
        trust: Trust,
        accuracy: float,
        price: float,
    ) -> Plan:
        """Return the step of frames that move.

        The step is within the trust region if bounds can be kept there. If they cannot between the frames that
        stay, all frames move; else torques give way; else the trust region grows; else the step has the least
        violation. It is unsolved if contacts are held, which could be let go. `price` is that of a violation so
        far.
        """
        value = float(model.value.sum())
        whole = Spans(self._may, self._frames.previous, self._constraints.windows, False)
        program = self.program(model, spans, rows, accuracy, quadratic)
        step = program.solve(trust.radius())
        if not step.solved and (spans.labels >= 0).sum() < (whole.labels >= 0).sum():
            program, spans = self.program(model, whole, rows, accuracy, quadratic), whole
            step = program.solve(trust.radius())
        if not step.solved and rows is not None and len(rows.of):
            step, price = self._least_torque(program, trust, max(price, DEAR * value))
        if not step.solved and trust.is_narrow:
            trust.widen()
            step = program.solve(trust.radius())
        wider = 4.0
        while not step.solved and wider <= WIDEST:
            step = program.solve(trust.radius(wider))
            wider *= 4.0
        if not step.solved and not any(held.any() for held in self._stances.held.values()):
            price = max(price, DEAR * value)
            step = program.solve(trust.radius(), price)
            step = replace(step, solved=True)
        return Plan(program, step, spans, price)

    def _least_torque(self, program: Program, trust: Trust, price: float) -> tuple[Step, float]:
        """Return the step that leaves the least torque beyond limits and keeps all other bounds, and its price."""
        left, best, paid = np.inf, None, price
        for _ in range(RAISES):
            step = program.solve(trust.radius(), price, only_torque=True)
            if not step.solved:
                break
            before, left = left, program.left(step)
            if left > LITTLE * before:
                break
            best, paid = replace(step, gives_way=True), price
            if left <= LEFT:
                break
            price *= DEAR
        return best or step, paid

    def program(
        self,
        model: Model,
        spans: Spans,
        rows: TorqueRows | None,
        accuracy: float,
        quadratic: Quadratic | None = None,
    ) -> Program:
        """Return the program of the frames of some spans; `quadratic` is computed from the model if left out."""
        kept, order = self._constraints, self._order[spans.labels[self._order] >= 0]
        values = self._frames.q[:, kept.bounds.at]
        return Program(model, values, kept.bounds, kept.orders, self._frames.previous, order, accuracy, quadratic, rows)
