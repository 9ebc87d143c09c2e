"""Improvement of all frames of a clip: at once, or in sections where they are more than memory should be needed for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..ik.memory import Output
from ..ik.solver import ClipTargets, Solver
from ..ik.sqp import CONVERGED
from ..ik.standing import StandingSolver
from ..jit import by_reference
from .bounds import Bounds, Peak, bounds_of, differences, peaks
from .clip_solver import MOST, ClipSolver, Start
from .model import new_neighbours, state_frames
from .sections import AT_ONCE, Section, overlap_of, sections
from .spans import Multipliers
from .torques import TorqueLimits, Torques


class LongClipSolver:
    """Solver that improves a solved clip of any length, within bounds on speed, acceleration and jerk.

    It begins and ends as fast as frame by frame, or at rest where it is as slow there as after a stand. The frames
    q (T, nq) come from frame-by-frame solving, or from `earlier` with other objectives of a frame. `torque` has
    limits of the motors' torques along the clip; None for none. Only frames of `own_range`, its first and the one
    after its last, move; all if left out. `iterations` is the largest number of any section; `converged` says that
    next to nothing is left to gain.
    """

    def __init__(
        self,
        solver: Solver,
        clip_targets: ClipTargets,
        times: np.ndarray,
        q: np.ndarray,
        cyclic: bool = False,
        earlier: LongClipSolver | None = None,
        torque: TorqueLimits | None = None,
        own_range: tuple[int, int] | None = None,
    ):
        self._solver, self._targets, self._times, self._cyclic = solver, clip_targets, times, cyclic
        self._count, self._is_solved = len(times) - cyclic, earlier is None
        self._moves = np.ones(self._count, bool)
        if own_range is not None:
            self._moves[: own_range[0]] = self._moves[own_range[1] :] = False
        self.bounds: Bounds = earlier.bounds if earlier else bounds_of(solver, times, q, cyclic)
        self._q, self._values = q[: self._count].copy(), np.zeros(self._count)
        self._period = times[-1] - times[0] if cyclic else None
        self._torque = torque and torque.begun(self.bounds, times[: self._count], self._period, self._q)
        overlap = overlap_of(self.bounds, times, q) if len(times) > 1 else 0.0
        most = AT_ONCE // max(len(solver.mechanism.actuators), 1)
        self.sections = sections(times, cyclic, overlap, most, own_range)
        self._multipliers: list[Multipliers | None] = [None] * len(self.sections)
        if earlier is not None:
            self._multipliers = earlier._multipliers
        self.iterations, self.converged = 0, True

    def steps(self) -> Iterator[float]:
        """Improve the clip step by step; yield the share of the work that is done, 0 to 1."""
        for k, section in enumerate(self.sections):
            solving = self._begin(section, self._multipliers[k])
            for done in solving.steps():
                yield (k + min(done / MOST, 1.0)) / len(self.sections)
            self._multipliers[k] = solving.multipliers
            self.iterations = max(self.iterations, solving.iterations)
            self.converged &= solving.converged
            self._keep(section, solving)

    def _begin(self, section: Section, multipliers: Multipliers | None) -> ClipSolver:
        """Return the solver of a section's frames, where they are."""
        whole = len(self.sections) == 1 and len(section.frames) == self._count
        cyclic, laps, at = self._cyclic and whole, section.frames // self._count, section.frames % self._count
        times, targets, q = self._times, self._targets, self._q[at]
        if not whole:
            period = self._period or 0.0
            times, targets = times[at] + laps * period, ClipTargets(targets.targets[at], targets.dt[at])
            q[:, self.bounds.at] += laps[:, None] * self.bounds.winding
            targets = by_reference(targets)
        elif cyclic:
            q = np.concatenate([q, q[:1]])
        contacts = self._solver.contacts if isinstance(self._solver, StandingSolver) else {}
        start = Start(
            bounds=self.bounds,
            contacts={name: (contact.part(at), hold) for name, (contact, hold) in contacts.items()},
            is_solved=self._is_solved and not self._cyclic,
            multipliers=multipliers,
            goes_on=section.goes_on,
            before=self._q[at[0] - 1] if section.goes_on[0] else None,
            torque=self._torque and self._torque.part(at),
        )
        return ClipSolver(self._solver, targets, times, q, start, cyclic, section.held)

    def _keep(self, section: Section, solving: ClipSolver) -> None:
        """Take over a section's frames; those in the overlap are where the next one begins to improve them."""
        kept = section.frames[section.first : section.last]
        self._values[kept] = solving.values()[section.first : section.last]
        after = slice(section.first, len(section.frames) - np.count_nonzero(section.frames >= self._count))
        self._q[section.frames[after]] = solving.q[after]

    def write(self, output: Output) -> None:
        """Write coordinates, bodies, objectives and residuals over those of the frame-by-frame solver."""
        count, flat = self._count, self._solver.flat
        position, quaternion = output.position[:count], output.quaternion[:count]
        beside = new_neighbours(flat, self._solver.topology.rest)
        state_frames(flat, beside, self._q, position, quaternion, output.residual[:count])
        output.q[:count], output.value[:count] = self._q, self._values
        if self._cyclic:
            for array in (output.q, output.position, output.quaternion, output.value, output.residual):
                array[count:] = array[:1]
            output.q[count:, self.bounds.at] += self.bounds.winding
        output.iterations[:] = self.iterations
        output.status[:] = CONVERGED  # whether the clip as a whole is, is told once

    def peaks(self) -> tuple[Peak, ...]:
        """Return the largest share of the limits of speed, acceleration and jerk that is used where frames move."""
        orders = differences(self._times[: self._count], self._period, (True, True))
        moving = tuple(order.of_moving(self._moves) for order in orders)
        return peaks(self.bounds, moving, self._q[:, self.bounds.at])

    def torque_peak(self) -> Peak | None:
        """Return the largest share of a torque's limit that is used, by actuator; None where none is limited."""
        if self._torque is None or not np.isfinite(self._torque.limits).any():
            return None
        return self._torques(self._torque).peak(self._q, edges=False)

    def zero_moment_depths(self) -> np.ndarray | None:
        """Return the depths (T,) [m] of the zero-moment point in the support where frames move, negative outside.

        They are NaN where the support has no area. Return None where the point may be anywhere.
        """
        if self._torque is None or self._torque.support is None:
            return None
        return self._torques(self._torque).depths(self._q)

    def _torques(self, limits: TorqueLimits) -> Torques:
        """Return the torques of the whole clip."""
        return Torques(limits, self._times[: self._count], self._period, (True, True), self._moves)
