"""Sending goals along a trajectory, deadline by deadline, watching the servos and the owner's wishes between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum

import numpy as np

from robik.servo.bus import Bus, ServoSilent, Telemetry
from robik.servo.chain import Servo
from robik.servo.schedule import Schedule
from robik.servo.trajectory import Slowing, Trajectory

REPORT_EVERY = 0.1  # [s]
LOOK_EVERY = 0.01  # [s], at most, at one servo after the other
LOOK_AT_LEAST = 0.25  # [s]: this often whatever the rate leaves time for
LOOK_COST = 2.0  # round trips that must fit before the next deadline
MISSES = 3  # answers of one servo in a row that may be lost


class Outcome(Enum):
    """How a stretch of streaming ended."""

    DONE = "at its end"
    STOPPED = "a soft stop was asked for"
    OFF = "an emergency stop was asked for"
    ABANDONED = "the owner's heartbeat is gone"
    FAILED = "a servo failed"


class Wishes:
    """What the owner wants of a stream that runs, and whether the owner is alive. Any thread may touch it.

    Args:
        patience: between heartbeats [s].
    """

    def __init__(self, patience: float) -> None:
        self.stop, self.off = threading.Event(), threading.Event()
        self._patience = patience
        self._beat = time.monotonic()

    def beat(self) -> None:
        """Alive."""
        self._beat = time.monotonic()

    def clear(self) -> None:
        """No wishes, and alive."""
        self.stop.clear()
        self.off.clear()
        self.beat()

    @property
    def outcome(self) -> Outcome | None:
        """How they end a stream; None for going on."""
        if self.off.is_set():
            return Outcome.OFF
        if time.monotonic() - self._beat > self._patience:
            return Outcome.ABANDONED
        return Outcome.STOPPED if self.stop.is_set() else None


class Stream:
    """Goals at a rate, never outside the limits, never in larger steps than the speed limits allow.

    Args:
        bus: the chain's.
        rate: [Hz].
        goal_limits: lowest and highest counts (n, 2).
        wishes: the owner's.
        report: called now and then.

    Attributes:
        schedule: with the account of what was sent.
        trouble: what is wrong with a servo, in words.
        at: the time on the trajectory [s].
        present: positions (n,) as last seen [counts].
        celsius, volts: by servo id, as last seen.
    """

    def __init__(self, bus: Bus, rate: float, goal_limits: np.ndarray, wishes: Wishes, report: Callable[[Stream], None]) -> None:
        self.bus, self.schedule, self.trouble, self.at = bus, Schedule(rate), "", 0.0
        self.present = np.zeros(len(bus.chain.servos), dtype=np.int64)
        self.celsius: dict[int, float] = {}
        self.volts: dict[int, float] = {}
        self._limits, self._wishes, self._report = goal_limits, wishes, report
        chain = bus.chain
        self._counts_per_second = np.abs(chain.scale) * chain.speed_limits
        self._last = np.zeros(len(chain.servos), dtype=np.int64)
        self._last_number = -1
        self._looked = self._reported = 0.0
        self._watched, self._missed = 0, 0

    def begin(self, counts: np.ndarray) -> None:
        """Where the servos are [counts]: the first step starts here."""
        self.present = counts.copy()
        self._last = np.clip(counts, self._limits[:, 0], self._limits[:, 1])

    def forget(self) -> None:
        """Counts goals and lateness from here."""
        self.schedule = Schedule(1.0 / self.schedule.period)

    def run(self, trajectory: Trajectory) -> Outcome:
        """Follows a trajectory to its end, or until a wish or a failure ends it."""
        return self._follow(trajectory, heed_stop=True)

    def slow_down(self, trajectory: Trajectory, seconds: float) -> Outcome:
        """Slows to a stand along what was followed, from where it was left; only an emergency or a lost heartbeat cuts that short."""
        return self._follow(Slowing(trajectory, self.at, seconds), heed_stop=False)

    def _follow(self, trajectory: Trajectory, heed_stop: bool) -> Outcome:
        schedule = self.schedule
        last = int(np.ceil(trajectory.duration / schedule.period - 1e-9))
        schedule.start()
        self._last_number = -1
        number = -1
        while number < last:
            outcome = self._wishes.outcome
            if outcome is not None and (heed_stop or outcome is not Outcome.STOPPED):
                return outcome
            number = schedule.wait(last)
            self.at = number * schedule.period
            self._send(number, trajectory.at(np.array([self.at]))[0])
            schedule.done()
            if heed_stop and not self._watch():  # who stops already has a reason, which later looks must not change
                return Outcome.FAILED
            self._tell()
        return Outcome.DONE

    def _send(self, number: int, values: np.ndarray) -> None:
        periods = number - self._last_number
        reach = np.floor(self._counts_per_second * periods * self.schedule.period).astype(np.int64) + 1
        goal = np.clip(self.bus.chain.counts(values), self._last - reach, self._last + reach)
        goal = np.clip(goal, self._limits[:, 0], self._limits[:, 1])
        self.bus.send_goals(goal)
        self._last, self._last_number = goal, number

    def _watch(self) -> bool:
        """Looks at one servo, if time allows; whether all is well."""
        now = time.monotonic()
        since = now - self._looked
        if since < LOOK_EVERY or (self.schedule.slack < LOOK_COST * self.bus.round_trip and since < LOOK_AT_LEAST):
            return True
        self._looked = now
        servo = self.bus.chain.servos[self._watched]
        try:
            seen = self.bus.telemetry(servo)
        except ServoSilent as silent:
            self._missed += 1
            self.trouble = str(silent)
            return self._missed < MISSES
        self._missed = 0
        self.present[self._watched] = seen.position
        self.celsius[servo.id], self.volts[servo.id] = seen.celsius, seen.volts
        self._watched = (self._watched + 1) % len(self.bus.chain.servos)
        return self._is_well(servo, seen)

    def _is_well(self, servo: Servo, seen: Telemetry) -> bool:
        if not seen.alert:
            self.trouble = ""
            return True
        self.trouble = f"servo {servo.id} ({servo.actuator}) has a hardware error ({self.bus.hardware_error(servo)})"
        return False

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._reported > REPORT_EVERY:
            self._reported = now
            self._report(self)
