"""Joints that a file holds at a value, by themselves or through what couples them to one that is held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

import numpy as np

from ..errors import FormatError
from ..mechanism import Coupling, Pose
from ..mechanism.constraints import rotation_vector_matrix
from .assembly.open_joint import OpenJoint
from .assembly.open_robot import OpenRobot
from .imported import Notes

AGREED = 1e-6  # rad or m: values nearer than this are one


def held_through(
    fixed: Mapping[str, float], couplings: Iterable[Coupling], notes: Notes
) -> tuple[dict[str, float], tuple[Coupling, ...]]:
    """Return the values of joints that stand still because some are fixed, and the couplings between those that move.

    An independent coordinate that is held puts the dependent one at the polynomial's value. A dependent one that is
    held decides where the independent one is only if the polynomial is a straight line. Values are in rad or m;
    raise FormatError for one that is not finite.
    """
    couplings, held = tuple(couplings), dict(fixed)
    of: dict[str, list[Coupling]] = {}
    for coupling in couplings:
        for end in coupling.ends:
            of.setdefault(end, []).append(coupling)
    waiting = list(held)
    for joint in waiting:  # which grows meanwhile
        for coupling in of.get(joint, ()):
            for end, value in _decided(coupling, held).items():
                held[end] = value
                waiting.append(end)
    moving = []
    for coupling in couplings:
        if sum(end not in held for end in coupling.ends) >= 2:
            moving.append(_among_moving(coupling, held))
        elif coupling.follower in held:
            _check(coupling, held, notes)
    return held, tuple(moving)


def _decided(coupling: Coupling, held: Mapping[str, float]) -> dict[str, float]:
    """Return the end that the other ones decide, and where that is; empty if there is none."""
    found: dict[str, float] = {}
    free = [end for end in coupling.ends if end not in held]
    if free == [coupling.follower]:
        found[coupling.follower] = coupling.value(held)
    elif len(free) == 1 and (free[0] != coupling.leader or len(coupling.coefficients) == 2):
        slope = coupling.slopes({**held, free[0]: 0.0})[free[0]]
        if slope:
            found[free[0]] = (held[coupling.follower] - coupling.value({**held, free[0]: 0.0})) / slope
    for end, value in found.items():
        if not isfinite(value):
            raise FormatError(
                f"coupling {coupling.name!r} holds joint {end!r} at no finite value; its polycoef must be of smaller"
                " numbers"
            )
    return found


def _among_moving(coupling: Coupling, held: Mapping[str, float]) -> Coupling:
    """Return what a coupling says of those of its ends that are not held, two or more."""
    if held.keys().isdisjoint(coupling.ends):
        return coupling
    first, *more = coupling.coefficients
    others = [(name, slope) for name, slope in coupling.others if name not in held]
    first += sum(slope * held[name] for name, slope in coupling.others if name in held)
    leader, follower = coupling.leader, coupling.follower
    if leader in held:
        polynomial = replace(coupling, others=()).value(held)
        first, more = first + polynomial - coupling.coefficients[0], []
    if follower in held:  # one of the others follows instead
        follower, scale = others.pop(0)
        first, more = (held[coupling.follower] - first) / scale, [-c / scale for c in more]
        others = [(name, -slope / scale) for name, slope in others]
    if leader in held:
        leader, slope = others.pop(0)
        more = [slope]
    return replace(coupling, follower=follower, leader=leader, coefficients=(first, *more), others=tuple(others))


def _check(coupling: Coupling, held: Mapping[str, float], notes: Notes) -> None:
    """Warn where a coupling whose follower is held says more than was read."""
    if coupling.leader not in held and any(coupling.coefficients[1:]):
        notes.add(
            "its first joint is held, which leaves its second more than one place, so it was left out",
            f"coupling {coupling.name!r}",
        )
        return
    wanted = coupling.value({**dict.fromkeys(coupling.leaders, 0.0), **held})
    if not abs(wanted - held[coupling.follower]) < AGREED * max(1.0, abs(wanted)):
        notes.add(f"it wants joint {coupling.follower!r} at {wanted:.4g}, which others hold at "
                  f"{held[coupling.follower]:.4g}, "
                  "so it was left out", f"coupling {coupling.name!r}")  # fmt: skip


def with_held(robot: OpenRobot, held: Mapping[str, float], notes: Notes) -> OpenRobot:
    """Return the robot with its held joints fixed at their values [rad or m]."""
    return replace(robot, joints=tuple(_fixed(j, held[j.name], notes) if j.name in held else j for j in robot.joints))


def _fixed(joint: OpenJoint, value: float, notes: Notes) -> OpenJoint:
    if joint.actuated:
        notes.add("it is held still, so its motor was left out", f"joint {joint.name!r}")
    turn = (value, 0.0, 0.0)
    moved = Pose.of(rotation_vector_matrix(np.array(turn)), (0, 0, 0)) if joint.type == "revolute" else Pose(turn)
    return OpenJoint(joint.name, "fixed", joint.parent, joint.child, near=joint.near @ moved, far=joint.far)
