"""Collision shapes of a robot, and the walls that keep its bodies apart; kept for the next bakes.

Shapes are those of the robot's file, as in the shell; of bodies of which it tells none, and of those changed by hand,
the hulls of the meshes that are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import bpy
from bpy.types import Object

from ...robik.collision.apart import Walls
from ...robik.collision.files import ToldCollisions, of_file
from ...robik.collision.judge import can_judge
from ...robik.collision.shapes import hulls
from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ..robot.feet import body_shapes, changed_by_hand

Made = TypeVar("Made")
KEPT = 4  # robots: those of a scene take turns
_told: list[tuple[Any, ToldCollisions]] = []  # what shapes were made of, and the shapes; the latest first
_walls: list[tuple[ToldCollisions, Walls | None]] = []  # shapes, and their walls


def read_collisions(root: Object, mechanism: Mechanism) -> Callable[[], ToldCollisions]:
    """Return a slow function, which touches nothing of Blender's, that gives a robot's collision shapes.

    Its meshes are read now.
    """
    shapes, by_hand = body_shapes(root), changed_by_hand(root)
    file = Path(bpy.path.abspath(root.robik.robot.source)) if root.robik.robot.source else None
    when = file.stat().st_mtime_ns if file is not None and file.is_file() else None
    seen = (
        mechanism,
        {name: [(shape.points.tobytes(), shape.size, shape.pose) for shape in parts] for name, parts in shapes.items()},
        (file, when, by_hand),
    )

    def make() -> ToldCollisions:
        told = ToldCollisions() if when is None or file is None else _of_file(mechanism, file)
        kept = tuple(shape for shape in told.shapes if shape.body not in by_hand)
        shown = shapes if not told.shapes else {name: shapes[name] for name in by_hand & set(shapes)}
        convex = hulls(mechanism, lambda body: shown.get(body, ()))
        return ToldCollisions(shapes=(*kept, *convex), apart=told.apart)

    return lambda: _once(_told, seen, make)


def _once(kept: list[tuple[Any, Made]], key: object, make: Callable[[], Made]) -> Made:
    """Return what was made of a key lately, or make it."""
    found = next((pair for pair in kept if pair[0] == key), None) or (key, make())
    kept[:] = [found, *(pair for pair in kept if pair is not found)][:KEPT]
    return found[1]


def _of_file(mechanism: Mechanism, file: Path) -> ToldCollisions:
    """Return what a robot's file tells; nothing of a file that can no longer be read."""
    try:
        return of_file(mechanism, file)
    except RobikError:
        return ToldCollisions()


def read_walls(root: Object, mechanism: Mechanism) -> Callable[[], Walls | None]:
    """Return a slow function, which touches nothing of Blender's, that makes a robot's walls.

    Its meshes are read now. The function returns None where nothing is known of the robot's shape, or MuJoCo is
    missing.
    """
    if not can_judge():
        return lambda: None
    collisions = read_collisions(root, mechanism)

    def walls() -> Walls | None:
        told = collisions()
        return _once(_walls, told, lambda: Walls(mechanism, told.shapes, told.apart) if told.shapes else None)

    return walls
