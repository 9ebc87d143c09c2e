"""Sending goals as a guide leads, deadline by deadline, watching the servos and the owner's wishes between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum
from math import ceil, inf
from random import Random

import numpy as np

from ..bus.bus import Bus
from ..bus.health import CARE, Health
from ..bus.looks import LOOK_EVERY, Looks, Moment
from ..bus.schedule import Schedule
from ..bus.telemetry import Telemetry
from ..chain.chain import BITS_PER_BYTE
from ..imu.righting import Righting
from .guide import Guide, Wish
from .show_clock import ShowClock
from .status import PlaySettings

REPORT_EVERY = 0.1  # [s]
LOOK = 0.05  # [s] between looks at the servos while nothing plays
CLOSE_LOOK = 0.015  # [s] likewise, at servos that are moved by hand or tuned
NAP = 1e-3  # [s] between looks at whether the last answers are there
LEFT = 2e-3  # [s] before the next goals, in which nobody waits for a sensor any more
LATE, RARELY = 0.05, 0.25  # [s] between late looks at a servo, about: the second where each takes another's place
SHARE = 0.2  # of the goals that have such a look before them, at most
CLEARING = 0.04  # [s] that a slow adapter gets to give all that was asked before
STALL = 0.03  # [s] without goals, beyond the time between them, after which servos count as standing
FORWARD, CREEP = 1.3, 8  # in a goal's speed: times what it needs, and units more, so that nobody is left behind


class Outcome(Enum):
    """End of a stretch of streaming."""

    DONE = "at its end"
    STOPPED = "a soft stop was asked for"
    ABANDONED = "the owner's heartbeat is gone"
    FAILED = "a servo failed"
    STALLED = "this computer stood still for longer than the servos' watchdog waits"


class Wishes:
    """Requests to a stream that runs, and whether the owner is alive. Any thread may touch them.

    The owner is alive as long as heartbeats are no more than `patience` [s] apart.

    Attributes:
        stop: an event: come to a stand.
        pace: 1 as planned, 0 for a pause.
        wish: where to be, for live following.
        show: the clock of a show that is played.
        look_every: time between looks at the servos while nothing plays [s].
        traced: id of the servo whose trace is wanted, for which they are looked at more often; -1 for none.
    """

    def __init__(self, patience: float) -> None:
        self.stop, self.wish, self.show, self._patience = threading.Event(), Wish(), ShowClock(), patience
        self.look_every, self.traced = LOOK, -1
        self.clear()

    @property
    def pause(self) -> float:
        """Return the time between looks at the servos while nothing plays [s]."""
        return self.look_every if self.traced < 0 else min(self.look_every, CLOSE_LOOK)

    def beat(self) -> None:
        """Alive."""
        self._beat = time.perf_counter()

    def clear(self) -> None:
        """No wishes, and alive."""
        self.stop.clear()
        self.pace = 1.0
        self.wish.set(None)
        self.show.set(None)
        self.beat()

    @property
    def outcome(self) -> Outcome | None:
        """Return how they end a stream; None for going on."""
        if time.perf_counter() - self._beat > self._patience:
            return Outcome.ABANDONED
        return Outcome.STOPPED if self.stop.is_set() else None


class Stream:
    """Goals at a rate, never outside the limits, never in larger steps than the speed limits allow.

    `goal_limits` are lowest and highest counts (n, 2). `report` is called now and then, and whenever it begins to
    stop; `record` with each look after `start_over`: time since then, and on the way [s], goals (n,) [counts], and
    what was seen, None for a servo that was not looked at. `righting` changes the goals of a robot that leans.

    Attributes:
        schedule: with the account of what was sent.
        trouble: what is wrong with a servo, in words.
        at: the time on the guide's way [s].
        is_resting: whether the guide stands.
        stall: for how long this computer stood still, where that was too long [s].
        present: positions (n,) as last seen [counts].
        on_seen: called with each look at a servo: the moment, its place in the chain, and what it reports; or None.
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
        righting: Righting | None = None,
    ) -> None:
        self.schedule = Schedule(settings.rate, bus.emergency.check)
        self.trouble, self.at, self.is_resting, self.stall = "", 0.0, False, 0.0
        self.on_seen: Callable[[Moment, int, Telemetry], None] | None = None
        self._sent, self._longest_stall = 0.0, settings.watchdog
        self._bus, self._health, self._righting = bus, health, righting
        self._limits, self._wishes, self._report, self._record = goal_limits, wishes, report, record
        chain = bus.chain
        self.present = np.zeros(len(chain.servos), dtype=np.int64)
        self._counts_per_second = np.abs(chain.scale) * chain.speed_limits
        sheets = [servo.datasheet for servo in chain.servos]
        units = np.array([sheet.velocity_unit / (2 * np.pi) * sheet.counts_per_turn for sheet in sheets])
        self._per_unit = units if settings.feed_forward and bus.takes_speeds else None
        self._ceiling = np.array([servo.velocity_units(servo.velocity_limit) for servo in chain.servos])
        self._last, self._led = np.zeros(len(chain.servos), dtype=np.int64), np.zeros(len(chain.servos))
        self._speeds = np.zeros(len(chain.servos))
        self._reported, self._began = 0.0, inf
        self._chance, self._late_every, self._clears = Random(0), LATE, 0.0
        beside = righting.beside if righting else None
        self._looks = [
            Looks(line, settings.silence, self._note, self._miss, beside if beside and beside.is_on(line) else None)
            for line in bus.lines
        ]
        # between goals: the sensor's, and that of each group of servos
        self._turns = max(len(line.groups) for line in bus.lines) + (1 if beside else 0)
        self._place = {servo.id: k for k, servo in enumerate(chain.servos)}
        size = chain.packet_bytes(self._per_unit is not None)
        self._goal_seconds = size * BITS_PER_BYTE / chain.baud_rate

    @property
    def goals(self) -> np.ndarray:
        """Return what was sent last (n,) [counts]."""
        return self._last

    @property
    def looks(self) -> int:
        """At all servos, so far."""
        return min(looks.rounds for looks in self._looks)

    def begin(self, counts: np.ndarray, top_speeds: np.ndarray) -> None:
        """Begin at these positions (n,) of the servos [counts], from which the first step starts.

        Top speeds (n,) of the actuators [rad/s or m/s] hold until the next call.
        """
        self.present = counts.copy()
        self._last, self._led = counts.copy(), counts.astype(float)
        self.limit(top_speeds)

    def limit(self, top_speeds: np.ndarray) -> None:
        """Limit every step to what speeds (n,) of the actuators [rad/s or m/s] allow."""
        chain = self._bus.chain
        self._counts_per_second = np.abs(chain.scale) * np.minimum(top_speeds, chain.speed_limits)
        speeds = self._counts_per_second / np.abs(chain.scale)
        self._ceiling = np.array(
            [servo.velocity_units(speed) for servo, speed in zip(chain.servos, speeds.tolist(), strict=True)]
        )

    def start_over(self) -> None:
        """Count goals and lateness, and record, from here."""
        self.schedule = Schedule(1.0 / self.schedule.period, self._bus.emergency.check)
        self._began = time.perf_counter()

    def follow(self, guide: Guide) -> Outcome:
        """Follow a guide to its end, or until a request or a failure ends it, and return how it ended.

        Then it comes to a stand on its way, if it still may.
        """
        self.schedule.start()
        last, ending, self._sent = -1, Outcome.DONE, time.perf_counter()
        while not guide.is_over or last < 0:
            if self._is_stalled():  # before the heartbeat: who was asleep has missed it as well
                return Outcome.STALLED
            wished = self._wishes.outcome
            if wished is Outcome.ABANDONED:
                return wished
            if wished is Outcome.STOPPED and ending is Outcome.DONE:
                ending = self._stop(guide, wished)
            number = self.schedule.wait(
                max(0, last) + ceil(guide.left / self.schedule.period - 1e-6) if guide.left < inf else inf
            )
            periods = number - last if last >= 0 else 0
            if self._still() > STALL:
                guide.stand()  # the servos have stood meanwhile: time slows, and nothing is caught up with
                self.schedule.restart()
                periods = 1
            pace = min(self._wishes.pace, CARE) if self._health.strain else self._wishes.pace
            values = guide.step(periods * self.schedule.period, pace)
            values = self._righted(guide.at, values, max(1, periods) * self.schedule.period)
            self.at, self.is_resting = guide.at, guide.is_resting
            if not self._send(max(1, periods), values):
                return Outcome.STALLED
            self.schedule.done()
            last = number
            if ending is not Outcome.FAILED:  # who stops for a reason is not to forget it for a later one
                self._look_both()
                ending = self._stop(guide, Outcome.FAILED) if self.trouble else ending
            self._tell()
        self._finish_looks()
        return Outcome.FAILED if self.trouble else ending

    def _still(self) -> float:
        """Return for how long this computer has stood still since the last goals, beyond their period [s]."""
        return time.perf_counter() - self._sent - self.schedule.period

    def _is_stalled(self) -> bool:
        """Return whether it stood still for longer than the watchdog waits; `stall` is how long then."""
        still = self._still()
        self.stall = still if still > self._longest_stall else 0.0
        return self.stall > 0.0

    def _righted(self, at: float, values: np.ndarray, seconds: float) -> np.ndarray:
        """Return values (n,) that right the robot, where something does."""
        if self._righting is None:
            return values
        values = values + self._righting.step(at, seconds)
        self.trouble = self.trouble or self._righting.trouble
        return values

    def _look(self) -> None:
        """Take in what was answered, and ask on every line what fits before the next goals."""
        for _ in range(self._turns):
            moment = Moment(time.perf_counter(), self.at, self._last, self._speeds)
            slack = self.schedule.slack - self._goal_seconds
            seconds = max([looks.turn(slack, moment) for looks in self._looks])
            if seconds <= 0.0:
                return
            self._bus.emergency.pause(seconds)  # the wire is theirs; an adapter may give the answers later
            for looks in self._looks:
                looks.collect()
            while any(looks.holds_up for looks in self._looks) and self.schedule.slack > LEFT:
                self._bus.emergency.pause(NAP)
                for looks in self._looks:
                    looks.collect()

    def _look_both(self) -> None:
        """Look right after goals, and now and then, at random, at one servo just before the next ones.

        Right after a goal of ours, one that somebody else sends is never to be seen.
        """
        if time.perf_counter() < self._clears:  # nothing else is asked until the adapter has given all
            self._clears = 0.0 if self._look_late() else self._clears
            return
        if any(looks.is_late for looks in self._looks) and self.schedule.slack > 2 * LOOK_EVERY:
            self._bus.emergency.pause(NAP)  # its answer is near, and the next look at all would be long in coming
        self._look()
        if self._chance.random() < min(SHARE, self.schedule.period / self._late_every):
            is_done = self._look_late()
            self._clears = 0.0 if is_done else time.perf_counter() + CLEARING
            self._late_every = LATE if is_done else RARELY

    def _look_late(self) -> bool:
        """Look at one servo just before the next goals, and return whether that is done, or cannot be."""
        needed = max(looks.late() for looks in self._looks)
        left = self.schedule.slack - needed
        if needed <= 0.0 or left <= 0.0:
            return True
        self._bus.emergency.pause(left)
        moment = Moment(time.perf_counter(), self.at, self._last, self._speeds)
        slack = self.schedule.slack
        return sum(looks.ask_late(slack, moment) for looks in self._looks) > 0

    def _finish_looks(self) -> None:
        """Wait for what has been asked."""
        while any(looks.is_waiting for looks in self._looks):
            self._bus.emergency.pause(NAP)

    def _stop(self, guide: Guide, why: Outcome) -> Outcome:
        guide.stop()
        self._report(self)
        return why

    def _send(self, periods: int, values: np.ndarray) -> bool:
        """Send goals towards values (n,); return False, and send none, where this computer has stood still."""
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
        awake = time.perf_counter()  # from here on, sleep is seen in the next turn, even before goals are out
        if self._is_stalled():  # as late as can be: who wakes up is to send nothing of before
            return False
        self._bus.send_goals(goal, profile)
        self._last, self._sent = goal, awake
        return True

    def _note(self, moment: Moment, seen: dict[int, Telemetry]) -> None:
        """Judge, and record, what some servos report."""
        for id, one in seen.items():
            k = self._place[id]
            self.present[k] = one.position
            if self.on_seen:
                self.on_seen(moment, k, one)
            trouble = self._health.judge(k, one, moment.time, int(moment.goals[k]), float(moment.speeds[k]), True)
            if one.complaint or not one.is_guarded:  # no goals any more: nothing holds it to a speed
                self._bus.failed.add(k)
            self.trouble = self.trouble or trouble
        if self._record and moment.time >= self._began:
            row = [seen.get(servo.id) for servo in self._bus.chain.servos]
            self._record(moment.time - self._began, moment.at, moment.goals, row)

    def _miss(self, id: int) -> None:
        """Give up on a servo that has been silent for too long."""
        k = self._place[id]
        servo = self._bus.chain.servos[k]
        port = next(line.name for line in self._bus.lines if servo in line.servos)
        self.trouble = self.trouble or f"servo {servo.id} ({servo.actuator}) stopped answering on {port}"
        self._bus.failed.add(k)

    def _tell(self) -> None:
        now = time.perf_counter()
        if now - self._reported > REPORT_EVERY:
            self._reported = now
            self._report(self)
