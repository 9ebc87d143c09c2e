"""Instructions and answers of servos of Protocol 1.0 on one bus, from the e-Manual's page "Protocol 1.0"."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.servo.feetech.independent.wire import ACTION, BROADCAST, PING, READ, REG_WRITE, SYNC_WRITE, WRITE
from tests.servo.independent.bus import Answer
from tests.servo.independent.wire import Instruction

from .servo import UNKNOWN, Servo
from .table import BAUD_RATES

DELAY_UNIT = 2e-6  # [s] of the return delay
LEVELS = {PING: 0, READ: 1}  # return level from which an instruction is answered; all others from 2


class Bus:
    """Servos on one bus.

    Args:
        servos: all of them.
        chance: for random faults.
    """

    def __init__(self, servos: Sequence[Servo], chance: random.Random) -> None:
        self.servos, self._chance = servos, chance

    def advance(self, now: float) -> None:
        """Let time pass [s]."""
        for servo in self.servos:
            servo.advance(now)

    def obey(self, packet: Instruction, now: float, baud_rate: int | None) -> list[Answer]:
        """Return what the servos answer.

        Args:
            packet: that came.
            now: when its last byte had come [s].
            baud_rate: at which it was sent; None if that is unknown.
        """
        hearing = {servo.get("id"): servo for servo in self.servos if self._hears(servo, baud_rate)}
        for servo in hearing.values():
            servo.hear(now)
        data = packet.parameters
        if packet.code == SYNC_WRITE and packet.id == BROADCAST:
            for k in range(2, len(data) - data[1], 1 + data[1]):
                if data[k] in hearing:
                    hearing[data[k]].write(data[0], data[k + 1 : k + 1 + data[1]])
            return []
        if packet.id == BROADCAST:  # never answered
            for servo in hearing.values():
                _do(servo, packet)
            return []
        if packet.id not in hearing:
            return []
        servo = hearing[packet.id]
        is_answered = servo.get("return_level") >= LEVELS.get(packet.code, 2)
        said = _do(servo, packet)
        return [self._answer(servo, packet.id, said)] if is_answered and not servo.faults.silent else []

    def _hears(self, servo: Servo, baud_rate: int | None) -> bool:
        if servo.is_deaf() or baud_rate not in (None, BAUD_RATES.get(servo.get("baud_rate"))):
            return False
        return not servo.faults.misses or self._chance.random() >= servo.faults.misses

    def _answer(self, servo: Servo, id: int, data: bytes) -> Answer:
        faults, delay = servo.faults, servo.get("return_delay") * DELAY_UNIT
        answer = Answer(faults.answer(id, servo.errors(), data), delay + faults.delay(self._chance))
        servo.faults = faults.after_an_answer()
        return answer


def _do(servo: Servo, packet: Instruction) -> bytes:
    data = packet.parameters
    match packet.code:
        case code if code == PING:
            return b""
        case code if code == READ and len(data) == 2:
            return servo.read(data[0], data[1])
        case code if code == WRITE and len(data) > 1:
            servo.write(data[0], data[1:])
        case code if code == REG_WRITE and len(data) > 1:
            servo.registered = data[0], data[1:]
        case code if code == ACTION and servo.registered is not None:
            registered, servo.registered = servo.registered, None
            servo.write(*registered)
        case _:
            servo.wrong(UNKNOWN)
    return b""
