"""Ground under a robot: level, or a mesh that may move, which goes on level beyond its edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from .obstacle import Obstacle
from .surface import Surface

TOGETHER = 100  # points whose way out of the ground is looked for at a time


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground under a robot.

    Attributes:
        level: height where there is no mesh [m].
        mesh: on which feet stand; None for level ground.
    """

    level: float
    mesh: Obstacle | None = None

    def part(self, kept: slice | np.ndarray) -> Ground:
        """Return the ground of some of its samples."""
        if self.mesh is None or not self.mesh.moves:
            return self
        return replace(self, mesh=self.mesh.part(kept))

    @cached_property
    def is_carried(self) -> bool:
        """Return whether it moves."""
        return self.mesh is not None and self.mesh.moves

    @cached_property
    def surface(self) -> Surface:
        """The mesh's surface: in the world, of one that moves in coordinates of its own."""
        assert self.mesh is not None
        shown = self.mesh if self.is_carried else self.mesh.placed()
        beyond = -np.inf if self.is_carried else self.level
        return Surface(shown.vertices, shown.triangles, beyond)

    def heights(self, places: np.ndarray) -> np.ndarray:
        """Return the ground's heights (…) over places (…, 2 or 3) [m]; −inf beyond a mesh that moves.

        Of ground that moves, both are in its own coordinates.
        """
        if self.mesh is None:
            return np.full(places.shape[:-1], self.level)
        return self.surface.heights(places)

    def carried(self, samples: int) -> tuple[np.ndarray, Rotation]:
        """Return positions (T, 3) [m] and rotations of the ground's coordinates; the world's if it does not move."""
        if not self.is_carried or self.mesh is None:
            return np.zeros((samples, 3)), Rotation.identity(samples)
        return self.mesh.poses(samples)

    def above(self, points: np.ndarray) -> np.ndarray:
        """Return the heights (T, K) of points (T, K, 3) over the ground below, along its own vertical [m].

        They are negative below it, and ∞ beyond a mesh that moves.
        """
        own = self._own(points)
        return np.asarray(own[..., 2] - self.heights(own))

    def depths(self, points: np.ndarray) -> np.ndarray:
        """Return the depths (T, K) of points (T, K, 3) in the ground [m], zero above it.

        A depth is the distance to the surface above, or to a side where that is nearer.
        """
        own = self._own(points)
        depth = np.maximum(self.heights(own) - own[..., 2], 0.0)
        if self.mesh is None or not depth.any():
            return depth
        below = np.argwhere(depth > 0.0)
        for some in np.array_split(below, len(below) // TOGETHER + 1):
            at = tuple(some.T)
            depth[at] = np.minimum(depth[at], self._aside(own[at], depth[at]))
        return depth

    def _own(self, points: np.ndarray) -> np.ndarray:
        """Return points (T, K, 3) in the ground's coordinates [m]."""
        if not self.is_carried:
            return points
        place, turn = self.carried(len(points))
        return np.einsum("tji,tkj->tki", turn.as_matrix(), points - place[:, None])

    def _aside(self, points: np.ndarray, most: np.ndarray) -> np.ndarray:
        """Return how far aside points (P, 3) below the surface come out of the ground, to about a quarter (P,) [m]."""
        turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
        rim = np.column_stack([np.cos(turn), np.sin(turn)])
        far = np.geomspace(1e-4, np.maximum(most, 2e-4), 24, axis=1)
        places = points[:, None, None, :2] + far[..., None, None] * rim
        free = (self.heights(places) <= points[:, None, None, 2]).any(axis=2)
        return np.where(free.any(axis=1), far[np.arange(len(far)), free.argmax(axis=1)], most)
