"""Frames of a clip as a solver leaves them: coordinates, from which the bodies' poses are read where they are wanted.

The poses of all bodies are most of what a long clip would need memory for. So the solver gets room for them a piece at
a time, and what is told of them is worked out block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..clip_solver.model import new_neighbours, state_frames
from ..clips.clip import TargetClip
from ..clocks import cpu_seconds
from ..feet.contact import Contact
from ..ik.memory import Output, States
from ..ik.solver import ClipTargets, Solver
from ..ik.sqp import CONVERGED
from ..ik.standing import StandingSolver
from ..jit import by_reference
from ..kinematics.blocks import blocks
from ..kinematics.frames import become_own_frames, com_of_states, own_frames, read_states
from ..kinematics.kernels import new_placement
from ..motions.hold import Hold
from ..objectives.objective import TargetError
from ..objectives.settings import Settings
from ..report.distances import ClipErrors, ObjectiveErrors, distances, objective_errors
from ..report.motor_hold import hold_along, hold_of_bake
from ..report.quality import QualityFigures

PIECE = 1024  # frames that a solver has room for at a time


class Reading(NamedTuple):
    """Values and coordinates of T frames, beside the poses of all bodies."""

    values: np.ndarray  # (T, A) of the actuators [rad or m]
    passive: dict[str, np.ndarray] | None  # coordinates (T,) of the joints without a motor by name, or None
    com: np.ndarray  # (T, 3) centre of mass [m]
    base: tuple[np.ndarray, np.ndarray] | None  # position (T, 3) [m] and quaternion (T, 4) of a floating base


class Judged(NamedTuple):
    """Errors of T frames."""

    errors: ClipErrors  # of frames and the centre of mass
    objectives: ObjectiveErrors  # of what else the clip asks for


class SolvedFrames:
    """Solved frames of a clip, as they come.

    With `at_once` all frames have room at the same time, as look-ahead needs it.

    Attributes:
        figures: of the frames' quality, complete once they are judged.
        room: for the solver's results, of all frames or of a piece.
        q: (T, nq) coordinates.
        iterations, status, residual: (T,) of each frame, as `Output` has them.
        milliseconds: (T,) processor time of solving each frame.
    """

    def __init__(self, solver: Solver, clip: TargetClip, settings: Settings, at_once: bool):
        self._solver, self._clip, self._settings, self._frames = solver, clip, settings, len(clip.times)
        self.figures = QualityFigures(solver.mechanism, clip)
        self._whole = at_once or not solver.BY_COORDINATES or self._frames <= PIECE
        self.room = solver.room(self._frames if self._whole else PIECE + 1)
        if self._whole:
            self.q, self.iterations = self.room.q, self.room.iterations
            self.status, self.residual = self.room.status, self.room.residual
        else:
            self.q, self.residual = np.zeros((self._frames, self.room.q.shape[1])), np.zeros(self._frames)
            self.iterations, self.status = np.zeros(self._frames, np.int64), np.zeros(self._frames, np.int64)
        self.milliseconds = np.zeros(self._frames)
        self._first = -1  # frame in the room's first row; -1 before the first piece
        self._targets: ClipTargets
        self._parts: list[Reading] = []
        self._judged: list[Judged] = []
        self._is_judged = False

    def solve(self, start: int, stop: int, targets: ClipTargets, contacts: Sequence[Contact]) -> None:
        """Solve frames `start` to before `stop`, after those before; targets and contacts are the whole clip's."""
        room = self.room
        while start < stop:
            if self._first < 0 or start == self._first + len(room.q):
                self._move_on(start, targets, contacts)
            end = min(stop, self._first + len(room.q), (start // PIECE + 1) * PIECE)  # a piece is read once it is full
            rows, to = slice(start - self._first, end - self._first), slice(start, end)
            self.milliseconds[to] = self._timed(rows.start, rows.stop)
            if not self._whole:
                self.q[to], self.residual[to] = room.q[rows], room.residual[rows]
                self.iterations[to], self.status[to] = room.iterations[rows], room.status[rows]
                if end % PIECE == 0 or end == self._frames:
                    self._read(slice((end - 1) // PIECE * PIECE, end))
            start = end
        if stop == self._frames:
            del self._targets  # nobody needs them any more
            if isinstance(self._solver, StandingSolver):
                self._solver.leave()
            if not self._whole:
                del self.room

    def _timed(self, start: int, stop: int) -> np.ndarray:
        """Solve rows `start` to `stop` of the room; return the processor time of each [ms].

        Rows that are solved without a stop share its time by their iterations.
        """
        spent, k = np.zeros(stop - start), start
        while k < stop:
            end = self._solver.end_of_run(k, stop)
            began = cpu_seconds()
            self._solver.solve(self.room, k, end, self._targets)
            took, steps = cpu_seconds() - began, 1.0 + self.room.iterations[k:end]
            spent[k - start : end - start] = 1e3 * took * steps / steps.sum()
            k = end
        return spent

    def take(self, other: SolvedFrames) -> None:
        """Copy all frames from another clip of the same robot, instead of solving them.

        Both have room for all frames at the same time.
        """
        for name in Output._fields:
            getattr(self.room, name)[:] = getattr(other.room, name)
        self._first = 0

    def keep(self, q: np.ndarray, targets: ClipTargets, contacts: Sequence[Contact]) -> None:
        """Set all frames to coordinates q (T, nq) with closed loops, before some of them are solved.

        There is room for all frames at the same time; targets and contacts are those of `solve`.
        """
        solver, room = self._solver, self.room
        room.q[:], room.status[:] = q, CONVERGED
        beside = new_neighbours(solver.flat, solver.topology.rest)
        state_frames(solver.flat, beside, room.q, room.position, room.quaternion, room.residual)
        self._first, self._targets = 0, targets
        if isinstance(solver, StandingSolver):
            solver.stand(targets, contacts)

    def _move_on(self, start: int, targets: ClipTargets, contacts: Sequence[Contact]) -> None:
        """Begin the piece at frame `start`, whose first row is the frame before."""
        if start > 0:
            last = start - 1 - self._first
            for array in (self.room.q, self.room.position, self.room.quaternion):
                array[0] = array[last]
        self._first = max(start - 1, 0)
        part = slice(self._first, self._first + len(self.room.q))
        self._targets = targets if self._whole else by_reference(ClipTargets(targets.targets[part], targets.dt[part]))
        if isinstance(self._solver, StandingSolver):
            self._solver.stand(self._targets, [contact.part(part) for contact in contacts])

    def read(self) -> Reading:
        """Return values and coordinates of all frames, once they are solved; again where they moved since."""
        if not self._parts:
            for frames in self._blocks():
                self._read(frames)
        found, self._parts = _joined(self._parts), []
        return found

    def judge(self, com: np.ndarray) -> tuple[Judged, QualityFigures]:
        """Return errors and figures of the frames that were read, by their centre of mass (T, 3) [m]."""
        if self._is_judged:
            self.figures = QualityFigures(self._solver.mechanism, self._clip)
        self._is_judged = True
        if not self._judged:
            for frames in self._blocks():
                poses = self.room.position[frames], self.room.quaternion[frames]
                self._judge(frames, own_frames(self._solver.topology, *poses), com[frames])
        found, self._judged = _joined(self._judged), []
        return found, self.figures

    def _blocks(self) -> list[slice]:
        """Return the frames that are read and judged at a time."""
        return list(blocks(self._frames)) if self._solver.BY_COORDINATES else [slice(0, self._frames)]

    def _read(self, frames: slice) -> None:
        """Read what is told of the next frames, which are in the room."""
        solver, rows, last = self._solver, slice(frames.start - self._first, frames.stop - self._first), None
        states = States(self.room.q[rows], self.room.position[rows], self.room.quaternion[rows])
        if self._parts:
            last = self._parts[-1]
        before = None if last is None else {name: float(column[-1]) for name, column in (last.passive or {}).items()}
        values = solver.actuator_values(states, None if last is None else last.values[-1])
        passive, com = solver.passive_values(states, before), com_of_states(solver.topology, states.position)
        poses = own_frames(solver.topology, states.position, states.quaternion)
        root = None if solver.topology.root is None else solver.mechanism.body_index[solver.topology.root]
        base = None if root is None else (poses[0][:, root].copy(), poses[1][:, root].copy())
        self._parts.append(Reading(values, passive, com, base))
        if not self._whole:
            self._judge(frames, poses, com)

    def _judge(self, frames: slice, poses: tuple[np.ndarray, np.ndarray], com: np.ndarray) -> None:
        """Judge the next frames by all bodies' poses (B, n, 3) [m], (B, n, 4) and the centre of mass (B, 3) [m]."""
        mechanism, part = self._solver.mechanism, self._clip
        if len(com) < self._frames:
            part = part.part(frames.start, frames.stop)
        errors = distances(mechanism, part, self._settings, *poses, com)
        self.figures.add(frames, *poses)
        self._judged.append(Judged(errors, objective_errors(mechanism, part, self._settings, *poses)))

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz of all bodies' own frames."""
        topology, flat = self._solver.topology, self._solver.flat
        if self._whole:
            return own_frames(topology, self.room.position, self.room.quaternion)
        upright = np.tile([1.0, 0.0, 0.0, 0.0], (flat.bodies, 1))
        position, quaternion = np.zeros((self._frames, flat.bodies, 3)), np.zeros((self._frames, flat.bodies, 4))
        read_states(flat, new_placement(flat, topology.rest), self.q, upright, position, quaternion)
        become_own_frames(topology, position, quaternion)
        return position, quaternion

    def hold(self, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None) -> Hold | None:
        """Return whether the actuators alone determine the frames."""
        solver = self._solver
        if not solver.BY_COORDINATES or solver.topology.steps:  # twins that measure balls are no loops of the robot
            return hold_along(solver.mechanism, values)
        return hold_of_bake(solver.mechanism, solver.topology, self.q, values, base)


def _joined(parts: list[Any]) -> Any:
    """Return what is told of all frames from what is told of their blocks: arrays one after another."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, dict):
        return {name: _joined([part[name] for part in parts]) for name in first}
    if isinstance(first, TargetError):
        return replace(first, values=_joined([part.values for part in parts]))
    if isinstance(first, tuple):
        items = [_joined(list(each)) for each in zip(*parts, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else tuple(items)
    return first  # a name, or None
