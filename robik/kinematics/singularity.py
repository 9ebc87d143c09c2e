"""Distances of a robot's poses from singular ones: hold, loops, steer.

A motion v of the robot, its base held: changes of the tree's coordinates [rad, and slides in lengths of the robot] that
keep the loops closed. With C the closure's Jacobian, N an orthonormal basis of such motions, P N what the actuators see
of them and J N what frames do (positions in lengths of the robot, rotations [rad]):

    loops    least singular value of C that counts: 0 where the loops fold flat and could go on either way
    hold     least singular value of P N that counts: 0 where the robot moves though its actuators stand still. Between
             two samples it goes through 0 where det(P N) changes its sign, N carried along
    steer    min |J N v| / |P N v|: 0 where the actuators move and no frame does, so that following a frame takes any
             speed

All three are without unit and do not change when the robot is scaled. Loops that share joints have values of their own;
the robot's is the least of them. Singular values that are zero near the rest pose, too, do not count: redundant rows,
more actuators than a frame has freedoms, motions that no actuator sees, as the idle spin of a rod between two balls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..jit import kernel
from ..mechanism.model import Mechanism
from ..mechanism.pose import quaternion_matrix
from ..mechanism.topology import Topology, loop_groups
from .assembly import assembled_poses, closed, prepared
from .coordinates import Coordinates
from .elimination import eliminate, new_elimination
from .forward import ForwardKinematics
from .hold import MOVES, Loops, holds_along, new_watch, share, sizes
from .kernels import group_jacobian, new_placement, stand_at
from .null_space import extend

COUNTS = 1e-7  # of 1: a singular value above this is not zero
SPARE = 3  # motions that loops may gain where they fold flat


class Held(NamedTuple):
    """Hold of each of k groups of loops along a motion."""

    hold: np.ndarray  # (T, k)
    crossed: np.ndarray  # (T, k) whether it went through 0 since the sample before


class Lost(NamedTuple):
    """Motion that actuators hardly see."""

    motors: tuple[str, ...]  # whose part in it is largest
    bodies: tuple[str, ...]  # that move most in it


class Followed(NamedTuple):
    """Part of a frame's, or a body's, pose that is followed."""

    name: str  # of the frame, or body
    position: np.ndarray  # (3,) along which axes of the world its place is
    directions: np.ndarray  # (3, k) of its own that are


@dataclass(frozen=True)
class Distances:
    """From singular poses, per frame (T,): 1 is far, 0 there.

    Infinite are `loops` without loops, `steer` without frames, `hold` without actuators that move anything. `residual`:
    how far the loops are open at the actuators' values [m]; these are no poses of the robot where it cannot be
    assembled.
    """

    loops: np.ndarray
    hold: np.ndarray
    steer: np.ndarray
    residual: np.ndarray

    @property
    def nearest(self) -> np.ndarray:
        """The least of the three."""
        return np.minimum(np.minimum(self.loops, self.hold), self.steer)


def distances(mechanism: Mechanism, values: np.ndarray, frames: tuple[str, ...] | None = None) -> Distances:
    """Return the distances (T,) from singular poses and residuals (T,) [m] along actuator values (T, A).

    `frames` are to be moved; the robot's own ones if left out.
    """
    fk = ForwardKinematics(mechanism)
    meter = meter_of(fk.topology)
    q, residual = fk.coordinates_along(values)
    return Distances(meter.loops_along(q), meter.least(q), meter.steer(q, whole(mechanism, frames)), residual)


def whole(mechanism: Mechanism, frames: Iterable[str] | None = None) -> list[Followed]:
    """Return places and orientations of frames, the robot's own ones if left out, as followed."""
    names = [frame.name for frame in mechanism.frames] if frames is None else frames
    return [Followed(name, np.ones(3, bool), np.eye(3)) for name in names]


@kernel
def motions_along(flat, now, e, step, q, first, most, motions, count):
    """Fill in the motions that keep the loops closed, a column per independent coordinate, group after group."""
    for k in range(q.shape[0]):
        stand_at(flat, now, q[k])
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


