"""Distance: a frame of the robot so far from another frame of it, or from a point of the world.

    f = ½ w (|x − p| − L)²/ℓ²

x and p are the two points, L the distance that is wanted. With n = (x − p)/|x − p| the force at x is w (|x − p| − L) n,
the Gauss-Newton part that of n · ∂x, and the rest w (1 − L/|x − p|)(1 − n nᵀ). Where the points coincide, n points
upwards, and that rest is left out unless L is zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ..errors import ClipError
from ..jit import by_reference, inlined, kernel
from ..kinematics.frames import frame_poses
from ..kinematics.kernels import rotate
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD
from ..mechanism.topology import Topology
from .objective import Own, States, TargetError, lengths_of, samples_of
from .pairs import Pair, ends
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
def add_value(now, pairs, total):
    """Return `total` with the objective added.

    Args:
        now: Placement of the bodies.
        pairs: The objectives' arrays.
        total: Sum to add to.

    Returns:
        The new sum.
    """
    for t in range(pairs.body.shape[0]):
        x, y, z, px, py, pz = _points(now, pairs, t)
        x, y, z = x - px, y - py, z - pz
        off = sqrt(x * x + y * y + z * z) - pairs.distance[t]
        total += 0.5 * pairs.weight[t] * off * off
    return total


@kernel
def add_terms(flat, now, pairs, terms, share):
    """Add forces and stiffness to the slots, with a `share` of the forces in the second derivatives.

    Args:
        flat: The mechanism's arrays for the kernels.
        now: Placement of the bodies.
        pairs: The objectives' arrays.
        terms: Forces and second derivatives of the objectives.
        share: Share of the forces in the second derivatives: 1 exact, 0 Gauss-Newton's.
    """
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
class Distance(Pair):
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

    FIELD = "distance"
    WEIGHT = 1.0
    KEYS = ("NAME.distance.OTHER", "NAME.distance.world", "NAME.distance.world.point")
    ROW = RowKind(
        key="DISTANCE",
        label="Distance",
        about="Keeps a frame of the robot so far from an object, or from another frame of the robot",
        fields=(("frame", "Robot Frame"), ("source", "From"), ("other", "Or From Frame"), ("distance", "Distance")),
        needs=("frame", "source|other"),
    )

    @property
    def key(self) -> str:
        return f"{self.frame}.distance.{self.other or WORLD}"

    def arrays(self) -> dict[str, np.ndarray]:
        return {self.key: self.distance} | ({} if self.point is None else {f"{self.key}.point": self.point})

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Distance]:
        found = []
        for key in list(arrays):
            match = re.fullmatch(r"(.+)\.distance\.(.+)", key)
            if match and not key.endswith(".point"):
                other = None if match[2] == WORLD else match[2]
                found.append(cls(match[1], arrays.pop(key), other, arrays.pop(f"{key}.point", None)))
        return found

    def part(self, kept: slice | np.ndarray) -> Distance:
        return replace(self, distance=self.distance[kept], point=None if self.point is None else self.point[kept])

    def checked(self, samples: int) -> Distance:
        if (self.other is None) == (self.point is None):
            raise ClipError(
                f"{self.key!r} needs another frame of the robot, or {self.key}.point in the world, and not both"
            )
        distance = lengths_of(self.key, self.distance, samples)
        point = None if self.point is None else samples_of(f"{self.key}.point", self.point, samples, 3)
        return replace(self, distance=distance, point=point)

    def fill(self, table: Any, i: int, own: Own, weight: float, per_square_metre: float) -> None:
        own(table.distance)[:, i] = self.distance
        if self.point is not None:
            own(table.world_point)[:, i] = self.point
        table.weight[i] = weight * per_square_metre

    def errors(self, states: States, weight: float) -> list[TargetError]:
        if not weight:
            return []
        x, _ = frame_poses(states.mechanism, self.frame, states.position, states.quaternion)
        point = self.point
        if self.other:
            point, _ = frame_poses(states.mechanism, self.other, states.position, states.quaternion)
        off = np.abs(np.linalg.norm(x - point, axis=1) - self.distance)
        text = f"the distance of {self.frame} from {self.other or 'its point'} is {{}} off"
        return [TargetError(off, "m", text, weight)]

    @classmethod
    def table(
        cls, topology: Topology, items: Sequence[Distance], slots: Sequence[int], views: Sequence[np.ndarray]
    ) -> Distances:
        pair = ends(topology, items, slots)
        return by_reference(
            Distances(
                body=pair.body,
                other=pair.other,
                slot=pair.slot,
                point=pair.point,
                other_point=pair.other_point,
                weight=np.zeros(len(items)),
                distance=views[0],
                world_point=views[1],
            )
        )

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Distance, float]]:
        wanted = np.full(row.samples, row.distance)
        return [(cls(row.frame, wanted, row.other or None, None if row.other else row.position), row.weight)]

    @staticmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        return [(t,), (t, 3)]
