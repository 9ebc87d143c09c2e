"""The vendor's SDK as the judge of packets and servos of Protocol 1.0."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dynamixel_sdk import COMM_SUCCESS, PortHandler, Protocol1PacketHandler

from .independent import Dynamixel1Chain

OK = (COMM_SUCCESS, 0)
PATIENCE = 250.0  # [ms] that an answer may take on a busy machine


class PatientPort(PortHandler):
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


@pytest.fixture
def servos() -> Iterator[Dynamixel1Chain]:
    with Dynamixel1Chain(ids=(1, 2, 3)) as chain:
        yield chain
