"""A simulated chain: packets in, packets out, byte for byte as Feetech servos behind one bus would answer."""

from __future__ import annotations

from ...chain import BITS_PER_BYTE, ServoChain
from ...simulator.simulated import Answer, GoalRecord, OnGoal
from ..models import BAUD_RATES, MODELS
from ..packet import BROADCAST, HEADER, Instruction, Packet, encode, packets
from .servo import SimulatedServo

BROKEN_OFF = 0.005  # [s] of silence after which the rest of a packet comes no more
DELAY = 1e-4  # [s] before each answer
ANSWERS_ALL = 1  # response level; reads and pings are answered at any


class SimulatedChain:
    """Servos on one bus.

    Args:
        chain: the servos, set up for streaming at the chain's baud rate.
        now: [s].
        on_goal: called with each goal position that a servo takes.

    Attributes:
        servos: in the order of the chain.
    """

    def __init__(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> None:
        self.servos = [SimulatedServo(MODELS[servo.model], servo.id, servo.zero, now) for servo in chain.servos]
        for servo in self.servos:
            servo.set("baud_rate", BAUD_RATES.index(chain.baud_rate))
        self._on_goal = on_goal
        self._pending, self._heard = b"", now

    def receive(self, data: bytes, now: float, baud_rate: int | None = None) -> list[Answer]:
        """Return the answers to these bytes.

        Args:
            data: As they arrived, in pieces of any size.
            now: [s], increasing.
            baud_rate: At which they were sent; servos set to another hear nothing. None where there is no such thing.

        Returns:
            Bytes with the times at which they are sent.
        """
        self._pending = data if now - self._heard > BROKEN_OFF else self._pending + data
        self._heard = now
        answers: list[Answer] = []
        behind = 0
        for packet, end in packets(self._pending):
            behind = end
            there = [s for s in self.servos if not s.is_deaf(now) and baud_rate in (None, _rate(s))]
            for servo in there:
                servo.hear(now)
            answers += self._answers(packet, {servo.id: servo for servo in there}, now)
        self._pending = self._pending[max(behind, self._pending.find(HEADER, behind)) :]
        return answers

    def _answers(self, packet: Packet, there: dict[int, SimulatedServo], now: float) -> list[Answer]:
        if packet.code == Instruction.SYNC_READ and packet.id == BROADCAST:
            return self._answer_sync_read(packet.parameters, there)
        if packet.code == Instruction.SYNC_WRITE and packet.id == BROADCAST:
            self._sync_write(packet.parameters, there, now)
            return []
        if packet.id == BROADCAST:
            for servo in there.values():
                self._perform(servo, packet, now)
            is_ping = packet.code == Instruction.PING
            return [_status(there[id], id, b"") for id in sorted(there)] if is_ping else []
        if packet.id not in there:
            return []
        servo, id = there[packet.id], packet.id  # as it was when the packet came
        data = self._perform(servo, packet, now)
        is_read = packet.code in (Instruction.PING, Instruction.READ)
        return [_status(servo, id, data)] if is_read or servo.get("response_level") >= ANSWERS_ALL else []

    def _perform(self, servo: SimulatedServo, packet: Packet, now: float) -> bytes:
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

    def _answer_sync_read(self, parameters: bytes, there: dict[int, SimulatedServo]) -> list[Answer]:
        """Return an answer of each; a missing one leaves its place empty, after which the others go on."""
        if len(parameters) < 3:
            return []
        address, size, *ids = parameters
        return [_status(there[id], id, there[id].read(address, size)) for id in ids if id in there]

    def _sync_write(self, parameters: bytes, there: dict[int, SimulatedServo], now: float) -> None:
        if len(parameters) < 3:
            return
        address, size = parameters[:2]
        for k in range(2, len(parameters) - size, size + 1):
            if parameters[k] in there:
                self._write(there[parameters[k]], address, parameters[k + 1 : k + 1 + size], now)

    def _write(self, servo: SimulatedServo, address: int, data: bytes, now: float) -> None:
        if "goal_position" in servo.write(address, data) and self._on_goal:
            self._on_goal(GoalRecord(now, servo.id, servo.get("goal_position")))


def _rate(servo: SimulatedServo) -> int:
    return BAUD_RATES[servo.get("baud_rate")]


def _status(servo: SimulatedServo, id: int, data: bytes) -> Answer:
    whole = encode(id, servo.get("error_status"), data)
    return Answer(whole, DELAY + len(whole) * BITS_PER_BYTE / _rate(servo))
