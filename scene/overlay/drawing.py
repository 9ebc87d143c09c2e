"""Shapes and words onto the screen, in whichever editor is being drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from .shapes import Color, Shapes

TEXT = 12  # of labels [pt]
LINE, HEAVY = 1.6, 2.2  # widths of lines [px]


@dataclass
class Drawn:
    """Shapes ready to be drawn in a place."""

    matrix: Matrix
    shapes: Shapes
    batches: list[tuple[str, gpu.types.GPUBatch]] | None = (
        None  # made at the first drawing: only then there is something to draw with
    )


def redraw(*editors: str) -> None:
    """Redraw all editors of these types, in all windows."""
    for window in bpy.context.window_manager.windows if bpy.context.window_manager else ():
        for area in window.screen.areas:
            if area.type in editors:
                area.tag_redraw()


def paint(drawn: Drawn, width: float) -> None:
    """Triangles, then lines over them, whatever stands before them: what is inside a robot is to be seen."""
    if drawn.batches is None:
        drawn.batches = _batches(drawn.shapes)
    if not drawn.batches:
        return
    viewport: Sequence[int] = gpu.state.viewport_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.matrix.push()
    try:
        gpu.matrix.multiply_matrix(drawn.matrix)
        for name, batch in drawn.batches:
            shader = gpu.shader.from_builtin(name)
            shader.bind()
            if name.startswith("POLYLINE"):
                shader.uniform_float("viewportSize", viewport[2:])
                shader.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
            batch.draw(shader)
    finally:
        gpu.matrix.pop()
        gpu.state.blend_set("NONE")


def _batches(shapes: Shapes) -> list[tuple[str, gpu.types.GPUBatch]]:
    kinds = (
        ("FLAT_COLOR", "TRIS", shapes.triangles, shapes.triangle_colors),
        ("POLYLINE_FLAT_COLOR", "LINES", shapes.lines, shapes.line_colors),
    )
    made = []
    for name, kind, points, colors in kinds:
        if points:
            shader = gpu.shader.from_builtin(name)
            made.append(
                (name, batch_for_shader(shader, kind, {"pos": np.concatenate(points), "color": np.concatenate(colors)}))
            )
    return made


def write(x: float, y: float, text: str, size: float, color: Color) -> None:
    """Words with a shadow, so that they can be read before anything."""
    font = 0
    blf.size(font, size * bpy.context.preferences.system.ui_scale)
    blf.color(font, *color)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.9)
    blf.position(font, x, y, 0)
    blf.draw(font, text)
    blf.disable(font, blf.SHADOW)


def flat(shapes: Shapes) -> Drawn:
    """Shapes in pixels of a region; of a label, the point is where it begins, and its size."""
    return Drawn(Matrix.Identity(4), shapes)


def paint_flat(drawn: Drawn) -> None:
    """Shapes in pixels, with their words."""
    paint(drawn, LINE)
    for (x, y, size), text, color in drawn.shapes.labels:
        write(x, y, text, size, color)
