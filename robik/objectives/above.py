"""Above: points of a frame, such as the corners of a sole, on one side of a plane: above the ground, off an obstacle.

    f = ½ w Σ min(0, n · x − h)²/ℓ²

x are the points in the world, n is the plane's normal, upwards for level ground, and h its height along it. The force
at a point beyond is w (n · x − h) along n, and its second derivative w along n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.frames import anchor
from ..kinematics.kernels import rotate
from ..mechanism.topology import Topology
from .ends import ints
from .fields import Field, K, T, UnitVectors
from .keys import KeyForm
from .least import Least
from .objective import Kernels
from .terms import add_along, add_point, moved

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
def add_value(flat, now, aboves, total):
    """Return `total` with the objective added."""
    for p in range(aboves.body.shape[0]):
        b, t, c = aboves.body[p], aboves.item[p], now.c[aboves.body[p]]
        x, y, z = rotate(now.R[b], aboves.point[p])
        short = min(0.0, _height(aboves.normal[t], (x + c[0], y + c[1], z + c[2])) - aboves.least[t])
        total += 0.5 * aboves.weight[t] * short * short
    return total


@kernel
def add_terms(flat, now, aboves, terms, share):
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

    KEY = KeyForm("{frame}.above[.{of:OBSTACLE}]")
    FIELDS = (
        Field("least", (T,), "m"),
        Field("points", (K, 3), "m", end="points", about="points in the frame's coordinates"),
        UnitVectors("normal", (T, 3), end="normal", otherwise=UP),
    )
    NAME, TABLE, KERNELS = "above", Aboves, Kernels(add_value, add_terms)

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
