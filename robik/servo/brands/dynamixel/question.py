"""A question to several servos whose answers nobody waits for: goals go out while they are on their way."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ....extras import extra
from ..wired.patience import LATENCY
from .packets import REFUSED, Packets
from .port import SerialPort

with extra("servo"):
    from dynamixel_sdk import BROADCAST_ID, COMM_SUCCESS

ASKING = (14, 1)  # bytes of a Sync Read: fixed, and per servo
ANSWER = 11  # bytes of an answer around its data
FAST_ANSWER = (8, 4)  # of the common answer to a Fast Sync Read: fixed, and around the data of each servo
TRIPS = (IndexError, KeyError, ValueError, TypeError)  # in which the SDK trips over garbage


class Question:
    """A question for the same bytes of several servos' tables; `fast`, all of them answer together."""

    def __init__(
        self,
        port: SerialPort,
        packets: Packets,
        ids: Sequence[int],
        address: int,
        size: int,
        fast: bool,
    ) -> None:
        self._port, self._packets, self._fast = port, packets, fast
        self._ids, self._address, self._size = list(ids), address, size
        self._tried, self._until = 0, 0.0

    @property
    def seconds(self) -> float:
        """Time of the question and its answers on the wire [s]."""
        return wire_bytes(len(self._ids), self._size, self._fast) * self._port.seconds_per_byte

    def send(self) -> None:
        """Ask. What arrives from here on is kept."""
        count = len(self._ids)
        self._packets.syncReadTx(self._port, self._address, self._size, self._ids, count, self._fast)
        self._port.is_using = False
        self._port.keep()
        self._until = time.perf_counter() + LATENCY + self.seconds

    def answers(self) -> dict[int, bytes] | None:
        """Return the bytes of each servo that answered, by id; None while answers may still come."""
        found = self._found()
        if found is not None:
            self._port.drop()
        return found

    def _found(self) -> dict[int, bytes] | None:
        data = self._port.arrived()
        if len(data) > max(self._tried, answer_bytes(len(self._ids), self._size, self._fast) - 1):
            self._tried = len(data)  # stuffed bytes, or garbage among them: then more is to come
            found = self._read(data)
            if len(found) == len(self._ids):
                return found
        return None if time.perf_counter() < self._until else self._read(data)

    def _read(self, data: bytes) -> dict[int, bytes]:
        arrived = _Arrived(data)
        try:
            return self._together(arrived) if self._fast else self._each(arrived)
        except TRIPS:
            return {}

    def _each(self, arrived: _Arrived) -> dict[int, bytes]:
        """Return what was answered one by one; who is silent leaves those behind it waiting for ever."""
        found = {}
        for id in self._ids:
            data, result, error = self._packets.readRx(arrived, id, self._size)
            if result != COMM_SUCCESS or len(data) != self._size:
                break
            if not error & REFUSED:
                found[id] = bytes(data)
        return found

    def _together(self, arrived: _Arrived) -> dict[int, bytes]:
        each = self._size + FAST_ANSWER[1]
        data, result, _ = self._packets.fastSyncReadRx(arrived, BROADCAST_ID, each * len(self._ids))
        pieces = [data[k : k + each] for k in range(0, len(data), each)] if result == COMM_SUCCESS else []
        # a piece: error, id, data, and two bytes of a checksum
        whole = [piece for piece in pieces if len(piece) >= self._size + 2 and not piece[0] & REFUSED]
        return {piece[1]: bytes(piece[2 : 2 + self._size]) for piece in whole if piece[1] in self._ids}


class _Arrived:
    """A port for the SDK whose bytes are there: what is not among them does not come."""

    def __init__(self, data: bytes) -> None:
        self._data, self.is_using = data, False

    def readPort(self, length: int) -> bytes:
        taken, self._data = self._data[:length], self._data[length:]
        return taken

    def isPacketTimeout(self) -> bool:
        return True


def wire_bytes(count: int, size: int, fast: bool) -> int:
    """Return the bytes of a question to `count` servos and of their answers, without stuffing."""
    return ASKING[0] + ASKING[1] * count + answer_bytes(count, size, fast)


def answer_bytes(count: int, size: int, fast: bool) -> int:
    """Return the bytes of the answers of `count` servos, `size` of each one's table; stuffing may make them more."""
    return FAST_ANSWER[0] + (size + FAST_ANSWER[1]) * count if fast else (size + ANSWER) * count
