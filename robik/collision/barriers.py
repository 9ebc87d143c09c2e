"""Barriers: planes that keep a robot's bodies out of obstacles.

Between a body and a convex part of an obstacle there is a plane in each frame. Its normal is that of the shortest way
out; while the body is inside, that of the side on which it came in, else on which it leaves. A limb that came out on
another side went through: it is held on the first side until it is no longer behind the part. The plane's height is
exact: that of the part along the normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from ..mechanism import WORLD, Mechanism
from ..motions import Motion
from ..objectives.above import Above
from ..retarget.contacts import runs
from ..skeleton.placement import quaternions
from ..surroundings.convex import convex_parts, is_too_fine
from ..surroundings.obstacle import GROUND, Obstacle
from .judge import Judge, Pair
from .shapes import CollisionShape

MARGIN = 0.003  # m between a body and an obstacle
NEAR = 0.05  # m: a body that is further from an obstacle needs no barrier
POINTS = 40  # of a body, on its surface
NOWHERE = -1e9  # m: height of a barrier that keeps off nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """A convex part of an obstacle."""

    obstacle: Obstacle
    points: np.ndarray  # (K, 3) in the obstacle's coordinates [m]
    name: str


class Barriers:
    """Barriers between a robot and what is around it.

    Args:
        mechanism: the robot.
        shapes: of its bodies.
        obstacles: of a clip.

    Raises:
        MissingExtraError: MuJoCo is not installed.
    """

    def __init__(self, mechanism: Mechanism, shapes: Sequence[CollisionShape], obstacles: Sequence[Obstacle]) -> None:
        self._mechanism, self._shapes, self._first = mechanism, shapes, len(mechanism.bodies)
        self._parts = [part for obstacle in obstacles for part in _parts(obstacle)]
        pairs = self._pairs()
        hulls = [part.points for part in self._parts]
        self._judge = Judge(mechanism, shapes, pairs, hulls) if pairs else None
        self._normals: dict[Pair, np.ndarray] = {}  # (T, 3) in the obstacle's coordinates, NaN where the way out tells
        self._points: dict[int, np.ndarray] = {}

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
        """Return the names of the body and the obstacle of a pair.

        Args:
            pair: Their numbers.

        Returns:
            Both names.
        """
        return self._mechanism.bodies[pair[0]].name, self._parts[pair[1] - self._first].obstacle.name

    def depths(self, motion: Motion) -> dict[Pair, np.ndarray]:
        """Return how deep bodies are in parts of obstacles.

        Args:
            motion: With body poses.

        Returns:
            Depths (T,) [m] of the pairs that touch at some time.
        """
        return self._judge.depths(*self._poses(motion)) if self._judge else {}

    def touching(self, motion: Motion, sample: int = 0) -> list[tuple[tuple[str, str], float, np.ndarray]]:
        """Return where bodies are in obstacles in one pose.

        Args:
            motion: Of one sample, with body poses.
            sample: Of the obstacles' ways.

        Returns:
            Names of a body and an obstacle, how deep [m], and where (3,) [m].
        """
        if self._judge is None:
            return []
        position, quaternion = self._poses(motion, slice(sample, sample + 1))
        found = self._judge.touching(position[0], quaternion[0])
        return [(self.names(pair), depth, where) for pair, depth, where in found]

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Above]:
        """Return the barriers of pairs as objectives, as a motion's poses tell.

        Args:
            motion: With body poses.
            pairs: Of bodies and parts.

        Returns:
            An objective a pair.
        """
        if not pairs or self._judge is None:
            return []
        distances, ways = self._judge.ways(*self._poses(motion), pairs, NEAR)
        return [self._wall(motion, pair, distances[:, i], ways[:, i]) for i, pair in enumerate(pairs)]

    def _poses(self, motion: Motion, samples: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of bodies and parts; those of parts in some samples of their ways."""
        assert motion.position is not None and motion.quaternion is not None
        poses = [part.obstacle.part(samples).poses(len(motion.times)) for part in self._parts]
        places = [motion.position, *(place[:, None] for place, _ in poses)]
        turns = [motion.quaternion, *(quaternions(turn)[:, None] for _, turn in poses)]
        return np.concatenate(places, axis=1), np.concatenate(turns, axis=1)

    def _wall(self, motion: Motion, pair: Pair, distance: np.ndarray, way: np.ndarray) -> Above:
        """Return the barrier of a pair."""
        part, body = self._parts[pair[1] - self._first], pair[0]
        place, turn = part.obstacle.poses(len(distance))
        own = turn.inv().apply(way)
        if pair in self._normals:  # as before, where the body was inside
            own = np.where(np.isnan(self._normals[pair]), own, self._normals[pair])
        else:
            middle = turn.inv().apply(self._middle(motion, body) - place)
            own, self._normals[pair] = _out(own, distance, middle, part.points)
        known = np.linalg.norm(own, axis=1) > 0.5
        normal = np.where(known[:, None], turn.apply(own), [0.0, 0.0, 1.0])
        points = self._body_points(body)
        assert motion.position is not None and motion.quaternion is not None
        x, R = motion.position[:, body], _matrices(motion.quaternion[:, body])
        lowest = np.min([self._lowest(shape, x, R, normal) for shape in self._shapes_of(body)], axis=0)
        corners = np.einsum("ti,tij,kj->tk", normal, R, points).min(axis=1) + (normal * x).sum(axis=1)
        top = (own @ part.points.T).max(axis=1) + (normal * place).sum(axis=1)
        least = np.where(known, top + MARGIN + corners - lowest, NOWHERE)
        return Above(self._mechanism.bodies[body].name, of=part.name, least=least, points=points, normal=normal)

    def _middle(self, motion: Motion, body: int) -> np.ndarray:
        """Return where the middle of a body is (T, 3) [m]."""
        assert motion.position is not None and motion.quaternion is not None
        middle = self._body_points(body).mean(axis=0)
        return motion.position[:, body] + _matrices(motion.quaternion[:, body]) @ middle

    def _shapes_of(self, body: int) -> list[CollisionShape]:
        name = self._mechanism.bodies[body].name
        return [shape for shape in self._shapes if shape.body == name]

    @staticmethod
    def _lowest(shape: CollisionShape, x: np.ndarray, R: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return the height along a normal (T,) of the lowest point of a body's shape."""
        return shape.lowest(x + R @ np.array(shape.pose.position), R @ shape.pose.matrix, normal)

    def _body_points(self, body: int) -> np.ndarray:
        """Return points (K, 3) around a body, in its coordinates: corners of its hull, not too many."""
        if body not in self._points:
            points = np.concatenate([shape.corners() for shape in self._shapes_of(body)])
            try:
                points = points[ConvexHull(points).vertices]
            except QhullError:
                points = np.unique(points, axis=0)
            if len(points) > POINTS:
                points = points[np.unique((points @ _directions().T).argmax(axis=0))]
            self._points[body] = points
        return self._points[body]


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


def _out(
    own: np.ndarray, distance: np.ndarray, middle: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways out of a part in its coordinates, and those that stay in later passes (NaN where none).

    Args:
        own: (T, 3) the shortest ways out; zero where the part is far.
        distance: (T,) of the body from the part [m].
        middle: (T, 3) of the body [m].
        points: (K, 3) of the part [m].
    """
    found, kept = own.copy(), np.full(own.shape, np.nan)
    held = np.zeros(3)  # the way out to the side on which the body belongs, while it is behind the part
    for start, stop in runs(distance < 0.0):
        before = held if held.any() else own[start - 1] if start > 0 else np.zeros(3)
        after = own[stop] if stop < len(own) else np.zeros(3)
        way = before if before.any() else after if after.any() else own[start + int(distance[start:stop].argmax())]
        ways = np.tile(way, (stop - start, 1))
        if before.any() and before @ after > 0.0:
            u = np.linspace(0.0, 1.0, stop - start)[:, None]
            ways = (1.0 - u) * before + u * after
            ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        found[start:stop] = kept[start:stop] = ways
        held = np.zeros(3)
        if before.any() and after.any() and before @ after <= 0.0:  # it went through
            behind = _is_behind(middle[stop:], before, points)
            until = stop + (int((~behind).argmax()) if not behind.all() else len(behind))
            found[stop:until] = kept[stop:until] = before
            held = before if until > stop else held
    return found, kept


def _is_behind(middle: np.ndarray, way: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return whether places (T, 3) are behind a part, seen against a way out of it, and not beyond its rim."""
    across = np.linalg.svd(way[None])[2][1:]
    try:
        rim = ConvexHull(points @ across.T).equations
    except QhullError:
        return np.zeros(len(middle), dtype=bool)
    inside = (middle @ across.T @ rim[:, :2].T + rim[:, 2] < NEAR).all(axis=1)
    return np.asarray(inside & (middle @ way < (points @ way).max()))


def _directions() -> np.ndarray:
    """Return unit vectors (POINTS, 3) that lie evenly on a sphere."""
    k = np.arange(POINTS) + 0.5
    height, turn = 1.0 - 2.0 * k / POINTS, np.pi * (1.0 + np.sqrt(5.0)) * k
    return np.column_stack([np.sqrt(1.0 - height**2) * np.cos(turn), np.sqrt(1.0 - height**2) * np.sin(turn), height])


def _matrices(quaternion: np.ndarray) -> np.ndarray:
    return np.asarray(Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).as_matrix())
