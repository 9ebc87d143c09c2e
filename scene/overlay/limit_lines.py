"""Limits of motors over their curves in the graph editor.

A red line where a motor's range ends, an amber band where it becomes tight.
"""

from __future__ import annotations

from math import degrees, isfinite

import numpy as np
from bpy.types import Context, FCurve, Object, SpaceGraphEditor

from ...robik.errors import RobikError
from ..animation.actions import assigned
from ..robot.parts import robots
from ..robot.reading import read_moving_parts
from ..robot.sliders import data_path
from .shapes import BAD, NEAR_LIMIT, TIGHT, TOLD, Shapes


def limit_shapes(context: Context) -> Shapes:
    """Limits of the selected motors' curves in a graph editor, in pixels; nothing where curves are shown normalized."""
    shapes, space = Shapes(), context.space_data
    if not isinstance(space, SpaceGraphEditor) or space.mode != "FCURVES" or space.use_normalization:
        return shapes
    limits = {id: limits for root in robots(context.scene) for id, limits in _limits(root).items()}
    selected = [curve for curve in context.visible_fcurves if curve.select and _key(curve) in limits]
    for name, lower, upper, turns in dict.fromkeys(limits[_key(curve)] for curve in selected):
        shown = degrees(1.0) if turns and context.scene.unit_settings.system_rotation == "DEGREES" else 1.0
        _add(shapes, context, name, shown * lower, shown * upper, "°" if shown != 1.0 else " rad" if turns else " m")
    return shapes


def _key(curve: FCurve) -> tuple[str, str]:
    return curve.id_data.name, curve.data_path


def _limits(root: Object) -> dict[tuple[str, str], tuple[str, float, float, bool]]:
    """By action and data path of a robot's sliders: name, lower, upper, whether it turns.

    None for a robot that is not keyed.
    """
    action, _ = assigned(root)
    if action is None:
        return {}
    try:
        motors = read_moving_parts(root).actuated
    except RobikError:  # incomplete: the panels say so
        return {}
    rows = [row for j in motors for row in zip(j.coordinate_names, j.limits, j.coordinate_units, strict=True)]
    return {(action.name, data_path(name)): (name, *limits, unit == "rad") for name, limits, unit in rows}


def _add(shapes: Shapes, context: Context, name: str, lower: float, upper: float, unit: str) -> None:
    """Of a motor: what lies beyond its limits, the limits, and the last tenth before each."""
    region, scale = context.region, context.preferences.system.ui_scale
    soft = 0.5 * (1.0 - NEAR_LIMIT) * (upper - lower)
    for limit, beyond, inward in ((lower, 0.0, soft), (upper, float(region.height), -soft)):
        if not isfinite(limit):
            continue
        y = _height(context, limit)
        if isfinite(soft):
            _band(shapes, region.width, y, _height(context, limit + inward), (*TIGHT[:3], 0.16))
        if (beyond < y) == (inward > 0):
            _band(shapes, region.width, y, beyond, (*BAD[:3], 0.10))
        shapes.segments(np.array([[0.0, y, 0.0], [region.width, y, 0.0]]), BAD)
        shapes.labels.append((np.array([60 * scale, y + 4 * scale, 11]), f"{name} {limit:.3g}{unit}", TOLD))


def _height(context: Context, value: float) -> float:
    """Of a value in the editor's region [px]."""
    low, high = (context.region.view2d.region_to_view(0, y)[1] for y in (0, context.region.height))
    return context.region.height * (value - low) / (high - low)


def _band(shapes: Shapes, width: float, one: float, other: float, color: tuple[float, float, float, float]) -> None:
    shapes.band(
        np.array([[0.0, one, 0.0], [width, one, 0.0]]), np.array([[0.0, other, 0.0], [width, other, 0.0]]), color
    )
