"""Objectives that ask for no less than a least length, about points that are fixed on the robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .objective import Objective, States, TargetError


@dataclass(frozen=True, kw_only=True)
class Least(Objective):
    """A length that is no less than a least one, about points that are fixed on the robot.

    Attributes:
        least: (T,) least length [m].
        points: in the coordinates of the robot's frames [m].
    """

    least: np.ndarray
    points: np.ndarray

    WEIGHT = 1000.0  # beside targets that weigh 1 and less, and a centre of mass over the feet that weighs 100

    def errors(self, states: States, weight: float) -> list[TargetError]:
        return []  # figures of quality tell how deep bodies are in each other and in the ground
