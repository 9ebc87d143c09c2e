"""A simulated chain: packets in, packets out, byte for byte as servos behind one bus would answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....chain.chain import ServoChain
from ....simulator.chain import TableChain
from ....simulator.simulated import Answer, OnGoal
from ..models import FAST_READ_FIRMWARE, MODELS
from .packet import (
    ALERT,
    BROADCAST,
    Decoder,
    Instruction,
    Packet,
    PacketError,
    TableError,
    encode_fast_status,
    encode_status,
)
from .servo import SimulatedServo

DELAY_UNIT = 2e-6  # [s] of the return delay entry
RESET_ALL = 0xFF
CLEAR_TURNS = bytes([0x01, 0x44, 0x58, 0x4C, 0x22])
STORE_BACKUP, RESTORE_BACKUP = b"\x01CTRL", b"\x02CTRL"
ANSWERS_READS, ANSWERS_ALL = 1, 2  # status return levels; a ping is answered at any
SEVERAL = (
    Instruction.SYNC_READ,
    Instruction.SYNC_WRITE,
    Instruction.FAST_SYNC_READ,
    Instruction.BULK_READ,
    Instruction.BULK_WRITE,
    Instruction.FAST_BULK_READ,
)
FAST = (Instruction.FAST_SYNC_READ, Instruction.FAST_BULK_READ)


class SimulatedChain(TableChain[SimulatedServo, Packet]):
    """Servos on one bus, set up for streaming, without return delay.

    `on_goal` is called with each goal position that a servo takes.
    """

    def __init__(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> None:
        servos = [SimulatedServo(MODELS[servo.model], servo.id, servo.zero, now) for servo in chain.servos]
        super().__init__(chain, servos, now, on_goal)
        for servo in servos:
            servo.set("return_delay_time", 0)
        self._decoder = Decoder()

    def servo(self, id: int) -> SimulatedServo | None:
        """Return the servo with this id, or None."""
        return next((servo for servo in self.servos if servo.id == id), None)

    def _packets(self, data: bytes, is_new: bool) -> Iterable[Packet]:
        if is_new:
            self._decoder = Decoder()
        return self._decoder.feed(data)

    def _answers(self, packet: Packet, there: Sequence[SimulatedServo], now: float) -> list[Answer]:
        return [*self._answers_of_servos(packet, there, now), *self._answers_of_board(packet)]

    def _answers_of_board(self, packet: Packet) -> list[Answer]:
        """Answer as a board with a sensor: pings, reads, and sync reads of nobody else."""
        board = self.board
        if board is None or board.is_silent or not packet.intact:
            return []
        is_asked, parameters = packet.id == board.id, packet.parameters
        is_read = packet.instruction == Instruction.READ and is_asked and len(parameters) == 4
        is_sync_read = packet.instruction == Instruction.SYNC_READ and parameters[4:] == bytes([board.id])
        if is_read or is_sync_read:
            data = board.read(*_span(parameters))
        elif packet.instruction == Instruction.PING and (is_asked or packet.id == BROADCAST):
            data = board.number.to_bytes(2, "little") + b"\x02"
        else:
            return []
        whole = board.spoilt(encode_status(board.id, PacketError.NONE, data))
        return [Answer(whole, self._wire_time(self.servos[0], whole))]

    def _answers_of_servos(self, packet: Packet, there: Sequence[SimulatedServo], now: float) -> list[Answer]:
        if packet.instruction in SEVERAL:
            if packet.id != BROADCAST or not packet.intact:
                return []
            try:
                return self._answer_several(packet, there, now)
            except TableError:
                return []  # too short to say what is meant
        answers = []
        for servo in sorted(there, key=lambda servo: servo.get("id")):
            if packet.id not in (BROADCAST, servo.get("id"), servo.get("secondary_id")):
                continue
            is_asked = packet.id == servo.get("id")
            level = servo.get("status_return_level")  # as it was when the packet came
            error, data = self._execute(servo, packet, now)
            needed = {Instruction.PING: 0, Instruction.READ: ANSWERS_READS}.get(packet.instruction, ANSWERS_ALL)  # type: ignore[call-overload]
            if level >= needed and (is_asked or (packet.id == BROADCAST and packet.instruction == Instruction.PING)):
                answers.append(self._status(servo, packet.id if is_asked else servo.get("id"), error, data))
        return answers

    def _execute(self, servo: SimulatedServo, packet: Packet, now: float) -> tuple[PacketError, bytes]:
        if not packet.intact:
            return PacketError.CRC, b""
        try:
            return PacketError.NONE, self._perform(servo, packet, now)
        except TableError as refusal:
            return refusal.error, b""

    def _perform(self, servo: SimulatedServo, packet: Packet, now: float) -> bytes:
        parameters = packet.parameters
        match packet.instruction:
            case Instruction.PING:
                return servo.read(0, 2) + servo.read(6, 1)
            case Instruction.READ:
                return servo.read(*_span(parameters)) if packet.id != BROADCAST else b""
            case Instruction.WRITE:
                self._write(servo, _number(parameters, 0), parameters[2:], now)
            case Instruction.REG_WRITE:
                servo.checked(_number(parameters, 0), parameters[2:])
                servo.registered = (_number(parameters, 0), parameters[2:])
            case Instruction.ACTION:
                if servo.registered is None:
                    raise TableError(PacketError.INSTRUCTION)
                registered, servo.registered = servo.registered, None
                self._write(servo, *registered, now)
            case Instruction.REBOOT:
                servo.reboot(now)
            case Instruction.FACTORY_RESET:
                if len(parameters) != 1:
                    raise TableError(PacketError.DATA_LENGTH)
                if packet.id != BROADCAST or parameters[0] != RESET_ALL:  # nobody wants a whole chain with one id
                    servo.factory_reset(parameters[0], now)
            case Instruction.CLEAR:
                if parameters != CLEAR_TURNS:
                    raise TableError(PacketError.DATA_RANGE)
                servo.clear_turns()
            case Instruction.BACKUP if parameters == STORE_BACKUP:
                servo.store_backup()
            case Instruction.BACKUP if parameters == RESTORE_BACKUP:
                servo.restore_backup(now)
            case Instruction.BACKUP:
                raise TableError(PacketError.DATA_RANGE)
            case _:
                raise TableError(PacketError.INSTRUCTION)
        return b""

    def _write(self, servo: SimulatedServo, address: int, data: bytes, now: float) -> None:
        for item, value in servo.write(address, data):
            if item.name == "goal_position":
                self._take_note(servo, value, now)

    def _answer_several(self, packet: Packet, there: Sequence[SimulatedServo], now: float) -> list[Answer]:
        if packet.instruction in FAST:  # which older firmware does not know
            there = [servo for servo in there if servo.get("firmware_version") >= FAST_READ_FIRMWARE]
        by_id = {servo.get("id"): servo for servo in there}
        match packet.instruction:
            case Instruction.SYNC_WRITE:
                writes = _sync_writes(packet.parameters)
            case Instruction.BULK_WRITE:
                writes = _bulk_writes(packet.parameters)
            case _:
                return self._answer_reads(packet, by_id)
        for id, address, data in writes:
            if id in by_id:
                self._write_unanswered(by_id[id], address, data, now)
        return []

    def _write_unanswered(self, servo: SimulatedServo, address: int, data: bytes, now: float) -> None:
        try:
            self._write(servo, address, data, now)
        except TableError:
            return  # as on the real bus: nobody is told

    def _answer_reads(self, packet: Packet, by_id: dict[int, SimulatedServo]) -> list[Answer]:
        if packet.instruction in (Instruction.SYNC_READ, Instruction.FAST_SYNC_READ):
            address, size = _span(packet.parameters)
            reads = [(id, address, size) for id in packet.parameters[4:]]
        else:
            reads = [(p[0], *_span(p[1:])) for p in _pieces(packet.parameters, 5)]
        answered: list[tuple[SimulatedServo, int, int, bytes]] = []
        for id, address, size in reads:
            if id not in by_id:
                break  # each servo answers when the one before it has: behind a missing one there is silence
            servo = by_id[id]
            if servo.get("status_return_level") < ANSWERS_READS:
                continue
            try:
                answered.append((servo, id, PacketError.NONE, servo.read(address, size)))
            except TableError as refusal:
                answered.append((servo, id, refusal.error, b""))
        if packet.instruction in (Instruction.SYNC_READ, Instruction.BULK_READ):
            return [self._status(servo, id, error, data) for servo, id, error, data in answered]
        if not answered:
            return []
        fields = [(id, error | _alert(servo), data) for servo, id, error, data in answered]
        whole = encode_fast_status(fields, sum(size + 4 for _, _, size in reads))
        return [Answer(whole, sum(_delay(servo) for servo, *_ in answered) + self._wire_time(answered[0][0], whole))]

    def _status(self, servo: SimulatedServo, id: int, error: int, data: bytes) -> Answer:
        whole = encode_status(id, error | _alert(servo), data)
        return Answer(whole, _delay(servo) + self._wire_time(servo, whole))


def _alert(servo: SimulatedServo) -> int:
    return ALERT if servo.get("hardware_error_status") else 0


def _delay(servo: SimulatedServo) -> float:
    return servo.get("return_delay_time") * DELAY_UNIT


def _number(data: bytes, at: int) -> int:
    if len(data) < at + 2:
        raise TableError(PacketError.DATA_LENGTH)
    return int.from_bytes(data[at : at + 2], "little")


def _span(data: bytes) -> tuple[int, int]:
    return _number(data, 0), _number(data, 2)


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[k : k + size] for k in range(0, len(data) - size + 1, size))


def _sync_writes(parameters: bytes) -> Iterable[tuple[int, int, bytes]]:
    address, size = _span(parameters)
    return [(piece[0], address, piece[1:]) for piece in _pieces(parameters[4:], 1 + size)]


def _bulk_writes(parameters: bytes) -> Iterable[tuple[int, int, bytes]]:
    writes, k = [], 0
    while k + 5 <= len(parameters):
        address, size = _span(parameters[k + 1 :])
        writes.append((parameters[k], address, parameters[k + 5 : k + 5 + size]))
        k += 5 + size
    return writes
