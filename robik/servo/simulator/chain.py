"""A simulated chain of one brand: packets in, packets out, as servos behind one bus would answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from ..chain.chain import BITS_PER_BYTE, ServoChain
from .imu import SimulatedBoard
from .servo import TableServo
from .simulated import Answer, GoalRecord, OnGoal

BROKEN_OFF = 0.005  # [s] of silence after which the rest of a packet comes no more

_Servo = TypeVar("_Servo", bound=TableServo)
_Packet = TypeVar("_Packet")


class TableChain(ABC, Generic[_Servo, _Packet]):
    """Servos on one bus, set up for streaming. A brand says what packets are among bytes, and how they are answered.

    Attributes:
        servos: simulated, in the chain's order.
        on_goal: called with each goal position that a servo takes.
        board: a sensor between the servos; None where there is none.
    """

    def __init__(self, chain: ServoChain, servos: Sequence[_Servo], now: float, on_goal: OnGoal | None) -> None:
        self.servos, self.on_goal = servos, on_goal
        imu = chain.imu
        self.board = SimulatedBoard(imu) if imu is not None and imu.is_on_bus else None
        self._brand, self._heard = chain.brand, now
        for servo, one in zip(servos, chain.servos, strict=True):
            servo.set_up(one.zero_settings)
            servo.set("baud_rate", self._brand.baud_code(chain.baud_rate))

    @abstractmethod
    def _packets(self, data: bytes, is_new: bool) -> Iterable[_Packet]:
        """Return the packets that are whole with these bytes; after a silence nothing before them counts."""

    @abstractmethod
    def _answers(self, packet: _Packet, there: Sequence[_Servo], now: float) -> list[Answer]:
        """Return the answers to a packet of the servos that hear it."""

    def receive(self, data: bytes, now: float, baud_rate: int | None = None) -> list[Answer]:
        """Return the answers to bytes in pieces of any size, with the times at which they are sent [s].

        `now` [s] increases. Servos set to another baud rate hear nothing; None where there is no such thing.
        """
        is_new, self._heard = now - self._heard > BROKEN_OFF, now
        answers: list[Answer] = []
        for packet in self._packets(data, is_new):
            there = [s for s in self.servos if not s.is_deaf(now) and baud_rate in (None, self._rate(s))]
            for servo in there:
                servo.hear(now)
            answers += self._answers(packet, there, now)
        return answers

    def _rate(self, servo: _Servo) -> int:
        """Return the baud rate that a servo is set to [bit/s]."""
        return self._brand.baud_rate(servo.get("baud_rate"))

    def _wire_time(self, servo: _Servo, data: bytes) -> float:
        """Return how long an answer takes on the bus [s]."""
        return len(data) * BITS_PER_BYTE / self._rate(servo)

    def _take_note(self, servo: _Servo, goal: int, now: float) -> None:
        """Tell of a goal position [counts] that a servo took."""
        if self.on_goal:
            self.on_goal(GoalRecord(now, servo.id, goal))
