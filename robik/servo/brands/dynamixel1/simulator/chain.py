"""A simulated chain: packets in, packets out, byte for byte as servos of Protocol 1.0 behind one bus would answer."""

from __future__ import annotations

from ....chain.chain import ServoChain
from ....simulator.packet_chain import PacketChain
from ....simulator.simulated import OnGoal
from ...wired.packet import Instruction, Packet
from ..models import INSTRUCTION, MODELS, RETURN_DELAY_UNIT
from .servo import SimulatedServo

FACTORY_RESET = 0x06
KNOWN = (*(code for code in Instruction if code is not Instruction.SYNC_READ), FACTORY_RESET)
LEVELS: dict[int, int] = {Instruction.PING: 0, Instruction.READ: 1}  # status return levels from which is answered
ALL = 2  # from which everything is


class SimulatedChain(PacketChain[SimulatedServo]):
    """Servos on one bus, set up for streaming at the chain's baud rate.

    `on_goal` is called with each goal position that a servo takes.
    """

    goal = "goal_position"

    def __init__(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> None:
        servos = [SimulatedServo(MODELS[servo.model], servo.id, servo.zero, now) for servo in chain.servos]
        for servo in servos:
            servo.set("return_delay_time", 0)
        super().__init__(chain, servos, now, on_goal)

    def _is_answered(self, servo: SimulatedServo, code: int) -> bool:
        return servo.get("status_return_level") >= LEVELS.get(code, ALL)

    def _errors(self, servo: SimulatedServo) -> int:
        return servo.said()

    def _delay(self, servo: SimulatedServo) -> float:
        return servo.get("return_delay_time") * RETURN_DELAY_UNIT

    def _perform(self, servo: SimulatedServo, packet: Packet, now: float) -> bytes:
        if packet.code == FACTORY_RESET:
            servo.reset()
        elif packet.code not in KNOWN or (packet.code == Instruction.ACTION and servo.registered is None):
            servo.refuse(INSTRUCTION)
        return super()._perform(servo, packet, now)
