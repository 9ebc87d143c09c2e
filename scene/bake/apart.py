"""Walls that keep a robot's bodies out of each other, by the meshes that are shown; kept for the next bake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.types import Object

from ...robik.collision.apart import Walls
from ...robik.collision.judge import can_judge
from ...robik.collision.shapes import hulls
from ...robik.mechanism import Mechanism
from ..robot.feet import body_shapes

_last: list[Any] = []  # what the last walls were made of, and the walls


def read_walls(root: Object, mechanism: Mechanism) -> Callable[[], Walls | None]:
    """Return a function that makes a robot's walls, which takes a while and touches nothing of Blender's.

    Args:
        root: Of the robot, whose meshes are read now.
        mechanism: The robot.

    Returns:
        The function. It returns None where nothing is seen of the robot, or MuJoCo is missing.
    """
    shapes = body_shapes(root) if can_judge() else {}
    seen = (
        mechanism,
        {name: [(shape.points.tobytes(), shape.size, shape.pose) for shape in parts] for name, parts in shapes.items()},
    )

    def make() -> Walls | None:
        if not (_last and _last[0] == seen):
            convex = hulls(mechanism, lambda body: shapes.get(body, ()))
            _last[:] = seen, Walls(mechanism, convex) if convex else None
        walls: Walls | None = _last[1]
        return walls

    return make
