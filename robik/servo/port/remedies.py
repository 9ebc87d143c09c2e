"""Sentences that say what servos do when nobody speaks to them any more, and how to go on after a fault."""

from __future__ import annotations

from ..bus.telemetry import Telemetry
from ..chain.chain import ServoChain


def remedy(seen: Telemetry) -> str:
    """Return how to go on after a servo's complaint, as a clause."""
    return "remove the cause, reboot it, then turn torque on" if seen.errors else "turn torque on again to go on"


def halted(trouble: str) -> str:
    """Return who stopped for an event, as a clause; the event is in words."""
    return f"the {'others' if trouble.startswith('servo ') else 'servos'} stopped and hold"


def way_on(trouble: str) -> str:
    """Return how to go on after an event that stopped all servos, as a clause; the event is in words."""
    return (
        "remove the cause, reboot it, then turn torque on"
        if "hardware error" in trouble
        else "see to it, then turn torque on to go on"
    )


def halt(chain: ServoChain, seconds: float) -> str:
    """Return what servos do when no packet comes any more, as a clause; `seconds` is their watchdog's time."""
    by_watchdog = f"stop by their watchdog within {seconds:g} s"
    to_goal = "go to their last goal, a step away,"
    if len({brand.has_watchdog for brand in chain.brands}) > 1:
        names = " and ".join(brand.title for brand in chain.brands if not brand.has_watchdog)
        return f"the servos {by_watchdog}, those of {names} {to_goal} and hold"
    return f"the servos {by_watchdog} and hold" if chain.brand.has_watchdog else f"the servos {to_goal} and hold"


def stopped(chain: ServoChain, count: int) -> str:
    """Return how many servos stand after no packet has come for long, as a clause."""
    all_guarded = all(brand.has_watchdog for brand in chain.brands)
    how = "were stopped by their watchdog" if all_guarded else "stand at their last goal or where their watchdog bit"
    if not any(brand.has_watchdog for brand in chain.brands):
        how = "stand at their last goal"
    return f"{count} of {len(chain.servos)} servos {how} and hold"
