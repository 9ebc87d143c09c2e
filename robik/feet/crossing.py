"""Translation of coordinates between two spanning trees of one robot.

Coordinates that both trees have are copied. Those of a root are computed from the pose of its body.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanism.constraints import BALL, HINGE
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions
from ..mechanism.topology import Flat, Topology
from .contact import Hold
from .footing import Held, laid_out


class Crossing:
    """Map from the coordinates of a robot's tree to those of another tree of the same joints, with another root.

    `bodies` (n + 1,) has the old number of each body of the new tree, the world first. `dofs` (k, 3) has the
    degrees of freedom of both: new number, old number, and the sign between them. `clusters` has, for each cluster
    of the new tree, the old ones that it shares a body with.
    """

    def __init__(self, old: Topology, new: Topology):
        flat = new.flat
        names = {number: name for name, number in old.body_at.items()}
        self.bodies = np.array([old.body_at[name] for name in sorted(new.body_at, key=new.body_at.__getitem__)])
        pairs = [(new.dofs[name], old.dofs[name]) for name in new.dofs if name in old.dofs]
        self.dofs = np.array([(a, b, s * t) for (a, s), (b, t) in pairs], dtype=np.int64).reshape(-1, 3)
        self._to, self._from = flat.dof_q[self.dofs[:, 0]], old.flat.dof_q[self.dofs[:, 1]]
        known = set(self._to.tolist())
        self._size = len(new.rest)
        self._balls: list[tuple[int, int, float]] = []
        self._read: dict[int, list[int]] = {}
        joints = {body: joint for joint, body in new.joint_at.items()}
        for b in range(1, len(flat.parent)):
            source = old.joint_at.get(joints[b])
            for m in range(flat.first[b], flat.last[b]):
                if flat.kind[m] == BALL and source is not None:
                    motions = range(old.flat.first[source], old.flat.last[source])
                    ball = next(int(old.flat.at_q[i]) for i in motions if old.flat.kind[i] == BALL)
                    same = new.body_at[names[source]] == b
                    self._balls.append((int(flat.at_q[m]), ball, 1.0 if same else -1.0))
                elif int(flat.at_q[m]) not in known:
                    self._read.setdefault(b, []).append(m)
        of = [int(old.flat.cluster_of[b]) for b in self.bodies]
        self.clusters = [
            sorted({of[b] for b in np.flatnonzero(flat.cluster_of == c) if of[b] >= 0})
            for c in range(len(flat.cluster_on))
        ]

    def coordinates(
        self, flat: Flat, q: np.ndarray, pose: Callable[[int], tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        """Return coordinates (T, nq) of the new tree, which `flat` places in the world, from those of the old one.

        `pose` gives the rotations (T, 3, 3) and centres of mass (T, 3) [m] of a body by its number in the old tree.
        """
        found = np.zeros((len(q), self._size))
        found[:, self._to] = q[:, self._from] * self.dofs[:, 2]
        for to, source, sign in self._balls:
            found[:, to : to + 4] = q[:, source : source + 4] * (1.0, sign, sign, sign)
        for b, motions in self._read.items():  # a root's: its joint hangs on the world
            R, c = pose(int(self.bodies[b]))
            near_R, far_R = flat.from_parent_R[b], R @ flat.to_child_R[b].T
            turn, away = near_R.T @ far_R, (c - far_R @ flat.to_child_p[b] - flat.from_parent_p[b]) @ near_R
            for m in motions:
                at, axis = flat.at_q[m], flat.axis[m]
                i, j = (axis + 1) % 3, (axis + 2) % 3
                if flat.kind[m] == BALL:
                    found[:, at : at + 4] = quaternions(Rotation.from_matrix(turn))
                elif flat.kind[m] == HINGE:
                    found[:, at] = np.arctan2(turn[:, j, i] - turn[:, i, j], turn[:, i, i] + turn[:, j, j])
                else:
                    found[:, at] = away[:, axis]
        return found


@kept_with_robot
def crossing(mechanism: Mechanism, held: Held, old: tuple[Hold, ...], new: tuple[Hold, ...]) -> Crossing:
    """Return the map between a robot's trees on two sets of contacts, of which `laid_out` has the layouts."""
    return Crossing(laid_out(mechanism, old, held).topology, laid_out(mechanism, new, held).topology)
