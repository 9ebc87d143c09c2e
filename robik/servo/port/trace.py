"""Trace of one servo: what it was told, where it was and what it drew, a moment after the other, for a live graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite, nan
from typing import NamedTuple, Protocol

from ..bus.looks import Moment
from ..bus.telemetry import Telemetry
from ..chain.chain import ServoChain
from ..chain.servo import Servo

KEPT = 1.0  # [s]: longer than its owner takes between two looks at the status
LOAD_UNIT = 1e-3  # share of the greatest load, in which servos report it that measure no current


class Sample(NamedTuple):
    """A look at a servo.

    Attributes:
        time: by `time.perf_counter` [s].
        goal: of the actuator [rad or m]; NaN where the servo has none.
        position: likewise.
        effort: current [A], or share of the greatest load where it measures none; NaN where it reports neither.
    """

    time: float
    goal: float
    position: float
    effort: float


class Follower(Protocol):
    """Whoever wants a trace.

    Attributes:
        traced: id of the servo; -1 for none.
    """

    traced: int


class Trace:
    """Latest samples of the servo that its owner follows; nothing where it follows none.

    Attributes:
        samples: of the last second, the newest last.
    """

    def __init__(self, follower: Follower) -> None:
        self.samples: tuple[Sample, ...] = ()
        self._follower, self._id = follower, -1

    def note(self, chain: ServoChain, moment: Moment, k: int, seen: Telemetry) -> None:
        """Note a look at servo k of the chain while goals go out."""
        if self._is_followed(chain, k):
            servo = chain.servos[k]
            goal, position = (
                (count - servo.zero) / servo.counts_per_unit for count in (moment.goals[k], seen.position)
            )
            self._add(Sample(moment.time, float(goal), float(position), _effort(servo, seen)))

    def look(
        self, chain: ServoChain, goals: Sequence[float], present: Sequence[float], seen: Sequence[Telemetry]
    ) -> tuple[Sample, ...]:
        """Note a look at all servos while they hold, and return the samples.

        Goals and present positions are values of the servos [rad or m]; goals are empty where there are none.
        """
        if self._follower.traced < 0:
            self.samples, self._id = (), -1
        for k, one in enumerate(seen):
            if self._is_followed(chain, k):
                goal = goals[k] if goals else nan
                self._add(Sample(time.perf_counter(), goal, present[k], _effort(chain.servos[k], one)))
        return self.samples

    def _is_followed(self, chain: ServoChain, k: int) -> bool:
        return self._follower.traced >= 0 and chain.servos[k].id == self._follower.traced

    def _add(self, sample: Sample) -> None:
        """Add a sample; those of another servo are forgotten."""
        kept = self.samples if self._id == self._follower.traced else ()
        self._id = self._follower.traced
        self.samples = (*(one for one in kept if one.time >= sample.time - KEPT), sample)


def _effort(servo: Servo, seen: Telemetry) -> float:
    if not isfinite(seen.celsius):  # a program that has the bus says neither
        return nan
    current = servo.amperes(seen.load)
    return seen.load * LOAD_UNIT if current is None else current
