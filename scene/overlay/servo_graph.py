"""Graph of a servo over the last seconds, at the foot of the 3D views: goal and position, and its current below.

Blender knows its draw function only while there is something to show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.types import SpaceView3D

from ...translations import sentence
from .drawing import flat, paint_flat, redraw
from .motor_graph import BACK, EDGE, HEIGHT, LEFT, RIGHT, WORDS, Place, place_in
from .shapes import Color, Shapes

GOAL: Color = (0.86, 0.86, 0.86, 0.9)
POSITION: Color = (0.35, 0.72, 1.0, 1.0)
EFFORT: Color = (1.0, 0.72, 0.25, 1.0)
GRID: Color = (1.0, 1.0, 1.0, 0.07)
TITLE = 28  # what it leaves free above for its title [px at a scale of 1]
TALLER = 80  # than the motor graph [px at a scale of 1]
SHARE = 0.3  # of the height that the current takes
GAP = 18  # between the two plots [px at a scale of 1]
LEAST = 2.0  # that the positions' axis spans [° or mm]: a count more or less is no news
LEAST_EFFORT = {" mA": 50.0, " %": 10.0}
LETTER = 6.3  # of a word's width [px at a scale of 1]
ROUNDING = 1e-6  # of a step of an axis
AXIS = 14  # wider than the motor graph's, for its numbers


@dataclass(frozen=True)
class Picture:
    """Content of the graph.

    Attributes:
        title: whose.
        words: how it follows.
        rows: time before now [s, negative], goal, position, effort, a look each; NaN where there is none.
        span: how far it goes back [s].
        unit: of goal and position.
        effort, effort_unit: name and unit of the current, or of the load.
        has_effort: whether the servo tells it.
    """

    title: str
    words: str
    rows: tuple[tuple[float, float, float, float], ...]
    span: float
    unit: str
    effort: str
    effort_unit: str
    has_effort: bool


_picture: Picture | None = None
_handle: object = None


def show(picture: Picture) -> None:
    """Draw this from now on."""
    global _picture, _handle
    _picture = picture
    if _handle is None:
        _handle = SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")
    redraw("VIEW_3D")


def hide() -> None:
    """Draw nothing any more."""
    global _picture, _handle
    if _handle is not None:
        SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = _picture = None
        redraw("VIEW_3D")


def picture() -> Picture | None:
    """Return what is drawn; None for nothing."""
    return _picture


def _draw() -> None:
    context = bpy.context
    space = context.space_data
    if _picture is None or not isinstance(space, SpaceView3D) or not space.overlay.show_overlays:
        return
    scale = context.preferences.system.ui_scale
    place = place_in(context.area, context.region, scale)
    if place is not None:
        lifted = (HEIGHT + EDGE) * scale if context.scene.robik.overlays.graph else 0.0
        paint_flat(flat(shapes_of(_picture, raised(place, lifted))))


def raised(place: Place, by: float) -> Place:
    """Return this graph's place: that of the motor graph, higher by so much, and taller [px]."""
    left, top = place.left + AXIS * place.scale, place.top + by + TALLER * place.scale
    return replace(place, left=left, bottom=place.bottom + by, top=top)


def shapes_of(picture: Picture, place: Place) -> Shapes:
    """Return all of the graph, in pixels."""
    shapes, s = Shapes(), place.scale
    _back(shapes, place)
    _title(shapes, picture, place)
    middle = place.bottom + SHARE * (place.top - place.bottom) if picture.has_effort else place.bottom
    upper = replace(place, bottom=middle + (GAP * s if picture.has_effort else 0.0))
    table = np.array(picture.rows, dtype=float).reshape(-1, 4)
    low, high = _range(table[:, 1:3], LEAST)
    _plot(shapes, upper, picture.span, (low, high), picture.unit)
    _line(shapes, upper, picture.span, (low, high), table[:, [0, 1]], GOAL)
    _line(shapes, upper, picture.span, (low, high), table[:, [0, 2]], POSITION)
    if picture.has_effort:
        lower = replace(place, top=middle)
        ends = _range(np.append(table[:, 3], 0.0), LEAST_EFFORT[picture.effort_unit])
        _plot(shapes, lower, picture.span, ends, picture.effort_unit)
        _line(shapes, lower, picture.span, ends, table[:, [0, 3]], EFFORT)
    for text, x in ((f"−{picture.span:.0f} s", place.left), ("0 s", place.right - 18 * s)):
        _write(shapes, x, place.bottom - 14 * s, text, WORDS, 10)
    return shapes


