"""A simulated chain: packets in, packets out, byte for byte as Feetech servos behind one bus would answer."""

from __future__ import annotations

from collections.abc import Sequence

from ...chain import ServoChain
from ...simulator.chain import TableChain
from ...simulator.simulated import Answer, OnGoal
from ..models import MODELS
from ..packet import BROADCAST, HEADER, Instruction, Packet, encode, packets
from .servo import SimulatedServo

DELAY = 1e-4  # [s] before each answer
ANSWERS_ALL = 1  # response level; reads and pings are answered at any


class SimulatedChain(TableChain[SimulatedServo, Packet]):
    """Servos on one bus.

    Args:
        chain: the servos, set up for streaming at the chain's baud rate.
        now: [s].
        on_goal: called with each goal position that a servo takes.
    """

    def __init__(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> None:
        servos = [SimulatedServo(MODELS[servo.model], servo.id, servo.zero, now) for servo in chain.servos]
        super().__init__(chain, servos, now, on_goal)
        self._pending = b""

    def _packets(self, data: bytes, is_new: bool) -> list[Packet]:
        pending = data if is_new else self._pending + data
        found = list(packets(pending))
        behind = found[-1][1] if found else 0
        self._pending = pending[max(behind, pending.find(HEADER, behind)) :]
        return [packet for packet, _ in found]

    def _answers(self, packet: Packet, there: Sequence[SimulatedServo], now: float) -> list[Answer]:
        by_id = {servo.id: servo for servo in there}
        if packet.code == Instruction.SYNC_READ and packet.id == BROADCAST:
            return self._answer_sync_read(packet.parameters, by_id)
        if packet.code == Instruction.SYNC_WRITE and packet.id == BROADCAST:
            self._sync_write(packet.parameters, by_id, now)
            return []
        if packet.id == BROADCAST:
            for servo in by_id.values():
                self._perform(servo, packet, now)
            is_ping = packet.code == Instruction.PING
            return [self._status(by_id[id], id, b"") for id in sorted(by_id)] if is_ping else []
        if packet.id not in by_id:
            return []
        servo, id = by_id[packet.id], packet.id  # as it was when the packet came
        data = self._perform(servo, packet, now)
        is_read = packet.code in (Instruction.PING, Instruction.READ)
        return [self._status(servo, id, data)] if is_read or servo.get("response_level") >= ANSWERS_ALL else []

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
        return [self._status(there[id], id, there[id].read(address, size)) for id in ids if id in there]

    def _sync_write(self, parameters: bytes, there: dict[int, SimulatedServo], now: float) -> None:
        if len(parameters) < 3:
            return
        address, size = parameters[:2]
        for k in range(2, len(parameters) - size, size + 1):
            if parameters[k] in there:
                self._write(there[parameters[k]], address, parameters[k + 1 : k + 1 + size], now)

    def _write(self, servo: SimulatedServo, address: int, data: bytes, now: float) -> None:
        if "goal_position" in servo.write(address, data):
            self._take_note(servo, servo.get("goal_position"), now)

    def _status(self, servo: SimulatedServo, id: int, data: bytes) -> Answer:
        whole = encode(id, servo.get("error_status"), data)
        return Answer(whole, DELAY + self._wire_time(servo, whole))
