"""Rows of an editor's list.

The values that each kind of objective shows, and those that a row hands it once it has been sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..mechanism.pose import Pose, Vector
from .weights import Weights


@dataclass(frozen=True, kw_only=True)
class RowKind:
    """A kind of objective as an editor lists it.

    Attributes:
        key: by which files keep it.
        label: for people.
        about: its tooltip.
        fields: of a row that it shows, in order, each with its label: `source`, `frame`, `other`, `axis`, `distance`,
            `offset`, `axes` (weights by axis).
        needs: fields that must not be empty, and sets of which exactly one must be filled, as `source|other`.
    """

    key: str
    label: str
    about: str
    fields: tuple[tuple[str, str], ...]
    needs: tuple[str, ...] = ("frame",)

    def shows(self, name: str) -> bool:
        """Return True if an editor shows this field of `Row`."""
        return any(name == shown for shown, _ in self.fields)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Values of a row over T samples, in the robot's coordinates.

    Attributes:
        frame: of the robot.
        other: another frame of the robot; empty for none.
        position, quaternion: (T, 3) [m] and (T, 4) wxyz of what is followed; None where nothing is.
        other_position, other_quaternion: of what leads the other frame; None where that is not known.
        samples: T.
        offset: of the frame against what it follows.
        axis: of the frame.
        distance: [m].
        weight: of the row.
        weights: the row's by axis, times its weight.
    """

    frame: str
    other: str = ""
    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None
    other_position: np.ndarray | None = None
    other_quaternion: np.ndarray | None = None
    samples: int = 0
    offset: Pose = field(default_factory=Pose)
    axis: Vector = (1.0, 0.0, 0.0)
    distance: float = 0.0
    weight: float = 1.0
    weights: Weights = field(default_factory=Weights)
