"""The hips of a robot: where its legs meet, whatever that body is called."""

from __future__ import annotations

from collections.abc import Iterable

from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from .names import part_of


def pelvis(mechanism: Mechanism) -> str | None:
    """Return the body that all feet hang on, the nearest to them.

    None with fewer than two feet, or where they have none in common.

    Args:
        mechanism: The robot.

    Returns:
        Name of the body, or None.
    """
    feet = list(dict.fromkeys(frame.body for frame in mechanism.frames if frame.is_foot))
    if len(feet) < 2:
        return None
    first, *others = (_above(mechanism, foot) for foot in feet)
    return next((body for body in first if body not in feet and all(body in chain for chain in others)), None)


def hips_of(mechanism: Mechanism, frames: Iterable[str]) -> str | None:
    """Return the frame that moves the hips.

    One of the pelvis, else one that is called so, else the first that is no foot.

    Args:
        mechanism: The robot.
        frames: Names of frames.

    Returns:
        Name of the frame, or None.
    """
    others = [name for name in frames if not mechanism.frame(name).is_foot]
    body = pelvis(mechanism)
    on_it = (name for name in others if mechanism.frame(name).body == body)
    called = (name for name in others if part_of(name)[0] == "hips")
    return next(iter((*on_it, *called, *others)), None)


def turns_freely(mechanism: Mechanism, foot: str) -> bool:
    """Return whether a leg has the six motions that a foot needs to stand anywhere in any direction.

    Legs with loops are taken to.

    Args:
        mechanism: The robot.
        foot: Name of the foot's frame.

    Returns:
        True for legs with loops, too.
    """
    parents, top, body = _parents(mechanism), pelvis(mechanism), mechanism.frame(foot).body
    chain = _above(mechanism, body)
    if top is None or top not in chain or len(parents) < sum(joint.parent != WORLD for joint in mechanism.joints):
        return True
    return sum(len(parents[below].motions) for below in chain[: chain.index(top)]) >= 6


def _parents(mechanism: Mechanism) -> dict[str, Joint]:
    """Return the joint by which each body hangs on another; the first of those of a body with several."""
    parents: dict[str, Joint] = {}
    for joint in mechanism.joints:
        if joint.parent != WORLD:
            parents.setdefault(joint.child, joint)
    return parents


def _above(mechanism: Mechanism, body: str) -> list[str]:
    """Return the bodies that a body hangs on, one on the next, itself first."""
    parents, chain = _parents(mechanism), [body]
    while chain[-1] in parents and (above := parents[chain[-1]].parent) not in chain:
        chain.append(above)
    return chain
