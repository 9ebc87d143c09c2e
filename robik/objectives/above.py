"""Above: points of a frame, such as the corners of a sole, no lower than a height.

    f = ½ w Σ min(0, z − h)²/ℓ²

z are the points' heights in the world, h the least one. The force at a point below is w (z − h) upwards, and its second
derivative w along the world's z.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import ClipError
from ..jit import by_reference, kernel
from ..kinematics.frames import anchor
from ..kinematics.kernels import rotate
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from .objective import Objective, Own, States, TargetError, ints, samples_of, scalar_weight
from .rows import Row
from .terms import add_along, add_point, moved


class Aboves(NamedTuple):
    """The t objectives with p points in all, in compiled form."""

    body: np.ndarray  # (p,) that carries a point
    item: np.ndarray  # (p,) objective that it belongs to
    point: np.ndarray  # (p, 3) in its body's state frame [m]
    weight: np.ndarray  # (t,) over ℓ²
    height: np.ndarray  # (t,) least height [m]


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
        short = min(0.0, rotate(now.R[b], aboves.point[p])[2] + now.c[b, 2] - aboves.height[t])
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
        short = moved(terms.ahead[b], x, y, z)[2] - aboves.height[t]
        if short < 0.0:
            add_point(terms, b, x, y, z, 0.0, 0.0, share * aboves.weight[t] * short)
            add_along(terms, b, x, y, z, 0.0, 0.0, 1.0, aboves.weight[t])


@dataclass(frozen=True)
class Above(Objective):
    """Points of a frame no lower than a height.

    Attributes:
        frame: that carries them.
        height: (T,) least height in the world [m].
        points: (K, 3) in the frame's coordinates [m].
    """

    frame: str
    height: np.ndarray
    points: np.ndarray

    FIELD = "above"
    WEIGHT = 100.0  # beside targets that weigh 1 and less
    KEYS = ("NAME.above", "NAME.above.points")
    ROW = None  # no editor lists it: it is made from the robot's soles

    @property
    def key(self) -> str:
        """`FRAME.above`."""
        return f"{self.frame}.above"

    @property
    def layout(self) -> tuple[Any, ...]:
        """Return what its compiled table depends on beside its targets."""
        return self.key, self.points.tobytes()

    @property
    def bodies(self) -> tuple[str, ...]:
        """The frame."""
        return (self.frame,)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by their keys in `CLIP.npz`."""
        return {self.key: self.height, f"{self.key}.points": self.points}

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Above]:
        """Return those in a clip's arrays, whose keys are taken out.

        Args:
            arrays: Arrays of a clip file by key.

        Returns:
            The objectives found.

        Raises:
            ClipError: Points are missing.
        """
        found = []
        for key in list(arrays):
            if match := re.fullmatch(r"(.+)\.above", key):
                if f"{key}.points" not in arrays:
                    raise ClipError(f"{key!r} needs {key}.points: points in the frame's coordinates (K, 3)")
                found.append(cls(match[1], arrays.pop(key), arrays.pop(f"{key}.points")))
        return found

    def part(self, kept: slice) -> Above:
        """Return it for some of its samples.

        Args:
            kept: The samples that stay.

        Returns:
            The objective, cut.
        """
        return replace(self, height=self.height[kept])

    def checked(self, samples: int) -> Above:
        """Return the objective with frozen arrays.

        Args:
            samples: Number of samples T of the clip.

        Returns:
            The objective, checked.

        Raises:
            ClipError: Names the key and what would be right.
        """
        height, points = samples_of(self.key, self.height, samples), np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
            raise ClipError(f"{self.key}.points must be finite numbers of the shape (K, 3)")
        points.setflags(write=False)
        return replace(self, height=height, points=points)

    @classmethod
    def weight_from(cls, data: Any, key: str) -> float:
        """Return a checked weight from a number.

        Args:
            data: The weight as `SETTINGS.json` has it.
            key: The objective's key, for errors.

        Returns:
            The weight.

        Raises:
            ClipError: Names the key and what would be right.
        """
        return scalar_weight(data, key)

    def fill(self, table: Any, i: int, own: Own, weight: float, per_square_metre: float) -> None:
        """Write targets and weight into the table.

        Args:
            table: The compiled table of the kind.
            i: Row of the table.
            own: Returns the clip's array over time behind an array of the table.
            weight: The objective's weight.
            per_square_metre: 1/ℓ² [1/m²], which makes weights of lengths comparable.
        """
        own(table.height)[:, i] = self.height
        table.weight[i] = weight * per_square_metre

    def errors(self, states: States, weight: float) -> list[TargetError]:
        """Return none: how deep soles are in the ground is a figure of quality of its own.

        Args:
            states: The bodies' poses along a motion.
            weight: The objective's weight.

        Returns:
            No errors.
        """
        return []

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
                height=views[0],
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
        return [(cls(row.frame, np.full(row.samples, row.distance), np.zeros((1, 3))), row.weight)]

    @staticmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        """Return the shapes of the targets of t objectives.

        Args:
            t: Number of objectives of the kind.

        Returns:
            A shape per array of targets.
        """
        return [(t,)]
