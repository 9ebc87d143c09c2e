"""Packets of Feetech's protocol, from the vendor's "Communication Protocol Manual" of the SMS and STS series."""

from __future__ import annotations

from collections.abc import Iterator

from tests.servo.independent.wire import Instruction

BROADCAST = 0xFE
PING, READ, WRITE, REG_WRITE, ACTION, SYNC_READ, SYNC_WRITE = 1, 2, 3, 4, 5, 0x82, 0x83


def seal(content: bytes) -> bytes:
    """Return a packet around an id, a length, a code and parameters."""
    total = 0
    for byte in content:
        total = (total + byte) % 256
    return b"\xff\xff" + content + bytes([255 - total])


def status(id: int, error: int, data: bytes = b"") -> bytes:
    """Return the bytes of an answer."""
    return seal(bytes([id, 2 + len(data), error]) + data)


class Decoder:
    """Instructions out of a stream of bytes.

    Attributes:
        rejected: how many packets had a wrong checksum; nobody answers those.
    """

    def __init__(self) -> None:
        self._waiting = bytearray()
        self.rejected = 0

    def reset(self) -> None:
        """Forget a packet whose rest never came."""
        self._waiting.clear()

    def feed(self, data: bytes) -> Iterator[tuple[Instruction, int]]:
        """Yield each packet that is complete now, and how many bytes came after it."""
        self._waiting += data
        while True:
            while len(self._waiting) >= 2 and self._waiting[:2] != b"\xff\xff":
                del self._waiting[0]
            if len(self._waiting) < 4:
                return
            id, length = self._waiting[2], self._waiting[3]
            if id == 0xFF or length < 2:
                del self._waiting[0]
                continue
            if len(self._waiting) < 4 + length:
                return
            whole = bytes(self._waiting[: 4 + length])
            if seal(whole[2:-1]) != whole:
                self.rejected += 1
                del self._waiting[0]
                continue
            del self._waiting[: len(whole)]
            yield Instruction(id, whole[4], whole[5:-1]), len(self._waiting)
