"""Distance: a frame of the robot so far from another frame of it, or from a point of the world.

    f = ½ w (|x − p| − L)²/ℓ²

x and p are the two points, L the distance that is wanted. With n = (x − p)/|x − p| the force at x is w (|x − p| − L) n,
the Gauss-Newton part that of n · ∂x, and the rest w (1 − L/|x − p|)(1 − n nᵀ). Where the points coincide, n points
upwards, and that rest is left out unless L is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from ..errors import ClipError
from ..jit import inlined, kernel
from ..kinematics.kernels import rotate
from ..mechanism.model import Mechanism
from .fields import Field, Lengths, T
from .keys import KeyForm
from .objective import Kernels, Objective, States, TargetError
from .rows import Row, RowKind
from .terms import add_along, add_point, add_stiffness, moved, seen_from

NEAREST = 1e-9  # of the robot's size: points nearer than this coincide


class Distances(NamedTuple):
    """The t pairs of points, in compiled form."""

    body: np.ndarray  # (t,) that carries the first point
    other: np.ndarray  # (t,) that carries the second, 0 for the world
    slot: np.ndarray  # (t,) where forces and stiffness go
    point: np.ndarray  # (t, 3) the first in its body's state frame [m]
    other_point: np.ndarray  # (t, 3) the second in its body's [m]
    weight: np.ndarray  # (t,) over ℓ²
    distance: np.ndarray  # (t,) target [m]
    world_point: np.ndarray  # (t, 3) the second in the world where it is not on a body, else zero [m]


@inlined
def _points(now, pairs, t):
    """Return both points in the world."""
    b, o = pairs.body[t], pairs.other[t]
    x, y, z = rotate(now.R[b], pairs.point[t])
    px, py, pz = rotate(now.R[o], pairs.other_point[t])
    c, oc, p = now.c[b], now.c[o], pairs.world_point[t]
    return x + c[0], y + c[1], z + c[2], px + oc[0] + p[0], py + oc[1] + p[1], pz + oc[2] + p[2]


@kernel
def add_value(flat, now, pairs, total):
    """Return `total` with the objective added."""
    for t in range(pairs.body.shape[0]):
        x, y, z, px, py, pz = _points(now, pairs, t)
        x, y, z = x - px, y - py, z - pz
        off = sqrt(x * x + y * y + z * z) - pairs.distance[t]
        total += 0.5 * pairs.weight[t] * off * off
    return total


@kernel
def add_terms(flat, now, pairs, terms, share):
    """Add forces and stiffness to the slots, with a `share` of the forces in the second derivatives."""
    for t in range(pairs.body.shape[0]):
        s, w, wanted = pairs.slot[t], pairs.weight[t], pairs.distance[t]
        px, py, pz, ax, ay, az = _points(now, pairs, t)
        x, y, z = moved(seen_from(terms, pairs.body[t], pairs.other[t]), px, py, pz)
        x, y, z = x - ax, y - ay, z - az
        force = share * w * (sqrt(x * x + y * y + z * z) - wanted)
        x, y, z = px - ax, py - ay, pz - az
        far = sqrt(x * x + y * y + z * z)
        if far > NEAREST * flat.size:
            x, y, z = x / far, y / far, z / far
            across = force / far
        else:
            x, y, z = 0.0, 0.0, 1.0
            across = share * w if wanted == 0.0 else 0.0
        add_point(terms, s, px, py, pz, force * x, force * y, force * z)
        add_stiffness(terms, s, px, py, pz, across, across, across)
        add_along(terms, s, px, py, pz, x, y, z, w - across)


@dataclass(frozen=True)
class Distance(Objective):
    """A frame so far from another frame, or from a point of the world.

    Attributes:
        frame: whose origin is led.
        distance: (T,) from the other's origin, or from the point [m].
        other: frame of the robot, None for the world.
        point: (T, 3) of the world that is meant without another frame [m].
    """

    frame: str
    distance: np.ndarray
    other: str | None = None
    point: np.ndarray | None = None

    KEY = KeyForm("{frame}.distance.{other|world}")
    FIELDS = (
        Lengths("distance", (T,), "m"),
        Field("point", (T, 3), "m", end="point", column="world_point"),
    )
    NAME, TABLE, KERNELS = "distance", Distances, Kernels(add_value, add_terms)
    ROW = RowKind(
        key="DISTANCE",
        label="Distance",
        about="Keeps a frame of the robot so far from an object, or from another frame of the robot",
        fields=(("frame", "Robot Frame"), ("source", "From"), ("other", "Or From Frame"), ("distance", "Distance")),
        needs=("frame", "source|other"),
    )

    def checked(self, samples: int) -> Self:
        if (self.other is None) == (self.point is None):
            raise ClipError(
                f"{self.key!r} needs another frame of the robot, or {self.key}.point in the world, and not both"
            )
        return super().checked(samples)

    def errors(self, states: States, weight: float) -> list[TargetError]:
        if not weight:
            return []
        x, _ = states.of(self.frame)
        point = states.of(self.other)[0] if self.other else self.point
        off = np.abs(np.linalg.norm(x - point, axis=1) - self.distance)
        text = f"the distance of {self.frame} from {self.other or 'its point'} is {{}} off"
        return [TargetError(off, "m", text, weight)]

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Distance, float]]:
        wanted = np.full(row.samples, row.distance)
        return [(cls(row.frame, wanted, row.other or None, None if row.other else row.position), row.weight)]
