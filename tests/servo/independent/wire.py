"""Packets of Dynamixel Protocol 2.0, from the e-Manual's page "DYNAMIXEL Protocol 2.0"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

HEADER = b"\xff\xff\xfd\x00"
STUFFED, PLAIN = b"\xff\xff\xfd\xfd", b"\xff\xff\xfd"
BROADCAST = 0xFE
LONGEST = 2048  # [bytes] of a length field that is believed

PING, READ, WRITE, REG_WRITE, ACTION, FACTORY_RESET, REBOOT = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08
CLEAR, BACKUP, STATUS = 0x10, 0x20, 0x55
SYNC_READ, SYNC_WRITE, FAST_SYNC_READ = 0x82, 0x83, 0x8A
BULK_READ, BULK_WRITE, FAST_BULK_READ = 0x92, 0x93, 0x9A

RESULT_FAIL, INSTRUCTION_ERROR, CRC_ERROR, RANGE_ERROR, LENGTH_ERROR, LIMIT_ERROR, ACCESS_ERROR = range(1, 8)
ALERT = 0x80


def _crc_row(byte: int) -> int:
    remainder = byte << 8
    for _ in range(8):
        remainder = (remainder << 1) ^ 0x8005 if remainder & 0x8000 else remainder << 1
    return remainder & 0xFFFF


_CRC_ROWS = tuple(_crc_row(byte) for byte in range(256))


def crc16(data: bytes, remainder: int = 0) -> int:
    """Return the CRC-16 with polynomial 0x8005, no reflection, initial value 0 or that of the bytes before these."""
    for byte in data:
        remainder = (remainder << 8 & 0xFFFF) ^ _CRC_ROWS[remainder >> 8 ^ byte]
    return remainder


def seal(data: bytes) -> bytes:
    """Append the checksum of all that comes before it."""
    return data + crc16(data).to_bytes(2, "little")


class Instruction(NamedTuple):
    """An instruction packet whose checksum was right."""

    id: int
    code: int
    parameters: bytes


def instruction(id: int, code: int, parameters: bytes = b"") -> bytes:
    """Return the bytes of an instruction packet."""
    body = (bytes([code]) + parameters).replace(PLAIN, STUFFED)
    return seal(HEADER + bytes([id]) + (len(body) + 2).to_bytes(2, "little") + body)


def status(id: int, error: int, data: bytes = b"") -> bytes:
    """Return the bytes of a status packet."""
    return instruction(id, STATUS, bytes([error]) + data)


def fast_status(answers: Sequence[tuple[int, int, bytes]], promised: int) -> bytes:
    """Return the one status packet that several servos answer a fast read with; it is not stuffed.

    Args:
        answers: error, id and data of each servo that answers.
        promised: the data bytes and four more of every servo that was asked, whether it answers or not.
    """
    whole = HEADER + bytes([BROADCAST]) + (promised + 1).to_bytes(2, "little") + bytes([STATUS])
    remainder = crc16(whole)
    for error, id, block in answers:
        part = bytes([error, id]) + block
        part += crc16(part, remainder).to_bytes(2, "little")  # of all before it, the checksums of others included
        whole, remainder = whole + part, crc16(part, remainder)
    return whole


class Decoder:
    """Instruction packets out of a stream of bytes.

    Attributes:
        rejected: how many packets had a wrong checksum; nobody answers those.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self.rejected = 0

    def reset(self) -> None:
        """Forget a packet whose rest never came."""
        self._pending.clear()

    def feed(self, data: bytes) -> Iterator[tuple[Instruction, int]]:
        """Yield each packet that is complete now, and how many bytes came after it."""
        self._pending += data
        while (start := self._pending.find(HEADER)) >= 0:
            del self._pending[:start]
            if len(self._pending) < 7:
                return
            end = 7 + int.from_bytes(self._pending[5:7], "little")
            if not 10 <= end <= 7 + LONGEST:
                del self._pending[:4]
                continue
            if len(self._pending) < end:
                return
            whole = bytes(self._pending[:end])
            if seal(whole[:-2]) != whole:
                self.rejected += 1
                del self._pending[:4]  # a packet may begin inside what was taken for one
                continue
            del self._pending[:end]
            body = whole[7:-2].replace(STUFFED, PLAIN)
            yield Instruction(whole[4], body[0], body[1:]), len(self._pending)
        del self._pending[: max(0, len(self._pending) - 3)]  # a header may have begun


def number(data: bytes, start: int) -> int | None:
    """Return the two bytes at an index as a number; None where the data ends before."""
    return int.from_bytes(data[start : start + 2], "little") if len(data) >= start + 2 else None


def written(code: int, id: int, parameters: bytes) -> list[tuple[int, int, bytes]]:
    """Return the servo id, first address and bytes of everything that a packet writes; empty for other packets."""
    address, size = number(parameters, 0), number(parameters, 2)
    if code in (WRITE, REG_WRITE) and address is not None:
        return [(id, address, parameters[2:])]
    if code == SYNC_WRITE and address is not None and size is not None:
        blocks = range(4, len(parameters) - size, 1 + size)
        return [(parameters[k], address, parameters[k + 1 : k + 1 + size]) for k in blocks]
    return _bulk_written(parameters) if code == BULK_WRITE else []


def _bulk_written(parameters: bytes) -> list[tuple[int, int, bytes]]:
    writes, k = [], 0
    while k + 5 <= len(parameters):
        address = int.from_bytes(parameters[k + 1 : k + 3], "little")
        size = int.from_bytes(parameters[k + 3 : k + 5], "little")
        writes.append((parameters[k], address, parameters[k + 5 : k + 5 + size]))
        k += 5 + size
    return writes


def asked(code: int, parameters: bytes) -> list[tuple[int, int, int]]:
    """Return the servo id, address and size of everything that a packet for several servos reads."""
    if code in (SYNC_READ, FAST_SYNC_READ):
        address, size = number(parameters, 0), number(parameters, 2)
        return [(id, address, size) for id in parameters[4:]] if address is not None and size is not None else []
    pieces = (parameters[k : k + 5] for k in range(0, len(parameters) - 4, 5))
    return [(p[0], int.from_bytes(p[1:3], "little"), int.from_bytes(p[3:5], "little")) for p in pieces]
