"""The vendor's SDK as the judge of the simulated chain: what its tests share."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest
from dynamixel_sdk import COMM_SUCCESS, PacketHandler, PortHandler

from robik.servo.simulator.packet import Decoder
from robik.servo.simulator.port import PseudoTerminal
from robik.servo.simulator.server import Server

RESULT_FAIL, INSTRUCTION, CRC, RANGE, LENGTH, LIMIT, ACCESS = range(1, 8)
ALERT = 0x80
WAKING = 0.15  # [s] and a little more, after a reboot
OK = (COMM_SUCCESS, 0)


@pytest.fixture
def wire(simulator, monkeypatch):
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 60)  # [ms]: the machine may be busy with other things
    port = PortHandler(simulator.port)
    assert port.openPort()
    assert port.setBaudRate(1_000_000)
    yield port, PacketHandler(2.0)
    port.closePort()


@pytest.fixture
def sdk_of(monkeypatch):
    """The SDK on a simulated chain in this process, for chains of which there are many."""
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 60)

    @contextmanager
    def open_chain(chain):
        server = Server(chain, PseudoTerminal())
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        port = PortHandler(server.port.name)
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


def send_raw(port, data, wait=0.1):
    port.clearPort()
    port.writePort(data)
    time.sleep(wait)
    return Decoder().feed(bytes(port.readPort(4096)))