def meter_of(topology: Topology) -> Meter:
    """Return the meter of a layout, made once for all solvers, which read what it found near the rest pose."""
    meters = topology.known.setdefault("meters", {})
    layout = tuple(topology.joint_at)
    if layout not in meters:
        meters[layout] = Meter(topology)
    return meters[layout]


class Meter:
    """Measures how far a robot's poses are from singular ones.

    Attributes:
        loops: The groups of equations that hold a loop, and not couplings alone, and that actuators move.
        near: Coordinates (K, nq) of assembled poses at and near the rest pose.
        idle: Whether no actuator determines a body even near the rest pose, for all in the topology's order.
        idle_bodies: Their names.
    """

    def __init__(self, topology: Topology):
        self.topology, self.coordinates = topology, Coordinates(topology)
        self.flat = prepared(topology)
        self._now, self._e = new_placement(self.flat, topology.rest), new_elimination(self.flat)
        self._names = np.array([topology.mechanism.bodies[i].name for i in topology.order])
        self._columns = [columns for _, columns in loop_groups(self.flat)]
        self.near = np.array(
            [now.q.copy() for residual, now in assembled_poses(self.flat, topology.rest)
             if closed(self.flat, now, residual)]
        ).reshape(-1, len(topology.rest))  # fmt: skip
        self._groups, idle = self._look_near_rest()
        self.idle = idle
        self.idle_bodies = frozenset(self._names[idle].tolist())
        rows = [rows for rows, _ in loop_groups(self.flat)]
        self._cuts = [g for g in self._groups if (rows[g.number] < len(self.flat.row_kind)).any()]
        self.loops = [g for g in self._cuts if g.seen]
        self._watch = new_watch(self.loops, idle, self.flat, topology.rest)

    def _look_near_rest(self) -> tuple[list[Loops], np.ndarray]:
        """Return the groups with the motions that they have near the rest pose, and which bodies are idle there."""
        coordinates, found, unseen = self.coordinates, [], []
        motions, count = self._motions(self.near, [len(columns) for columns in self._columns])
        for g, columns in enumerate(self._columns):
            group = Loops(g, columns, np.flatnonzero(coordinates.driven[columns]), coordinates.unit[columns], 0, 0, 0.0)
            free = int(count[:, g].min(initial=len(columns)))
            usual = [k for k in range(len(self.near)) if count[k, g] == free]
            bases = [_basis(motions[g][k, :, :free], group) for k in usual]
            values = [np.linalg.svd(basis[group.driven])[1:] for basis in bases]
            ranks = [int((sines > COUNTS).sum()) for sines, _ in values]
            seen = max(ranks, default=0)
            most = max((sines[seen - 1] for sines, _ in values), default=0.0) if seen else np.inf
            found.append(group._replace(free=free, seen=seen, usual=float(most)))
            if free > seen and ranks:
                best = ranks.index(seen)
                unseen.append((usual[best], columns, bases[best] @ values[best][1][seen:].T))
        loose = np.setdiff1d(coordinates.kept, np.concatenate([np.zeros(0, int), *self._columns]))
        unseen += [(0, loose[[k]], np.ones((1, 1))) for k in np.flatnonzero(~coordinates.driven[loose])]
        return found, self._moved_by(unseen)

    def _moved_by(self, motions: list[tuple[int, np.ndarray, np.ndarray]]) -> np.ndarray:
        """Return which bodies (n,) motions (w, k) of columns (w,), each near the rest pose by a number, move."""
        moved, size = np.zeros(self.flat.bodies, bool), np.zeros(self.flat.bodies)
        xi = np.zeros((len(self.flat.parent), 6))
        for k, columns, ways in motions if len(self.near) else ():
            self._stand(self.near[k])
            for way in ways.T:
                sizes(self.flat, self._now, self._spread(columns, way), xi, size)
                moved |= size > COUNTS
        return moved

    def _spread(self, columns: np.ndarray, way: np.ndarray) -> np.ndarray:
        """Return a motion (columns,) among all degrees of freedom (d,) [rad or m]."""
        motion = np.zeros(len(self.flat.before))
        motion[columns] = way * self.coordinates.unit[columns]
        return motion

    def _stand(self, q: np.ndarray) -> None:
        """Stand at coordinates (nq,)."""
        stand_at(self.flat, self._now, q)

    def _motions(self, q: np.ndarray, most: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the motions (T, width, most) of each group at coordinates (T, nq), and their numbers (T, groups)."""
        widths, wide = np.array([len(columns) for columns in self._columns], int), np.array(most, dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(widths * wide)]).astype(np.int64)
        motions, count = np.zeros((len(q), int(first[-1]))), np.zeros((len(q), len(widths)), np.int64)
        step = np.zeros(len(self.flat.before))
        motions_along(self.flat, self._now, self._e, step, np.ascontiguousarray(q), first[:-1], wide, motions, count)
        each = [motions[:, a:b] for a, b in pairwise(first.tolist())]
        return [part.reshape(len(q), w, m) for part, w, m in zip(each, widths, wide, strict=True)], count

    def along(self, q: np.ndarray) -> Held:
        """Return the hold of each group of loops at coordinates (T, nq)."""
        shape = len(q), len(self.loops)
        hold, is_usual, crossed = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
        holds_along(self.flat, self._now, self._watch, np.ascontiguousarray(q), hold, is_usual, crossed)
        for k, g in np.argwhere(~is_usual).tolist():
            hold[k, g] = self._least_seen(q[k], g)[0]
        return Held(hold, crossed)

    def least(self, q: np.ndarray) -> np.ndarray:
        """Return the least hold of all loops (T,), 1 where there are none but motors, infinite without these."""
        return self.along(q).hold.min(axis=1, initial=1.0 if self.coordinates.driven.any() else np.inf)

    def loops_along(self, q: np.ndarray) -> np.ndarray:
        """Return how far loops are from folding flat (T,)."""
        found = np.full(len(q), np.inf)
        for k, place in enumerate(q):
            self._stand(place)
            for group in self._cuts:
                C = np.zeros((self.flat.group_row_at[group.number + 1] - self.flat.group_row_at[group.number],
                              len(group.columns)))  # fmt: skip
                group_jacobian(self.flat, self._now, group.number, C)
                values = np.linalg.svd(C * (group.unit / self.flat.size), compute_uv=False)
                if rank := len(group.columns) - group.free:
                    found[k] = min(found[k], values[rank - 1])
        return found

    def steer(self, q: np.ndarray, followed: Sequence[Followed]) -> np.ndarray:
        """Return how well actuators move what is followed (T,), infinite where there is nothing."""
        rank = self._steered(followed)
        values = [np.linalg.svd(self.led(place, followed), compute_uv=False) for place in q] if rank else []
        return np.array([found[rank - 1] for found in values]) if rank else np.full(len(q), np.inf)

    def by_joint(self, q: np.ndarray, followed: Sequence[Followed]) -> dict[str, float]:
        """Return the distance from singular poses at coordinates (nq,) for each joint that is driven.

        The least of hold and steer over the motions in which it has a part; infinite where it has one in none.
        """
        found = {self.coordinates.names[i]: np.inf for i in np.flatnonzero(self.coordinates.driven).tolist()}
        for g, group in enumerate(self.loops):
            _, values, parts, _ = self._least_seen(q, g)
            self._tell(found, group.columns[group.driven], values, parts[:, : group.seen].T)
        if rank := self._steered(followed):
            _, values, parts = np.linalg.svd(self.led(q, followed))
            self._tell(found, np.flatnonzero(self.coordinates.driven), values[:rank], parts)
        return found

    def _tell(self, found: dict[str, float], dofs: np.ndarray, values: np.ndarray, parts: np.ndarray) -> None:
        """Lower what was found for joints to values of motions in which their degrees of freedom have a part (k, w)."""
        for value, part in zip(values, np.abs(parts), strict=False):
            for i in dofs[part > MOVES * part.max(initial=0.0)].tolist():
                name = self.coordinates.names[i]
                found[name] = min(found[name], float(value))

    def _steered(self, followed: Sequence[Followed]) -> int:
        """Return the rank that motors have over what is followed, but in singular poses."""
        if not followed or not self.coordinates.driven.any():
            return 0
        values = [np.linalg.svd(self.led(place, followed), compute_uv=False) for place in self.near]
        return max((int((found > COUNTS).sum()) for found in values), default=0)

    def led(self, q: np.ndarray, followed: Sequence[Followed]) -> np.ndarray:
        """Return J N (P N)⁺ (rows, motors): what motors do with what is followed."""
        motions, _ = self._motions(q[None], [group.free for group in self._groups])
        d, driven, unit = len(self.flat.before), self.coordinates.driven, self.coordinates.unit
        alone = np.setdiff1d(self.coordinates.kept, np.concatenate([np.zeros(0, int), *self._columns]))
        blocks = [np.eye(d)[:, alone]]
        for group in self._groups:
            blocks.append(np.zeros((d, group.free)))
            blocks[-1][group.columns] = _basis(motions[group.number][0], group)
        N = np.hstack(blocks)
        J = np.vstack([self._moved(each) for each in followed]) * unit
        return J @ N @ np.linalg.pinv(N[driven], COUNTS)

    def _moved(self, followed: Followed) -> np.ndarray:
        """Return what degrees of freedom do with a frame where the robot stands (rows, d): places, then directions."""
        topology, now, mechanism = self.topology, self._now, self.topology.mechanism
        frame = mechanism.frame(followed.name)
        b, body = topology.body_at[frame.body], mechanism.bodies[mechanism.body_index[frame.body]]
        pose, path, i = body.pose @ frame.pose, np.zeros(len(self.flat.before)), int(self.flat.tip[b])
        while i >= 0:
            path[i], i = 1.0, int(self.flat.before[i])
        x = now.R[b] @ (np.array(pose.point((0.0, 0.0, 0.0))) - body.rest_com) + now.c[b]
        place = ((np.cross(now.omega, x) + now.v) / self.flat.size)[:, followed.position]
        directions = now.R[b] @ quaternion_matrix(pose.quaternion) @ followed.directions
        turns = [np.cross(now.omega, way) / np.sqrt(2.0) for way in directions.T]  # all three together: as omega
        return (np.hstack([place, *turns]) * path[:, None]).T

    def share(self, q: np.ndarray, g: int) -> float:
        """Return how much of the motion of loops that their actuators see least is one of bodies that they determine.

        A spin that is idle may be a large part of it, as in joints of three hinges that are nearly in line.
        """
        self._watch.motion[:] = self._least_seen(q, g)[3]
        return float(share(self.flat, self._now, self._watch))

    def lost(self, q: np.ndarray, g: int) -> Lost:
        """Return what hold is about: the motion of loops that their actuators see least."""
        group, size = self.loops[g], np.zeros(self.flat.bodies)
        _, _, parts, motion = self._least_seen(q, g)
        seen = np.abs(parts[:, min(group.seen, parts.shape[1]) - 1])
        sizes(self.flat, self._now, motion, self._watch.xi, size)
        moves = (size > MOVES * size.max(initial=1e-300)) & ~self.idle
        motors = self.coordinates.joints_of(group.columns[group.driven[seen > MOVES * seen.max()]])
        return Lost(motors, tuple(self._names[moves].tolist()))

    def _least_seen(self, q: np.ndarray, g: int) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Return the hold of loops, singular values, motors' parts, and the motion (d,) seen least [rad or m].

        Stand there. Where the loops fold flat they have more motions than elsewhere, and motors should see these, too.
        """
        group = self.loops[g]
        motions, count = self._motions(q[None], [each.free + SPARE for each in self._groups])
        free = min(int(count[0, group.number]), group.free + SPARE)
        basis = _basis(motions[group.number][0, :, :free], group)
        parts, values, ways = np.linalg.svd(basis[group.driven], full_matrices=False)
        least = free - (group.free - group.seen) - 1
        hold = np.inf if least < 0 else values[least] if least < len(values) else 0.0
        k = min(max(least, 0), len(ways) - 1)
        return float(hold), values, parts, self._spread(group.columns, basis @ ways[k])


def _basis(motions: np.ndarray, group: Loops) -> np.ndarray:
    """Return an orthonormal basis (width, count) of motions (width, count) of a group."""
    return np.linalg.qr(motions / group.unit[:, None])[0]
