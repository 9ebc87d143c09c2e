"""Everything of a player but its thread, in a time of the test's own: a second of playing takes no second, and stalls
come when told.

The SDK writes into a line that ends at the simulated chain, in this process. Whoever sleeps lets time pass, and so do
bytes.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest

from robik.servo.brands.driver import driver_of
from robik.servo.brands.dynamixel import port, question
from robik.servo.brands.dynamixel.simulator.chain import SimulatedChain
from robik.servo.brands.wired import patience, reading, unguarded
from robik.servo.brands.wired import question as packet_question
from robik.servo.bus import emergency, looks, schedule, serial_port
from robik.servo.bus.bus import Bus
from robik.servo.chain.chain import BITS_PER_BYTE, ServoChain
from robik.servo.port import guide, stream
from robik.servo.port.board import Board
from robik.servo.port.session import Session
from robik.servo.port.status import PlaySettings, Status
from robik.servo.port.stream import Wishes
from robik.servo.simulator.simulated import GoalRecord, SimulatedBus

CLOCKS = (  # modules that look at the time or let it pass
    *(emergency, guide, looks, patience, reading, schedule, stream),
    *(port, question, packet_question, unguarded),
)
GLANCE = 1e-7  # [s] that a look at the clock takes


class Time:
    """What the modules of the player take for the module `time`.

    Attributes:
        now: [s].
        stalls: how likely each sleep is to last longer, by 50 to 350 ms.
        slowness: what each piece of an answer takes beyond its time [s].
    """

    def __init__(self, seed: int = 0) -> None:
        self.now, self.stalls, self.slowness = 1000.0, 0.0, 0.0
        self._random = random.Random(seed)
        self._due, self._act = np.inf, print

    def at(self, when: float, act: Callable[[], object]) -> None:
        """Does something, once it is so late."""
        self._due, self._act = when, act

    def perf_counter(self) -> float:
        self.now += GLANCE
        if self.now >= self._due:
            self._due = np.inf
            self._act()
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(0.0, seconds)
        if self._random.random() < self.stalls:
            self.now += self._random.uniform(0.05, 0.35)


class Line:
    """What pyserial would open: bytes take their time, answers come when they are due.

    Attributes:
        sent: packets that were written, each with its time [s].
    """

    def __init__(self, time: Time, simulated: SimulatedBus, baudrate: int, timeout: float, **_: object) -> None:
        self._time, self._simulated, self._baud_rate, self._timeout = time, simulated, baudrate, timeout
        self.sent: list[tuple[float, bytes]] = []
        self._coming: deque[tuple[float, bytes]] = deque()
        self._there = bytearray()
        self._free = 0.0

    def write(self, data: bytes) -> int:
        self.sent.append((self._time.now, bytes(data)))
        self._time.now += len(data) * BITS_PER_BYTE / self._baud_rate
        for answer in self._simulated.receive(bytes(data), self._time.now, self._baud_rate):
            self._free = max(self._free, self._time.now) + answer.seconds + self._time.slowness
            self._coming.append((self._free, answer.data))
        return len(data)

    def read(self, size: int) -> bytes:
        if not self.in_waiting:
            due = self._coming[0][0] if self._coming else np.inf
            self._time.now = min(due, self._time.now + self._timeout)
        taken = bytes(self._there[: min(size, self.in_waiting)])
        del self._there[: len(taken)]
        return taken

    @property
    def in_waiting(self) -> int:
        while self._coming and self._coming[0][0] <= self._time.now:
            self._there += self._coming.popleft()[1]
        return len(self._there)

    def reset_input_buffer(self) -> None:
        self._there.clear()
        self._coming.clear()

    def flush(self) -> None:
        return

    def close(self) -> None:
        self.reset_input_buffer()


class Port:
    """A port with simulated servos of any brand, in a time of its own.

    Attributes:
        time: see above.
        simulated: the servos.
        lines: as they were opened, one after the other.
    """

    def __init__(self, chain: ServoChain, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time, self.lines = Time(), list[Line]()
        for module in CLOCKS:
            monkeypatch.setattr(module, "time", self.time)
        self.simulated = driver_of(chain.brand.name).simulate(chain, self.time.now, None)
        monkeypatch.setattr(serial_port.serial, "serial_for_url", self._open)

    def _open(self, _: str, **how: object) -> Line:
        self.lines.append(Line(self.time, self.simulated, **how))  # type: ignore[arg-type]
        return self.lines[-1]

    @property
    def sent(self) -> list[bytes]:
        """All packets that were written, in their order."""
        return [packet for line in self.lines for _, packet in line.sent]


class Stage:
    """A session with simulated servos in a time of its own.

    Attributes:
        simulated: the servos.
        bus, session: what the player's thread has.
        goals: that they took.
        horns, profiles: where the servos were when they took them [counts], and how fast they might be [profile units].
    """

    def __init__(self, time: Time, chain: ServoChain, settings: PlaySettings, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in CLOCKS:
            monkeypatch.setattr(module, "time", time)
        self.time, self.chain, self.board = time, chain, Board()
        self.goals, self.horns, self.profiles = list[GoalRecord](), list[float](), list[int]()
        self.simulated = SimulatedChain(chain, time.now, self._note)
        monkeypatch.setattr(serial_port.serial, "serial_for_url", lambda _, **how: Line(time, self.simulated, **how))
        self.wishes = Wishes(settings.heartbeat)
        self.bus = Bus(chain, "a line", settings.silence)
        self.session = Session(self.bus, settings, self.wishes, self.board, lambda chain, limits: None)
        self.session.connect()

    @property
    def status(self) -> Status:
        """As the session published it."""
        return self.board.status

    def _note(self, goal: GoalRecord) -> None:
        servo = self.simulated.servo(goal.id)
        assert servo is not None
        self.goals.append(goal)
        self.horns.append(servo.motor.position)
        self.profiles.append(servo.get("profile_velocity"))

    def rows(self, skip: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """When goals came (K,) [s], which (K, n) [counts], and where the servos were then (K, n) [counts]; without the
        first so many."""
        n = len(self.chain.servos)
        times = np.array([goal.time for goal in self.goals[n * skip :: n]])
        goals = np.array([goal.counts for goal in self.goals[n * skip :]]).reshape(-1, n)
        return times, goals, np.array(self.horns[n * skip :]).reshape(-1, n)
