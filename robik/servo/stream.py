"""Sending goals as a guide leads, deadline by deadline, watching the servos and the owner's wishes between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum
from math import ceil, inf

import numpy as np

from .bus import Bus
from .driver import ServoSilent
from .guide import Guide, Wish
from .health import CARE, Health
from .schedule import Schedule
from .status import PlaySettings
from .telemetry import Telemetry

REPORT_EVERY = 0.1  # [s]
LOOK_EVERY = 0.009  # [s], at most, at all servos or at one after the other: at 100 Hz after every goal
LOOK_AT_LEAST = 0.25  # [s]: this often whatever the rate leaves time for
LOOK_COST = 1.4  # times what a look usually takes must fit before the next deadline
COST_SHARE = 0.1  # of the latest look in what one usually takes
# [s] in which looks that took longer are forgotten, while there is no time for one: a machine is not busy for ever
FORGIVING = 10.0
TRIALS = 3
MISSES = 3  # answers of one servo in a row that must be lost for it to be gone
FORWARD, CREEP = 1.3, 8  # in a goal's speed: times what it needs, and units more, so that nobody is left behind


class Outcome(Enum):
    """How a stretch of streaming ended."""

    DONE = "at its end"
    STOPPED = "a soft stop was asked for"
    ABANDONED = "the owner's heartbeat is gone"
    FAILED = "a servo failed"


class Wishes:
    """What the owner wants of a stream that runs, and whether the owner is alive. Any thread may touch it.

    Args:
        patience: between heartbeats [s].

    Attributes:
        stop: an event: come to a stand.
        pace: 1 as planned, 0 for a pause.
        wish: where to be, for live following.
    """

    def __init__(self, patience: float) -> None:
        self.stop = threading.Event()
        self.pace, self.wish = 1.0, Wish()
        self._patience = patience
        self._beat = time.monotonic()

    def beat(self) -> None:
        """Alive."""
        self._beat = time.monotonic()

    def clear(self) -> None:
        """No wishes, and alive."""
        self.stop.clear()
        self.pace = 1.0
        self.wish.set(None)
        self.beat()

    @property
    def outcome(self) -> Outcome | None:
        """How they end a stream; None for going on."""
        if time.monotonic() - self._beat > self._patience:
            return Outcome.ABANDONED
        return Outcome.STOPPED if self.stop.is_set() else None


class Stream:
    """Goals at a rate, never outside the limits, never in larger steps than the speed limits allow.

    Args:
        bus: with servos that were found.
        settings: how to play.
        goal_limits: lowest and highest counts (n, 2).
        wishes: the owner's.
        health: of the servos.
        report: called now and then, and whenever it begins to stop.
        record: called with each look after `start_over`: time since then, and on the way [s], goals (n,) [counts], and
            what was seen; None for a servo that was not looked at.

    Attributes:
        schedule: with the account of what was sent.
        trouble: what is wrong with a servo, in words.
        at: the time on the guide's way [s].
        is_resting: whether the guide stands.
        looks: at all servos, so far.
        present: positions (n,) as last seen [counts].
    """

    def __init__(
        self,
        bus: Bus,
        settings: PlaySettings,
        goal_limits: np.ndarray,
        wishes: Wishes,
        health: Health,
        report: Callable[[Stream], None],
        record: Callable[[float, float, np.ndarray, Sequence[Telemetry | None]], None] | None = None,
    ) -> None:
        self._silence = settings.silence
        self.schedule = Schedule(settings.rate, bus.emergency.check)
        self.trouble, self.at, self.is_resting, self.looks = "", 0.0, False, 0
        self._bus, self._health = bus, health
        self._limits, self._wishes, self._report, self._record = goal_limits, wishes, report, record
        chain = bus.chain
        self.present = np.zeros(len(chain.servos), dtype=np.int64)
        self._counts_per_second = np.abs(chain.scale) * chain.speed_limits
        sheets = [servo.datasheet for servo in chain.servos]
        units = np.array([sheet.velocity_unit / (2 * np.pi) * sheet.counts_per_turn for sheet in sheets])
        self._per_unit = units if settings.feed_forward and bus.sees_all else None
        self._ceiling = np.array([servo.velocity_units(servo.velocity_limit) for servo in chain.servos])
        self._last, self._led = np.zeros(len(chain.servos), dtype=np.int64), np.zeros(len(chain.servos))
        self._speeds = np.zeros(len(chain.servos))
        self._looked = self._reported = 0.0
        self._began = inf
        self._cost = {True: 0.0, False: 0.0}  # of a look at all, and of one at one [s]
        self._least = inf  # of a look at all [s]
        self._silent_since = inf
        self._sees_all, self._one, self._missed, self._seen_in_turn = bus.sees_all, 0, 0, 0

    def begin(self, counts: np.ndarray, top_speeds: np.ndarray) -> None:
        """Where the servos are [counts]: the first step starts here.

        Args:
            counts: (n,).
            top_speeds: of the actuators until the next call [rad/s or m/s].
        """
        self.present = counts.copy()
        self._last, self._led = counts.copy(), counts.astype(float)
        self.limit(top_speeds)
        for _ in range(TRIALS):  # before goals wait for it: how long a look takes
            began = time.monotonic()
            if self._sees_all and self._bus.look() is not None:
                self._learn(True, time.monotonic() - began)
        self._cost[True] = min(self._cost[True], self._least)

    def limit(self, top_speeds: np.ndarray) -> None:
        """No step is larger than these speeds (n,) of the actuators allow [rad/s or m/s]."""
        chain = self._bus.chain
        self._counts_per_second = np.abs(chain.scale) * np.minimum(top_speeds, chain.speed_limits)
        speeds = self._counts_per_second / np.abs(chain.scale)
        self._ceiling = np.array(
            [servo.velocity_units(speed) for servo, speed in zip(chain.servos, speeds.tolist(), strict=True)]
        )

    def start_over(self) -> None:
        """Counts goals and lateness, and records, from here."""
        self.schedule = Schedule(1.0 / self.schedule.period, self._bus.emergency.check)
        self._began = time.monotonic()

    def follow(self, guide: Guide) -> Outcome:
        """Follows a guide to its end, or until a wish or a failure ends it: then it comes to a stand on its way, if it
        still may."""
        self.schedule.start()
        last, ending = -1, Outcome.DONE
        while not guide.is_over or last < 0:
            wished = self._wishes.outcome
            if wished is Outcome.ABANDONED:
                return wished
            if wished is Outcome.STOPPED and ending is Outcome.DONE:
                ending = self._stop(guide, wished)
            number = self.schedule.wait(
                max(0, last) + ceil(guide.left / self.schedule.period - 1e-6) if guide.left < inf else inf
            )
            elapsed = (number - last) * self.schedule.period if last >= 0 else 0.0
            pace = min(self._wishes.pace, CARE) if self._health.strain else self._wishes.pace
            values = guide.step(elapsed, pace)
            self.at, self.is_resting = guide.at, guide.is_resting
            self._send(max(1, number - last), values)
            self.schedule.done()
            last = number
            if (
                ending is not Outcome.FAILED and not self._watch()
            ):  # who stops for a reason is not to forget it for a later one
                ending = self._stop(guide, Outcome.FAILED)
            self._tell()
        return ending

    def _stop(self, guide: Guide, why: Outcome) -> Outcome:
        guide.stop()
        self._report(self)
        return why

    def _send(self, periods: int, values: np.ndarray) -> None:
        reach = self._counts_per_second * periods * self.schedule.period
        # a servo that was outside its limits comes inside step by step; one that was inside stays there
        low, high = np.minimum(self._limits[:, 0], self._last), np.maximum(self._limits[:, 1], self._last)
        wanted = np.clip(self._bus.chain.exact_counts(values), low, high)
        # held to the speed before it is rounded: a count more in each of many short periods would be a speed of its own
        self._led = np.clip(wanted, self._led - reach, self._led + reach)
        goal = np.clip(np.rint(self._led).astype(np.int64), low, high)
        self._speeds = np.abs(goal - self._last) / (periods * self.schedule.period)
        profile = None
        if self._per_unit is not None:
            profile = np.minimum(
                np.ceil(FORWARD * self._speeds / self._per_unit).astype(np.int64) + CREEP, self._ceiling
            )
        self._bus.send_goals(goal, profile)
        self._last = goal

    def _watch(self) -> bool:
        """Looks at the servos, if time allows; whether all is well."""
        now = time.monotonic()
        since = now - self._looked
        if since < LOOK_EVERY and not self._missed:  # who is silent is asked again at once
            return True
        self._cost[True] += (min(self._least, self._cost[True]) - self._cost[True]) * self.schedule.period / FORGIVING
        fits_all = self._sees_all and self.schedule.slack >= LOOK_COST * self._cost[True]
        fits_one = self.schedule.slack >= LOOK_COST * self._cost[False]
        if not (fits_all or fits_one or self._missed or since >= LOOK_AT_LEAST):
            return True
        self._looked = now
        before = self._missed
        is_well = self._look_at_all(now) if fits_all else self._look_at_one(now)
        if self._missed == before == 0:
            self._learn(fits_all, time.monotonic() - now)
        return is_well

    def _learn(self, was_all: bool, seconds: float) -> None:
        """How long looks usually take; now and then one takes longer, which says nothing about the next."""
        known = self._cost[was_all]
        if was_all:
            self._least = min(self._least, seconds)
        self._cost[was_all] = known + COST_SHARE * (min(seconds, 2.0 * known) - known) if known else seconds

    def _look_at_all(self, now: float) -> bool:
        seen = self._bus.look()
        if seen is None:
            self._sees_all, self._seen_in_turn = False, 0  # one of them is silent: find out which
            return self._look_at_one(now)
        self.looks += 1
        for k, one in enumerate(seen):
            self._note(k, one, now)
        if self._record and self._began < inf:
            self._record(now - self._began, self.at, self._last, seen)
        return not self.trouble

    def _look_at_one(self, now: float) -> bool:
        k = self._one
        try:
            seen = self._bus.look_at(k)
        except ServoSilent as silent:
            self._missed += 1
            self._seen_in_turn = 0
            self._silent_since = min(self._silent_since, now)
            if self._missed < MISSES or now - self._silent_since < self._silence:
                return True
            self.trouble = str(silent)
            self._bus.failed.add(k)
            return False
        self._missed, self._silent_since = 0, inf
        self._one = (k + 1) % len(self._bus.chain.servos)
        self._seen_in_turn += 1
        if self._seen_in_turn > len(self._bus.chain.servos):
            self._sees_all = self._bus.sees_all
        self._note(k, seen, now)
        if self._record and self._began < inf:
            row: list[Telemetry | None] = [None] * len(self._last)
            row[k] = seen
            self._record(now - self._began, self.at, self._last, row)
        return not self.trouble

    def _note(self, k: int, seen: Telemetry, now: float) -> None:
        self.present[k] = seen.position
        trouble = self._health.judge(k, seen, now, int(self._last[k]), float(self._speeds[k]), True)
        if seen.complaint or not seen.is_guarded:  # it gets no goals any more: nothing holds it to a speed
            self._bus.failed.add(k)
        self.trouble = self.trouble or trouble

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._reported > REPORT_EVERY:
            self._reported = now
            self._report(self)
