"""Arrival of a robot in the scene: beside what is there, before the viewer, and selected as a whole."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.types import Area, Context, Object, RegionView3D, SpaceView3D
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..robot.parts import parts, robot_of

GAP = 0.25  # between a robot and what it stands beside, of the robot's width
FLAT = 0.02  # of the robot's height: what is no higher is a floor
SMALL = 0.15  # of a view: a robot that covers less is shown larger


def arrive(context: Context, root: Object) -> None:
    """Put a robot beside the meshes that it would stand in, nearer to the viewer, and select all of it that is seen.

    A 3D view in which it would be small shows it larger.
    """
    context.view_layer.update()
    shown = [o for kind in ("BODY", "VISUAL") for o in parts(root)[kind]]
    meshes, view = [o for o in shown if o.type == "MESH"], _view(context)
    if meshes and (way := _way_out(context, _box(meshes), _viewers_side(view))):
        root.matrix_world = Matrix.Translation((0.0, way, 0.0)) @ root.matrix_world
    for selected in context.selected_objects:
        selected.select_set(False)
    for part in (root, *shown):
        part.select_set(True)
    context.view_layer.objects.active = root
    context.view_layer.update()
    if meshes and view is not None and _share(view, _box(meshes)) < SMALL:
        region = next(region for region in view.regions if region.type == "WINDOW")
        with context.temp_override(area=view, region=region):
            bpy.ops.view3d.view_selected()


def _view(context: Context) -> Area | None:
    """Return the largest 3D view; None without one."""
    areas = context.screen.areas if context.screen and not bpy.app.background else ()
    views = [area for area in areas if area.type == "VIEW_3D"]
    return max(views, key=lambda area: area.width * area.height, default=None)


def _viewers_side(view: Area | None) -> float:
    """Return 1 where the viewer is to the left of the origin, along +Y, else -1, as in Blender's first scene."""
    return 1.0 if view and _seen(view).view_matrix.inverted().translation.y > 0.0 else -1.0


def _seen(view: Area) -> RegionView3D:
    space = view.spaces.active
    assert isinstance(space, SpaceView3D)
    return space.region_3d


def _share(view: Area, box: np.ndarray) -> float:
    """Return the share of a view that a box (2, 3) in the world covers; 0 where part of it is behind the viewer."""
    region = next(region for region in view.regions if region.type == "WINDOW")
    corners = [Vector((x, y, z)) for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]]
    found = [location_3d_to_region_2d(region, _seen(view), corner) for corner in corners]
    seen, size = np.array([place for place in found if place is not None]), np.array([region.width, region.height])
    if len(seen) < len(corners):
        return 0.0
    low, high = np.clip(seen.min(axis=0), 0, size), np.clip(seen.max(axis=0), 0, size)
    return float(np.prod((high - low) / size))


def _way_out(context: Context, robot: np.ndarray, side: float) -> float:
    """Return how far a robot of this box (2, 3) has to go along Y to stand free [m], to a `side`; 0 where it does."""
    robot, way = _seen_from(robot, side), 0.0
    size = robot[1] - robot[0]
    others = [o for o in context.visible_objects if o.type == "MESH" and robot_of(o) is None]
    for box in sorted((_seen_from(_box([o]), side) for o in others), key=lambda box: float(box[0, 1])):
        here = robot + np.array([0.0, way, 0.0])
        is_floor = box[1, 2] - box[0, 2] < FLAT * size[2]
        is_room = (
            box[0, 2] > here[0, 2] - FLAT * size[2] and (box[0, :2] < here[0, :2]).all() and (box[1] > here[1]).all()
        )
        if not is_floor and not is_room and (box[0] < here[1]).all() and (box[1] > here[0]).all():
            way = float(box[1, 1] - robot[0, 1] + GAP * size[1])
    return side * way


def _seen_from(box: np.ndarray, side: float) -> np.ndarray:
    """Return a box (2, 3) with its Y axis turned to a side."""
    turned = box * np.array([1.0, side, 1.0])
    return np.array([turned.min(axis=0), turned.max(axis=0)])


def _box(meshes: list[Object]) -> np.ndarray:
    """Return the lowest and the highest corner (2, 3) of meshes in the world [m]."""
    corners = np.array([o.matrix_world @ Vector(corner) for o in meshes for corner in o.bound_box])
    return np.array([corners.min(axis=0), corners.max(axis=0)])