def _back(shapes: Shapes, place: Place) -> None:
    s = place.scale
    left, right = place.left - (LEFT + AXIS) * s, place.right + RIGHT * s
    bottom, top = place.bottom - 18 * s, place.top + TITLE * s
    corners = [(left, bottom, 0.0), (right, bottom, 0.0), (right, top, 0.0), (left, top, 0.0)]
    shapes.fan(np.array(corners), BACK)


def _title(shapes: Shapes, picture: Picture, place: Place) -> None:
    """Write whose graph it is, which line is what, and how the servo follows."""
    s, y = place.scale, place.top + 12 * place.scale
    x = place.left - (LEFT + AXIS - 8) * s
    parts = [(picture.title, WORDS), (sentence("Goal"), GOAL), (sentence("Position"), POSITION)]
    parts += [(picture.effort, EFFORT)] if picture.has_effort else []
    for k, (text, color) in enumerate(parts):
        if k:  # a piece of the line, before its name
            shapes.segments(np.array([[x, y + 4 * s, 0.0], [x + 14 * s, y + 4 * s, 0.0]]), color)
            x += 19 * s
        _write(shapes, x, y, text, color, 12)
        x += (_width(text) + 14) * s
    if x + (_width(picture.words) + 8) * s < place.right + RIGHT * s:
        x = place.right + (RIGHT - 8 - _width(picture.words)) * s
        _write(shapes, x, y, picture.words, WORDS, 12)


def _width(text: str) -> float:
    """Return about how wide a text is [px at a scale of 1]: letters beyond Latin are twice as wide."""
    return LETTER * sum(2.0 if ord(letter) > 0x2E80 else 1.0 for letter in text)


def _range(values: np.ndarray, least: float) -> tuple[float, float]:
    """Return the ends of an axis, round as is their middle, that hold all values and are at least so far apart."""
    found = values[np.isfinite(values)]
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 0.0)
    missing = max(0.0, least - (high - low)) / 2.0
    low, high = low - missing, high + missing
    step = 10.0 ** np.floor(np.log10(high - low)) / 2.0
    first, last = int(np.floor(low / step + ROUNDING)), int(np.ceil(high / step - ROUNDING))
    return float(first * step), float((last + (last - first) % 2) * step)


def _plot(shapes: Shapes, place: Place, span: float, ends: tuple[float, float], unit: str) -> None:
    """Draw a grid of whole seconds, and both ends and the middle of an axis with their numbers."""
    s = place.scale
    for second in range(int(span) + 1):
        x = place.right - (place.right - place.left) * second / span
        shapes.segments(np.array([[x, place.bottom, 0.0], [x, place.top, 0.0]]), GRID)
    digits = 0 if ends[1] - ends[0] >= 10.0 else 1
    for share in (0.0, 0.5, 1.0):
        y = place.bottom + share * (place.top - place.bottom)
        shapes.segments(np.array([[place.left, y, 0.0], [place.right, y, 0.0]]), GRID)
        text = f"{ends[0] + share * (ends[1] - ends[0]):.{digits}f}{unit}".replace("-", "−")
        _write(shapes, place.left - (LEFT + AXIS - 8) * s, y - 4 * s, text, WORDS, 10)


def _line(
    shapes: Shapes, place: Place, span: float, ends: tuple[float, float], points: np.ndarray, color: Color
) -> None:
    """Draw values over time, with a gap where there are none."""
    x = place.right + (place.right - place.left) * points[:, 0] / span
    y = place.bottom + (place.top - place.bottom) * (points[:, 1] - ends[0]) / (ends[1] - ends[0])
    made = np.column_stack([x, y, np.zeros(len(x))])
    inside = np.isfinite(y) & (x >= place.left)
    joined = inside[:-1] & inside[1:]
    pairs = np.stack([made[:-1][joined], made[1:][joined]], axis=1).reshape(-1, 3)
    if len(pairs):
        shapes.segments(pairs, color)


def _write(shapes: Shapes, x: float, y: float, text: str, color: Color, size: int) -> None:
    shapes.labels.append((np.array([x, y, size]), text, color))
