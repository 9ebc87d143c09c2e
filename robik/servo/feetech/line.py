"""A line of Feetech servos: what the bus asks of it, as entries of their control tables.

They have no watchdog: when nobody speaks to them any more they go on to their last goal and hold there. So each goal
carries the speed at which it is reached, is only as far from where the servo was last seen as that speed takes it in
the watchdog's time, and there is a mark in each servo that a restart takes away. A goal position turns torque on by
itself, and frees a servo from its overload protection: one that must not move gets none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from ...errors import ServoError
from ..chain import ServoChain
from ..emergency import Emergency
from ..servo import Servo
from ..telemetry import Telemetry
from ..tuning import Tuning
from ..wired.line import WiredLine
from ..wired.look import Part
from ..wired.patience import TRIES
from ..wired.reading import named
from .inquiry import RUN, Settings, read_settings, telemetry
from .models import TABLE
from .wire import FeetechWire

GOAL = TABLE["goal_position"].address, 6  # position, time and speed, in this order
SAG = 100  # [counts], 9°, that a loaded servo may stand from its goal, beyond what it lags behind
LONGEST_GAP = 0.25  # [s] between looks at a servo that are worth counting on


class Sighting(NamedTuple):
    """A look at a servo."""

    when: float  # [s]
    position: int  # [counts]
    gap: float  # since the look before, at most LONGEST_GAP [s]


class FeetechLine(WiredLine[FeetechWire, Settings]):
    """Servos of a chain behind one open port: see `WiredLine`."""

    wire_type = FeetechWire
    takes_speeds = True

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        super().__init__(chain, port, silence, emergency)
        self._speeds: dict[int, int] = {}  # limits by id [counts/s]
        self._reach = 0.0  # [s] in which a goal must be reached; 0 before anything is played
        self._seen: dict[int, Sighting] = {}  # of each servo the last one

    # connecting

    def forget(self) -> None:
        """Speak to all servos of the chain, and know nothing of them but what the chain says."""
        super().forget()
        self._speeds, self._seen = {}, {}

    def _read_settings(self, servo: Servo) -> Settings:
        return read_settings(self._wire, servo, self._chain.baud_rate)

    def prepare(self) -> None:
        """Lock the settings, take away what slows the servos, and leave the mark that a restart takes away.

        Raises:
            ServoSilent: A servo does not answer.
            ServoError: One does not take it.
        """
        self._wire.set("eeprom_lock", [1] * len(self.servos))
        self._wire.set("goal_acceleration", [0] * len(self.servos))
        self._wire.set("goal_torque_limit", [self._settings[servo.id].mark for servo in self.servos])

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts]; raises ServoSilent."""
        there = self._wire.positions()
        self._see(dict(zip(self._wire.ids, there.tolist(), strict=True)))
        return there

    def _see(self, positions: dict[int, int]) -> None:
        when = time.perf_counter()
        for id, position in positions.items():
            gap = when - self._seen[id].when if id in self._seen else LONGEST_GAP
            self._seen[id] = Sighting(when, position, min(gap, LONGEST_GAP))

    def _parts(self, ids: Sequence[int]) -> list[Part]:
        return [RUN]

    def _telemetry(self, id: int, said: list[bytes]) -> Telemetry:
        mark = self._settings[id].mark if id in self._settings else -1
        seen = telemetry(said[0], mark)
        self._see({id: seen.position})
        return seen

    def are_stopped(self) -> list[bool]:
        """Return which servos stand, since they have no watchdog; raises ServoSilent."""
        return (self._wire.read_each("moving_status") == 0).tolist()

    # writing

    def set_watchdog(self, seconds: float) -> None:
        """Hold goals so near to the servos that each reaches its last one in this time when nobody speaks any more.

        Args:
            seconds: The time [s]; 0 where nothing is played.
        """
        self._reach = seconds

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Do nothing: servos without a watchdog hold without packets.

        Args:
            servos: The servos.
        """

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the speeds that go with every goal from here on; a speed alone might turn torque on.

        Args:
            speeds: Speeds (n,) of the actuators [rad/s or m/s].
        """
        pairs = zip(self.servos, speeds.tolist(), strict=True)
        self._speeds = {servo.id: servo.velocity_units(speed) for servo, speed in pairs}

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        """Write gains and the profile's acceleration of a servo, with its settings locked, so that none wears out.

        Args:
            servo: The servo.
            tuning: Its new tuning.

        Raises:
            ServoError: It does not take it.
        """
        self._wire.set_one(servo, "eeprom_lock", 1)
        super().tune(servo, tuning)

    def hold_at(self, counts: np.ndarray) -> None:
        """Write goal positions with their speeds, which turns torque on, and make sure of them.

        Args:
            counts: Counts (n,).

        Raises:
            ServoError: A servo does not take them.
        """
        wanted = [int(count) for count in counts.tolist()]
        for _ in range(TRIES):
            self._write_goals(dict(zip(self._wire.ids, wanted, strict=True)), self._speeds)
            taken = self._wire.read_each("goal_position").tolist()
            if taken == wanted and (self._wire.read_each("goal_speed") > 0).all():
                return
        differing = zip(self.servos, wanted, taken, strict=True)
        servo, goal, is_goal = next((one for one in differing if one[1] != one[2]), (self.servos[0], 0, 0))
        raise ServoError(f"{named(servo)} does not take {goal} as goal position with a speed; it stays at {is_goal}")

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions with their speeds to some servos; unanswered.

        Args:
            counts: Counts (..., n).
            speeds: Speeds (n,) at which they are to be reached [counts/s], or None for the limits.
            places: Places of the servos that get them.
        """
        ids, when = self._wire.ids, time.perf_counter()
        goals = {ids[k]: self._near(ids[k], int(counts[k]), when) for k in places}
        asked = {} if speeds is None else {ids[k]: int(speeds[k]) for k in places}
        self._write_goals(goals, {id: min(asked.get(id, limit), limit) for id, limit in self._speeds.items()})

    def _near(self, id: int, goal: int, when: float) -> int:
        """Return a goal no farther from where the servo was last seen than it gets there in time.

        It may have moved on since then; but where looks have ended, as during a stop, that is not counted on for long.
        """
        if not self._reach or id not in self._seen:
            return goal
        seen = self._seen[id]
        age = min(when - seen.when, 2.0 * seen.gap)
        reach = round(self._speeds[id] * (self._reach + age)) + SAG
        return max(seen.position - reach, min(seen.position + reach, goal))

    def _write_goals(self, goals: dict[int, int], speeds: dict[int, int]) -> None:
        position, speed = TABLE["goal_position"], TABLE["goal_speed"]
        units = {id: ceil(speeds[id] / self._settings[id].speed_unit) for id in goals}  # 0 would mean no limit
        blocks = [position.encode(goal) + bytes(2) + speed.encode(units[id]) for id, goal in goals.items()]
        if goals:
            self._wire.write_blocks(*GOAL, blocks, tuple(goals))
