"""Packets of Dynamixel's Protocol 1.0, and of the protocols that others made of it: a header, id, length, and a check.

instruction   FF FF id length instruction parameters... check
answer        FF FF id length error       parameters... check

The length counts what follows it. The check is the complement of the sum of all from the id on, of one byte: one in 256
broken packets passes, so that whatever matters is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

HEADER = b"\xff\xff"
BROADCAST = 0xFE  # the id that every servo hears
HIGHEST_ID = 253
AROUND = 6  # bytes of a packet without parameters
LONGEST = 250  # bytes of a packet: the vendors' SDKs take no longer one


class Instruction(IntEnum):
    """Requests that a packet may make."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    SYNC_READ = 0x82  # of Feetech's servos alone
    SYNC_WRITE = 0x83


HARMLESS = (Instruction.PING, Instruction.READ, Instruction.SYNC_READ)  # they change nothing


class Packet(NamedTuple):
    """An instruction or an answer whose check was right.

    Attributes:
        id: of the servo.
        code: the instruction, or in an answer the servo's error bits.
        parameters: the rest.
    """

    id: int
    code: int
    parameters: bytes


def check(data: bytes) -> int:
    """Return the check, 0 to 255, of the bytes from the id on."""
    return ~sum(data) & 0xFF


def encode(id: int, code: int, parameters: bytes = b"") -> bytes:
    """Return the bytes of a packet to an id, or `BROADCAST`; `code` is the instruction, or an answer's error bits."""
    body = bytes([id, len(parameters) + 2, code]) + parameters
    return HEADER + body + bytes([check(body)])


def sync_read(address: int, size: int, ids: Sequence[int]) -> bytes:
    """Return a packet that asks servos for the same bytes of their tables."""
    return encode(BROADCAST, Instruction.SYNC_READ, bytes([address, size, *ids]))


def sync_writes(
    address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int], longest: int = LONGEST
) -> Iterator[bytes]:
    """Yield packets that write a block of `size` bytes into the table of each servo, as few as there can be.

    `longest` is the number of bytes that a packet may have.
    """
    most = (longest - AROUND - 2) // (size + 1)
    for k in range(0, len(ids), most):
        parts = [bytes([id]) + block for id, block in zip(ids[k : k + most], blocks[k : k + most], strict=True)]
        yield encode(BROADCAST, Instruction.SYNC_WRITE, bytes([address, size]) + b"".join(parts))


def packets(data: bytes) -> Iterator[tuple[Packet, int]]:
    """Yield the whole packets among bytes, whatever is between them, each with the place of the byte behind it."""
    start = data.find(HEADER)
    while 0 <= start <= len(data) - AROUND:
        end = start + 4 + data[start + 3]
        body = data[start + 2 : end - 1]
        if data[start + 3] >= 2 and data[start + 2] <= BROADCAST and end <= len(data) and check(body) == data[end - 1]:
            yield Packet(body[0], body[2], body[3:]), end
            start = data.find(HEADER, end)
        else:
            start = data.find(HEADER, start + 1)
