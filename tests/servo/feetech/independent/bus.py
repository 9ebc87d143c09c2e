"""Instructions and answers of Feetech servos on one bus."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.servo.independent.bus import Answer
from tests.servo.independent.wire import Instruction

from . import wire
from .servo import Servo
from .table import BAUD_RATES

SHORTEST_DELAY = 1e-4  # [s]


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
        if packet.code == wire.SYNC_WRITE:
            for k in range(2, len(data) - data[1], 1 + data[1]):
                if data[k] in hearing:
                    hearing[data[k]].write(data[0], data[k + 1 : k + 1 + data[1]])
            return []
        if packet.code == wire.SYNC_READ:
            return self._answer_in_turn(data, hearing)
        if packet.id == wire.BROADCAST:
            for servo in hearing.values():
                _do(servo, packet)
            every = sorted(hearing.items()) if packet.code == wire.PING else []
            return [answer for id, servo in every if (answer := self._answer(servo, id, b"")).data]
        if packet.id not in hearing:
            return []
        servo = hearing[packet.id]
        said = _do(servo, packet)
        if packet.code in (wire.PING, wire.READ) or servo.get("response_level"):
            return [answer for answer in [self._answer(servo, packet.id, said)] if answer.data]
        return []

    def _answer_in_turn(self, data: bytes, hearing: dict[int, Servo]) -> list[Answer]:
        """Return the answers to a Sync Read; one that is missing leaves those behind it waiting for ever."""
        answers = []
        for id in data[2:]:
            answer = self._answer(hearing[id], id, hearing[id].read(data[0], data[1])) if id in hearing else None
            if answer is None or not answer.data:
                break
            answers.append(answer)
        return answers

    def _hears(self, servo: Servo, baud_rate: int | None) -> bool:
        if servo.is_deaf() or baud_rate not in (None, BAUD_RATES[servo.get("baud_rate")]):
            return False
        return not servo.faults.misses or self._chance.random() >= servo.faults.misses

    def _answer(self, servo: Servo, id: int, data: bytes) -> Answer:
        faults = servo.faults
        answer = Answer(faults.answer(id, servo.get("status"), data), SHORTEST_DELAY + faults.delay(self._chance))
        servo.faults = faults.after_an_answer()
        return answer


def _do(servo: Servo, packet: Instruction) -> bytes:
    data = packet.parameters
    match packet.code:
        case wire.READ if len(data) == 2:
            return servo.read(data[0], data[1])
        case wire.WRITE if len(data) > 1:
            servo.write(data[0], data[1:])
        case wire.REG_WRITE if len(data) > 1:
            servo.registered = data[0], data[1:]
        case wire.ACTION if servo.registered is not None:
            registered, servo.registered = servo.registered, None
            servo.write(*registered)
    return b""
