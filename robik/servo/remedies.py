"""Sentences that say how to go on after a fault."""

from __future__ import annotations

from .telemetry import Telemetry


def remedy(seen: Telemetry) -> str:
    """Return how to go on after a servo's complaint.

    Args:
        seen: Its telemetry.

    Returns:
        A part of a sentence.
    """
    return "remove the cause, reboot it, then turn torque on" if seen.errors else "turn torque on again to go on"


def way_on(trouble: str) -> str:
    """Return how to go on after an event that stopped all servos.

    Args:
        trouble: The event in words.

    Returns:
        A part of a sentence.
    """
    return (
        "remove the cause, reboot it, then turn torque on"
        if "hardware error" in trouble
        else "see to it, then turn torque on to go on"
    )
