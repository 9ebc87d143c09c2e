"""The vendor's SDK as the judge of the independent chain."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dynamixel_sdk import COMM_SUCCESS, GroupSyncRead, PacketHandler, PortHandler

from .independent import IndependentChain
from .waiting import Waiting

OK = (COMM_SUCCESS, 0)
LONGEST_START = 20.0  # [s]
PATIENCE = 0.25  # [s] that an answer may take on a busy machine


class PatientPort(Waiting, PortHandler):
    """The SDK's port, with more patience."""

    def setPacketTimeout(self, packet_length: int) -> None:
        self.setPacketTimeoutMillis(PATIENCE * 1000.0)


class Judge:
    """The vendor's SDK on a chain.

    Attributes:
        port, sdk: for what has no shorter form here.
    """

    def __init__(self, name: str) -> None:
        self.port, self.sdk = PatientPort(name), PacketHandler(2.0)
        assert self.port.openPort()
        assert self.port.setBaudRate(1_000_000)

    def write(self, id: int, address: int, size: int, value: int) -> tuple[int, int]:
        """Write an entry; returns the SDK's result and the servo's error."""
        return self.sdk.writeTxRx(self.port, id, address, size, little(value, size))

    def read(self, id: int, address: int, size: int) -> int:
        """Return an entry, as a signed number, from an answer without an error (an alert is none)."""
        data, result, error = self.sdk.readTxRx(self.port, id, address, size)
        assert (result, error & 0x7F) == OK, (result, error)
        return int.from_bytes(bytes(data), "little", signed=True)

    def group(self, address: int, size: int, ids: Any) -> GroupSyncRead:
        """Return a reader of several servos."""
        group = GroupSyncRead(self.port, self.sdk, address, size)
        for id in ids:
            group.addParam(id)
        return group

    def send(self, id: int, code: int, parameters: bytes = b"") -> int:
        """Send a packet that the SDK has no function for, with its own checksum; returns the error of the answer."""
        packet = [0, 0, 0, 0, id, len(parameters) + 3, 0, code, *parameters, 0, 0]
        assert self.sdk.txPacket(self.port, packet) == COMM_SUCCESS
        self.port.setPacketTimeout(0)
        answer, result = self.sdk.rxPacket(self.port, False)
        assert result == COMM_SUCCESS
        return answer[8]


def little(value: int, size: int) -> list[int]:
    """Return a number as the SDK takes it, byte for byte."""
    return list(value.to_bytes(size, "little", signed=value < 0))


def restart(servos: IndependentChain, judge: Judge, id: int = 1) -> None:
    """Reboot a servo by a packet, and wait until it has started."""
    assert judge.sdk.reboot(judge.port, id)[0] == COMM_SUCCESS
    ends = time.monotonic() + LONGEST_START
    while not servos.log.events(id=id, what="started"):
        assert time.monotonic() < ends, f"servo {id} never started"
        time.sleep(0.01)


@contextmanager
def opened(*ids: int, **options: Any) -> Iterator[tuple[IndependentChain, Judge]]:
    """Open a chain, and the SDK on it."""
    with IndependentChain(ids=ids or (1, 2, 3, 4), **options) as servos:
        judge = Judge(servos.port)
        yield servos, judge
        judge.port.closePort()


@pytest.fixture
def judged() -> Iterator[tuple[IndependentChain, Judge]]:
    """Four servos, and the SDK on them."""
    with opened() as pair:
        yield pair


@pytest.fixture
def servos(judged: tuple[IndependentChain, Judge]) -> IndependentChain:
    """The servos that the SDK judges."""
    return judged[0]


@pytest.fixture
def judge(judged: tuple[IndependentChain, Judge]) -> Judge:
    """The SDK."""
    return judged[1]
