"""Ranges of limbs that follow a character, where a robot's limits are wider: elbows bend one way, legs stay unturned.

An arm that is nearly straight can be stretched further by an elbow that bends back. From there it does not find its way
home: shoulder and wrist turn half round, up to their limits. A leg whose file names no limits, or a full turn for each
hinge, does the same after a high kick: hip and ankle turn half round, which sets the foot down alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.parts import Joint
from .anatomy import ARM, FRONT_LEG, LEG
from .robot import robot_anatomy
from .robot_parts import RobotAnatomy, RobotLimb

SHORT = 0.035  # rad, 2°: an elbow that bends further back stops so far before its arm is straight
ONE_WAY = 2.0  # times as far must it bend one way as the other, to know which one is forwards
ACROSS = 0.9  # of an arm's parts must be across the hinge; of another one it is not known where it is straight
UNTOLD = 0.75 * np.pi  # rad from the rest pose both ways: limits that are wider tell nothing of a leg
HIP, KNEE, ANKLE = 1.75, UNTOLD, 1.3  # rad from the rest pose: what such a leg's hinges keep to


def limb_ranges(mechanism: Mechanism, followed: Collection[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of elbows that do not bend backwards, and of legs that are not turned inside out.

    They are lower and upper bounds [rad] by coordinate, within the limits and around the rest pose, only where limits
    are wider. `followed` are bodies that follow a character.
    """
    return leg_ranges(mechanism, followed) | elbow_ranges(mechanism, followed)


def untold_legs(mechanism: Mechanism, followed: Collection[str]) -> str:
    """Return a sentence on the ranges of legs whose own limits tell nothing; empty where all tell something."""
    if not (ranges := leg_ranges(mechanism, followed)):
        return ""
    hip, knee, ankle = (f"{np.degrees(far):.0f}°" for far in (HIP, KNEE, ANKLE))
    return (
        f"hinges of its legs have no limits or half a turn both ways, as {next(iter(ranges))!r}; from the rest pose"
        f" hips keep to {hip}, knees to {knee} and ankles to {ankle}; give them the limits that the robot has"
    )


def leg_ranges(mechanism: Mechanism, followed: Collection[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges [rad] by coordinate of a leg's hinges whose limits tell nothing.

    Such a hinge has no limits, or turns both ways further than any leg.
    """
    anatomy, hinges, found = robot_anatomy(mechanism), _hinges(mechanism), {}
    for limb in _limbs(mechanism, followed, (LEG, FRONT_LEG)):
        far = ANKLE
        for body in _upwards(mechanism, limb.end, anatomy):
            if anatomy.rigid[body] == anatomy.rigid[limb.lower]:
                far = KNEE
            elif far == KNEE:
                far = HIP
            hinge = hinges.get(body)
            if hinge is None:
                continue
            rest, (low, high) = hinge.rest[0], hinge.limits[0]
            if low < rest - UNTOLD and rest + UNTOLD < high:
                found[hinge.coordinate_names[0]] = rest - far, rest + far
    return found


def _limbs(mechanism: Mechanism, followed: Collection[str], kinds: Collection[str]) -> list[RobotLimb]:
    """Return the robot's limbs of some kinds of which any part follows."""
    bodies = {mechanism.frame(name).body for name in followed}
    return [
        limb
        for limb in robot_anatomy(mechanism).limbs
        if limb.kind in kinds and bodies & {limb.upper, limb.lower, limb.end}
    ]


def _hinges(mechanism: Mechanism) -> dict[str, Joint]:
    """Return the hinges with motors by the bodies that they turn."""
    return {joint.child: joint for joint in mechanism.actuated if joint.type == "revolute"}


def _upwards(mechanism: Mechanism, end: str, anatomy: RobotAnatomy) -> Iterator[str]:
    """Yield the bodies of a leg, from its end to below the hips."""
    parents = {joint.child: joint.parent for joint in reversed(mechanism.joints)}
    while end in parents and anatomy.rigid[end] != anatomy.rigid.get(anatomy.hips):
        yield end
        end = parents.pop(end)


def elbow_ranges(mechanism: Mechanism, followed: Collection[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges [rad] by coordinate of elbows that do not bend backwards, only where limits are wider."""
    hinges, found = _hinges(mechanism), {}
    for limb in _limbs(mechanism, followed, (ARM,)):
        hinge = hinges.get(limb.lower)
        if hinge is None:
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
