"""Marks of a diagnosis on joints.

A ring for what is redundant, a diamond and its name for what keeps a robot from moving.
"""

from __future__ import annotations

import numpy as np
from bpy.types import Object

from ..robot.parts import parts
from .shapes import BAD, TIGHT, TOLD, Color, Shapes, circle

MARKS: dict[str, tuple[Color, str]] = {
    "REDUNDANT": ((*TIGHT[:3], 0.6), ""),
    "NEEDLESS": (TIGHT, "needless"),
    "STUCK": (BAD, "cannot move"),
    "ASKEW": (BAD, "askew"),
}


def mark_findings(shapes: Shapes, root: Object, size: float) -> None:
    """Add the marks of a robot's joints, in the robot's coordinates; `size` of the robot [m]."""
    back, r = root.matrix_world.inverted_safe(), 0.03 * size
    for joint in parts(root)["JOINT"]:
        finding = joint.robik.joint.finding
        if finding == "NONE":
            continue
        color, text = MARKS[finding]
        matrix = np.array((back @ joint.matrix_world).normalized(), dtype=float)
        center, axis, u, v = matrix[:3, 3], *matrix[:3, :3].T
        shapes.path(circle(center, u, v, r), color, closed=True)
        if text:
            corners = center + 1.4 * r * np.array([u, v, -u, -v])
            shapes.path(corners, color, closed=True)
            shapes.segments(np.array([center - 2.0 * r * axis, center + 2.0 * r * axis]), color)
            shapes.fan(circle(center, u, v, r), (*color[:3], 0.3))
            shapes.labels.append(
                (center + 1.4 * r * u, f"{joint.robik.label}: {text}", TOLD if color == BAD else color)
            )
