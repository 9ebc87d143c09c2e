"""Inverse kinematics of a robot that stands: frames in contact are closures, switched on and off frame by frame.

Every set of contacts has a tree of its own, rooted in the contact that has stood longest, and a solver on it. When the
set changes, the memory of the frames before is carried over. A contact begins as soon as the loops can be closed with
it, between the limits and within the motors' reach. Until then its frame is a target that weighs LATE times as much as
others. So a contact comes before other targets, but never before limits, speeds and the contacts that are held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..feet.contact import Contact, Hold, hold_of
from ..feet.crossing import Crossing, crossing
from ..kinematics.frames import anchor
from ..kinematics.kernels import close, difference, forward_kinematics, integrate
from ..mechanism.orientations import quaternion_matrices
from ..objectives.registry import over_time
from .memory import Output, copied, restore
from .solver import ClipTargets, Solver, Targets
from .sqp import UNREACHED

LATE = 1e5  # times the weight of other targets: what a contact is asked for with that cannot be held yet
NEAR = (0.05, 0.2)  # of the robot's size, and rad: a contact further off is asked for softly first
CLOSE = (2e-3, 1e-2)  # likewise: one further off after that is late
FLAT = 0.05  # weight of the level way in which a sole that rolls should stand
ROOM = 16  # frames solved on one tree at a time


class _Standing(NamedTuple):
    """A robot on a set of contacts, its solver, and the way from there to the floating robot's coordinates."""

    solver: Solver  # solver of the tree on these contacts
    output: Output  # its results
    order: np.ndarray  # its number of each of the floating robot's bodies, without the world
    to_free: Crossing  # way to the floating robot's coordinates


class _Wanted(NamedTuple):
    """Contacts that are wanted in a frame, against those that were held before it."""

    held: tuple[str, ...]  # before, the one that has stood longest first
    asked: list[str]  # that stand in it
    fresh: list[str]  # of these, those that come or move
    firm: tuple[str, ...]  # those that stay as they are held

    @property
    def is_new(self) -> bool:
        """Return whether contacts come, go or move."""
        return bool(self.fresh) or len(self.asked) != len(self.held)

    @property
    def everything(self) -> tuple[str, ...]:
        """Return what is held next if all is reached that stands; what is new comes last."""
        return self.held if set(self.asked) == set(self.held) else (*self.firm, *self.fresh)


