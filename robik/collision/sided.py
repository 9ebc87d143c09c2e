"""Planes that keep a body of the robot out of something that is where it is, whatever that body does.

The normal of a plane is that of the shortest way out. While the body is inside, it is that of the side on which it came
in, else on which it leaves. A body that came out on another side went through: it is held on the first side until it is
no longer behind. The plane's height is exact: that of the other along the normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from ..feet.phases import runs
from ..mechanism import Mechanism
from ..mechanism.orientations import rotation
from ..motions import Motion
from ..objectives.above import Above
from .judge import Pair
from .shapes import CollisionShape

MARGIN = 0.003  # m between a body and the other
NEAR = 0.05  # m: a body that is further from the other needs no plane
POINTS = 40  # of a body, on its surface
NOWHERE = -1e9  # m: height of a plane that keeps off nothing


class Other(NamedTuple):
    """Something that a body is kept out of."""

    name: str  # no two of one body have the same
    shapes: Sequence[CollisionShape]  # convex, in its coordinates
    place: np.ndarray  # (T, 3) where its coordinates are [m]
    turn: Rotation  # T rotations of them


class Planes:
    """Planes between a robot's bodies and others, pass by pass."""

    def __init__(self, mechanism: Mechanism, shapes: Sequence[CollisionShape]) -> None:
        self._mechanism = mechanism
        self._shapes: dict[int, list[CollisionShape]] = {}
        for shape in shapes:
            self._shapes.setdefault(mechanism.body_index[shape.body], []).append(shape)
        # (T, 3) in the other's coordinates, by body and name, NaN where the way out tells
        self._normals: dict[tuple[int, str], np.ndarray] = {}
        self._points: dict[int, np.ndarray] = {}

    def wall(self, motion: Motion, body: int, other: Other, distance: np.ndarray, way: np.ndarray) -> Above:
        """Return the plane between a body and another as an objective, as a motion's poses tell.

        `distance` (T,) [m] is negative inside; `way` (T, 3) has unit vectors out of the other towards the body,
        zero where that is far.
        """
        assert motion.position is not None and motion.quaternion is not None
        points, key = self._body_points(body), (body, other.name)
        x, R = motion.position[:, body], _matrices(motion.quaternion[:, body])
        own = other.turn.inv().apply(way)
        if key in self._normals:  # as before, where the body was inside
            own = np.where(np.isnan(self._normals[key]), own, self._normals[key])
        else:
            middle = other.turn.inv().apply(x + R @ points.mean(axis=0) - other.place)
            corners = np.concatenate([shape.corners() for shape in other.shapes])
            own, self._normals[key] = _out(own, distance, middle, corners)
        known = np.linalg.norm(own, axis=1) > 0.5
        normal = np.where(known[:, None], other.turn.apply(own), [0.0, 0.0, 1.0])
        lowest = _lowest(self._shapes[body], x, R, normal)
        corners = np.einsum("ti,tij,kj->tk", normal, R, points).min(axis=1) + (normal * x).sum(axis=1)
        top = -_lowest(other.shapes, other.place, other.turn.as_matrix(), -normal)
        least = np.where(known, top + MARGIN + corners - lowest, NOWHERE)
        return Above(self._mechanism.bodies[body].name, of=other.name, least=least, points=points, normal=normal)

    def _body_points(self, body: int) -> np.ndarray:
        """Return points (K, 3) around a body, in its coordinates: corners of its hull, not too many."""
        if body not in self._points:
            points = np.concatenate([shape.corners() for shape in self._shapes[body]])
            try:
                points = points[ConvexHull(points).vertices]
            except QhullError:
                points = np.unique(points, axis=0)
            if len(points) > POINTS:
                points = points[np.unique((points @ _directions().T).argmax(axis=0))]
            self._points[body] = points
        return self._points[body]


def _lowest(shapes: Sequence[CollisionShape], x: np.ndarray, R: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the height along `up` (T, 3) of the lowest point of shapes (T,) [m]."""
    return np.min(
        [shape.lowest(x + R @ np.array(shape.pose.position), R @ shape.pose.matrix, up) for shape in shapes], axis=0
    )


def _out(
    own: np.ndarray, distance: np.ndarray, middle: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways (T, 3) out of a part in its coordinates, and those that stay in later passes, else NaN.

    `own` (T, 3) are the shortest ways, zero where the part is far. The body is at `middle` (T, 3) and `distance`
    (T,) [m] from the part, which has `points` (K, 3) [m].
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
    return np.asarray(rotation(quaternion).as_matrix())


class _Judging(Protocol):
    """Judge of a robot's own bodies, pose by pose."""

    def depths(self, motion: Motion) -> dict[Pair, np.ndarray]:
        """Return how deep pairs are in each other (T,) [m]."""

    def ways(self, motion: Motion, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
        """Return how far pairs are from each other (T, p) [m], and which way (T, p, 3)."""


class Sided:
    """Planes between a robot's own bodies, for pairs that walls between their axes do not help.

    The body of a pair that moves further is kept out of the other one, where that is in the motion before.
    `between` judges the pairs.
    """

    def __init__(self, mechanism: Mechanism, shapes: Sequence[CollisionShape], between: _Judging) -> None:
        self._mechanism, self._shapes, self._between = mechanism, shapes, between
        self._planes = Planes(mechanism, shapes)

    def depths(self, motion: Motion) -> dict[Pair, np.ndarray]:
        """Return the depths (T,) [m] of pairs of bodies that touch at some time, as they were judged last."""
        return self._between.depths(motion)

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Above]:
        """Return a plane a pair of bodies as objectives, as a motion's poses tell."""
        if not pairs:
            return []
        assert motion.position is not None and motion.quaternion is not None
        bodies, found = self._mechanism.bodies, []
        travel = np.linalg.norm(np.diff(motion.position, axis=0), axis=2).sum(axis=0)
        ordered = [(a, b) if travel[a] >= travel[b] else (b, a) for a, b in pairs]
        distances, ways = self._between.ways(motion, ordered)
        for i, (body, other) in enumerate(ordered):
            name = bodies[other].name
            shapes = [shape for shape in self._shapes if shape.body == name]
            turn = rotation(motion.quaternion[:, other])
            kept_out_of = Other(name, shapes, motion.position[:, other], turn)
            found.append(self._planes.wall(motion, body, kept_out_of, distances[:, i], ways[:, i]))
        return found
