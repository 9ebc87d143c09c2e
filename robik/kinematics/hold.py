"""Hold of a robot by its actuators, along a motion.

A motion v of the robot, its base held: changes of the tree's coordinates [rad, and slides in lengths of the robot] that
keep the loops closed. With N an orthonormal basis of such motions, and P N what the actuators see of them,

    hold = least singular value of P N that counts = min |P v| / |v|

It is 0 where the robot moves though its actuators stand still. Between two samples it goes through 0 where det(P N)
changes its sign, N carried along. Loops that share joints have a hold of their own; the robot's is the least of them.
Motions that no actuator sees even near the rest pose, as the spin of a rod between two balls, are idle and do not
count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..mechanism.constraints import SLIDE
from ..mechanism.topology import Topology, loop_groups
from .assembly import assembled_poses, closed, prepared
from .elimination import eliminate, new_elimination
from .kernels import close, forward_kinematics, new_placement
from .null_space import extend

COUNTS = 1e-7  # of 1: a singular value above this is not zero
MOVES = 0.1  # of what moves most in a motion: a body or an actuator with less has little part in it
SPARE = 3  # motions that loops may gain where they fold flat
ROOM = 2e6  # numbers that the motions of a run of frames may take
ALIKE = 0.1  # of 1: the least determinant by which two bases of motions still are the same one, carried along


class Held(NamedTuple):
    """Hold of each group of loops along a motion."""

    hold: np.ndarray  # (T, groups) infinite where no actuator moves the group
    crossed: np.ndarray  # (T, groups) whether it went through 0 since the sample before


class Lost(NamedTuple):
    """Motion that actuators hardly see."""

    motors: tuple[str, ...]  # whose part in it is largest
    bodies: tuple[str, ...]  # that move most in it


@kernel
def motions_along(flat, now, e, step, q, first, most, motions, count):
    """Fill in the motions that keep the loops closed, a column per independent coordinate, group after group."""
    for k in range(q.shape[0]):
        for i in range(q.shape[1]):
            now.q[i] = q[k, i]
        forward_kinematics(flat, now)
        close(flat, now)
        eliminate(flat, now, e)
        for g in range(first.shape[0]):
            c0, c1, rank = flat.group_column_at[g], flat.group_column_at[g + 1], e.rank[g]
            count[k, g] = c1 - c0 - rank
            for j in range(min(c1 - c0 - rank, most[g])):
                step[:] = 0.0
                step[e.column[c0 + rank + j]] = 1.0
                extend(flat, e, step)
                for i in range(c1 - c0):
                    motions[k, first[g] + i * most[g] + j] = step[flat.group_columns[c0 + i]]


class Coordinates:
    """Coordinates of a robot's tree, its base held.

    Attributes:
        kept: Degrees of freedom (d,) without the base's.
        unit: What one of each is [rad or m], for all: 1, and the robot's size for slides.
        driven: Whether an actuator moves it, for all.
        names: Joint of each.
    """

    def __init__(self, topology: Topology):
        self.topology, flat = topology, topology.flat
        count, mechanism = len(flat.before), topology.mechanism
        base = set(self.of(topology.base.name)) if topology.base else set()
        self.kept = np.array([i for i in range(count) if i not in base], dtype=int)
        slides = flat.at_v[np.flatnonzero(flat.kind == SLIDE)]
        self.unit, self.driven = np.ones(count), np.zeros(count, bool)
        self.unit[slides] = flat.size
        self.names = {i: joint.name for joint in mechanism.joints for i in self.of(joint.name)}
        for joint in mechanism.actuated:
            self.driven[[i for i in self.of(joint.name) if i not in base]] = True

    def of(self, joint: str) -> range:
        """Return the degrees of freedom of a joint."""
        b, flat = self.topology.joint_at.get(joint), self.topology.flat
        if b is None or flat.first[b] == flat.last[b]:
            return range(0)
        return range(int(flat.at_v[flat.first[b]]), int(flat.tip[b]) + 1)


def meter_of(topology: Topology) -> HoldMeter:
    """Return the meter of a layout, made once for all solvers, which read what it found near the rest pose."""
    meters = topology.known.setdefault("meters", {})
    layout = tuple(topology.joint_at)
    if layout not in meters:
        meters[layout] = HoldMeter(topology)
    return meters[layout]


class HoldMeter:
    """Measures the hold that a robot's actuators have of it.

    Attributes:
        loops: Groups (numbers) that hold a loop, and not couplings alone, and that actuators move.
        columns: Degrees of freedom of each group.
        usual: The largest hold of each group near the rest pose (groups,), infinite where no actuator moves it.
        idle_bodies: Names of bodies that no actuator determines even there.
    """

    def __init__(self, topology: Topology):
        self.topology, self.coordinates = topology, Coordinates(topology)
        self.flat = prepared(topology)
        self._now, self._e = new_placement(self.flat, topology.rest), new_elimination(self.flat)
        driven, unit = self.coordinates.driven, self.coordinates.unit
        self._names = [topology.mechanism.bodies[i].name for i in topology.order]
        groups = loop_groups(self.flat)
        self.columns = [columns for _, columns in groups]
        self._driven = [np.flatnonzero(driven[columns]) for columns in self.columns]
        self._unit = [unit[columns] for columns in self.columns]
        in_groups = np.concatenate([np.zeros(0, int), *self.columns])
        alone = np.setdiff1d(self.coordinates.kept, in_groups)
        self._holds_alone = 1.0 if driven[alone].any() else np.inf
        self._look_near_rest(alone[~driven[alone]])
        cut_rows = len(self.flat.row_kind)
        self.loops = [g for g, (rows, _) in enumerate(groups) if (rows < cut_rows).any() and self.seen[g]]

    def _look_near_rest(self, loose: np.ndarray) -> None:
        """Note how many motions each group has near the rest pose, and which of them no actuator sees."""
        near = [n.q.copy() for residual, n in assembled_poses(self.flat, self.topology.rest)
                if closed(self.flat, n, residual)]  # fmt: skip
        q = np.array(near).reshape(len(near), len(self.topology.rest))
        widths = np.array([len(columns) for columns in self.columns], dtype=np.int64)
        motions, count = self._motions(q, widths)
        self.free, self.seen = [], []
        self.usual, self.idle = np.full(len(widths), np.inf), np.zeros(self.flat.bodies, bool)
        idle: dict[int, list[np.ndarray]] = {k: [] for k in range(len(q))}
        for g, columns in enumerate(self.columns):
            free = int(count[:, g].min()) if len(q) else 0
            bases = [self._basis(motions[g][k], g, count[k, g]) for k in range(len(q))]
            values = [np.linalg.svd(basis[self._driven[g]], compute_uv=False) for basis in bases]
            ranks = [int((found > COUNTS).sum()) for found in values]
            seen = max((rank for rank, n in zip(ranks, count[:, g], strict=True) if n == free), default=0)
            self.free.append(free)
            self.seen.append(seen)
            best = [k for k, rank in enumerate(ranks) if count[k, g] == free and rank == seen]
            if seen:
                self.usual[g] = max(values[k][seen - 1] for k in best)
            if best and free > seen:
                k = best[0]
                unseen = bases[k] @ np.linalg.svd(bases[k][self._driven[g]])[2][seen:].T
                idle[k].append(self._spread(columns, unseen))
        if len(q):
            idle[0].append(self._spread(loose, np.eye(len(loose))))
        for k, found in idle.items():
            if found:
                self.idle |= (self._sizes(q[k], np.hstack(found)) > COUNTS).any(axis=1)
        self.idle_bodies = frozenset(np.array(self._names)[self.idle].tolist())

    def _spread(self, columns: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Return motions (columns, k) among all degrees of freedom (d, k)."""
        found = np.zeros((len(self.flat.before), motions.shape[1]))
        found[columns] = motions
        return found

    def _motions(self, q: np.ndarray, most: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the motions (T, width, most) of each group at coordinates (T, nq), and their numbers (T, groups)."""
        sizes = np.array([len(columns) for columns in self.columns], dtype=np.int64) * most
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        motions, count = np.zeros((len(q), int(first[-1]))), np.zeros((len(q), len(sizes)), np.int64)
        step = np.zeros(len(self.flat.before))
        motions_along(self.flat, self._now, self._e, step, np.ascontiguousarray(q), first[:-1], most, motions, count)
        split = [
            motions[:, first[g] : first[g + 1]].reshape(len(q), len(self.columns[g]), int(most[g])) if most[g] else
            np.zeros((len(q), len(self.columns[g]), 0))
            for g in range(len(sizes))
        ]  # fmt: skip
        return split, count

    def _basis(self, motions: np.ndarray, g: int, count: int) -> np.ndarray:
        """Return an orthonormal basis (…, width, count) of motions (…, width, columns) of a group."""
        return np.linalg.qr(motions[..., :count] / self._unit[g][:, None])[0]

    def along(self, q: np.ndarray) -> Held:
        """Return the hold of each group of loops."""
        most = np.array([n + SPARE for n in self.free], dtype=np.int64)
        numbers = max(1, sum(len(c) * int(m) for c, m in zip(self.columns, most, strict=True)))
        run = max(2, int(ROOM / numbers))
        hold, crossed = np.full((len(q), len(most)), np.inf), np.zeros((len(q), len(most)), bool)
        if not len(most):
            return Held(hold, crossed)
        for start in range(0, max(len(q) - 1, 1), run - 1):  # with the last frame of the run before
            part = slice(start, start + run)
            motions, count = self._motions(q[part], most)
            for g in np.flatnonzero(self.seen).tolist():
                hold[part, g], found = self._group(motions[g], count[:, g], g)
                crossed[part, g][1:] = found[1:]
        return Held(hold, crossed)

    def least(self, q: np.ndarray) -> np.ndarray:
        """Return the least hold of all groups and of joints that are in none (T,)."""
        return self.along(q).hold.min(axis=1, initial=self._holds_alone)

    def _group(self, motions: np.ndarray, count: np.ndarray, g: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the hold (T,) of a group and whether it went through 0, by its motions (T, width, columns)."""
        free, seen, frames = self.free[g], self.seen[g], len(motions)
        basis = self._basis(motions, g, free)
        U, values, Vt = np.linalg.svd(basis[:, self._driven[g]], full_matrices=False)
        hold, crossed = np.abs(values[:, seen - 1]), np.zeros(frames, bool)  # LAPACK may return -0
        usual = count == free
        for k in np.flatnonzero(~usual).tolist():
            hold[k] = self._unusual(motions[k], int(count[k]), g)
        if len(self._driven[g]) == seen and frames > 1:
            side = np.sign(np.linalg.det(U))
            moved = basis @ np.swapaxes(Vt[:, :seen], 1, 2)
            turn = np.linalg.det(np.swapaxes(moved[:-1], 1, 2) @ moved[1:])
            crossed[1:] = (turn * side[:-1] * side[1:] < -ALIKE) & usual[:-1] & usual[1:]
        return hold, crossed

    def _unusual(self, motions: np.ndarray, count: int, g: int) -> float:
        """Return the hold of a group where its loops have another number of motions (width, columns) than elsewhere."""
        seen = count - (self.free[g] - self.seen[g])
        if seen <= 0:
            return np.inf
        if seen > len(self._driven[g]) or count > motions.shape[1]:
            return 0.0
        basis = self._basis(motions, g, count)
        return float(np.linalg.svd(basis[self._driven[g]], compute_uv=False)[seen - 1])

    def share(self, q: np.ndarray, g: int) -> float:
        """Return how much of the motion of a group that its actuators see least is one of bodies that they determine.

        A spin that is idle may be a large part of it, as in joints of three hinges that are nearly in line.
        """
        if not self.idle_bodies:
            return 1.0
        size = self._sizes(q, self._least_held(q, g)[0])[:, 0]
        found = float(size[~self.idle].max(initial=0.0) / size.max(initial=1e-300))
        return 1.0 if found > MOVES else max(found, 1e-12)

    def lost(self, q: np.ndarray, g: int) -> Lost:
        """Return what hold is about: the motion of a group that its actuators see least."""
        motion, seen = self._least_held(q, g)
        joints = [self.coordinates.names[int(i)] for i in self.columns[g][self._driven[g]]]
        motors = [name for name, s in zip(joints, seen, strict=True) if s > MOVES * seen.max()]
        size = self._sizes(q, motion)[:, 0]
        moves = (size > MOVES * size.max(initial=1e-300)) & ~self.idle
        return Lost(tuple(dict.fromkeys(motors)), tuple(np.array(self._names)[moves].tolist()))

    def _least_held(self, q: np.ndarray, g: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the motion (d, 1) of a group that its actuators see least, and the part of each of these in it."""
        most = np.array([n + SPARE for n in self.free], dtype=np.int64)
        motions, count = self._motions(q[None], most)
        basis = self._basis(motions[g][0], g, min(int(count[0, g]), int(most[g])))
        U, _, Vt = np.linalg.svd(basis[self._driven[g]], full_matrices=False)
        k = min(self.seen[g], len(Vt)) - 1
        return self._spread(self.columns[g], basis @ Vt[k : k + 1].T), np.abs(U[:, k])

    def _sizes(self, q: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Return how far motions (d, k) at coordinates (nq,) turn [rad] and move [sizes] each body (bodies, k)."""
        flat, now = self.flat, self._now
        now.q[:] = q
        forward_kinematics(flat, now)
        scaled = motions * self.coordinates.unit[:, None]
        size = np.zeros((flat.bodies, motions.shape[1]))
        for b in range(1, flat.bodies + 1):
            path, i = [], int(flat.tip[b])
            while i >= 0:
                path.append(i)
                i = int(flat.before[i])
            turn, move = now.omega[path].T @ scaled[path], now.v[path].T @ scaled[path]
            move += np.cross(turn.T, now.c[b]).T
            size[b - 1] = np.sqrt((turn**2).sum(axis=0) + (move**2).sum(axis=0) / flat.size**2)
        return size
