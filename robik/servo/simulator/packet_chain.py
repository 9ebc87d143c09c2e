"""A simulated chain of servos that speak packets as Dynamixel's Protocol 1.0 has them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..brands.wired.packet import BROADCAST, HEADER, Instruction, Packet, encode, packets
from ..chain.chain import ServoChain
from .chain import TableChain
from .servo import EntryServo
from .simulated import Answer, OnGoal

ALWAYS = (Instruction.PING, Instruction.READ)  # what a servo answers whatever it is told about answers to writes

_Servo = TypeVar("_Servo", bound=EntryServo)


class PacketChain(TableChain[_Servo, Packet]):
    """Servos on one bus. A brand says who answers what, with which error, and which entry is the goal position.

    Attributes:
        goal: name of the entry of the goal position.
    """

    goal: str

    def __init__(self, chain: ServoChain, servos: Sequence[_Servo], now: float, on_goal: OnGoal | None) -> None:
        super().__init__(chain, servos, now, on_goal)
        self._pending = b""

    @abstractmethod
    def _is_answered(self, servo: _Servo, code: int) -> bool:
        """Return whether a servo answers an instruction that is sent to it alone."""

    @abstractmethod
    def _errors(self, servo: _Servo) -> int:
        """Return the error bits of a servo's answer."""

    @abstractmethod
    def _delay(self, servo: _Servo) -> float:
        """Return how long a servo waits before it answers [s]."""

    def _answers_to_all(self, packet: Packet, there: Mapping[int, _Servo], now: float) -> list[Answer]:
        """Return the answers to a packet that is sent to everybody."""
        if packet.code == Instruction.SYNC_WRITE:
            self._sync_write(packet.parameters, there, now)
            return []
        for servo in there.values():
            self._perform(servo, packet, now)
        return []

    def _packets(self, data: bytes, is_new: bool) -> list[Packet]:
        pending = data if is_new else self._pending + data
        found = list(packets(pending))
        behind = found[-1][1] if found else 0
        self._pending = pending[max(behind, pending.find(HEADER, behind)) :]
        return [packet for packet, _ in found]

    def _answers(self, packet: Packet, there: Sequence[_Servo], now: float) -> list[Answer]:
        by_id = {servo.id: servo for servo in there}
        if packet.id == BROADCAST:
            return self._answers_to_all(packet, by_id, now)
        if packet.id not in by_id:
            return []
        servo = by_id[packet.id]
        is_answered = self._is_answered(servo, packet.code)  # as it was when the packet came
        data = self._perform(servo, packet, now)
        return [self._status(servo, packet.id, data)] if is_answered else []

    def _perform(self, servo: _Servo, packet: Packet, now: float) -> bytes:
        """Do what a packet says, and return what the answer to it holds."""
        parameters = packet.parameters
        if packet.code == Instruction.READ and len(parameters) == 2:
            return servo.read(parameters[0], parameters[1])
        if packet.code == Instruction.WRITE and len(parameters) > 1:
            self._write(servo, parameters[0], parameters[1:], now)
        elif packet.code == Instruction.REG_WRITE and len(parameters) > 1:
            servo.registered = parameters[0], parameters[1:]
        elif packet.code == Instruction.ACTION and servo.registered is not None:
            registered, servo.registered = servo.registered, None
            self._write(servo, *registered, now)
        return b""

    def _sync_write(self, parameters: bytes, there: Mapping[int, _Servo], now: float) -> None:
        if len(parameters) < 3:
            return
        address, size = parameters[:2]
        for k in range(2, len(parameters) - size, size + 1):
            if parameters[k] in there:
                self._write(there[parameters[k]], address, parameters[k + 1 : k + 1 + size], now)

    def _write(self, servo: _Servo, address: int, data: bytes, now: float) -> None:
        if self.goal in servo.write(address, data):
            self._take_note(servo, servo.get(self.goal), now)

    def _status(self, servo: _Servo, id: int, data: bytes) -> Answer:
        whole = encode(id, self._errors(servo), data)
        return Answer(whole, self._delay(servo) + self._wire_time(servo, whole))
