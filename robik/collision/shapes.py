"""Collision shapes of a robot's bodies: primitives, convex hulls, and capsules around what has no volume."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from ..formats.mesh_files import is_placeholder
from ..mechanism import Mechanism, Pose, Visual
from ..mechanism.pose import IDENTITY
from ..skeleton.feet import Shapes
from ..skeleton.shapes import mesh_points

HULL = "hull"
KINDS = ("sphere", "capsule", "cylinder", "box", HULL)
UP = np.array([0.0, 0.0, 1.0])
FLAT = 1e-4  # m: a mesh that is thinner has no volume, and is a capsule


@dataclass(frozen=True, kw_only=True, eq=False)
class CollisionShape:
    """A convex shape that is fixed to a body.

    Attributes:
        body: name of the body.
        kind: one of `KINDS`.
        size: sphere: radius; capsule and cylinder: radius and half of the length along z; box: half of each side [m].
        points: corners of a hull (N, 3) [m].
        pose: in the body's frame.
    """

    body: str
    kind: str
    size: tuple[float, ...] = ()
    points: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    pose: Pose = IDENTITY

    @property
    def radius(self) -> float:
        """Distance of the outermost point from the shape's origin [m]."""
        match self.kind:
            case "sphere":
                return self.size[0]
            case "capsule":
                return self.size[0] + self.size[1]
            case "hull":
                return float(np.linalg.norm(self.points, axis=1).max())
            case _:
                return float(np.linalg.norm(self.size))

    def corners(self) -> np.ndarray:
        """Return points (N, 3) [m] in the body's frame around which the shape lies: of round ones a box's."""
        half: tuple[float, ...]
        match self.kind:
            case "sphere":
                half = (self.size[0],) * 3
            case "capsule":
                half = (self.size[0], self.size[0], self.size[0] + self.size[1])
            case "cylinder":
                half = (self.size[0], self.size[0], self.size[1])
            case "box":
                half = self.size[:3]
            case _:
                return self.points @ self.pose.matrix.T + np.array(self.pose.position)
        box = np.array(list(product((-1.0, 1.0), repeat=3))) * half
        return box @ self.pose.matrix.T + np.array(self.pose.position)

    def lowest(self, position: np.ndarray, rotation: np.ndarray, up: np.ndarray = UP) -> np.ndarray:
        """Return the heights (T,) [m] of the shape's lowest point along `up`, (3,) or (T, 3).

        The shape is at (T, 3) [m] with orientations (T, 3, 3).
        """
        own = np.einsum("tij,ti->tj", rotation, np.broadcast_to(up, position.shape))  # in the shape's coordinates
        match self.kind:
            case "sphere":
                below = np.full(len(own), self.size[0])
            case "capsule":
                below = self.size[0] + self.size[1] * np.abs(own[:, 2])
            case "cylinder":
                below = self.size[0] * np.hypot(own[:, 0], own[:, 1]) + self.size[1] * np.abs(own[:, 2])
            case "box":
                below = np.abs(own) @ np.array(self.size)
            case _:
                below = -(own @ self.points.T).min(axis=1)
        return np.asarray((position * up).sum(axis=1) - below)


def primitive(body: str, visual: Visual) -> CollisionShape:
    """Return the collision shape of a visual that is a box, sphere, capsule or cylinder."""
    match visual.shape:
        case "box":
            size = tuple(0.5 * side for side in visual.size)
        case "sphere":
            size = visual.size
        case _:
            size = visual.size[0], 0.5 * visual.size[1]
    return CollisionShape(body=body, kind=visual.shape, size=size, pose=visual.pose)


def hull_or_capsule(body: str, points: np.ndarray, pose: Pose = IDENTITY) -> CollisionShape | None:
    """Return the convex hull of points (N, 3) [m], or the capsule around points in a plane or on a line.

    Points are seen from `pose`. Return None for fewer than two finite points.
    """
    points = np.asarray(points, dtype=float).reshape(-1, 3)
    points = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
    if len(points) < 2:
        return None
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    thin = np.abs((points - middle) @ axes[-1]).max() if len(axes) == 3 else 0.0
    if thin > FLAT and spread[-1] > 0:
        return CollisionShape(body=body, kind=HULL, points=points[ConvexHull(points).vertices], pose=pose)
    return capsule(body, points, pose)


def capsule(body: str, points: np.ndarray, pose: Pose = IDENTITY) -> CollisionShape:
    """Return the capsule around points (N, 3) [m] of a body, seen from `pose`, along their longest extent."""
    middle = points.mean(axis=0)
    axes = np.linalg.svd(points - middle, full_matrices=True)[2]
    if np.linalg.det(axes) < 0:
        axes[1] *= -1.0
    own = (points - middle) @ axes.T
    aside = np.linalg.norm(own[:, 1:], axis=1)
    radius = max(float(aside.max()), FLAT)
    ends = own[:, 0]
    reach = np.sqrt(np.maximum(radius**2 - aside**2, 0.0))  # how far a cap goes beyond its centre there
    low, high = float((ends + reach).min()), float((ends - reach).max())
    if low > high:
        low = high = 0.5 * (low + high)
    turned = Pose.of(np.column_stack([axes[1], axes[2], axes[0]]), middle + axes[0] * 0.5 * (low + high))
    return CollisionShape(body=body, kind="capsule", size=(radius, 0.5 * (high - low)), pose=pose @ turned)


def seen_shapes(mechanism: Mechanism, robot_file: str | Path | None) -> tuple[CollisionShape, ...]:
    """Return primitives as they are seen, and the convex hulls of meshes, which `robot_file` names.

    Meshes that cannot be read as triangles are left out, and so are the cubes that stand for meshes.
    """
    found: list[CollisionShape] = []
    for body in mechanism.bodies:
        for visual in body.visuals:
            if is_placeholder(visual.shape, visual.size):
                continue
            if visual.shape != "mesh":
                found.append(primitive(body.name, visual))
                continue
            points = mesh_points(visual, robot_file)
            shape = None if points is None else hull_or_capsule(body.name, points * np.array(visual.size), visual.pose)
            if shape is not None:
                found.append(shape)
    return tuple(found)


def hulls(mechanism: Mechanism, shapes: Shapes) -> tuple[CollisionShape, ...]:
    """Return the convex hulls of a robot's surface, body by body."""
    made = (
        hull_or_capsule(body.name, shape.points * np.array(shape.size), shape.pose)
        for body in mechanism.bodies
        for shape in shapes(body.name)
    )
    return tuple(shape for shape in made if shape is not None)
