"""Checks of what is asked of a robot: that a clip with these settings can be followed at all."""

from __future__ import annotations

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..feet.held_contacts import check_contacts
from ..mechanism.model import Mechanism
from ..objectives.settings import Settings


def check_asked(mechanism: Mechanism, clip: TargetClip, settings: Settings) -> None:
    """Check that a clip with these settings can be followed by a robot; raise ClipError where it cannot."""
    clip.check(mechanism)
    if not clip.tracks and clip.com is None and not clip.objectives:
        raise ClipError("the clip has no targets; give at least one frame or the centre of mass something to follow")
    settings.check(mechanism)
    keys = [item.key for item in clip.objectives]
    if unknown := sorted(set(settings.objectives) - set(keys)):
        raise ClipError(
            f"weights for {', '.join(unknown)}, which the clip does not ask for; it asks for"
            f" {', '.join(keys) or 'none'}"
        )
    for item in clip.objectives:
        settings.weight_of(item)  # a wrong weight is told before anything is solved
    if settings.contacts == "hold":
        check_contacts(clip)
