"""Arrival of a robot in the scene: beside what is there, and selected as a whole."""

from __future__ import annotations

import numpy as np
from bpy.types import Context, Object
from mathutils import Matrix, Vector

from ..robot.parts import parts, robot_of

GAP = 0.25  # between a robot and what it stands beside, of the robot's width
FLAT = 0.02  # of the robot's height: what is no higher is a floor


def arrive(context: Context, root: Object) -> None:
    """Put a robot beside the meshes that it would stand in, and select all of it that can be seen."""
    context.view_layer.update()
    shown = [o for kind in ("BODY", "VISUAL") for o in parts(root)[kind]]
    meshes = [o for o in shown if o.type == "MESH"]
    if meshes and (way := _way_out(context, _box(meshes))):
        root.matrix_world = Matrix.Translation((0.0, way, 0.0)) @ root.matrix_world
    for selected in context.selected_objects:
        selected.select_set(False)
    for part in (root, *shown):
        part.select_set(True)
    context.view_layer.objects.active = root


def _way_out(context: Context, robot: np.ndarray) -> float:
    """Return how far to the left a robot of this box (2, 3) has to go to stand free [m]; 0 where it does."""
    size, way = robot[1] - robot[0], 0.0
    others = [o for o in context.visible_objects if o.type == "MESH" and robot_of(o) is None]
    boxes = sorted((_box([o]) for o in others), key=lambda box: float(box[0, 1]))
    for box in boxes:
        here = robot + np.array([0.0, way, 0.0])
        is_floor = box[1, 2] - box[0, 2] < FLAT * size[2]
        is_room = (
            box[0, 2] > here[0, 2] - FLAT * size[2] and (box[0, :2] < here[0, :2]).all() and (box[1] > here[1]).all()
        )
        if not is_floor and not is_room and (box[0] < here[1]).all() and (box[1] > here[0]).all():
            way = float(box[1, 1] - robot[0, 1] + GAP * size[1])
    return way


def _box(meshes: list[Object]) -> np.ndarray:
    """Return the lowest and the highest corner (2, 3) of meshes in the world [m]."""
    corners = np.array([o.matrix_world @ Vector(corner) for o in meshes for corner in o.bound_box])
    return np.array([corners.min(axis=0), corners.max(axis=0)])
