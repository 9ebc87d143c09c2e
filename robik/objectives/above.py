"""Above: points of a frame, such as the corners of a sole, no lower than a height.

    f = ½ w Σ min(0, z − h)²/ℓ²

z are the points' heights in the world, h the least one. The force at a point below is w (z − h) upwards, and its second
derivative w along the world's z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, kernel
from ..kinematics.frames import anchor
from ..kinematics.kernels import rotate
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from .least import Least
from .objective import ints
from .rows import Row
from .terms import add_along, add_point, moved


class Aboves(NamedTuple):
    """The t objectives with p points in all, in compiled form."""

    body: np.ndarray  # (p,) that carries a point
    item: np.ndarray  # (p,) objective that it belongs to
    point: np.ndarray  # (p, 3) in its body's state frame [m]
    weight: np.ndarray  # (t,) over ℓ²
    least: np.ndarray  # (t,) least height [m]


@kernel
def add_value(now, aboves, total):
    """Return `total` with the objective added.

    Args:
        now: Placement of the bodies.
        aboves: The objectives' arrays.
        total: Sum to add to.

    Returns:
        The new sum.
    """
    for p in range(aboves.body.shape[0]):
        b, t = aboves.body[p], aboves.item[p]
        short = min(0.0, rotate(now.R[b], aboves.point[p])[2] + now.c[b, 2] - aboves.least[t])
        total += 0.5 * aboves.weight[t] * short * short
    return total


@kernel
def add_terms(now, aboves, terms, share):
    """Add forces and stiffness to the bodies, with a `share` of the forces in the second derivatives.

    Args:
        now: Placement of the bodies.
        aboves: The objectives' arrays.
        terms: Forces and second derivatives of the objectives.
        share: Share of the forces in the second derivatives: 1 exact, 0 Gauss-Newton's.
    """
    for p in range(aboves.body.shape[0]):
        b, t, c = aboves.body[p], aboves.item[p], now.c[aboves.body[p]]
        x, y, z = rotate(now.R[b], aboves.point[p])
        x, y, z = x + c[0], y + c[1], z + c[2]
        short = moved(terms.ahead[b], x, y, z)[2] - aboves.least[t]
        if short < 0.0:
            add_point(terms, b, x, y, z, 0.0, 0.0, share * aboves.weight[t] * short)
            add_along(terms, b, x, y, z, 0.0, 0.0, 1.0, aboves.weight[t])


@dataclass(frozen=True)
class Above(Least):
    """Points of a frame no lower than a height.

    Attributes:
        frame: that carries them.
        least: (T,) least height in the world [m].
        points: (K, 3) in the frame's coordinates [m].
    """

    frame: str

    FIELD = "above"
    FORM = r"(?P<frame>.+)\.above"
    KEYS = ("NAME.above", "NAME.above.points")
    POINTS, SHAPE, ABOUT = "points", "(K, 3)", "points in the frame's coordinates"

    @property
    def key(self) -> str:
        """`FRAME.above`."""
        return f"{self.frame}.above"

    @property
    def bodies(self) -> tuple[str, ...]:
        """The frame."""
        return (self.frame,)

    @classmethod
    def table(
        cls, topology: Topology, items: Sequence[Above], slots: Sequence[int], views: Sequence[np.ndarray]
    ) -> Aboves:
        """Return the compiled table, all weights zero.

        Args:
            topology: The robot.
            items: t objectives.
            slots: (t,) where their forces go: their bodies.
            views: Their targets in `ObjectiveTables.targets`, of the shapes that `shapes` gives.

        Returns:
            Arrays for the kernels.
        """
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
            )
        )

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Above, float]]:
        """Return the frame's origin no lower than the row's distance, with its weight.

        Args:
            mechanism: The robot.
            row: Row that names the frame.

        Returns:
            Pairs of objective and weight.
        """
        return [(cls(row.frame, least=np.full(row.samples, row.distance), points=np.zeros((1, 3))), row.weight)]
