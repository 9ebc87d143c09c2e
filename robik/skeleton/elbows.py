"""Elbows that bend one way, as those of a character do, where a robot's would bend backwards, too.

An arm that is nearly straight can be stretched further by an elbow that bends back. From there it does not find its way
home: shoulder and wrist turn half round, up to their limits.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..mechanism.model import Mechanism
from .anatomy import ARM
from .robot import robot_anatomy

SHORT = 0.035  # rad, 2°: an elbow that bends further back stops so far before its arm is straight
ONE_WAY = 2.0  # times as far must it bend one way as the other, to know which one is forwards
ACROSS = 0.9  # of an arm's parts must be across the hinge; of another one it is not known where it is straight


def elbow_ranges(mechanism: Mechanism, followed: Collection[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of elbows that do not bend backwards.

    Args:
        mechanism: The robot.
        followed: Names of the bodies that follow a character.

    Returns:
        Lower and upper bound [rad] by coordinate, between the limits and with the rest pose; only of elbows whose
        limits are wider.
    """
    hinges = {joint.child: joint for joint in mechanism.actuated if joint.type == "revolute"}
    bodies = {mechanism.frame(name).body for name in followed}
    found = {}
    for limb in robot_anatomy(mechanism).limbs:
        hinge = hinges.get(limb.lower)
        if limb.kind != ARM or hinge is None or not bodies & {limb.upper, limb.lower, limb.end}:
            continue
        across = np.diff(limb.points, axis=0) @ (np.eye(3) - np.outer(limb.axis, limb.axis))
        if (np.linalg.norm(across, axis=1) < ACROSS * limb.lengths).any():
            continue
        upper, lower = across
        rest, (low, high) = hinge.rest[0], hinge.limits[0]
        straight = rest - float(np.arctan2(limb.axis @ np.cross(upper, lower), upper @ lower))
        back, ahead = straight - low, high - straight
        bounds = low, high
        if ahead > ONE_WAY * back > ONE_WAY * SHORT:
            bounds = min(straight + SHORT, rest), high
        elif back > ONE_WAY * ahead > ONE_WAY * SHORT:
            bounds = low, max(straight - SHORT, rest)
        if bounds != (low, high):
            found[hinge.coordinate_names[0]] = bounds
    return found
