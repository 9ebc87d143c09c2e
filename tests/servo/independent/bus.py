"""Instructions and answers of the servos on one bus, from the e-Manual's page "DYNAMIXEL Protocol 2.0"."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import wire
from .registers import Refusal
from .rules import is_newer
from .servo import Servo
from .table import BAUD_RATES
from .wire import BROADCAST, Instruction

DELAY_UNIT = 2e-6  # [s] of the return delay
CLEAR_KEY, STORE_KEY, RESTORE_KEY = b"\x01DXL\x22", b"\x01CTRL", b"\x02CTRL"
SEVERAL = (wire.SYNC_READ, wire.SYNC_WRITE, wire.FAST_SYNC_READ, wire.BULK_READ, wire.BULK_WRITE, wire.FAST_BULK_READ)
FAST = (wire.FAST_SYNC_READ, wire.FAST_BULK_READ)
SILENT, ON_READ, ON_ALL = range(3)  # status return levels


class Answer(NamedTuple):
    """Bytes of a servo, and how long after the one before it they begin [s]."""

    data: bytes
    seconds: float


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
        self.advance(now)
        hearing = [servo for servo in self.servos if self._hears(servo, baud_rate)]
        for servo in hearing:
            servo.hear(now)
        if packet.code in SEVERAL:
            return self._obey_several(packet, hearing) if packet.id == BROADCAST else []
        answers = []
        for servo in sorted(hearing, key=lambda servo: servo.get("id")):
            id, level = servo.get("id"), servo.get("status_return_level")
            if packet.id not in (BROADCAST, id, servo.get("secondary_id")):
                continue
            error, data = _perform(servo, packet, now)
            needed = {wire.PING: SILENT, wire.READ: ON_READ}.get(packet.code, ON_ALL)
            is_asked = packet.id == id or (packet.id == BROADCAST and packet.code == wire.PING)
            if is_asked and level >= needed:
                answers.append(self._answer(servo, id, error, data))
        return [answer for answer in answers if answer.data]

    def _hears(self, servo: Servo, baud_rate: int | None) -> bool:
        if servo.is_deaf() or baud_rate not in (None, BAUD_RATES[servo.get("baud_rate")]):
            return False
        return not servo.faults.misses or self._chance.random() >= servo.faults.misses

    def _answer(self, servo: Servo, id: int, error: int, data: bytes) -> Answer:
        faults = servo.faults
        answer = Answer(faults.answer(id, error | _alert(servo), data), self._delay(servo))
        servo.faults = faults.after_an_answer()
        return answer

    def _delay(self, servo: Servo) -> float:
        return servo.get("return_delay_time") * DELAY_UNIT + servo.faults.delay(self._chance)

    def _obey_several(self, packet: Instruction, hearing: Sequence[Servo]) -> list[Answer]:
        by_id = {servo.get("id"): servo for servo in hearing}
        if packet.code in (wire.SYNC_WRITE, wire.BULK_WRITE):
            for id, address, data in wire.written(packet.code, packet.id, packet.parameters):
                if id in by_id:
                    _write_unanswered(by_id[id], address, data)
            return []
        reads = wire.asked(packet.code, packet.parameters)
        answer = self._answer_fast if packet.code in FAST else self._answer_each
        return answer(reads, by_id)

    def _answer_each(self, reads: list[tuple[int, int, int]], by_id: dict[int, Servo]) -> list[Answer]:
        """Return an answer of each servo; one that is missing leaves those behind it waiting for ever."""
        answers = []
        for id, address, size in reads:
            if id not in by_id or by_id[id].get("status_return_level") < ON_READ:
                break
            servo = by_id[id]
            answer = self._answer(servo, id, *_read(servo, address, size))
            if not answer.data:
                break
            answers.append(answer)
        return answers

    def _answer_fast(self, reads: list[tuple[int, int, int]], by_id: dict[int, Servo]) -> list[Answer]:
        """Return the one answer to which each servo adds its part; it ends where one is missing."""
        parts: list[tuple[int, int, bytes]] = []
        delay, spoilers = 0.0, []
        for id, address, size in reads:
            servo = by_id.get(id)
            if servo is None or servo.faults.silent or not is_newer(servo):
                break
            error, data = _read(servo, address, size)
            answer_id = id if servo.faults.answer_id is None else servo.faults.answer_id
            parts.append((error | _alert(servo), answer_id, data))
            delay += self._delay(servo)
            spoilers.append(servo.faults)
            servo.faults = servo.faults.after_an_answer()
        if not parts:
            return []
        whole = wire.fast_status(parts, sum(size + 4 for _, _, size in reads))
        for faults in spoilers:
            whole = faults.spoil(whole)
        return [Answer(whole, delay)]


def _alert(servo: Servo) -> int:
    return wire.ALERT if servo.get("hardware_error_status") else 0


def _result(servo: Servo, act: Callable[[Servo], bytes | None]) -> tuple[int, bytes]:
    """Return the error and the data that an act of a servo gives."""
    try:
        return 0, act(servo) or b""
    except Refusal as refusal:
        return refusal.error, b""


def _write_unanswered(servo: Servo, address: int, data: bytes) -> None:
    _result(servo, lambda servo: servo.write(address, data))


def _read(servo: Servo, address: int, size: int) -> tuple[int, bytes]:
    return _result(servo, lambda servo: servo.read(address, size))


def _perform(servo: Servo, packet: Instruction, now: float) -> tuple[int, bytes]:
    return _result(servo, lambda servo: _do(servo, packet, now))


def _do(servo: Servo, packet: Instruction, now: float) -> bytes:
    parameters = packet.parameters
    match packet.code:
        case wire.PING:
            return servo.read(0, 2) + servo.read(6, 1)
        case wire.READ | wire.WRITE | wire.REG_WRITE:
            return _access(servo, packet)
        case wire.ACTION if servo.registered is not None:
            registered, servo.registered = servo.registered, None
            servo.write(*registered)
        case wire.REBOOT:
            servo.reboot(now)
        case wire.CLEAR if parameters == CLEAR_KEY:
            servo.clear_turns()
        case wire.BACKUP if not is_newer(servo):
            raise Refusal(wire.INSTRUCTION_ERROR)
        case wire.BACKUP if parameters == STORE_KEY:
            servo.back_up()
        case wire.BACKUP if parameters == RESTORE_KEY:
            servo.restore(now)
        case wire.CLEAR | wire.BACKUP:
            raise Refusal(wire.RANGE_ERROR)
        case wire.FACTORY_RESET:
            raise Refusal(wire.RESULT_FAIL)
        case _:
            raise Refusal(wire.INSTRUCTION_ERROR)
    return b""


def _access(servo: Servo, packet: Instruction) -> bytes:
    address, size = wire.number(packet.parameters, 0), wire.number(packet.parameters, 2)
    if address is None or (packet.code == wire.READ and size is None):
        raise Refusal(wire.LENGTH_ERROR)
    if packet.code == wire.READ:
        return servo.read(address, size or 0) if packet.id != BROADCAST else b""
    if packet.code == wire.WRITE:
        servo.write(address, packet.parameters[2:])
    else:
        servo.check(address, packet.parameters[2:])
        servo.registered = address, packet.parameters[2:]
    return b""
