"""Sequential quadratic programming over all frames of a clip: which contacts are held, and what is improved on them.

Every iterate is assembled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..feet.contact import Contact, Hold
from ..ik.solver import ClipTargets, Solver
from ..ik.standing import StandingSolver
from ..jit import by_reference
from ..objectives.calm import FIRST
from .bounds import FITS, Bounds, Peak, differences, peaks
from .constraints import Constraints
from .improver import Improver
from .model import Frames, state_frames, value_frames
from .spans import Multipliers
from .stances import MET, NEAR, Stances
from .ties import Ties
from .torques import TorqueLimits, Torques

MOST = 24  # iterations; the last ones are of few frames
ENOUGH = 1e-3  # of the merit: a step that promises less is the last
NOTHING = 1e-9  # of the objective of a frame: 0.02 mm, for a robot of half a metre
FIRM = 1e3  # times the weight of other targets: what contacts are asked for with that are not held
ROUNDS = 2  # in which contacts are held after all, or let go for a bound
FREE = 1.0 - 1e-6  # of a limit: a motor that uses less is held back by nothing
STAYED = 1e-9  # rad or m: what frames that stay may miss a contact by


@dataclass(frozen=True)
class Start:
    """Knowledge of a clip before its frames are solved at once.

    Attributes:
        bounds: of its coordinates.
        contacts: over its frames, with what each holds.
        is_solved: whether each frame is at its own optimum, from the one before, and no cycle is to be closed.
        multipliers: of the bounds, where they are known.
        goes_on: whether there are other frames before the first, and after the last. If not, a clip that is not cyclic
            begins and ends at the speeds of `bounds`.
        before: (nq,) coordinates of the frame before the first; None for the rest pose.
        torque: limits of the motors' torques; None for none.
    """

    bounds: Bounds
    contacts: Mapping[str, tuple[Contact, Hold]]
    is_solved: bool = True
    multipliers: Multipliers | None = None
    goes_on: tuple[bool, bool] = (False, False)
    before: np.ndarray | None = None
    torque: TorqueLimits | None = None


class ClipSolver:
    """Solver that improves all frames of a solved clip at once, within bounds on speed, acceleration and jerk.

    It begins with the coordinates q (T, nq), solved frame by frame. `held` (T,) flags frames that stay as they are.
    A step that lowers the merit by a share below `enough` is the last, after at most `most` iterations. The last
    frame of a cyclic clip is its first.
    """

    def __init__(
        self,
        solver: Solver,
        clip_targets: ClipTargets,
        times: np.ndarray,
        q: np.ndarray,
        start: Start,
        cyclic: bool = False,
        held: np.ndarray | None = None,
        most: int = MOST,
        enough: float = ENOUGH,
    ):
        self._solver, self._flat, self._tables = solver, solver.flat, solver.tables
        self._targets, self._is_solved = clip_targets, start.is_solved
        count = len(times) - cyclic
        self.stances = Stances(solver, start.contacts, count)
        self._beside, self.bounds = self.stances.air.beside, start.bounds
        self._ties = Ties(solver.tables, self._beside)
        self._held = np.zeros(count, bool) if held is None else held
        period = times[-1] - times[0] if cyclic else None
        self.constraints = _constraints(start, times[:count], period, ~self._held)
        self.orders = self.constraints.orders
        self._frames = self._copied(times, q, cyclic, start.before)
        order = _folded(count) if cyclic else np.arange(count)
        self._begun = q[:count].copy()
        self.multipliers = start.multipliers or Multipliers(count, self.constraints)
        self._improver = Improver(
            solver=solver,
            frames=self._frames,
            stances=self.stances,
            constraints=self.constraints,
            order=order[~self._held[order]],
            times=times[:count],
            cyclic=cyclic,
            most=most,
            enough=enough,
            nothing=min(NOTHING, enough * enough) * count,
            multipliers=self.multipliers,
            tie=self._ties.tie,
        )

    def _copied(self, times: np.ndarray, q: np.ndarray, cyclic: bool, before: np.ndarray | None) -> Frames:
        """Return the frames at times (T,) [s], with a copy of their coordinates q (T, nq)."""
        count = len(times) - cyclic
        around = np.arange(count)
        steps = np.concatenate([[times[-1] - times[-2] if cyclic else FIRST], np.diff(times[:count])])
        return by_reference(
            Frames(
                q=q[:count].copy(),
                begun=q[:count].copy(),
                previous=np.where(around > 0, around - 1, count - 1 if cyclic else -1),
                following=np.where(around < count - 1, around + 1, 0 if cyclic else -1),
                targets=self._targets.targets,
                dt=steps**2 / FIRST,
                missed=np.zeros((count, len(self._flat.cluster_on))),
                rest=(self._solver.topology.rest if before is None else before).copy(),
                rows=self.bounds.dof,
            )
        )

    def steps(self) -> Iterator[int]:
        """Improve the clip step by step; yield the number of steps that are done.

        Where no motor has reached a limit in solved frames there is nothing to improve.
        """
        if self._is_solved and self._is_free():
            self._improver.converged = True
            return
        with self._ties.apart():
            self._hold((MET, MET))
            yield from self._improver.steps()
            if self._improver.infeasible or (self._holds and self._beyond().any()):
                self._frames.q[:] = self._begun
                self._let_go(np.ones(len(self._begun), bool))
                yield from self._improver.steps()
            for _ in range(ROUNDS):
                kept = self._frames.q.copy(), self.stances.copy()
                if not self._hold(NEAR):
                    return
                yield from self._improver.steps()
                if (beyond := self._beyond()).any():
                    self._let_go(beyond)
                    yield from self._improver.steps()
                if self._improver.infeasible or self._beyond().any():
                    self._frames.q[:], self.stances.held = kept
                    return

    def _is_free(self) -> bool:
        """Return whether no motor reaches a limit."""
        torques = self.constraints.torques
        found = self.peaks() if torques is None else (*self.peaks(), torques.peak(self.q))
        return max(peak.share for peak in found) < FREE

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
            model, q = self._improver.model(), np.zeros_like(frames.q)
            self._improver.move(model, np.zeros(model.gradient.shape), np.ones(len(q), bool), q, residual)
            moved = np.abs(q - frames.q).max(axis=1, initial=0.0)
            opened, off = ~self._improver.closed(q, residual), self._held & (moved > STAYED)
            if (opened & ~self._held).any():
                self.stances.let_go(opened & ~self._held)
            if (self._held & (opened | off)).any():  # as those that come from keys in single precision
                self.stances.let_go(self._held & (opened | off), around=0)
            closed = ~opened & ~self._held
            frames.q[closed] = q[closed]
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
            windows = (np.abs(order.of(values, self.bounds.outside)) > FITS * limit).any(axis=1)
            found[order.frames[windows]] = True
        return found

    def values(self) -> np.ndarray:
        """Return the objective of each frame (T,), with its tie to the frame before."""
        found = np.zeros(len(self._frames.q))
        with self._ties.apart():
            value_frames(self._flat, self._tables, self._beside, self._frames, np.ones(len(found), bool), found)
        return found

    @property
    def iterations(self) -> int:
        """Return the iterations that were taken."""
        return self._improver.iterations

    @property
    def converged(self) -> bool:
        """Return whether next to nothing is left to gain."""
        return self._improver.converged

    @property
    def q(self) -> np.ndarray:
        """Coordinates (T, nq) of the frames where they are."""
        return self._frames.q

    def objective(self, q: np.ndarray) -> float:
        """Return the objective's sum at assembled coordinates q (T, nq), as the last iteration held the frames."""
        kept = self._frames.q.copy()
        self._frames.q[:] = q
        value = float(self.values().sum())
        self._frames.q[:] = kept
        return value

    def violation(self, q: np.ndarray) -> float:
        """Return the sum of the excess of q (T, nq) beyond bounds: shares of limits, positions [rad or m]."""
        return self._improver.violation(q)

    def peaks(self) -> tuple[Peak, ...]:
        """Return the largest share of the limits of speed, acceleration and jerk that is used."""
        return peaks(self.bounds, self.orders, self._frames.q[:, self.bounds.at])


def _constraints(start: Start, times: np.ndarray, period: float | None, moves: np.ndarray) -> Constraints:
    """Return what frames at times (T,) [s] keep in which some move (T,).

    The first comes again after a period [s]; None for never.
    """
    ends = not start.goes_on[0], not start.goes_on[1]
    orders = tuple(order.of_moving(moves) for order in differences(times, period, ends))
    torques = None if start.torque is None else Torques(start.torque, times, period, ends, moves)
    return Constraints(start.bounds, orders, torques)


def _folded(count: int) -> np.ndarray:
    """Return the frames of a cycle so that neighbours are at most two places apart: from its ends inwards."""
    order = np.zeros(count, np.int64)
    order[0::2] = np.arange((count + 1) // 2)
    order[1::2] = np.arange(count - 1, (count - 1) // 2, -1)
    return order
