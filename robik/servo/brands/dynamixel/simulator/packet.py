"""Protocol 2.0 as bytes: FF FF FD 00 | id | length | instruction | parameters | CRC.

`length` counts what follows it. Inside instruction and parameters, FF FF FD is sent as FF FF FD FD ("stuffing"), so
that a header never occurs there. The player leaves all this to the vendor's SDK; this side of the wire belongs to the
simulated chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

HEADER = b"\xff\xff\xfd"
BROADCAST = 0xFE
STATUS = 0x55
ALERT = 0x80  # in a status packet's error byte: the servo has a hardware error
LONGEST = 4096  # of a packet [bytes]: a longer length is noise


class Instruction(IntEnum):
    """Instructions of packets."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    FACTORY_RESET = 0x06
    REBOOT = 0x08
    CLEAR = 0x10
    BACKUP = 0x20
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83
    FAST_SYNC_READ = 0x8A
    BULK_READ = 0x92
    BULK_WRITE = 0x93
    FAST_BULK_READ = 0x9A


class PacketError(IntEnum):
    """The error number of a status packet."""

    NONE = 0
    RESULT_FAIL = 1
    INSTRUCTION = 2
    CRC = 3
    DATA_RANGE = 4
    DATA_LENGTH = 5
    DATA_LIMIT = 6
    ACCESS = 7


@dataclass(frozen=True)
class Packet:
    """A packet as received, stuffing removed; `intact` tells whether its CRC was right."""

    id: int
    instruction: int
    parameters: bytes
    intact: bool = True


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x8005 if crc & 0x8000 else crc << 1
        table.append(crc & 0xFFFF)
    return tuple(table)


_CRC_TABLE = _crc_table()


def crc16(data: bytes | bytearray, crc: int = 0) -> int:
    """Return the CRC-16 of polynomial 0x8005, from the top bit, continued from `crc`."""
    for byte in data:
        crc = ((crc << 8) & 0xFFFF) ^ _CRC_TABLE[(crc >> 8) ^ byte]
    return crc


def stuffed(body: bytes) -> bytes:
    """Return instruction and parameters as they go over the wire: with one byte after each header inside."""
    return body.replace(HEADER, HEADER + b"\xfd")


def unstuffed(body: bytes) -> bytes:
    """Return the reverse of `stuffed`."""
    return body.replace(HEADER + b"\xfd", HEADER)


def encode(id: int, instruction: int, parameters: bytes) -> bytes:
    """Return a whole packet."""
    body = stuffed(bytes([instruction]) + parameters)
    head = HEADER + bytes([0, id]) + (len(body) + 2).to_bytes(2, "little")
    return head + body + crc16(head + body).to_bytes(2, "little")


def encode_status(id: int, error: int, data: bytes = b"") -> bytes:
    """Return a servo's answer; error 0 is none."""
    return encode(id, STATUS, bytes([error]) + data)


def encode_fast_status(answers: list[tuple[int, int, bytes]], expected: int) -> bytes:
    """Return the one status packet of a fast read.

    To it each servo adds error, id, data and the CRC of all before it: those in `answers`, up to the first that is
    silent. The head promises `expected` bytes, which all servos together would add.
    """
    packet = bytearray(HEADER + bytes([0, BROADCAST]) + (expected + 1).to_bytes(2, "little") + bytes([STATUS]))
    for id, error, data in answers:
        packet += bytes([error, id]) + data
        packet += crc16(packet).to_bytes(2, "little")
    return bytes(packet)


class Decoder:
    """Finds packets in a stream of bytes, whatever noise is between them."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """Return the packets completed by these bytes; a half one is kept for later."""
        self._buffer += data
        packets: list[Packet] = []
        while True:
            start = self._header()
            if start < 0:
                del self._buffer[: max(0, len(self._buffer) - 3)]  # what is left may be half a header
                return packets
            del self._buffer[:start]
            if len(self._buffer) < 7:
                return packets
            length = int.from_bytes(self._buffer[5:7], "little")
            if not 3 <= length <= LONGEST:
                del self._buffer[:3]
                continue
            if len(self._buffer) < 7 + length:
                return packets
            whole = bytes(self._buffer[: 7 + length])
            intact = crc16(whole[:-2]) == int.from_bytes(whole[-2:], "little")
            # a broken length would swallow the next packets: after a bad CRC, look again right behind this header
            del self._buffer[: len(whole) if intact else 3]
            body = unstuffed(whole[7:-2])
            packets.append(Packet(whole[4], body[0], body[1:], intact))

    def _header(self) -> int:
        start = self._buffer.find(HEADER)
        while 0 <= start < len(self._buffer) - 3 and self._buffer[start + 3] == 0xFD:  # stuffing, not a header
            start = self._buffer.find(HEADER, start + 3)
        return start


class TableError(Exception):
    """A read or write that the servo refuses, with the error number it answers."""

    def __init__(self, error: PacketError) -> None:
        super().__init__(error.name)
        self.error = error
