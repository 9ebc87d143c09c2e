"""The vendor's SDK as the judge of the simulated chain: what its tests share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

import pytest
from dynamixel_sdk import COMM_SUCCESS, PacketHandler, PortHandler

from robik.servo.brands.dynamixel.simulator.packet import Decoder
from robik.servo.brands.dynamixel.simulator.servo import WAKING
from robik.servo.simulator.port import PseudoTerminal
from robik.servo.simulator.server import Server

from .waiting import Waiting

RESULT_FAIL, INSTRUCTION, CRC, RANGE, LENGTH, LIMIT, ACCESS = range(1, 8)
ALERT = 0x80
AWAKE = WAKING + 0.001  # [s] after a reboot
OK = (COMM_SUCCESS, 0)


class JudgedPort(Waiting, PortHandler):
    """The SDK's own port; but silence counts only once the servos have dealt with all that was sent and every answer
    has been read, and clearing it throws away all that was under way, however long a busy machine takes.

    Args:
        name: of the port.
        traffic: of the chain behind it, see `Server.traffic`.
    """

    def __init__(self, name: str, traffic: Callable[[], tuple[int, int]]) -> None:
        super().__init__(name)
        self._traffic = traffic
        self._sent, self._read = traffic()

    def writePort(self, packet):
        written = super().writePort(packet)
        self._sent += written
        return written

    def readPort(self, length):
        data = super().readPort(length)
        self._read += len(data)
        return data

    def clearPort(self):
        self.rest()

    def isPacketTimeout(self):
        return super().isPacketTimeout() and self._is_quiet

    @property
    def _is_quiet(self) -> bool:
        dealt_with, answered = self._traffic()
        return dealt_with >= self._sent and answered <= self._read

    def rest(self) -> bytes:
        """What comes until the line is quiet."""
        data = bytearray()
        while not self._is_quiet or self.getBytesAvailable():
            data += self.readPort(4096)
            time.sleep(0.0002)
        return bytes(data)


@pytest.fixture
def wire(simulator):
    """Servos whose time stands still, but for what the test lets pass."""
    simulator.hold()
    port = JudgedPort(simulator.port, lambda: simulator.command("traffic"))
    assert port.openPort()
    assert port.setBaudRate(1_000_000)
    yield port, PacketHandler(2.0)
    port.closePort()


@pytest.fixture
def sdk_of():
    """The SDK on a simulated chain in this process, for chains of which there are many."""

    @contextmanager
    def open_chain(chain):
        server = Server(chain, PseudoTerminal())
        server.clock.hold()
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        port = JudgedPort(server.port.name, lambda: server.traffic)
        assert port.setBaudRate(1_000_000)
        yield PacketHandler(2.0), port
        port.closePort()
        server.end()
        thread.join()

    return open_chain


@pytest.fixture
def port(wire):
    return wire[0]


@pytest.fixture
def sdk(wire):
    return wire[1]


def little(value, size):
    return list(value.to_bytes(size, "little", signed=value < 0))


def send_raw(port, data):
    port.clearPort()
    port.writePort(data)
    return Decoder().feed(port.rest())
