"""Depths to which a robot's bodies go into each other and into obstacles, by MuJoCo: exact between convex shapes.

MuJoCo finds which shapes touch in a pose, and the distance of each such pair. The bodies are loose ones that are put
where the robot's are, so loops need not be told. Obstacles are further bodies, which touch the robot's alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from ..extras import extra
from ..mechanism import Mechanism
from .nearest import Nearest, motions_between
from .shapes import HULL, CollisionShape

Pair = tuple[int, int]  # numbers of two bodies, the smaller one first
LEAST = 1e-6  # m, of a size: MuJoCo takes none that is zero
ALL, ROBOT, OBSTACLE = (1, 1), (1, 0), (0, 1)  # what a shape is, and what it touches
MEMORY = 1 << 26  # bytes for contacts: many touch in a random pose


def can_judge() -> bool:
    """Return whether penetration can be judged: MuJoCo is installed, the extra `physics`."""
    return find_spec("mujoco") is not None


class NearShapes(NamedTuple):
    """Pairs of shapes near each other in one pose; a pair may be there more than once."""

    pair: np.ndarray  # (k,) number of the two shapes
    bodies: np.ndarray  # (k, 2) that carry them
    distance: np.ndarray  # (k,) negative where they are in each other [m]
    middle: np.ndarray  # (k, 3) between the nearest points [m]
    way: np.ndarray  # (k, 3) unit vectors out of the second towards the first


class Judge:
    """Judge of which bodies go into each other.

    It judges `pairs`, all bodies with shapes if left out; where there are obstacles, no two bodies of the robot. An
    obstacle is given by points (K, 3) of its hull [m]; their numbers follow those of the robot's bodies. `near` [m]
    is the distance for the method `near` alone. Raise MissingExtraError without MuJoCo.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        shapes: Sequence[CollisionShape],
        pairs: Sequence[Pair] | None = None,
        obstacles: Sequence[np.ndarray] = (),
        near: float = 0.0,
    ) -> None:
        with extra("physics"):
            import mujoco
        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.memory = MEMORY
        spec.default.geom.margin = 0.5 * near  # those of two shapes add up
        shaped = sorted({mechanism.body_index[shape.body] for shape in shapes})
        first = len(mechanism.bodies)
        self._numbers = [*shaped, *range(first, first + len(obstacles))]
        bodies = {number: self._add_body(spec, str(number)) for number in self._numbers}
        for k, shape in enumerate(shapes):
            self._add_shape(spec, bodies[mechanism.body_index[shape.body]], shape, k, ROBOT if obstacles else ALL)
        for k, points in enumerate(obstacles):
            hull = CollisionShape(body=str(first + k), kind=HULL, points=points)
            self._add_shape(spec, bodies[first + k], hull, len(shapes) + k, OBSTACLE)
        if pairs is not None:
            wanted = set(pairs)
            apart = product(shaped, range(first, first + len(obstacles))) if obstacles else combinations(shaped, 2)
            for a, b in (pair for pair in apart if pair not in wanted):
                spec.add_exclude(bodyname1=str(a), bodyname2=str(b))
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._of = np.array([self._numbers[body - 1] for body in self._model.geom_bodyid], dtype=int)
        self.shapes = len(self._of)

    def _add_body(self, spec: Any, name: str) -> Any:
        body = spec.worldbody.add_body(name=name, explicitinertial=True, mass=1.0, inertia=[1.0, 1.0, 1.0])
        body.add_freejoint()
        return body

    def _add_shape(self, spec: Any, body: Any, shape: CollisionShape, number: int, touches: tuple[int, int]) -> None:
        """Add a shape to a body of the model."""
        kind = "MESH" if shape.kind == HULL else shape.kind.upper()
        geom = body.add_geom(type=getattr(self._mujoco.mjtGeom, f"mjGEOM_{kind}"))
        geom.pos, geom.quat = shape.pose.position, shape.pose.quaternion
        geom.contype, geom.conaffinity = touches
        if shape.kind == HULL:
            mesh = spec.add_mesh(name=f"hull {number}", inertia=self._mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
            mesh.uservert = shape.points.ravel().tolist()
            geom.meshname = mesh.name
        else:
            geom.size[: len(shape.size)] = np.maximum(shape.size, LEAST)  # a disc is a capsule without length

    def distances(self, position: np.ndarray, quaternion: np.ndarray, pairs: Sequence[Pair], most: float) -> np.ndarray:
        """Return the distances (T, p) [m] of p pairs of bodies, negative inside, at most `most`.

        Bodies are at (T, n, 3) [m] and (T, n, 4) wxyz.
        """
        found = np.full((len(position), len(pairs)), most)
        for k, p, distance, _ in self._near(position, quaternion, pairs, most):
            found[k, p] = distance
        return found

    def touching(self, position: np.ndarray, quaternion: np.ndarray) -> list[tuple[Pair, float, np.ndarray]]:
        """Return bodies, depth [m] and middle (3,) [m] of the way out of each two shapes that overlap in a pose.

        Bodies are at (n, 3) [m] and (n, 4) wxyz.
        """
        mujoco, model, data = self._mujoco, self._model, self._data
        data.qpos[:] = self._poses(position[None], quaternion[None])[0]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        found, ends = [], np.zeros(6)
        for i, j in {tuple(pair) for pair in np.sort(data.contact.geom, axis=1).tolist()}:
            depth = -mujoco.mj_geomDistance(model, data, i, j, 0.0, ends)
            a, b = sorted((int(self._of[i]), int(self._of[j])))
            found.append(((a, b), float(depth), 0.5 * (ends[:3] + ends[3:])))
        return found

    def near(self, position: np.ndarray, quaternion: np.ndarray) -> NearShapes:
        """Return the pairs of shapes nearer than the judge's `near`, with bodies at (n, 3) [m] and (n, 4) wxyz."""
        mujoco, model, data = self._mujoco, self._model, self._data
        data.qpos[:] = np.concatenate([position, quaternion], axis=1)[self._numbers].ravel()
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        contact = data.contact
        shapes = contact.geom
        return NearShapes(
            pair=shapes.min(axis=1) * self.shapes + shapes.max(axis=1),
            bodies=self._of[shapes],
            distance=contact.dist,
            middle=contact.pos,
            way=-contact.frame[:, :3],
        )

    def ways(
        self, position: np.ndarray, quaternion: np.ndarray, pairs: Sequence[Pair], most: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances (T, p) [m] of p pairs of bodies, as `distances`, and the directions (T, p, 3).

        Directions are unit vectors out of the second body towards the first, zero where they are further apart than
        `most`.
        """
        found, ways = np.full((len(position), len(pairs)), most), np.zeros((len(position), len(pairs), 3))
        for k, p, distance, ends in self._near(position, quaternion, pairs, most):
            found[k, p] = distance
            ways[k, p] = (ends[:3] - ends[3:]) / distance if abs(distance) > LEAST else 0.0
        lengths = np.linalg.norm(ways, axis=2, keepdims=True)
        return found, np.divide(ways, lengths, out=np.zeros_like(ways), where=lengths > 0.5)

    def _near(
        self, position: np.ndarray, quaternion: np.ndarray, pairs: Sequence[Pair], most: float
    ) -> Iterator[tuple[int, int, float, np.ndarray]]:
        """Yield pose, pair, distance [m] and ends (6,) [m] where the bodies of a pair are nearer than `most`."""
        geoms = {number: np.flatnonzero(self._of == number).tolist() for number in self._numbers}
        nearest = Nearest(self._mujoco, self._model, self._data, geoms, pairs, most)
        motions = zip(*motions_between(position, quaternion, pairs), strict=True)
        for k, (pose, moved) in enumerate(zip(self._poses(position, quaternion), motions, strict=True)):
            self._data.qpos[:] = pose
            self._mujoco.mj_kinematics(self._model, self._data)
            for p, distance, ends in nearest.look(*moved):
                yield k, p, distance, ends

    def _poses(self, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
        """Return the poses of the bodies with shapes as MuJoCo's coordinates (T, 7 b)."""
        return np.concatenate([position, quaternion], axis=2)[:, self._numbers].reshape(len(position), -1)

    def depths(self, position: np.ndarray, quaternion: np.ndarray) -> dict[Pair, np.ndarray]:
        """Return the depths (T,) [m] by pair of bodies that touch at some time, 0 where they do not.

        Bodies are at (T, n, 3) [m] and (T, n, 4) wxyz.
        """
        mujoco, model, data = self._mujoco, self._model, self._data
        found: dict[Pair, np.ndarray] = {}
        poses = self._poses(position, quaternion)
        for k, pose in enumerate(poses):
            data.qpos[:] = pose
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            for i, j in {tuple(pair) for pair in np.sort(data.contact.geom, axis=1).tolist()}:
                depth = -mujoco.mj_geomDistance(model, data, i, j, 0.0, None)
                a, b = sorted((int(self._of[i]), int(self._of[j])))
                row = found.setdefault((a, b), np.zeros(len(poses)))
                row[k] = max(row[k], depth)
        return found
