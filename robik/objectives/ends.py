"""Both ends of objectives: a frame of the robot, and another one of it or the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kinematics.frames import anchor
from ..mechanism.topology import Topology


class Ends(NamedTuple):
    """Both ends of t objectives, as their compiled tables have them."""

    body: np.ndarray  # (t,) that carries the frame
    other: np.ndarray  # (t,) that carries the other, 0 for the world
    slot: np.ndarray  # (t,) where forces and stiffness go
    point: np.ndarray  # (t, 3) the frame's origin in its body's state frame [m]
    axes: np.ndarray  # (t, 3, 3) its axes there, in columns
    other_point: np.ndarray  # (t, 3) the other frame's origin in its body's state frame [m]
    other_axes: np.ndarray  # (t, 3, 3) its axes there, in columns


def ends(topology: Topology, items: Sequence[Any], slots: Sequence[int]) -> Ends:
    """Return bodies, points and axes of objectives over one or two frames; `slots` says where each one's forces go."""
    own = [anchor(topology, item.bodies[0]) for item in items]
    others = [anchor(topology, item.bodies[1]) if item.is_tied else (0, np.zeros(3), np.eye(3)) for item in items]
    return Ends(
        body=ints([body for body, _, _ in own]),
        other=ints([body for body, _, _ in others]),
        slot=ints(slots),
        point=stacked([point for _, point, _ in own], 3),
        axes=stacked([axes for _, _, axes in own], 3, 3),
        other_point=stacked([point for _, point, _ in others], 3),
        other_axes=stacked([axes for _, _, axes in others], 3, 3),
    )


def ints(values: Sequence[int]) -> np.ndarray:
    """Return whole numbers (n,) as compiled code takes them."""
    return np.array(values, dtype=np.int64).reshape(-1)


def stacked(values: Sequence[np.ndarray], *shape: int) -> np.ndarray:
    """Return arrays of one shape, none of them too, as one array (t, *shape)."""
    return np.array(values, dtype=float).reshape(-1, *shape)
