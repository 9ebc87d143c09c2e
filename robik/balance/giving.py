"""Yielding of motors under a robot's weight, as a distance of its centre of mass.

A leg on which a robot stands is a spring of stiffness k = s m g h against tipping over. Its foot is a distance d beside
the centre of mass, so the weight's moment m g d turns the leg by m g d / k, and the centre of mass moves by h times as
much:

    d / s

Motors differ: they may be half as stiff as their maker says, as in the disturbed trials of physics.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dynamics.drives import Drive, standing_share
from ..dynamics.inverse import InverseDynamics
from ..feet.support import sole_axes, sole_polygon
from ..mechanism.model import Mechanism

SOFTER = 0.5  # of their stiffness: what motors may really have
SHARE = 0.2  # of a sole's width, where motors are unknown
MOST = 0.35  # of a sole's width: more leaves no room for the weight


def motors_give(mechanism: Mechanism, drives: Mapping[str, Drive]) -> float:
    """Return the distance by which the centre of mass moves on one foot as motors give way under the weight [m]."""
    shares = standing_share(InverseDynamics(mechanism), drives)
    com = sum(body.mass * np.asarray(body.rest_com) for body in mechanism.bodies) / mechanism.mass
    found = 0.0
    for frame in (frame for frame in mechanism.frames if frame.name in shares):
        sole = np.array([mechanism.rest_pose(frame.name).point(corner) for corner in frame.sole])
        beside = float(np.linalg.norm((sole.mean(axis=0) - com)[:2]))
        found = max(found, beside / (SOFTER * shares[frame.name]))
    return min(found, MOST * sole_width(mechanism))


def sole_share(mechanism: Mechanism) -> float:
    """Return the share of the soles' width by which motors of unknown stiffness are taken to give way [m]."""
    return SHARE * sole_width(mechanism)


def sole_width(mechanism: Mechanism) -> float:
    """Return the width of the narrowest sole [m]; 0 without soles."""
    widths = [
        float(np.ptp((sole_polygon(frame) @ sole_axes(frame)[:2].T), axis=0).min())
        for frame in mechanism.frames
        if frame.is_foot
    ]
    return min(widths, default=0.0)
