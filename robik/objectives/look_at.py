"""Look-at: an axis of a frame of the robot points at a point of the world, or of another frame of the robot.

    f = w (1 − d · u) = ½ w |d − u|²,   u = (p − x)/|p − x|

d is the direction of the axis and x the frame's origin, both in the world, p the point. The frame may spin about the
axis. With the residual s = d − u, ρ = |p − x| and A = ∂u/∂p = (1 − u uᵀ)/ρ, the forces are w s on the direction d and w
A s at x; the Gauss-Newton part is that of ∂s = ∂d + A ∂x, and the point's curvature adds, with e = s − (s·u) u,

    ∂²f/∂x² = (w/ρ²) (u eᵀ + e uᵀ + (s·u) (1 − u uᵀ))

Nearer to the point than `NEAREST` of the robot's size there is no direction to look in, and the objective says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from ..errors import ClipError
from ..jit import inlined, kernel
from ..kinematics.kernels import rotate
from ..kinematics.rotations import cross
from ..mechanism.model import Mechanism
from ..mechanism.pose import Vector
from ..mechanism.topology import Topology
from .ends import Ends, stacked
from .fields import Field, T
from .keys import KeyForm
from .objective import Kernels, Objective, States, TargetError
from .rows import Row, RowKind
from .terms import add_point, moved, seen_from

NEAREST = 1e-6


class LookAts(NamedTuple):
    """The t axes that look at something, in compiled form."""

    body: np.ndarray  # (t,) that carries the axis
    other: np.ndarray  # (t,) that carries the point, 0 for the world
    slot: np.ndarray  # (t,) where forces and stiffness go
    point: np.ndarray  # (t, 3) the frame's origin in the body's state frame [m]
    axis: np.ndarray  # (t, 3) the axis there
    other_point: np.ndarray  # (t, 3) the other frame's origin in its body's state frame [m]
    other_axes: np.ndarray  # (t, 3, 3) its axes there, in columns
    weight: np.ndarray  # (t,)
    target: np.ndarray  # (t, 3) the point in the other frame [m]


@inlined
def _sight(now, looks, t):
    """Return the frame's origin, the axis and the point, in the world."""
    b, o = looks.body[t], looks.other[t]
    x, y, z = rotate(now.R[b], looks.point[t])
    dx, dy, dz = rotate(now.R[b], looks.axis[t])
    qx, qy, qz = rotate(looks.other_axes[t], looks.target[t])
    p, c, oc = looks.other_point[t], now.c[b], now.c[o]
    px, py, pz = rotate(now.R[o], (p[0] + qx, p[1] + qy, p[2] + qz))
    return (x + c[0], y + c[1], z + c[2]), (dx, dy, dz), (px + oc[0], py + oc[1], pz + oc[2])


@kernel
def add_value(flat, now, looks, total):
    """Return `total` with the objective added."""
    for t in range(looks.body.shape[0]):
        x, d, p = _sight(now, looks, t)
        ux, uy, uz = p[0] - x[0], p[1] - x[1], p[2] - x[2]
        far = sqrt(ux * ux + uy * uy + uz * uz)
        if far > NEAREST * flat.size:
            sx, sy, sz = d[0] - ux / far, d[1] - uy / far, d[2] - uz / far
            total += 0.5 * looks.weight[t] * (sx * sx + sy * sy + sz * sz)
    return total


@kernel
def add_terms(flat, now, looks, terms, share):
    """Add forces and stiffness to the slots, with a `share` of the forces in the second derivatives."""
    for t in range(looks.body.shape[0]):
        x, d, p = _sight(now, looks, t)
        ux, uy, uz = p[0] - x[0], p[1] - x[1], p[2] - x[2]
        far = sqrt(ux * ux + uy * uy + uz * uz)
        if not far > NEAREST * flat.size:
            continue
        u = (ux / far, uy / far, uz / far)
        ahead = seen_from(terms, looks.body[t], looks.other[t])
        turned = cross(ahead[0], ahead[1], ahead[2], d[0], d[1], d[2])
        there = moved(ahead, x[0], x[1], x[2])
        vx, vy, vz = p[0] - there[0], p[1] - there[1], p[2] - there[2]
        length = max(sqrt(vx * vx + vy * vy + vz * vz), NEAREST * flat.size)
        s = (
            share * (d[0] + turned[0] - vx / length),
            share * (d[1] + turned[1] - vy / length),
            share * (d[2] + turned[2] - vz / length),
        )
        _add_sight(terms, looks.slot[t], looks.weight[t], x, d, u, far, s)


