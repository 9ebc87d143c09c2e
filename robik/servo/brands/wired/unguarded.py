"""Lines of servos that have no watchdog: when nobody speaks to them any more they go on to their last goal, and hold.

So each goal carries the speed at which it is reached, is only as far from where the servo was last seen as that speed
takes it in the watchdog's time, and there is a mark in each servo that a restart takes away. A goal position may turn
torque on by itself, and free a servo from its protection: one that must not move gets none.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi, tau
from typing import NamedTuple, TypeVar

import numpy as np

from ....errors import ServoError
from ...bus.emergency import Emergency
from ...bus.telemetry import Found, Telemetry
from ...chain.chain import ServoChain
from ...chain.servo import Servo
from .line import WiredLine
from .packet_wire import PacketWire
from .patience import TRIES
from .reading import named

SAG = pi / 20  # [rad], 9°, that a loaded servo may stand from its goal, beyond what it lags behind
LONGEST_GAP = 0.25  # [s] between looks at a servo that are worth counting on

_Wire = TypeVar("_Wire", bound=PacketWire)
_Settings = TypeVar("_Settings", bound="Marked")


class Sighting(NamedTuple):
    """A look at a servo."""

    when: float  # [s]
    position: int  # [counts]
    gap: float  # since the look before, at most LONGEST_GAP [s]


class Goal(NamedTuple):
    """A goal of a servo, as it is written and read back."""

    position: int  # [counts]
    speed: int  # [the model's unit], never 0, which would mean no limit


@dataclass(frozen=True, kw_only=True)
class Marked(Found):
    """Report, at connecting, of a servo without a watchdog.

    Attributes:
        restart_torque: limit of its torque after a restart [0.1 %].
    """

    restart_torque: int

    @property
    def mark(self) -> int:
        """The torque limit that it gets while it is played, 0.1 % below its own: a restart takes that away."""
        return self.restart_torque - 1 if self.restart_torque > 1 else 2


class UnguardedLine(WiredLine[_Wire, _Settings]):
    """Servos of a chain behind one open port: see `WiredLine`. A brand says how goals are written and read back."""

    takes_speeds = True

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        super().__init__(chain, port, silence, emergency)
        self._speeds: dict[int, int] = {}  # limits by id [the model's unit]
        self._reach = 0.0  # [s] in which a goal must be reached; 0 before anything is played
        self._seen: dict[int, Sighting] = {}  # of each servo the last one

    # of the brand

    @abstractmethod
    def _write_goals(self, goals: Mapping[int, Goal]) -> None:
        """Write goals to servos, by their ids, in one packet if there is room; nobody answers."""

    @abstractmethod
    def _read_goals(self) -> list[Goal]:
        """Return the goals that the servos have, read back; raises ServoSilent."""

    @abstractmethod
    def _report(self, id: int, said: list[bytes]) -> Telemetry:
        """Return what the bytes of a look mean."""

    # connecting

    def forget(self) -> None:
        super().forget()
        self._speeds, self._seen = {}, {}

    # reading

    def positions(self) -> np.ndarray:
        there = self._wire.positions()
        self._see(dict(zip(self._wire.ids, there.tolist(), strict=True)))
        return there

    def _see(self, positions: dict[int, int]) -> None:
        when = time.perf_counter()
        for id, position in positions.items():
            gap = when - self._seen[id].when if id in self._seen else LONGEST_GAP
            self._seen[id] = Sighting(when, position, min(gap, LONGEST_GAP))

    def _telemetry(self, id: int, said: list[bytes]) -> Telemetry:
        seen = self._report(id, said)
        self._see({id: seen.position})
        return seen

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

    def hold_at(self, counts: np.ndarray) -> None:
        """Write goal positions with their speeds, which may turn torque on, and make sure of them.

        Args:
            counts: Counts (n,).

        Raises:
            ServoError: A servo does not take them.
        """
        wanted = [int(count) for count in counts.tolist()]
        for _ in range(TRIES):
            pairs = zip(self._wire.ids, wanted, strict=True)
            self._tell({id: Goal(goal, self._speeds[id]) for id, goal in pairs})
            taken = self._read_goals()
            if [goal.position for goal in taken] == wanted and all(goal.speed > 0 for goal in taken):
                return
        differing = zip(self.servos, wanted, taken, strict=True)
        servo, goal, is_goal = next(
            (one for one in differing if one[1] != one[2].position), (self.servos[0], 0, taken[0])
        )
        where = named(servo)
        raise ServoError(f"{where} does not take {goal} as goal position with a speed; it stays at {is_goal.position}")

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions with their speeds to some servos; unanswered.

        Args:
            counts: Counts (..., n).
            speeds: Speeds (n,) at which they are to be reached, in the models' units, or None for the limits.
            places: Places of the servos that get them.
        """
        when, goals = time.perf_counter(), dict[int, Goal]()
        for k in places:
            servo = self.servos[k]
            limit = self._speeds[servo.id]
            speed = limit if speeds is None else min(int(speeds[k]), limit)
            goals[servo.id] = Goal(self._near(servo, int(counts[k]), when), speed)
        if goals:
            self._tell(goals)

    def _tell(self, goals: Mapping[int, Goal]) -> None:
        """Write goals, and remember them."""
        self._sent.note({id: goal.position for id, goal in goals.items()})
        self._write_goals(goals)

    def _near(self, servo: Servo, goal: int, when: float) -> int:
        """Return a goal no farther from where the servo was last seen than it gets there in time.

        It may have moved on since then; but where looks have ended, as during a stop, that is not counted on for long.
        """
        if not self._reach or servo.id not in self._seen:
            return goal
        seen, model = self._seen[servo.id], servo.datasheet
        age = min(when - seen.when, 2.0 * seen.gap)
        away = self._speeds[servo.id] * model.velocity_unit * (self._reach + age) + SAG
        reach = round(away * model.counts_per_turn / tau)
        return max(seen.position - reach, min(seen.position + reach, goal))
