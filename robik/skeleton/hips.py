"""The frame that moves the hips of a robot."""

from __future__ import annotations

from collections.abc import Iterable

from ..feet.legs import pelvis
from ..mechanism.model import Mechanism
from .names import part_of


def hips_of(mechanism: Mechanism, frames: Iterable[str]) -> str | None:
    """Return the frame that moves the hips; None without one.

    It is one of the pelvis, else one that is called so, else the first that is no foot.
    """
    others = [name for name in frames if not mechanism.frame(name).is_foot]
    body = pelvis(mechanism)
    on_it = (name for name in others if mechanism.frame(name).body == body)
    called = (name for name in others if part_of(name)[0] == "hips")
    return next(iter((*on_it, *called, *others)), None)
