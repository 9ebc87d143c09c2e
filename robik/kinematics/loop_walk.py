"""Poses of one group of loops that nearly close, found by Newton steps that leave nearly redundant rows aside.

All matrices are without unit: rows and slides count by the robot's size. The Jacobian of a loop that moves only by
exact numbers has a few small singular values where its numbers are rounded; a step along the others' row space closes
the loop up to the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..budget import current
from ..jit import by_reference
from ..mechanism.constraints import BALL, SLIDE
from ..mechanism.topology import Topology
from .kernels import Placement, close, forward_kinematics, group_jacobian, integrate, new_placement

LOOSE = 1e-3  # of the largest: singular values below may be those of rounding
NEWTON_STEPS = 30
LARGEST_STEP = 0.5  # rad, or of the robot's size
SETTLED = 1e-14  # a step below this ends Newton's method


@dataclass(frozen=True)
class LoopPose:
    """A group of loops at one pose.

    Attributes:
        q: (nq,) coordinates of the whole tree.
        value: (rows,) closure, in sizes of the robot.
        left: (rows, rows) left singular vectors of the closure's Jacobian, those of large singular values first.
        singular: (rows,) singular values, zeros at the end.
        right: (columns, columns) right singular vectors as rows.
    """

    q: np.ndarray
    value: np.ndarray
    left: np.ndarray
    singular: np.ndarray
    right: np.ndarray

    @property
    def rank(self) -> int:
        """Singular values that are more than rounding."""
        return int((self.singular > LOOSE * max(1.0, float(self.singular.max(initial=0.0)))).sum())

    def residual(self) -> float:
        """Return the largest closure value, in sizes of the robot."""
        return float(np.abs(self.value).max(initial=0.0))


class LoopWalk:
    """One group of a robot's loops that share coordinates.

    Attributes:
        topology, flat: the robot's.
        rows, columns: the group's closure rows and degrees of freedom.
        unit: (columns,) what a step of one is: 1 rad, or the robot's size [m].
    """

    def __init__(self, topology: Topology, group: int) -> None:
        self.topology, self.group = topology, group
        flat = self.flat = by_reference(topology.flat)
        self.rows = flat.group_rows[flat.group_row_at[group] : flat.group_row_at[group + 1]]
        self.columns = flat.group_columns[flat.group_column_at[group] : flat.group_column_at[group + 1]]
        self.unit = np.where(np.isin(self.columns, flat.at_v[flat.kind == SLIDE]), flat.size, 1.0)
        self._per_coordinate = self._scales()
        self.placement: Placement = new_placement(self.flat, self.topology.rest)

    def _scales(self) -> np.ndarray:
        """Return (nq,) what a change of a coordinate counts: 2 in a quaternion, 0 outside the group."""
        scales, flat = np.zeros(len(self.topology.rest)), self.flat
        unit = dict(zip(self.columns.tolist(), self.unit.tolist(), strict=True))
        for m in np.flatnonzero(np.isin(flat.at_v, self.columns)).tolist():
            q, is_ball = int(flat.at_q[m]), flat.kind[m] == BALL
            scales[q : q + (4 if is_ball else 1)] = 2.0 if is_ball else 1.0 / unit[int(flat.at_v[m])]
        return scales

    def pose(self, q: np.ndarray) -> LoopPose:
        """Return the loops' residuals and singular values at coordinates q (nq,)."""
        current().check()
        value, jacobian = self.closure(q)
        left, singular, right = np.linalg.svd(jacobian)
        padded = np.zeros(len(self.rows))
        padded[: len(singular)] = singular
        return LoopPose(q.copy(), value, left, padded, right)

    def closure(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far the loops are open at coordinates q (nq,), and the derivatives, all without unit."""
        self.placement.q[:] = q
        forward_kinematics(self.flat, self.placement)
        close(self.flat, self.placement)
        jacobian = np.zeros((len(self.rows), len(self.columns)))
        group_jacobian(self.flat, self.placement, self.group, jacobian)
        return self.placement.value[self.rows] / self.flat.size, jacobian * (self.unit / self.flat.size)

    def stepped(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return coordinates (nq,) moved by a step (columns,) of the group without unit."""
        whole, moved = np.zeros(len(self.flat.before)), q.copy()
        whole[self.columns] = step * self.unit
        integrate(self.flat, q, whole, 1.0, moved)
        return moved

    def settled(self, q: np.ndarray) -> LoopPose:
        """Return the pose near q (nq,) at which the loops close but for rows that are nearly redundant."""
        pose = self.pose(q)
        for _ in range(NEWTON_STEPS):
            rank = pose.rank
            step = -pose.right[:rank].T @ (pose.left[:, :rank].T @ pose.value / pose.singular[:rank])
            largest = float(np.abs(step).max(initial=0.0))
            if not largest < 1e3:
                break
            pose = self.pose(self.stepped(pose.q, step * min(1.0, LARGEST_STEP / max(largest, 1e-300))))
            if largest < SETTLED:
                break
        return pose

    def distance(self, q: np.ndarray, p: np.ndarray) -> float:
        """Return the largest motion of the group from coordinates p to q, without unit."""
        return float(np.abs((q - p) * self._per_coordinate).max(initial=0.0))

    def carried(self, b: int) -> np.ndarray:
        """Return the map (6, 6) from a twist (ω, v of the origin) in the rest pose to the one carried by body b."""
        R = self.placement.R[b]
        x = self.placement.c[b] - R @ self.topology.rest_com[b]
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = matrix[3:, 3:] = R
        matrix[3:, :3] = np.cross(x, R, axisb=0, axisc=0)
        return matrix
