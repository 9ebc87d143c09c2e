"""Clearance: two bodies of the robot at least so far from each other.

    f = ½ w min(0, |x − p| − L)²/ℓ²

x and p are the nearest points of two segments, one along each body, L the least distance. Where the segments are nearer
than that, the force at x is w (|x − p| − L) n with n = (x − p)/|x − p|; where they are not, there is none. The kernels
are in `walls`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ClipError
from ..jit import by_reference
from ..kinematics.frames import frame_poses
from ..kinematics.segments import nearest
from ..mechanism.model import Mechanism
from ..mechanism.topology import SMALL, Topology
from .objective import Own, States, TargetError, samples_of, scalar_weight
from .pairs import Pair, ends
from .rows import Row
from .walls import LINES, Clearances


@dataclass(frozen=True)
class Clearance(Pair):
    """Two bodies of the robot at least so far from each other.

    Attributes:
        frame: of the first.
        distance: (T,) least distance of the two segments [m]; zero where none is asked for.
        other: frame of the second.
        segments: (2, 2, 3) both ends of the segments, in the coordinates of the two frames [m].
    """

    frame: str
    distance: np.ndarray
    other: str
    segments: np.ndarray

    FIELD = "clearance"
    WEIGHT = 100.0  # beside targets that weigh 1 and less
    KEYS = ("NAME.clearance.OTHER", "NAME.clearance.OTHER.segments")
    TIES = False  # by rows of its own, since what pushes is known
    ROW = None  # no editor lists it: it is made from the robot's shape

    @property
    def key(self) -> str:
        """`FRAME.clearance.OTHER`."""
        return f"{self.frame}.clearance.{self.other}"

    @property
    def layout(self) -> tuple[Any, ...]:
        """Return what its compiled table depends on beside its targets."""
        return self.key, self.segments.tobytes()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by their keys in `CLIP.npz`."""
        return {self.key: self.distance, f"{self.key}.segments": self.segments}

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Clearance]:
        """Return those in a clip's arrays, whose keys are taken out.

        Args:
            arrays: Arrays of a clip file by key.

        Returns:
            The objectives found.

        Raises:
            ClipError: Segments are missing.
        """
        found = []
        for key in list(arrays):
            match = re.fullmatch(r"(.+)\.clearance\.(.+)", key)
            if match and not key.endswith(".segments"):
                if f"{key}.segments" not in arrays:
                    raise ClipError(
                        f"{key!r} needs {key}.segments: the ends of a segment along each body (2, 2, 3) [m]"
                    )
                found.append(cls(match[1], arrays.pop(key), match[2], arrays.pop(f"{key}.segments")))
        return found

    def part(self, kept: slice) -> Clearance:
        """Return it for some of its samples.

        Args:
            kept: The samples that stay.

        Returns:
            The objective, cut.
        """
        return replace(self, distance=self.distance[kept])

    def checked(self, samples: int) -> Clearance:
        """Return the objective with frozen arrays.

        Args:
            samples: Number of samples T of the clip.

        Returns:
            The objective, checked.

        Raises:
            ClipError: Names the key and what would be right.
        """
        distance = samples_of(self.key, self.distance, samples)
        if (distance < 0).any():
            k = int(np.argmax(distance < 0))
            raise ClipError(f"{self.key} must be zero or more; sample {k} is {distance[k]:g}")
        segments = np.array(self.segments, dtype=float)
        if segments.shape != (2, 2, 3) or not np.isfinite(segments).all():
            raise ClipError(f"{self.key}.segments must be finite numbers of the shape (2, 2, 3)")
        segments.setflags(write=False)
        return replace(self, distance=distance, segments=segments)

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
        own(table.distance)[:, i] = self.distance
        table.weight[i] = weight * per_square_metre

    def errors(self, states: States, weight: float) -> list[TargetError]:
        """Return none: how near bodies are to each other, their shapes tell better (`robik.collision`).

        Args:
            states: The bodies' poses along a motion.
            weight: The objective's weight.

        Returns:
            No errors.
        """
        return []

    def gaps(self, states: States) -> np.ndarray:
        """Return the distance of the two segments.

        Args:
            states: The bodies' poses along a motion.

        Returns:
            Distances (T,) [m].
        """
        lines = []
        for name, segment in zip((self.frame, self.other), self.segments, strict=True):
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
        """Return the compiled table, all weights zero.

        Args:
            topology: The robot.
            items: t objectives.
            slots: (t,) where their forces go.
            views: Their targets in `ObjectiveTables.targets`, of the shapes that `shapes` gives.

        Returns:
            Arrays for the kernels.
        """
        pair = ends(topology, items, slots)
        segments = np.array([item.segments for item in items], dtype=float).reshape(-1, 2, 2, 3)
        return by_reference(
            Clearances(
                body=pair.body,
                other=pair.other,
                segment=pair.point[:, None] + np.einsum("tij,tkj->tki", pair.axes, segments[:, 0]),
                other_segment=pair.other_point[:, None] + np.einsum("tij,tkj->tki", pair.other_axes, segments[:, 1]),
                weight=np.zeros(len(items)),
                distance=views[0],
                is_bent=np.array([len(topology.flat.before) <= SMALL]),
                line=np.zeros((len(items), LINES, 2, 6)),
                stiffness=np.zeros((len(items), LINES)),
            )
        )

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Clearance, float]]:
        """Return the clearance of the origins of two frames, with its weight.

        Args:
            mechanism: The robot.
            row: Row that names both.

        Returns:
            Pairs of objective and weight.
        """
        least = np.full(row.samples, row.distance)
        return [(cls(row.frame, least, row.other, np.zeros((2, 2, 3))), row.weight)]

    @staticmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        """Return the shapes of the targets of t objectives.

        Args:
            t: Number of objectives of the kind.

        Returns:
            A shape per array of targets.
        """
        return [(t,)]
