"""What a tracker is asked to follow at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robik.ik.objectives import Weights
from robik.mechanism.pose import Vector

WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a frame should be.

    Attributes:
        position: (3,) in the world [m], finite, at any distance; None where it does not matter.
        quaternion: (4,) orientation in the world, wxyz, made unit if its length is within half a percent of 1, else an error;
            None where it does not matter.
        weights: position along the world's axes, orientation by the frame's axes.
    """

    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None
    weights: Weights = WEIGHTS


@dataclass(frozen=True, slots=True)
class Targets:
    """Where a robot's frames and its centre of mass should be.

    Attributes:
        frames: by the name of a frame or a body.
        com: (3,) the robot's centre of mass in the world [m]; None where it does not matter.
        com_weight: along the world's axes.
    """

    frames: Mapping[str, Target] = field(default_factory=dict)
    com: np.ndarray | None = None
    com_weight: Vector = (1.0, 1.0, 1.0)
