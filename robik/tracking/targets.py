"""Targets of a tracker at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..mechanism.pose import Vector
from ..objectives.objective import Objective
from ..objectives.settings import Settings
from ..objectives.weights import Weights

WEIGHTS = Weights()
ALIKE = (1.0, 1.0, 1.0)
FARTHEST = 1e3  # robot's sizes that a target can be away: squares stay finite, and the way home in their digits


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a frame.

    Attributes:
        position: (3,) in the world [m], finite; None where it does not matter. Further than `FARTHEST` times the
            robot's size (`Flat.size`) from where the frame is, it counts as that far away in the same direction.
        quaternion: (4,) orientation in the world, wxyz, made unit if its length is within
            `mechanism.pose.UNIT_TOLERANCE` (1e-3) of 1, else an error; None where it does not matter.
        weights: position along the world's axes, orientation by the frame's axes.
    """

    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None
    weights: Weights = WEIGHTS


@dataclass(frozen=True, slots=True)
class Targets:
    """Targets of a robot's frames and its centre of mass.

    Attributes:
        frames: by the name of a frame or a body.
        com: (3,) the robot's centre of mass in the world [m], far away as a `Target`'s position; None where it does not
            matter.
        com_weight: along the world's axes.
        objectives: what else is asked for, each with one sample; their weights are the tracker's. The state-based
            tracker alone takes them.

    Raises:
        ClipError, MechanismError: a weight of the centre of mass that is negative, infinite or NaN.
    """

    frames: Mapping[str, Target] = field(default_factory=dict)
    com: np.ndarray | None = None
    com_weight: Vector = ALIKE
    objectives: tuple[Objective, ...] = ()

    def __post_init__(self) -> None:
        if self.com_weight is not ALIKE:  # targets are new in every step
            object.__setattr__(self, "com_weight", Settings(com_weight=self.com_weight).com_weight)
