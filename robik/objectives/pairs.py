"""Objectives over two frames: a frame of the robot, and another one of it or the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kinematics.frames import anchor
from ..mechanism.parts import WORLD
from ..mechanism.topology import Topology
from .objective import Objective, ints, stacked


class Pair(Objective):
    """An objective that ties a frame of the robot to another one of it, or to the world.

    Attributes:
        frame: of the robot.
        other: frame of the robot; None or the world's name for the world.
    """

    frame: str
    other: str | None

    @property
    def is_tied(self) -> bool:
        """Return whether the other frame is one of the robot's."""
        return self.other not in (None, WORLD)

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.frame, str(self.other)) if self.is_tied else (self.frame,)


class Ends(NamedTuple):
    """Both ends of t objectives over two frames, as their compiled tables have them."""

    body: np.ndarray  # (t,) that carries the frame
    other: np.ndarray  # (t,) that carries the other, 0 for the world
    slot: np.ndarray  # (t,) where forces and stiffness go
    point: np.ndarray  # (t, 3) the frame's origin in its body's state frame [m]
    axes: np.ndarray  # (t, 3, 3) its axes there, in columns
    other_point: np.ndarray  # (t, 3) the other frame's origin in its body's state frame [m]
    other_axes: np.ndarray  # (t, 3, 3) its axes there, in columns


def ends(topology: Topology, items: Sequence[Any], slots: Sequence[int]) -> Ends:
    """Return bodies, points and axes of objectives over two frames; `slots` says where each one's forces go."""
    own = [anchor(topology, item.frame) for item in items]
    others = [anchor(topology, item.other) if item.is_tied else (0, np.zeros(3), np.eye(3)) for item in items]
    return Ends(
        body=ints([body for body, _, _ in own]),
        other=ints([body for body, _, _ in others]),
        slot=ints(slots),
        point=stacked([point for _, point, _ in own], 3),
        axes=stacked([axes for _, _, axes in own], 3, 3),
        other_point=stacked([point for _, point, _ in others], 3),
        other_axes=stacked([axes for _, _, axes in others], 3, 3),
    )
