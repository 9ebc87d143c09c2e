"""Contact points: where a robot may touch the ground, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism

FRICTION = 0.8  # of rubber or plastic soles on a wooden stage or carpet, rounded down
UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class ContactPoints:
    """Points of bodies that can push on the ground; raise ClipError for shapes that do not fit.

    Attributes:
        bodies: (K,) the name of each point's body.
        points: (K, 3) in the body's own frame [m].
        touches: (T, K) flags of the samples in which a point can take force.
        friction: largest ratio of tangential to normal force; infinite where the ground holds and can pull, too.
        normal: of the ground, away from it.
    """

    bodies: tuple[str, ...]
    points: np.ndarray
    touches: np.ndarray
    friction: float = FRICTION
    normal: tuple[float, float, float] = UP

    def __post_init__(self) -> None:
        points, touches = np.asarray(self.points, dtype=float).reshape(-1, 3), np.asarray(self.touches, dtype=bool)
        if len(points) != len(self.bodies) or touches.ndim != 2 or touches.shape[1] != len(points):
            raise ClipError(
                f"{len(self.bodies)} contact points need positions ({len(self.bodies)}, 3) and flags (T, "
                f"{len(self.bodies)}), not {points.shape} and {touches.shape}"
            )
        if not self.friction > 0:
            raise ClipError(f"friction must be positive, not {self.friction}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "touches", touches)


def sole_contacts(
    mechanism: Mechanism, standing: Mapping[str, np.ndarray], samples: int, friction: float = FRICTION
) -> ContactPoints:
    """Return the soles' corners as contact points, by flags (T,) per foot frame that stands."""
    bodies: list[str] = []
    points: list[np.ndarray] = []
    touches: list[np.ndarray] = []
    for name, stands in standing.items():
        frame = mechanism.frame(name)
        for corner in frame.sole:
            bodies.append(frame.body)
            points.append(frame.pose.point(corner))
            touches.append(np.asarray(stands, dtype=bool))
    return ContactPoints(
        tuple(bodies),
        np.array(points).reshape(-1, 3),
        np.array(touches, dtype=bool).reshape(-1, samples).T,
        friction,
    )
