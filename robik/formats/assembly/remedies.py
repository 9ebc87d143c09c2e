"""Remedies for a loop that stays open: joints of another type with which it would close."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ...mechanism import Coupling, Pose
from .open_joint import OpenJoint
from .open_robot import OpenRobot

MOST_JOINTS = 24  # of a loop; in a longer one, trying takes too long
NAMED = 3  # remedies in a message
TURNED = {axis: Pose.of(np.roll(np.eye(3), shift, axis=1), (0, 0, 0)) for axis, shift in (("x", 0), ("y", 2), ("z", 1))}
# A joint's type → those that leave more free, with the axis of its frame that becomes the new one's x axis; the
# smallest change first.
LOOSER = {
    "fixed": (("revolute", "x"), ("revolute", "y"), ("revolute", "z"), ("spherical", "x")),
    "revolute": (("cylindrical", "x"), ("universal", "x"), ("spherical", "x")),
    "prismatic": (("cylindrical", "x"),),
    "universal": (("spherical", "x"),),
}


def remedy(part: OpenRobot, worst: OpenJoint, closes: Callable[[OpenRobot], bool]) -> str:
    """Return what would close a loop, as a clause for the user.

    It names the smallest changes of type that are enough; or that none are, and what contradicts the loop if it is
    that. `part` is the robot around the loop, `worst` the joint that is open most.
    """
    around = _in_loop(part, worst)
    if len(around) > MOST_JOINTS:
        return "check its frames and the types of its joints"
    freest = {joint.name: LOOSER[joint.type][-1] for joint in around}
    if not freest or not closes(_changed(part, freest)):
        others = _contradicting(part, worst, closes)
        why = f"but it would close without {others}" if others else "so its lengths or frames are wrong"
        return f"no types of its joints close it, {why}"
    found: list[str] = []
    smallest = 0
    for freedom, joint, change in sorted(_single(around), key=lambda each: each[0]):
        if len(found) == NAMED or (found and freedom > smallest):
            break
        if closes(_changed(part, {joint.name: change})):
            smallest = freedom
            found.append(_said(joint, change))
    if found:
        return f"it would close with {' or '.join(found)}"
    for name in list(freest):  # as few as it takes
        fewer = {other: change for other, change in freest.items() if other != name}
        if closes(_changed(part, fewer)):
            freest = fewer
    return (
        "it would close with"
        f" {' and '.join(_said(joint, freest[joint.name]) for joint in around if joint.name in freest)}"
    )


def _contradicting(part: OpenRobot, worst: OpenJoint, closes: Callable[[OpenRobot], bool]) -> str:
    """Other loops and couplings that the loop would close without, each by itself."""
    found: list[str] = []
    ties: list[OpenJoint | Coupling] = [*(j for j in part.closers if j is not worst), *part.couplings]
    for tie in ties[:MOST_JOINTS]:
        if isinstance(tie, Coupling):
            name, rest = (
                f"coupling {tie.name!r}",
                replace(part, couplings=tuple(c for c in part.couplings if c is not tie)),
            )
        else:
            name, rest = f"loop {tie.name!r}", replace(part, joints=tuple(j for j in part.joints if j is not tie))
        if closes(rest):
            found.append(name)
        if len(found) == NAMED:
            break
    return " or ".join(found)


def _in_loop(part: OpenRobot, closer: OpenJoint) -> list[OpenJoint]:
    """Return the joints of a closer's loop that may be of another type, the closer first.

    Not those with motors or couplings.
    """
    coupled = {end for coupling in part.couplings for end in coupling.ends}
    path = part.moves[part.order[closer.parent]] != part.moves[part.order[closer.child]]
    joints = [closer, *(j for j in part.hangs_on.values() if j.motions and path[part.at[j.name]])]
    return [j for j in joints if j.type in LOOSER and not j.actuated and coupled.isdisjoint(j.coordinate_names)]


def _single(joints: list[OpenJoint]) -> Iterator[tuple[int, OpenJoint, tuple[str, str]]]:
    """(motions gained, joint, change)."""
    for joint in joints:
        for change in LOOSER[joint.type]:
            yield len(_looser(joint, *change).motions) - len(joint.motions), joint, change


def _looser(joint: OpenJoint, kind: str, axis: str) -> OpenJoint:
    frame = TURNED[axis]
    return replace(joint, type=kind, near=joint.near @ frame, far=joint.far @ frame, limits=(), stored=())


def _changed(part: OpenRobot, changes: dict[str, tuple[str, str]]) -> OpenRobot:
    joints = tuple(_looser(j, *changes[j.name]) if j.name in changes else j for j in part.joints)
    return replace(part, joints=joints)


def _said(joint: OpenJoint, change: tuple[str, str]) -> str:
    kind, axis = change
    return f"{joint.name!r} {kind}" + (
        f" about its {axis} axis" if joint.type == "fixed" and kind == "revolute" else ""
    )
