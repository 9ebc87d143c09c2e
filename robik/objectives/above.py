"""Above: points of a frame, such as the corners of a sole, on one side of a plane: above the ground, off an obstacle.

    f = ½ w Σ min(0, n · x − h)²/ℓ²

x are the points in the world, n is the plane's normal, upwards for level ground, and h its height along it. The force
at a point beyond is w (n · x − h) along n, and its second derivative w along n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from ..errors import ClipError
from ..jit import by_reference, inlined, kernel
from ..kinematics.frames import anchor
from ..kinematics.kernels import rotate
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from .least import Least
from .objective import ints, samples_of
from .rows import Row
from .terms import add_along, add_point, moved

NORMAL = "normal"  # end of its key in `CLIP.npz`
UP = (0.0, 0.0, 1.0)


class Aboves(NamedTuple):
    """The t objectives with p points in all, in compiled form."""

    body: np.ndarray  # (p,) that carries a point
    item: np.ndarray  # (p,) objective that it belongs to
    point: np.ndarray  # (p, 3) in its body's state frame [m]
    weight: np.ndarray  # (t,) over ℓ²
    least: np.ndarray  # (t,) least height along the normal [m]
    normal: np.ndarray  # (t, 3) unit vectors in the world


@inlined
def _height(normal, point):
    """Return how high a point is along a normal."""
    return normal[0] * point[0] + normal[1] * point[1] + normal[2] * point[2]


@kernel
def add_value(now, aboves, total):
    """Return `total` with the objective added."""
    for p in range(aboves.body.shape[0]):
        b, t, c = aboves.body[p], aboves.item[p], now.c[aboves.body[p]]
        x, y, z = rotate(now.R[b], aboves.point[p])
        short = min(0.0, _height(aboves.normal[t], (x + c[0], y + c[1], z + c[2])) - aboves.least[t])
        total += 0.5 * aboves.weight[t] * short * short
    return total


@kernel
def add_terms(now, aboves, terms, share):
    """Add forces and stiffness to the bodies: with a `share` of 1 of the forces exact, with 0 Gauss-Newton's."""
    for p in range(aboves.body.shape[0]):
        b, t, c = aboves.body[p], aboves.item[p], now.c[aboves.body[p]]
        x, y, z = rotate(now.R[b], aboves.point[p])
        x, y, z = x + c[0], y + c[1], z + c[2]
        n, w = aboves.normal[t], aboves.weight[t]
        short = _height(n, moved(terms.ahead[b], x, y, z)) - aboves.least[t]
        if short < 0.0:
            force = share * w * short
            add_point(terms, b, x, y, z, force * n[0], force * n[1], force * n[2])
            add_along(terms, b, x, y, z, n[0], n[1], n[2], w)


@dataclass(frozen=True)
class Above(Least):
    """Points of a frame on one side of a plane.

    Attributes:
        frame: that carries them.
        least: (T,) least height along the plane's normal, from the world's origin [m].
        points: (K, 3) in the frame's coordinates [m].
        of: name of the obstacle that the plane keeps them off; empty for the ground.
        normal: (T, 3) unit vectors in the world, out of what the points are kept off; None for upwards.
    """

    frame: str
    of: str = ""
    normal: np.ndarray | None = None

    FIELD = "above"
    FORM = r"(?P<frame>.+)\.above(\.(?P<of>.+))?"
    KEYS = ("NAME.above", "NAME.above.points", "NAME.above.normal", "NAME.above.OBSTACLE")
    POINTS, SHAPE, ABOUT = "points", "(K, 3)", "points in the frame's coordinates"

    @property
    def key(self) -> str:
        return f"{self.frame}.above.{self.of}" if self.of else f"{self.frame}.above"

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.frame,)

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | ({} if self.normal is None else {f"{self.key}.{NORMAL}": self.normal})

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Self]:
        normals = {key: arrays.pop(key) for key in list(arrays) if ".above." in key and key.endswith(f".{NORMAL}")}
        found = super().take(arrays)
        return [replace(item, of=item.of or "", normal=normals.get(f"{item.key}.{NORMAL}")) for item in found]

    def part(self, kept: slice | np.ndarray) -> Self:
        return replace(super().part(kept), normal=None if self.normal is None else self.normal[kept])

    def checked(self, samples: int) -> Self:
        if self.normal is None:
            return super().checked(samples)
        normal = samples_of(f"{self.key}.{NORMAL}", self.normal, samples, 3)
        if (bad := np.abs(np.linalg.norm(normal, axis=1) - 1.0) > 1e-6).any():
            raise ClipError(f"{self.key}.{NORMAL} must have length 1; sample {int(bad.argmax())} has not")
        return replace(super().checked(samples), normal=normal)

    def fill(self, table: Any, i: int, own: Callable, weight: float, per_square_metre: float) -> None:
        super().fill(table, i, own, weight, per_square_metre)
        own(table.normal)[:, i] = UP if self.normal is None else self.normal

    @staticmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        return [(t,), (t, 3)]

    @classmethod
    def table(
        cls, topology: Topology, items: Sequence[Above], slots: Sequence[int], views: Sequence[np.ndarray]
    ) -> Aboves:
        places = [anchor(topology, item.frame) for item in items]
        points = [point + item.points @ axes.T for item, (_, point, axes) in zip(items, places, strict=True)]
        of = [i for i, own in enumerate(points) for _ in own]
        return by_reference(
            Aboves(
                body=ints([slots[i] for i in of]),
                item=ints(of),
                point=np.concatenate([np.zeros((0, 3)), *points]),
                weight=np.zeros(len(items)),
                least=views[0],
                normal=views[1],
            )
        )

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Above, float]]:
        return [(cls(row.frame, least=np.full(row.samples, row.distance), points=np.zeros((1, 3))), row.weight)]