class StandingSolver(Solver):
    """Solver that follows targets with a robot that stands on contacts; arguments and errors as `Solver`.

    Its results are in the floating robot's coordinates, whatever the robot stands on.
    """

    ROLLS: ClassVar[bool] = True  # soles that their legs cannot roll
    _contacts: dict[str, Contact]
    _holds: dict[str, Hold]
    _moves: dict[str, np.ndarray]  # (T,) of each contact whether it stands on something that moves
    _tensions: dict[str, np.ndarray]  # (4,) of each contact: its targets' weight for its place, and for what it holds
    _next: np.ndarray  # (T,) the frame after each in which contacts come, go or move
    _standings: dict[tuple[str, ...], _Standing]
    _held: tuple[str, ...] = ()  # the contacts of the frame before, the one that has stood longest first

    def compile_targets(self, targets: Targets, com: np.ndarray | None, times: np.ndarray) -> ClipTargets:
        self._contacts, self._holds, self._standings, self._held = {}, {}, {}, ()
        return super().compile_targets(targets, com, times)

    def stand(self, clip_targets: ClipTargets, contacts: Sequence[Contact]) -> None:
        """Hold these contacts of followed frames from the next frame on; write their tensions to `clip_targets`."""
        self._contacts = {contact.name: contact for contact in contacts}
        self._holds = {c.name: hold_of(self.topology.mechanism, c.name, c.oriented, self.ROLLS) for c in contacts}
        self._moves = {contact.name: contact.moves() for contact in contacts}
        self._tell_holds()
        for contact in contacts:
            rolls = self._holds[contact.name].rolls
            for k in np.flatnonzero(contact.stands | (contact.tension > 0) if rolls else contact.tension):
                self._pull(clip_targets, k, [contact.name], contact.tension[k])
        frames = len(clip_targets.dt)
        changes = np.zeros(frames + 1, bool)
        changes[-1] = True
        for contact in contacts:
            changes[1:-1] |= np.diff(contact.stands) | self._moves[contact.name][1:]
        places = np.flatnonzero(changes)
        self._next = places[np.searchsorted(places, np.arange(frames), side="right")]
        for names in sorted(self._expected(np.unique([0, *places[:-1]]))):
            self._standing(names)

    def _expected(self, changes: np.ndarray) -> set[tuple[str, ...]]:
        """Return the sets of contacts that follow one another if each is reached when it is wanted.

        `changes` are the frames in which contacts come, go or move.
        """
        held: tuple[str, ...] = ()
        found = set()
        for k in changes:
            wanted = self._wanted(k, held)
            if wanted.is_new:
                held = wanted.everything
                found |= {held, wanted.firm}
        return found - {()}

    @property
    def contacts(self) -> dict[str, tuple[Contact, Hold]]:
        """Return the contacts that are wanted, with what each holds, by frame."""
        return {name: (contact, self._holds[name]) for name, contact in self._contacts.items()}

    def pull(self, clip_targets: ClipTargets, name: str, frames: np.ndarray, weight: float) -> None:
        """Pull a contact's frame to where it is held with `weight` times its targets' weight, in these frames."""
        self._pull(clip_targets, frames, [name], weight)

    def reset(self) -> None:
        super().reset()
        self._held = ()

    def leave(self) -> None:
        """Leave the contacts' rooms to other solvers: no frame follows."""
        self._standings, self._held = {}, ()

    def solve(self, output: Output, start: int, stop: int, clip_targets: ClipTargets) -> None:
        k = start
        while k < stop:
            wanted = self._wanted(k, self._held)
            end = self._end(k, stop, wanted)
            if wanted.is_new:
                self._change(output, k, wanted, clip_targets)
            else:
                self._run(output, k, end, clip_targets)
            k = end

    def end_of_run(self, start: int, stop: int) -> int:
        return self._end(start, stop, self._wanted(start, self._held))

    def _end(self, start: int, stop: int, wanted: _Wanted) -> int:
        """Return the frame after those that are solved without a stop from a frame on, in which these are wanted."""
        if wanted.is_new:
            return start + 1
        return min(int(self._next[start]), stop) if self._contacts else stop

    def _wanted(self, k: int, held: tuple[str, ...]) -> _Wanted:
        """Return the contacts that are wanted in frame k."""
        asked = [name for name, contact in self._contacts.items() if contact.stands[k]]
        fresh = [name for name in asked if name not in held or self._moves[name][k]]
        return _Wanted(held, asked, fresh, tuple(name for name in held if name in asked and name not in fresh))

    def _solver(self) -> Solver:
        """Return the solver of what is held."""
        return self._standings[self._held].solver if self._held else self

    def _standing(self, names: tuple[str, ...]) -> _Standing:
        """Return the robot on these contacts, made where they have not stood together before."""
        if names not in self._standings:
            holds = tuple(self._holds[name] for name in names)
            first = tuple(item.part(slice(0, 1)) for item in self.objectives)
            solver = Solver(self.mechanism, self.names, self.settings, self.has_com, first, holds)
            solver.weigh_as(self)
            to_free = self._crossing(names, ())
            order = to_free.bodies[1 : self.flat.bodies + 1] - 1
            self._standings[names] = _Standing(solver, solver.room(ROOM + 1), order, to_free)
        return self._standings[names]

    def _crossing(self, old: tuple[str, ...], new: tuple[str, ...]) -> Crossing:
        """Return the way from the tree on some contacts to that on others."""
        holds = [tuple(self._holds[name] for name in names) for names in (old, new)]
        return crossing(self.topology.mechanism, tuple(self.topology.steps), *holds)

    def _run(self, output: Output, start: int, stop: int, clip_targets: ClipTargets) -> bool:
        """Solve frames `start` to `stop` on what is held.

        Returns False, and leaves `output` alone, where that cannot be reached.
        """
        if not self._held:
            self.solve_stretch(output, 0, start, stop, clip_targets)
            return True
        standing = self._standings[self._held]
        for first in range(start, stop, ROOM):
            last = min(first + ROOM, stop)
            own, order = standing.output, standing.order
            own.quaternion[0][order] = output.quaternion[first - 1] if first else (1.0, 0.0, 0.0, 0.0)
            standing.solver.solve_stretch(own, first - 1, first, last, clip_targets)
            if own.status[1] == UNREACHED:
                return False
            rows, to = slice(1, last - first + 1), slice(first, last)
            output.position[to] = own.position[rows][:, order]
            output.quaternion[to] = own.quaternion[rows][:, order]
            for of, source in zip(output_rows(output), output_rows(own), strict=True):
                of[to] = source[rows]
            output.q[to] = standing.to_free.coordinates(self.flat, own.q[rows], _poses(own, rows))
        return True

    def _change(self, output: Output, k: int, wanted: _Wanted, clip_targets: ClipTargets) -> None:
        """Solve frame k, in which contacts come, go or move."""
        _, asked, fresh, firm = wanted
        if not fresh:
            self._enter(firm, k)
            self._run(output, k, k + 1, clip_targets)
            return
        if k > 0 and self._within(fresh, k, NEAR) and self._attempt(output, k, wanted.everything, clip_targets):
            return
        carried = tuple(name for name in self._held if name in asked)  # what moves stays held before others begin
        for kept in (carried, firm) if len(firm) < len(carried) < len(asked) else (firm,):
            held, fresh = self._held, [name for name in asked if name not in kept]
            self._enter(kept, k, kept != firm)
            before = copied(self._solver()._memory)
            self._pull(clip_targets, k, fresh, LATE)
            done = self._run(output, k, k + 1, clip_targets)
            self._pull(clip_targets, k, fresh, 0.0)
            if done or kept == firm:
                break
            self._held = held
        after = copied(self._solver()._memory)
        reached = tuple(name for name in fresh if self._within([name], k, CLOSE))
        alone = [(name,) for name in reached] if len(reached) > 1 else []
        for names in [reached, *alone] if reached else []:
            restore(self._solver()._memory, before)
            if self._attempt(output, k, (*kept, *names), clip_targets, after[0]):
                return
        restore(self._solver()._memory, after)

    def _attempt(
        self, output: Output, k: int, names: tuple[str, ...], clip_targets: ClipTargets, start: np.ndarray | None = None
    ) -> bool:
        """Solve frame k on these contacts; return False, with the contacts as before, where they cannot be reached.

        `start` holds the placement to start from, as `copied` returns it; where the motion is going if left out.
        """
        held = self._held
        self._enter(names, k, True, start)
        if self._run(output, k, k + 1, clip_targets):
            return True
        self._held = held
        return False

    def _enter(self, names: tuple[str, ...], k: int, given: bool = False, start: np.ndarray | None = None) -> None:
        """Move contacts to their places in frame k, and carry the memory of the frames before over to them.

        The root is first of `names`. `given` says that the robot is not where they are, so that the next frame
        cannot start there. It then starts from the placement `start`, as `copied` returns it; where the motion is
        going if left out.
        """
        if names == self._held and not given:
            return
        last, new = self._solver()._memory.last, self._standing(names).solver if names else self
        for i, name in enumerate(names):
            contact = self._contacts[name]
            self._standings[names].solver.footing.put(
                i, *self._holds[name].at(contact.position[k], contact.rotation[k])
            )
        memory = new._memory
        if names == self._held:  # they have moved: the coordinates go along
            R, c, begin = last.R.copy(), last.c.copy(), None
            forward_kinematics(new.flat, memory.last)
            close(new.flat, memory.last)
        else:
            R, c, begin = self._cross(names, new, start)
        new._work.e.free[:] = True
        if given:
            memory.last.R[:], memory.last.c[:] = R, c
            memory.given[0], frames = True, int(memory.frames[0])
            memory.guess.q[:] = memory.last.q if begin is None else begin
            if begin is None and frames:
                ahead = memory.recent + (memory.recent - memory.earlier if frames > 1 else 0.0)
                integrate(new.flat, memory.last.q, ahead, 1.0, memory.guess.q)
        self._held = names

    def _cross(
        self, names: tuple[str, ...], new: Solver, start: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Carry the memory of the frames before over to the solver on other contacts, the root first.

        Return the rotations (n + 1, 3, 3) and centres of mass (n + 1, 3) of the bodies as they are, and the
        coordinates (nq,) to start from, None without `start`.
        """
        old = self._solver()
        crossing, source, memory = self._crossing(self._held, names), old._memory, new._memory
        frames, last = int(source.frames[0]), source.last
        q = _crossed(new, crossing, _placements(old, min(frames, 2), start))
        begin = None if start is None else q[-1]
        memory.last.q[:] = q[0]
        forward_kinematics(new.flat, memory.last)
        close(new.flat, memory.last)
        memory.recent[:], memory.earlier[:], memory.limited[:], memory.frames[0] = 0.0, 0.0, 0, frames
        for i, step in enumerate((memory.recent, memory.earlier)[: min(frames, 2)]):
            difference(new.flat, q[i], q[i + 1], step)
        memory.limited[crossing.dofs[:, 0]] = crossing.dofs[:, 2] * source.limited[crossing.dofs[:, 1]]
        memory.missed[:] = crossing.by_cluster(source.missed)
        memory.looked[0] = source.looked[0]
        return last.R[crossing.bodies], last.c[crossing.bodies], begin

    def _within(self, names: Sequence[str], k: int, most: tuple[float, float]) -> bool:
        """Return whether frames are near the places at which they are held in frame k [sizes, rad]."""
        solver = self._solver()
        for name in names:
            b, point, axes = anchor(solver.topology, name)
            now, contact, hold = solver._memory.last, self._contacts[name], self._holds[name]
            position, rotation = now.c[b] + now.R[b] @ point, now.R[b] @ axes
            distance, angle = hold.gap(position, rotation, contact.position[k], contact.rotation[k])
            if distance > most[0] * self._extent or angle > most[1]:
                return False
        return True

    def _pull(self, clip_targets: ClipTargets, k: int | np.ndarray, names: Sequence[str], weight: float) -> None:
        """Ask frames in frame k for what their contacts hold, so many times as hard as for their targets."""
        tension = over_time(self._tables, clip_targets.targets, self._tables.frame_pose.tension)
        for name in names:
            i = self.names.index(name)
            tension[k, i] = weight * self._tensions[name]
            if self._holds[name].rolls:
                tension[k, i, 1:] = np.maximum(tension[k, i, 1:], FLAT)

    def _tell_holds(self) -> None:
        """Fill in what of its frames the contacts hold, and what that weighs."""
        frames, self._tensions = self._tables.frame_pose, {}
        for name, hold in self._holds.items():
            i, (_, point, axes) = self.names.index(name), anchor(self.topology, name)
            weighed = self.settings.weights(name).axes.T  # targets are turned into these axes
            frames.held_point[i], frames.own_point[i] = point + axes @ hold.point, weighed @ hold.point
            frames.held_axes[i], frames.own_axes[i] = axes @ hold.axes, weighed @ hold.axes
            place = max(float(frames.position_weight[i].max()), self._square)
            turn = max(float(frames.orientation_weight[i].max()), 1.0)
            self._tensions[name] = np.array([place, *(turn * hold.held_axes)])


class FlatSolver(StandingSolver):
    """Solver on soles that lie flat, whatever that costs: for footholds that a robot's legs reach."""

    ROLLS = False


def output_rows(output: Output) -> tuple[np.ndarray, ...]:
    """Return an output's objectives, iterations, statuses and residuals, (T,) each."""
    return output.value, output.iterations, output.status, output.residual


class _Placements(NamedTuple):
    """Placements of a solver's robot, one a row."""

    q: np.ndarray  # (T, nq) coordinates
    R: np.ndarray  # (T, n + 1, 3, 3) orientations of the bodies
    c: np.ndarray  # (T, n + 1, 3) centres of mass [m]


def _placements(solver: Solver, before: int, start: np.ndarray | None) -> _Placements:
    """Return a solver's last placement, as many of those before, and `start`, as `copied` returns it, if given."""
    memory, rows = solver._memory, 1 + before + (start is not None)
    last, other = memory.last, memory.other
    found = _Placements(*(np.empty((rows, *each.shape)) for each in (last.q, last.R, last.c)))
    found.q[0], found.R[0], found.c[0] = last.q, last.R, last.c
    for row, step in enumerate((memory.recent, memory.earlier)[:before], start=1):
        integrate(solver.flat, found.q[row - 1], step, -1.0, other.q)
        forward_kinematics(solver.flat, other)
        found.q[row], found.R[row], found.c[row] = other.q, other.R, other.c
    if start is not None:
        other.everything[:] = start
        found.q[-1], found.R[-1], found.c[-1] = other.q, other.R, other.c
    return found


def _crossed(new: Solver, crossing: Crossing, placed: _Placements) -> np.ndarray:
    """Return coordinates (T, nq) in another solver's tree of placements."""
    return crossing.coordinates(new.flat, placed.q, lambda b: (placed.R[:, b], placed.c[:, b]))


def _poses(output: Output, rows: slice) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """Return a function that gives a body's rotations and centres of mass in these rows, by its number."""
    return lambda b: (quaternion_matrices(output.quaternion[rows, b - 1]), output.position[rows, b - 1])
