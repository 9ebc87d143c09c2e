"""The bodies of a file that are the robot, and its base, where the file leaves that to its reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...mechanism import WORLD, Coupling, Pose
from ..imported import Notes
from ..names import free_name
from .open_joint import OpenJoint
from .open_robot import OpenRobot


def connected(bodies: Iterable[str], joints: Iterable[OpenJoint], preferred: set[str], notes: Notes) -> set[str]:
    """Return the bodies of one connected group, and note the others.

    Of several groups it is one with joints and preferred bodies, else the largest.
    """
    group = {name: {name} for name in (WORLD, *bodies)}
    for joint in joints:
        a, b = (group.setdefault(end, {end}) for end in (joint.parent, joint.child))
        if a is not b:
            a |= b
            for name in b:
                group[name] = a
    groups: list[set[str]] = []
    for members in group.values():
        if members != {WORLD} and not any(members is other for other in groups):
            groups.append(members)
    best = max(groups, key=lambda members: (len(members) > 1, bool(members & preferred), len(members)))
    for name in group:
        if name != WORLD and name not in best:
            notes.add("no joint ties it to the robot, so it was left out", name)
    return best - {WORLD}


def based(joints: list[OpenJoint], base: str, poses: Mapping[str, Pose], report: Notes) -> list[OpenJoint]:
    """Return the joints, with a free one at the base if none ties the robot to the world."""
    if any(joint.parent == WORLD for joint in joints):
        return joints
    names = {joint.name for joint in joints}
    report.add("no joint ties it to the world, so it floats", base)
    return [OpenJoint(free_name("base", names), "free", WORLD, base, near=poses[base]), *joints]


def coupled(robot: OpenRobot, couplings: Iterable[Coupling], notes: Notes) -> OpenRobot:
    """Return a robot with those couplings that tie joints of its tree. Notes the others."""
    kept = []
    for coupling in couplings:
        if set(coupling.ends) <= set(robot.coordinates):
            kept.append(coupling)
        else:
            notes.add("it ties a joint that closes a loop, so it was left out", coupling.name)
    return replace(robot, couplings=tuple(kept))
