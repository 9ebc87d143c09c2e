"""Reports of a session on its servos: as they were found, and as they were last looked at."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from ..port.status import PlayState, ServoReading, torque_words
from .bus import Bus
from .connecting import absence, names
from .health import Health
from .telemetry import Found, Telemetry


def found_report(bus: Bus, found: Sequence[Found], counts: np.ndarray) -> dict[str, Any]:
    """Return the fields of a `Status` for servos that were found, at counts (n,)."""
    readings = tuple(
        ServoReading(s.id, s.actuator, f.torque, 0.0, s.amperes(0), f.celsius, f.volts, "")
        for s, f in zip(bus.chain.servos, found, strict=True)
    )
    without = f", without {names(bus.missing)}" if bus.missing else ""
    return {
        "state": PlayState.HOLDING if all(f.torque for f in found) else PlayState.READY,
        "message": f"{len(found)} servos found{without}, {torque_words(readings)}",
        "present": tuple(bus.chain.values(counts).tolist()),
        "goals": (),
        "hottest": max(f.celsius for f in found),
        "lowest_volts": min(f.volts for f in found),
        "missing": absence(bus.missing),
        "adapter": bus.slowness,
        "servos": readings,
        "zero_settings": tuple(one.zero_settings for one in found),
    }


def look_report(
    bus: Bus, health: Health, seen: Sequence[Telemetry | None], counts: np.ndarray, before: tuple[float, ...]
) -> dict[str, Any]:
    """Return the fields of a `Status` for a look at every servo, at counts (n,).

    `seen` is None for one that did not answer; its value stays as in `before`, those that were published last.
    """
    known = before if len(before) == len(seen) else (nan,) * len(seen)
    present = [
        was if one is None else now
        for one, was, now in zip(seen, known, bus.chain.values(counts).tolist(), strict=True)
    ]
    answers = [one for one in seen if one is not None]
    both = zip(bus.chain.servos, seen, strict=True)
    readings = [ServoReading.of(servo, one, health.load(k)) for k, (servo, one) in enumerate(both)]
    extremes: dict[str, Any] = {}
    if answers:
        hottest, lowest = max(one.celsius for one in answers), min(one.volts for one in answers)
        extremes = {"hottest": hottest, "lowest_volts": lowest}
    return {"present": tuple(present), "servos": tuple(readings), **extremes}
