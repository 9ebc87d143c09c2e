"""Translation of coordinates between two spanning trees of one robot.

Coordinates that both trees have are copied. Those of a root are computed from the pose of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kinematics.rotations import matrices_to_quaternions
from ..mechanism.constraints import BALL, HINGE
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.topology import Flat, Topology
from .contact import Hold
from .footing import Held, laid_out

FLIPPED = (1.0, -1.0, -1.0, -1.0)  # a quaternion's components the other way round


class Motion(NamedTuple):
    """A motion of a root's joint in the new tree."""

    at: int  # first of its coordinates
    kind: int  # BALL, HINGE or SLIDE
    axis: int  # 0 to 2 of the joint frame


class Crossing:
    """Map from the coordinates of a robot's tree to those of another tree of the same joints, with another root.

    `bodies` (n + 1,) has the old number of each body of the new tree, the world first. `dofs` (k, 3) has the
    degrees of freedom of both: new number, old number, and the sign between them.
    """

    def __init__(self, old: Topology, new: Topology):
        self._size = len(new.rest)
        self.bodies = np.array([old.body_at[name] for name in sorted(new.body_at, key=new.body_at.__getitem__)])
        pairs = [(new.dofs[name], old.dofs[name]) for name in new.dofs if name in old.dofs]
        self.dofs = np.array([(a, b, s * t) for (a, s), (b, t) in pairs], dtype=np.int64).reshape(-1, 3)
        balls = _balls(old, new)
        scalars = new.flat.dof_q[self.dofs[:, 0]], old.flat.dof_q[self.dofs[:, 1]], self.dofs[:, 2].astype(float)
        self._to, self._from, self._sign = (np.concatenate(parts) for parts in zip(scalars, *balls, strict=True))
        self._read = _motions_without(new, set(self._to.tolist()))
        self._clusters, self._first_cluster = _shared_clusters(old, new, self.bodies)

    def coordinates(
        self, flat: Flat, q: np.ndarray, pose: Callable[[int], tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        """Return coordinates (T, nq) of the new tree, which `flat` places in the world, from those of the old one.

        `pose` gives the rotations (T, 3, 3) and centres of mass (T, 3) [m] of a body by its number in the old tree.
        """
        found = np.zeros((len(q), self._size))
        found[:, self._to] = q[:, self._from] * self._sign
        for b, motions in self._read.items():  # a root's: its joint hangs on the world
            R, c = pose(int(self.bodies[b]))
            near_R, far_R = flat.from_parent_R[b], R @ flat.to_child_R[b].T
            away = c - far_R @ flat.to_child_p[b] - flat.from_parent_p[b]
            turn, away = near_R.T @ far_R, (away[:, None] @ near_R)[:, 0]  # row by row: a frame is as it is alone
            for at, kind, axis in motions:
                i, j = (axis + 1) % 3, (axis + 2) % 3
                if kind == BALL:
                    turned = np.zeros((len(q), 4))
                    matrices_to_quaternions(turn, turned)
                    found[:, at : at + 4] = turned
                elif kind == HINGE:
                    found[:, at] = np.arctan2(turn[:, j, i] - turn[:, i, j], turn[:, i, i] + turn[:, j, j])
                else:
                    found[:, at] = away[:, axis]
        return found

    def by_cluster(self, old: np.ndarray) -> np.ndarray:
        """Return for each cluster of the new tree the largest value of the old ones that it shares a body with.

        Values (clusters,) are zero or more.
        """
        return np.maximum.reduceat(np.append(old, 0.0)[self._clusters], self._first_cluster)


def _balls(old: Topology, new: Topology) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the coordinates of each ball in the new tree and in the old one, and the signs between them."""
    found, body_of = [], {b: name for name, b in new.body_at.items()}
    for name, b in new.joint_at.items():
        at, source = _ball(new.flat, b), old.joint_at.get(name)
        before = None if source is None else _ball(old.flat, source)
        if at is not None and before is not None:
            same = old.body_at[body_of[b]] == source
            found.append((at + np.arange(4), before + np.arange(4), np.array((1.0,) * 4 if same else FLIPPED)))
    return found


def _ball(flat: Flat, b: int) -> int | None:
    """Return the first coordinate of the ball that a body hangs on by; None where there is none."""
    return next((int(flat.at_q[m]) for m in range(flat.first[b], flat.last[b]) if flat.kind[m] == BALL), None)


def _motions_without(new: Topology, known: set[int]) -> dict[int, list[Motion]]:
    """Return the motions of the new tree whose coordinates are not known, by the body that they move."""
    flat, found = new.flat, dict[int, list[Motion]]()
    for b in range(1, len(flat.parent)):
        for m in range(flat.first[b], flat.last[b]):
            if int(flat.at_q[m]) not in known:
                found.setdefault(b, []).append(Motion(int(flat.at_q[m]), int(flat.kind[m]), int(flat.axis[m])))
    return found


def _shared_clusters(old: Topology, new: Topology, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the old clusters of each new one in one row, and where each begins.

    A new cluster without an old one has the number after the last.
    """
    of, none = old.flat.cluster_of[bodies], len(old.flat.cluster_on)
    rows = []
    for c in range(len(new.flat.cluster_on)):
        own = of[new.flat.cluster_of == c]
        rows.append(np.unique(own[own >= 0]).tolist() or [none])
    starts = np.cumsum([0, *map(len, rows)])[:-1]
    return np.array([c for row in rows for c in row], dtype=np.int64), starts


@kept_with_robot
def crossing(mechanism: Mechanism, held: Held, old: tuple[Hold, ...], new: tuple[Hold, ...]) -> Crossing:
    """Return the map between a robot's trees on two sets of contacts, of which `laid_out` has the layouts."""
    before, after = (laid_out(mechanism, holds, held, rooted=True).topology for holds in (old, new))
    return Crossing(before, after)
