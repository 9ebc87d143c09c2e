"""Clearance: two bodies of the robot at least so far from each other.

    f = ½ w min(0, |x − p| − L)²/ℓ²

x and p are the nearest points of two segments, one along each body, L the least distance. Where the segments are nearer
than that, the force at x is w (|x − p| − L) n with n = (x − p)/|x − p|; where they are not, there is none. The kernels
are in `walls`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..jit import by_reference
from ..kinematics.frames import frame_poses
from ..kinematics.segments import nearest
from ..mechanism.model import Mechanism
from ..mechanism.topology import SMALL, Topology
from .least import Least
from .objective import States, lengths_of
from .pairs import Pair, ends
from .rows import Row
from .walls import LINES, Clearances


@dataclass(frozen=True)
class Clearance(Least, Pair):
    """Two bodies of the robot at least so far from each other.

    Attributes:
        frame: of the first.
        other: frame of the second.
        least: (T,) least distance of the two segments [m]; zero where none is asked for.
        points: (2, 2, 3) both ends of the segments, in the coordinates of the two frames [m].
    """

    frame: str
    other: str

    FIELD = "clearance"
    FORM = r"(?P<frame>.+)\.clearance\.(?P<other>.+)"
    KEYS = ("NAME.clearance.OTHER", "NAME.clearance.OTHER.segments")
    POINTS, SHAPE, ABOUT = "segments", "(2, 2, 3)", "the ends of a segment along each body"
    TIES = False  # by rows of its own, since what pushes is known

    @property
    def key(self) -> str:
        return f"{self.frame}.clearance.{self.other}"

    def checked(self, samples: int) -> Self:
        lengths_of(self.key, self.least, samples)
        return super().checked(samples)

    def gaps(self, states: States) -> np.ndarray:
        """Return the distances (T,) [m] of the two segments along a motion."""
        lines = []
        for name, segment in zip((self.frame, self.other), self.points, strict=True):
            position, rotation = frame_poses(states.mechanism, name, states.position, states.quaternion)
            lines.append(position[:, None] + segment @ np.swapaxes(rotation, 1, 2))
        found = np.zeros(len(states.position))
        for k, (first, second) in enumerate(zip(*lines, strict=True)):
            s, t = nearest(first[0], first[1] - first[0], second[0], second[1] - second[0])
            found[k] = np.linalg.norm(first[0] + s * (first[1] - first[0]) - second[0] - t * (second[1] - second[0]))
        return found

    @classmethod
    def table(
        cls, topology: Topology, items: Sequence[Clearance], slots: Sequence[int], views: Sequence[np.ndarray]
    ) -> Clearances:
        pair = ends(topology, items, slots)
        segments = np.array([item.points for item in items], dtype=float).reshape(-1, 2, 2, 3)
        return by_reference(
            Clearances(
                body=pair.body,
                other=pair.other,
                segment=pair.point[:, None] + np.einsum("tij,tkj->tki", pair.axes, segments[:, 0]),
                other_segment=pair.other_point[:, None] + np.einsum("tij,tkj->tki", pair.other_axes, segments[:, 1]),
                weight=np.zeros(len(items)),
                least=views[0],
                is_bent=np.array([len(topology.flat.before) <= SMALL]),
                line=np.zeros((len(items), LINES, 2, 6)),
                stiffness=np.zeros((len(items), LINES)),
            )
        )

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Clearance, float]]:
        least = np.full(row.samples, row.distance)
        return [(cls(row.frame, row.other, least=least, points=np.zeros((2, 2, 3))), row.weight)]
