"""The base of a robot: fixed to the world, or floating."""

from __future__ import annotations

from dataclasses import replace

from ..errors import MechanismError
from .model import Mechanism
from .parts import WORLD, Joint
from .pose import Pose, Vector

BASES = ("auto", "fixed", "floating")


def with_base(mechanism: Mechanism, base: str) -> Mechanism:
    """Return the robot on another base, the given object where it has that base already.

    "auto" leaves it as it is (a free joint, or no joint to the world at all, lets it float); "fixed" welds a
    floating robot to the world where it floats; "floating" frees a robot that a single fixed joint holds, whatever
    else stands beside it. Raise MechanismError for another base, or where other joints tie the robot to the world.
    """
    if base not in BASES:
        raise MechanismError(f"a base is {', '.join(BASES)}, not {base!r}")
    ties = [j for j in mechanism.joints if j.parent == WORLD]
    free = [j for j in ties if j.type == "free"]
    if base == "fixed" and (free or not ties):
        floats = free or [Joint("base", "free", WORLD, mechanism.bodies[0].name)]
        fixed = [replace(j, type="fixed", motions=(), rest=(), limits=(), actuated=False) for j in floats]
        return mechanism.with_changes(joints=(*fixed, *(j for j in mechanism.joints if j not in free)))
    if base == "floating" and ties and not free:
        held = _holding(mechanism, ties)
        floats = (
            [replace(held, type="free")] if len(ties) > 1 else []
        )  # by itself, a robot without a joint to the world floats
        return mechanism.with_changes(joints=(*floats, *(j for j in mechanism.joints if j is not held)))
    return mechanism


def _holding(mechanism: Mechanism, ties: list[Joint]) -> Joint:
    """Return the fixed joint that holds the robot: the one of most bodies, where things stand beside it.

    Raise MechanismError where other joints tie it to the world.
    """
    on: dict[str, set[str]] = {body.name: {body.name} for body in mechanism.bodies}
    for joint in mechanism.joints:
        if joint.parent != WORLD and on[joint.parent] is not on[joint.child]:
            together = on[joint.parent] | on[joint.child]
            on.update(dict.fromkeys(together, together))
    robot = max((on[tie.child] for tie in ties), key=len)
    holding = [tie for tie in ties if tie.child in robot]
    if len(holding) > 1 or holding[0].type != "fixed":
        held = ", ".join(f"{j.name!r} ({j.type})" for j in holding)
        raise MechanismError(
            f"robot {mechanism.name!r} cannot float: tied to the world by {held}; only one fixed joint can be freed"
        )
    return holding[0]


def raised(mechanism: Mechanism, by: float) -> Mechanism:
    """Return the robot with a rest pose that is higher by `by` [m]; the given object for zero."""
    if by == 0.0:
        return mechanism

    def up(place: Vector) -> Vector:
        return (place[0], place[1], place[2] + by)

    return mechanism.with_changes(
        bodies=tuple(replace(b, pose=Pose(up(b.pose.position), b.pose.quaternion)) for b in mechanism.bodies),
        joints=tuple(replace(j, position=up(j.position)) for j in mechanism.joints),
    )
