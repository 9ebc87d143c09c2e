"""The vendor's SDK as the judge of packets and servos of Protocol 1.0, and what its tests have in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from dynamixel_sdk import COMM_SUCCESS, PortHandler, Protocol1PacketHandler

from robik.servo.chain.chain import ServoChain, default_chain
from tests.servo.waiting import Waiting

from .independent import Dynamixel1Chain

OK = (COMM_SUCCESS, 0)
NAMES = ("a", "b", "c")
PATIENCE = 250.0  # [ms] that an answer may take on a busy machine


class PatientPort(Waiting, PortHandler):
    """The SDK's port, with more patience."""

    def setPacketTimeout(self, packet_length: int) -> None:
        self.setPacketTimeoutMillis(PATIENCE)


class Sdk(Protocol1PacketHandler):
    """The SDK on a port of its own."""

    def __init__(self, name: str) -> None:
        self.port = PatientPort(name)
        assert self.port.setBaudRate(1_000_000)

    def read(self, id: int, address: int, size: int = 2) -> tuple[int, int, int]:
        """Value, result and errors."""
        data, result, error = self.readTxRx(self.port, id, address, size)
        return int.from_bytes(bytes(data), "little"), result, error

    def write(self, id: int, address: int, value: int, size: int = 2) -> tuple[int, int]:
        """Result and errors."""
        return self.writeTxRx(self.port, id, address, size, list(value.to_bytes(size, "little")))

    def close(self) -> None:
        """Let go of the port."""
        self.port.closePort()


def chain_of(names: tuple[str, ...] = NAMES, model: str = "AX-12A") -> ServoChain:
    return default_chain(names, dict.fromkeys(names, (-2.0, 2.0)), model=model, brand="dynamixel1", robot="arm")


def eventually(is_so: Callable[[], object]) -> None:
    ends = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.fixture
def servos() -> Iterator[Dynamixel1Chain]:
    with Dynamixel1Chain(ids=(1, 2, 3)) as chain:
        yield chain
