"""Marks of a robot whose loops do not close: its bodies as lines, each open loop as a red line with its name."""

from __future__ import annotations

from math import degrees

import numpy as np

from ...robik.formats.assembly.open_pose import CLOSED, Gap, OpenPose
from ...robik.report.shortfall import millimetres
from .shapes import BAD, PASSIVE, TOLD, Shapes, circle

RING = 0.02  # radius of the ring at an open end, of the drawing's size


def _size(gap: Gap) -> str:
    """Return how far a loop is open, in words."""
    angle = f"{degrees(gap.angle):.1f}°" if gap.angle > CLOSED else ""
    return " and ".join(filter(None, (millimetres(gap.length) if gap.length > 0 or not angle else "", angle)))


def open_shapes(pose: OpenPose) -> Shapes:
    """Return the marks, in the robot's coordinates."""
    shapes = Shapes()
    if len(pose.bodies):
        shapes.segments(pose.bodies.reshape(-1, 3), (*PASSIVE[:3], 1.0))
    points = np.vstack([pose.bodies.reshape(-1, 3), *(np.array([gap.here, gap.there]) for gap in pose.gaps)])
    whole = points if len(points) else np.zeros((1, 3))
    radius = RING * max(float(np.ptp(whole, axis=0).max()), 1e-3)
    x, y, z = np.eye(3)
    for gap in pose.gaps:
        shapes.segments(np.array([gap.here, gap.there]), BAD)
        for end in (gap.here, gap.there):
            for u, v in ((x, y), (y, z), (z, x)):
                shapes.path(circle(end, u, v, radius), BAD, closed=True)
        shapes.labels.append((0.5 * (gap.here + gap.there), f"{gap.name}: open by {_size(gap)}", TOLD))
    return shapes
