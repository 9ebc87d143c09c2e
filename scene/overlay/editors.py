"""Overlays of the animation editors: contacts in dope sheet and timeline, motors' limits in the graph editor.

Each is known to Blender only while a scene asks for it.
"""

from __future__ import annotations

import bpy
from bpy.types import SpaceDopeSheetEditor, SpaceGraphEditor

from ...robik.errors import RobikError
from ..robot.parts import chosen_robot
from . import contact_strips, drawing, limit_lines
from .drawing import flat, paint_flat


def _draw_contacts() -> None:
    context = bpy.context
    place = contact_strips.place_in(context) if context.scene.robik.overlays.contacts else None
    if place is None:
        return
    try:
        root = chosen_robot(context.scene)
    except RobikError:  # none is chosen: the panels say so
        return
    paint_flat(flat(contact_strips.strip_shapes(contact_strips.lanes(root), place)))


def _draw_limits() -> None:
    context = bpy.context
    if context.scene.robik.overlays.limits:
        paint_flat(flat(limit_lines.limit_shapes(context)))


EDITORS = {
    "contacts": (SpaceDopeSheetEditor, _draw_contacts),
    "limits": (SpaceGraphEditor, _draw_limits),
}  # by their switches
_handles: dict[str, object] = {}


def is_drawing() -> bool:
    """Return whether Blender knows our draw functions."""
    return bool(_handles)


def refresh() -> None:
    """Start or stop drawing, as the scenes ask for."""
    for switch, (space, draw) in EDITORS.items():
        wanted = any(getattr(scene.robik.overlays, switch) for scene in bpy.data.scenes)
        if wanted and switch not in _handles:
            _handles[switch] = space.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL")
        elif not wanted and switch in _handles:
            space.draw_handler_remove(_handles.pop(switch), "WINDOW")
    redraw()


def redraw() -> None:
    """Redraw all editors: what one shows may have been changed in another."""
    drawing.redraw("DOPESHEET_EDITOR", "GRAPH_EDITOR")


def stop() -> None:
    """Draw nothing any more."""
    for switch in list(_handles):
        EDITORS[switch][0].draw_handler_remove(_handles.pop(switch), "WINDOW")