@inlined
def _add_sight(terms, slot, w, x, d, u, far, s):
    """Add what an axis d at x with the residual s exerts, and its second derivatives."""
    along = s[0] * u[0] + s[1] * u[1] + s[2] * u[2]
    e = (s[0] - along * u[0], s[1] - along * u[1], s[2] - along * u[2])
    f = w / far
    add_point(terms, slot, x[0], x[1], x[2], f * e[0], f * e[1], f * e[2])
    D, A, B, V = terms.D[slot], terms.Mww[slot], terms.Mwv[slot], terms.Mvv[slot]
    X = ((0.0, -x[2], x[1]), (x[2], 0.0, -x[0]), (-x[1], x[0], 0.0))
    Y = ((0.0, -d[2], d[1]), (d[2], 0.0, -d[0]), (-d[1], d[0], 0.0))
    for i in range(3):
        for j in range(3):
            D[i, j] += w * d[i] * s[j]
            A[i, j] += w * ((1.0 if i == j else 0.0) - d[i] * d[j])  # −[d][d], as d is of length 1
            across = 0.0  # [d] (1 − u uᵀ): what turns of the axis pull at the point
            for m in range(3):
                across += Y[i][m] * ((1.0 if m == j else 0.0) - u[m] * u[j])
            B[i, j] += f * across
            for m in range(3):  # and, with the point turned along, −[d] (1 − u uᵀ) [x] and its transpose
                A[i, m] -= f * across * X[j][m]
                A[m, i] -= f * across * X[j][m]
    for i in range(3):
        for j in range(3):
            bend = f / far * (u[i] * e[j] + e[i] * u[j] + (1.0 + along) * ((1.0 if i == j else 0.0) - u[i] * u[j]))
            V[i, j] += bend
            for m in range(3):
                B[m, j] += X[m][i] * bend
                for n in range(3):
                    A[m, n] -= X[m][i] * bend * X[j][n]


class Axis(Field):
    """An axis (3,) of any length but zero, kept at length 1."""

    def kept(self, key: str, array: np.ndarray) -> np.ndarray:
        if not np.linalg.norm(array) > 1e-9:
            raise ClipError(f"{key} must not be zero; it is the frame's axis that points there, for example 1 0 0")
        return array / np.linalg.norm(array)


@dataclass(frozen=True)
class LookAt(Objective):
    """An axis of a frame that points at something.

    Attributes:
        frame: that looks.
        point: (T, 3) what it looks at: in the world, or in the other frame [m].
        other: frame of the robot that the point moves with, None for the world.
        axis: of the frame, that points there; any length but zero.
    """

    frame: str
    point: np.ndarray
    other: str | None = None
    axis: Vector | np.ndarray = (1.0, 0.0, 0.0)

    KEY = KeyForm("{frame}.look_at[.in.{other}]")
    FIELDS = (Field("point", (T, 3), "m", column="target"), Axis("axis", (3,), end="axis"))
    NAME, TABLE, KERNELS, UNIT = "look_at", LookAts, Kernels(add_value, add_terms), "rad"
    ROW = RowKind(
        key="LOOK_AT",
        label="Look At",
        about="Turns an axis of a frame of the robot towards an object, or towards another frame of the robot",
        fields=(("frame", "Robot Frame"), ("axis", "Axis"), ("source", "Looks At"), ("other", "Or At Frame")),
        needs=("frame", "source|other"),
    )

    def errors(self, states: States, weight: float) -> list[TargetError]:
        if not weight:
            return []
        x, R = states.of(self.frame)
        point = self.point
        if self.other:
            o, other = states.of(self.other)
            point = o + np.einsum("tij,tj->ti", other, self.point)
        way, axis = point - x, R @ np.array(self.axis)
        across = np.linalg.norm(np.cross(axis, way), axis=1)
        angle = np.where(way.any(axis=1), np.arctan2(across, (axis * way).sum(1)), np.nan)
        return [TargetError(angle, "rad", f"{self.frame} looks {{}} past {self.other or 'its target'}", weight)]

    @classmethod
    def constants(cls, topology: Topology, items: Sequence[LookAt], both: Ends) -> dict[str, np.ndarray]:
        axes = [axes @ np.array(item.axis) for axes, item in zip(both.axes, items, strict=True)]
        return {"axis": stacked(axes, 3)}

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[LookAt, float]]:
        point = np.zeros((row.samples, 3)) if row.other or row.position is None else row.position
        return [(cls(row.frame, point, row.other or None, row.axis), row.weight)]
