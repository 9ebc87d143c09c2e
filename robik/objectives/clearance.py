"""Clearance: two bodies of the robot at least so far from each other.

    f = ½ w min(0, |x − p| − L)²/ℓ²

x and p are the nearest points of two segments, one along each body, L the least distance. Where the segments are nearer
than that, the force at x is w (|x − p| − L) n with n = (x − p)/|x − p|; where they are not, there is none. The kernels
are in `walls`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kinematics.segments import distances
from ..mechanism.topology import SMALL, Topology
from . import walls
from .ends import Ends
from .fields import Field, Lengths, T
from .keys import KeyForm
from .least import Least
from .objective import Kernels, States


@dataclass(frozen=True)
class Clearance(Least):
    """Two bodies of the robot at least so far from each other.

    Attributes:
        frame: of the first.
        other: frame of the second.
        least: (T,) least distance of the two segments [m]; zero where none is asked for.
        points: (2, 2, 3) both ends of the segments, in the coordinates of the two frames [m].
    """

    frame: str
    other: str

    KEY = KeyForm("{frame}.clearance.{other}")
    FIELDS = (
        Lengths("least", (T,), "m"),
        Field("points", (2, 2, 3), "m", end="segments", about="the ends of a segment along each body"),
    )
    NAME, TABLE = "clearance", walls.Clearances
    KERNELS = Kernels(walls.add_value, walls.add_terms, walls.add_rows, walls.add_answer)
    TIES = False  # by rows of its own, since what pushes is known

    def gaps(self, states: States) -> np.ndarray:
        """Return the distances (T,) [m] of the two segments along a motion."""
        lines: list[np.ndarray] = []
        for name, segment in zip((self.frame, self.other), self.points, strict=True):
            position, rotation = states.of(name)
            begin, end = (position + rotation @ point for point in segment)
            lines += begin, end - begin
        found = np.zeros(len(states.position))
        distances(*lines, found)
        return found

    @classmethod
    def constants(cls, topology: Topology, items: Sequence[Clearance], both: Ends) -> dict[str, np.ndarray]:
        segments = np.array([item.points for item in items], dtype=float).reshape(-1, 2, 2, 3)
        return {
            "segment": both.point[:, None] + np.einsum("tij,tkj->tki", both.axes, segments[:, 0]),
            "other_segment": both.other_point[:, None] + np.einsum("tij,tkj->tki", both.other_axes, segments[:, 1]),
            "is_bent": np.array([len(topology.flat.before) <= SMALL]),
            "line": np.zeros((len(items), walls.LINES, 2, 6)),
            "stiffness": np.zeros((len(items), walls.LINES)),
        }
