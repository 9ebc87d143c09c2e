"""Health of servos: their reports against the limits that they can bear.

Near a limit they go slower, at it they stop.
"""

from __future__ import annotations

from math import exp, inf

import numpy as np

from ..brands.registry import brand_of
from ..chain.chain import ServoChain
from .telemetry import Found, Telemetry

WARM, HOT = 10.0, 3.0  # [°C] below the temperature at which a servo turns itself off: slower from here, stop from here
STRAINED, OVERSTRAINED = 0.7, 0.9  # of the greatest load, averaged: slower from here, stop from here
LOAD_MEMORY = 1.5  # [s] of the average
LONGEST = 0.25  # [s] that a single look counts for
CARE = 0.5  # of the pace, where one is near its limits
BEHIND, BEHIND_TIME = (
    0.35,
    0.12,
)  # [rad], and seconds of the way: a servo farther from its goal than this does not follow
BEHIND_FOR = 0.5  # [s] that it may be


class Health:
    """Health of a chain's servos, from what each said at connecting and has reported since.

    Attributes:
        seen: of each servo the latest, None before.
    """

    def __init__(self, chain: ServoChain, found: tuple[Found, ...]) -> None:
        self.seen: list[Telemetry | None] = [None] * len(chain.servos)
        self._chain, self._found = chain, found
        self._per_radian = chain.counts_per_turn / (2 * np.pi)
        self._loads = [0.0] * len(chain.servos)
        self._looked = [-inf] * len(chain.servos)
        self._behind_since = [inf] * len(chain.servos)
        self._strains = [""] * len(chain.servos)

    def load(self, k: int) -> float:
        """Return the averaged load of servo k, as a share of its greatest."""
        return self._loads[k]

    @property
    def strain(self) -> str:
        """Return why to go slower, in words; empty if there is no reason."""
        return next((strain for strain in self._strains if strain), "")

    def judge(
        self,
        k: int,
        seen: Telemetry,
        now: float,
        goal: int | None = None,
        speed: float = 0.0,
        is_streaming: bool = False,
    ) -> str:
        """Note what servo k reports, and return why all must stop, in words; empty if they may go on.

        `goal` is its latest [counts], None for none, and `speed` that at which its goals move [counts/s]. While
        goals are streamed it needs its watchdog and a speed limit.
        """
        servo = self._chain.servos[k]
        where = f"servo {servo.id} ({servo.actuator})"
        self.seen[k] = seen
        elapsed, self._looked[k] = now - self._looked[k], now
        share = min(1.0, abs(seen.load) / self._found[k].load_limit)
        self._loads[k] += (share - self._loads[k]) * (1.0 - exp(-min(elapsed, LONGEST) / LOAD_MEMORY))
        limit = self._found[k].celsius_limit
        heat = f"{where} is at {seen.celsius:.0f} °C, and turns itself off at {limit:.0f}"
        load = f"{where} bears {100 * self._loads[k]:.0f} % of its greatest load"
        self._strains[k] = heat if seen.celsius >= limit - WARM else load if self._loads[k] >= STRAINED else ""
        if seen.trouble:
            return f"{where} {seen.trouble}"
        if is_streaming and not seen.is_guarded:
            return f"{where} {brand_of(servo.brand).unguarded}"
        if seen.celsius >= limit - HOT:
            return f"{heat}; let it cool"
        if self._loads[k] >= OVERSTRAINED:
            return f"{load}; make the motion lighter"
        return f"{where} {behind}" if (behind := self._behind(k, seen, now, goal, speed)) else ""

    def _behind(self, k: int, seen: Telemetry, now: float, goal: int | None, speed: float) -> str:
        way = 0.0 if goal is None else abs(goal - seen.position) / self._per_radian[k]
        if way <= BEHIND + BEHIND_TIME * abs(speed) / self._per_radian[k]:
            self._behind_since[k] = inf
            return ""
        self._behind_since[k] = min(self._behind_since[k], now)
        if now - self._behind_since[k] < BEHIND_FOR:
            return ""
        return f"does not follow, it is {np.degrees(way):.0f}° behind; is it blocked?"
