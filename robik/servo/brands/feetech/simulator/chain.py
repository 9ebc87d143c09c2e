"""A simulated chain: packets in, packets out, byte for byte as Feetech servos behind one bus would answer."""

from __future__ import annotations

from collections.abc import Mapping

from ....chain.chain import ServoChain
from ....simulator.packet_chain import ALWAYS, PacketChain
from ....simulator.simulated import Answer, OnGoal
from ...wired.packet import Instruction, Packet
from ..models import MODELS
from .servo import SimulatedServo

DELAY = 1e-4  # [s] before each answer
ANSWERS_ALL = 1  # response level; reads and pings are answered at any


class SimulatedChain(PacketChain[SimulatedServo]):
    """Servos on one bus, set up for streaming at the chain's baud rate.

    `on_goal` is called with each goal position that a servo takes.
    """

    goal = "goal_position"

    def __init__(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> None:
        servos = [SimulatedServo(MODELS[servo.model], servo.id, servo.zero, now) for servo in chain.servos]
        super().__init__(chain, servos, now, on_goal)

    def _is_answered(self, servo: SimulatedServo, code: int) -> bool:
        return code in ALWAYS or servo.get("response_level") >= ANSWERS_ALL

    def _errors(self, servo: SimulatedServo) -> int:
        return servo.get("error_status")

    def _delay(self, servo: SimulatedServo) -> float:
        return DELAY

    def _answers_to_all(self, packet: Packet, there: Mapping[int, SimulatedServo], now: float) -> list[Answer]:
        if packet.code == Instruction.SYNC_READ:
            return self._answer_sync_read(packet.parameters, there)
        super()._answers_to_all(packet, there, now)
        is_ping = packet.code == Instruction.PING
        return [self._status(there[id], id, b"") for id in sorted(there)] if is_ping else []

    def _answer_sync_read(self, parameters: bytes, there: Mapping[int, SimulatedServo]) -> list[Answer]:
        """Return an answer of each; a missing one leaves its place empty, after which the others go on."""
        if len(parameters) < 3:
            return []
        address, size, *ids = parameters
        return [self._status(there[id], id, there[id].read(address, size)) for id in ids if id in there]
