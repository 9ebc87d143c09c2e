"""Barriers: planes (`sided`) that keep a robot's bodies out of the convex parts of obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanism import WORLD, Mechanism
from ..mechanism.orientations import quaternions
from ..motions import Motion
from ..objectives.above import Above
from ..surroundings.convex import convex_parts, is_too_fine
from ..surroundings.obstacle import GROUND, Obstacle
from .judge import Judge, Pair
from .shapes import HULL, CollisionShape
from .sided import NEAR, Other, Planes


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """A convex part of an obstacle."""

    obstacle: Obstacle
    points: np.ndarray  # (K, 3) in the obstacle's coordinates [m]
    name: str


class Barriers:
    """Barriers between a robot and the obstacles around it; raise MissingExtraError without MuJoCo."""

    def __init__(self, mechanism: Mechanism, shapes: Sequence[CollisionShape], obstacles: Sequence[Obstacle]) -> None:
        self._mechanism, self._shapes, self._first = mechanism, shapes, len(mechanism.bodies)
        self._parts = [part for obstacle in obstacles for part in _parts(obstacle)]
        pairs = self._pairs()
        hulls = [part.points for part in self._parts]
        self._judge = Judge(mechanism, shapes, pairs, hulls) if pairs else None
        self._planes = Planes(mechanism, shapes)

    def _pairs(self) -> list[Pair]:
        """Return bodies and parts that are kept apart: neither what cannot move, nor feet and their ground."""
        soled = {self._mechanism.body_index[f.body] for f in self._mechanism.frames if f.is_foot}
        moving = {self._mechanism.body_index[shape.body] for shape in self._shapes} - _fixed(self._mechanism)
        return [
            (body, self._first + k)
            for k, part in enumerate(self._parts)
            for body in sorted(moving - soled if part.obstacle.name == GROUND else moving)
        ]

    def names(self, pair: Pair) -> tuple[str, str]:
        """Return the names of the body and the obstacle of a pair."""
        return self._mechanism.bodies[pair[0]].name, self._parts[pair[1] - self._first].obstacle.name

    def depths(self, motion: Motion) -> dict[Pair, np.ndarray]:
        """Return the depths (T,) [m] of pairs of a body in a part of an obstacle that touch at some time."""
        return self._judge.depths(*self._poses(motion)) if self._judge else {}

    def touching(self, motion: Motion, sample: int = 0) -> list[tuple[tuple[str, str], float, np.ndarray]]:
        """Return, for a motion of one pose, names of a body and an obstacle, depth [m] and place (3,) [m].

        Obstacles stand where they are at `sample` of their ways.
        """
        if self._judge is None:
            return []
        position, quaternion = self._poses(motion, slice(sample, sample + 1))
        found = self._judge.touching(position[0], quaternion[0])
        return [(self.names(pair), depth, where) for pair, depth, where in found]

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Above]:
        """Return an objective a pair of a body and a part of an obstacle, as a motion's poses tell."""
        if not pairs or self._judge is None:
            return []
        distances, ways = self._judge.ways(*self._poses(motion), pairs, NEAR)
        found = []
        for i, pair in enumerate(pairs):
            part = self._parts[pair[1] - self._first]
            place, turn = part.obstacle.poses(len(motion.times))
            hull = CollisionShape(body=part.name, kind=HULL, points=part.points)
            other = Other(part.name, (hull,), place, turn)
            found.append(self._planes.wall(motion, pair[0], other, distances[:, i], ways[:, i]))
        return found

    def _poses(self, motion: Motion, samples: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of bodies and parts; those of parts in some samples of their ways."""
        assert motion.position is not None and motion.quaternion is not None
        poses = [part.obstacle.part(samples).poses(len(motion.times)) for part in self._parts]
        places = [motion.position, *(place[:, None] for place, _ in poses)]
        turns = [motion.quaternion, *(quaternions(turn)[:, None] for _, turn in poses)]
        return np.concatenate(places, axis=1), np.concatenate(turns, axis=1)


def _parts(obstacle: Obstacle) -> list[_Part]:
    """Return an obstacle's convex parts; none of a ground that is too fine, which only feet know."""
    if obstacle.name == GROUND and is_too_fine(obstacle.triangles):
        return []
    found = convex_parts(obstacle.vertices, obstacle.triangles)
    return [_Part(obstacle=obstacle, points=points, name=f"{obstacle.name}-{k}") for k, points in enumerate(found)]


def _fixed(mechanism: Mechanism) -> set[int]:
    """Return the numbers of the bodies that cannot move."""
    found, grown = {WORLD}, True
    while grown:
        more = {j.child for j in mechanism.joints if j.type == "fixed" and j.parent in found} - found
        found, grown = found | more, bool(more)
    return {mechanism.body_index[name] for name in found - {WORLD}}
