"""What a robot stands on: fixed to the world, or floating."""

from __future__ import annotations

from dataclasses import replace

from ..errors import MechanismError
from .model import WORLD, Joint, Mechanism

BASES = ("auto", "fixed", "floating")


def with_base(mechanism: Mechanism, base: str) -> Mechanism:
    """The robot on another base.

    Args:
        mechanism: as its file gives it.
        base: "auto" leaves it as it is (a free joint, or no joint to the world at all, lets it float); "fixed" welds a floating robot
            to the world where it floats; "floating" frees a robot that a single fixed joint holds.

    Raises:
        MechanismError: an unknown base, or a robot that other joints tie to the world.
    """
    if base not in BASES:
        raise MechanismError(f"a base is {', '.join(BASES)}, not {base!r}")
    ties = [j for j in mechanism.joints if j.parent == WORLD]
    if base == "fixed" and not mechanism.is_grounded:
        floats = ties[0] if ties else Joint("base", "free", WORLD, mechanism.bodies[0].name)
        fixed = replace(floats, type="fixed", motions=(), rest=(), limits=(), actuated=False)
        return mechanism.with_changes(joints=(fixed, *(j for j in mechanism.joints if j not in ties)))
    if base == "floating" and mechanism.is_grounded:
        if len(ties) > 1 or ties[0].type != "fixed":
            held = ", ".join(f"{j.name!r} ({j.type})" for j in ties)
            raise MechanismError(f"robot {mechanism.name!r} cannot float: tied to the world by {held}; only one fixed joint can be freed")
        return mechanism.with_changes(joints=tuple(j for j in mechanism.joints if j not in ties))
    return mechanism
