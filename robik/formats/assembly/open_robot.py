"""A robot as most files store it: a tree of bodies, and joints that would close its loops but stand open.

A joint has a frame on each of its bodies; `placed` says where all bodies are for given coordinates, and `closure` how
far the loops are open there, with derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from ...errors import MechanismError
from ...mechanism import WORLD, Body, Coupling, Frame
from ...mechanism.joints import SLIDES
from ...mechanism.pose import cross
from .open_joint import OpenJoint, joint_motion


class JointEnds(NamedTuple):
    """A joint's frames on its parent and on its child, in the world."""

    parent_rotation: np.ndarray  # (3, 3)
    parent_position: np.ndarray  # (3,) [m]
    child_rotation: np.ndarray  # (3, 3)
    child_position: np.ndarray  # (3,) [m]


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Placement of everything: frames of the bodies, the ground first, and of the motions.

    Attributes:
        R, p: (n + 1, 3, 3) and (n + 1, 3) the bodies' own frames, in the order of `OpenRobot.order` [m].
        angular, linear, point: (d, 3) each: per coordinate the axis it turns about, the direction it slides along, and
            where the axis is.
    """

    R: np.ndarray
    p: np.ndarray
    angular: np.ndarray
    linear: np.ndarray
    point: np.ndarray


@dataclass(frozen=True)
class OpenRobot:
    """Bodies and joints.

    A joint that ties what the joints before it leave apart is part of the tree, the others close loops.

    The bodies' poses are ignored. Couplings tie coordinates of tree joints. The `ground` is what stands still, the
    world or in a part of a robot the body that all its loops hang on. One that `lacks_motors` has none because its file
    says so, and not because it does not say.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[OpenJoint, ...]
    _: KW_ONLY
    frames: tuple[Frame, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    ground: str = WORLD
    lacks_motors: bool = False

    @cached_property
    def hangs_on(self) -> dict[str, OpenJoint]:
        """Body → the tree joint between it and the ground, those near the ground first.

        A MechanismError names bodies that nothing ties to the ground.
        """
        group = {name: name for name in (self.ground, *(end for j in self.joints for end in (j.parent, j.child)))}
        neighbours: dict[str, list[tuple[str, OpenJoint]]] = {}
        for joint in self.joints:
            a, b = _root(group, joint.parent), _root(group, joint.child)
            if a != b:
                group[b] = a
                neighbours.setdefault(joint.parent, []).append((joint.child, joint))
                neighbours.setdefault(joint.child, []).append((joint.parent, joint))
        reached: dict[str, OpenJoint] = {}
        waiting = [self.ground]
        while waiting:
            for body, joint in neighbours.get(waiting.pop(), []):
                if body != self.ground and body not in reached:
                    reached[body] = joint
                    waiting.append(body)
        for body in (b.name for b in self.bodies):
            if body not in reached:
                raise MechanismError(
                    f"body {body!r} does not hang on the robot's root; its joints must lead from the root to it"
                )
        return reached

    @cached_property
    def closers(self) -> tuple[OpenJoint, ...]:
        """The joints that close loops."""
        tree = set(map(id, self.hangs_on.values()))
        return tuple(j for j in self.joints if id(j) not in tree)

    @cached_property
    def order(self) -> dict[str, int]:
        """Index of each body in `Placed`; the ground is 0."""
        return {name: i for i, name in enumerate([self.ground, *self.hangs_on])}

    @cached_property
    def at(self) -> dict[str, int]:
        """Index of each tree joint's first coordinate."""
        start, at = 0, {}
        for joint in self.hangs_on.values():
            at[joint.name] = start
            start += len(joint.motions)
        return at

    @cached_property
    def coordinates(self) -> dict[str, int]:
        """Index of each coordinate of the tree, by name."""
        return {name: self.at[j.name] + i for j in self.hangs_on.values() for i, name in enumerate(j.coordinate_names)}

    @cached_property
    def stored(self) -> np.ndarray:
        """(d,) the tree's coordinates in the stored pose."""
        values = (j.stored or (0.0,) * len(j.motions) for j in self.hangs_on.values())
        return np.array([v for each in values for v in each], dtype=float)

    @cached_property
    def bounds(self) -> np.ndarray:
        """(2, d) lower and upper bounds."""
        limits = (j.limits or ((-np.inf, np.inf),) * len(j.motions) for j in self.hangs_on.values())
        return np.array([pair for each in limits for pair in each], dtype=float).reshape(-1, 2).T

    @cached_property
    def moves(self) -> np.ndarray:
        """(n + 1, d) whether a coordinate moves a body."""
        moves = np.zeros((len(self.order), len(self.stored)), dtype=bool)
        for i, (body, joint) in enumerate(self.hangs_on.items(), start=1):
            moves[i] = moves[self.order[_other(joint, body)]]
            moves[i, self.at[joint.name] : self.at[joint.name] + len(joint.motions)] = True
        return moves

    @cached_property
    def size(self) -> float:
        """Mean distance between a joint and the next [m]; 1 where all are in one place."""
        spans = [
            d
            for j in self.joints
            for d in (float(np.linalg.norm(j.near.position)), float(np.linalg.norm(j.far.position)))
            if d > 0
        ]
        return float(np.mean(spans)) if spans else 1.0

    @property
    def _ties(self) -> list[OpenJoint | Coupling]:
        return [*self.closers, *self.couplings]

    @cached_property
    def in_loops(self) -> np.ndarray:
        """(d,) whether a coordinate is part of a loop or of a coupling."""
        found = np.zeros(len(self.stored), dtype=bool)
        for tie in self._ties:
            found[list(self._columns(tie))] = True
        return found

    @cached_property
    def parts(self) -> list[OpenRobot]:
        """Groups of loops and couplings that share coordinates, each as a robot.

        Each holds the bodies from the last one on that all hang on its loops: smaller robots, solved one by one.
        """
        groups: list[tuple[set[int], list[OpenJoint | Coupling]]] = []
        for tie in self._ties:
            columns: set[int] = set(self._columns(tie))
            ties = [tie]
            for group in [g for g in groups if not columns.isdisjoint(g[0])]:
                groups.remove(group)
                columns, ties = columns | group[0], group[1] + ties
            groups.append((columns, ties))
        return [self._part(ties) for _, ties in groups]

    def _part(self, ties: list[OpenJoint | Coupling]) -> OpenRobot:
        closers = tuple(tie for tie in ties if isinstance(tie, OpenJoint))
        couplings = tuple(tie for tie in ties if isinstance(tie, Coupling))
        followed = {end for coupling in couplings for end in coupling.ends}
        coupled = [
            joint for joint in self.hangs_on.values() if followed and not followed.isdisjoint(joint.coordinate_names)
        ]
        paths = [self._path(end) for joint in (*closers, *coupled) for end in (joint.parent, joint.child)]
        shared = next((k for k, bodies in enumerate(zip_longest(*paths)) if len(set(bodies)) > 1), len(paths[0]))
        kept = {body for path in paths for body in path[shared:]}
        tree = tuple(joint for body, joint in self.hangs_on.items() if body in kept)
        bodies = tuple(b for b in self.bodies if b.name in kept)
        return OpenRobot(self.name, bodies, (*tree, *closers), couplings=couplings, ground=paths[0][shared - 1])

    def _path(self, body: str) -> list[str]:
        """Return the bodies from the ground to a body."""
        path = [body]
        while path[-1] != self.ground:
            path.append(_other(self.hangs_on[path[-1]], path[-1]))
        return path[::-1]

    def _columns(self, tie: OpenJoint | Coupling) -> list[int]:
        """Return indices of the coordinates that a loop or a coupling depends on."""
        if isinstance(tie, Coupling):
            return [self.coordinates[end] for end in tie.ends]
        moves = self.moves
        return np.flatnonzero(moves[self.order[tie.parent]] != moves[self.order[tie.child]]).tolist()

    def placed(self, q: np.ndarray) -> Placed:
        """Return the bodies' poses and their derivatives at the tree's coordinates q (d,) [rad or m]."""
        n, d = len(self.order), len(q)
        R, p = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
        angular, linear, point = np.zeros((3, d, 3))
        for i, (body, joint) in enumerate(self.hangs_on.items(), start=1):
            near_R, near_p, far_R, far_p = self._ends[joint.name]
            here = slice(self.at[joint.name], self.at[joint.name] + len(joint.motions))
            motion_R, motion_p, turning, sliding = joint_motion(joint, q[here])
            a = self.order[_other(joint, body)]
            if body == joint.child:
                Ra, pa = R[a] @ near_R, p[a] + R[a] @ near_p
                Rb, pb = Ra @ motion_R, pa + Ra @ motion_p
                R[i] = Rb @ far_R.T
                p[i] = pb - R[i] @ far_p
                sign = 1.0
            else:  # from its child to its parent: what its coordinates move, they move backwards
                Rb, pb = R[a] @ far_R, p[a] + R[a] @ far_p
                Ra = Rb @ motion_R.T
                R[i] = Ra @ near_R.T
                p[i] = pb - Ra @ motion_p - R[i] @ near_p
                sign = -1.0
            angular[here], linear[here], point[here] = sign * turning @ Ra.T, sign * sliding @ Ra.T, pb
        return Placed(R=R, p=p, angular=angular, linear=linear, point=point)

    @cached_property
    def _ends(self) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        return {
            j.name: (j.near.matrix, np.array(j.near.position), j.far.matrix, np.array(j.far.position))
            for j in self.joints
        }

    def joint_frames(self, joint: OpenJoint, now: Placed) -> JointEnds:
        """Return a joint's frame on its parent and on its child, in the world: (3, 3) and (3,) [m] each."""
        a, b = self.order[joint.parent], self.order[joint.child]
        near_R, near_p, far_R, far_p = self._ends[joint.name]
        near_p, far_p = now.p[a] + now.R[a] @ near_p, now.p[b] + now.R[b] @ far_p
        return JointEnds(now.R[a] @ near_R, near_p, now.R[b] @ far_R, far_p)

    def closure(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals (m,) of loops, then couplings, at q (d,), and their derivatives (m, d).

        Lengths are fractions of `size`. Raise MechanismError where they overflow.
        """
        now = self.placed(q)
        values: list[float] = []
        rows: list[np.ndarray] = []
        for joint in self.closers:
            self._close(joint, now, values, rows)
        for coupling in self.couplings:
            follower, at = self.coordinates[coupling.follower], self._values(coupling.leaders, q)
            row = np.zeros(len(q))
            row[follower] += 1.0
            for leader, slope in coupling.slopes(at).items():
                row[self.coordinates[leader]] -= slope
            values.append(float(q[follower] - coupling.value(at)))
            rows.append(row)
        if not np.isfinite(values).all() or not np.isfinite(rows).all():
            raise MechanismError(f"robot {self.name!r} has numbers too large to calculate with; lengths are in metres")
        return np.array(values), np.array(rows).reshape(len(values), len(q))

    def _values(self, names: Iterable[str], q: np.ndarray) -> dict[str, float]:
        return {name: float(q[self.coordinates[name]]) for name in names}

    def _close(self, joint: OpenJoint, now: Placed, values: list[float], rows: list[np.ndarray]) -> None:
        """Append a closer's equations.

        No slide that it locks, and its axes alike on both sides: more rows than needed, but none that is also zero
        where an axis points backwards.
        """
        Ra, pa, Rb, pb = self.joint_frames(joint, now)
        wa, va = self._velocity(joint.parent, pa, now)
        wb, vb = self._velocity(joint.child, pb, now)
        gap = pb - pa
        for k, name in enumerate(SLIDES):
            if name not in joint.motions:
                u = Ra[:, k]
                values.append(float(u @ gap) / self.size)
                rows.append((u @ (vb - va) + cross(u, gap) @ wa) / self.size)
        turns, radian = joint.turns, min(1.0, joint.lever / self.size)
        if len(turns) == 2:
            a, b = Ra[:, turns[0]], Rb[:, turns[1]]
            values.append(radian * float(a @ b))
            rows.append(radian * (cross(a, b) @ wa + cross(b, a) @ wb))
        elif len(turns) < 2:
            for k in turns or range(3):
                values.extend((radian * (Rb[:, k] - Ra[:, k])).tolist())
                rows.extend(radian * (cross(wb.T, Rb[:, k]).T - cross(wa.T, Ra[:, k]).T))

    def _velocity(self, body: str, x: np.ndarray, now: Placed) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives (3, d) of a body's rotation and of its point at x."""
        moved = self.moves[self.order[body]][:, None]
        return (now.angular * moved).T, ((now.linear + cross(now.angular, x - now.point)) * moved).T


def _root(group: dict[str, str], name: str) -> str:
    while group[name] != name:
        group[name] = group[group[name]]
        name = group[name]
    return name


def _other(joint: OpenJoint, body: str) -> str:
    return joint.parent if body == joint.child else joint.child
