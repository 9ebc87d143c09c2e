"""Ports of a simulated chain that are pulled out while somebody is busy at both ends."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import closing, suppress

import pytest
import serial

from robik.errors import ServoError
from robik.servo.chain.chain import default_chain
from robik.servo.simulator.port import PseudoTerminal, Socket
from robik.servo.simulator.process import SimulatorProcess

TIMES, RATE = 300, 38400


class Client:
    """The other end. pyserial's takes 0.3 s to close a socket."""

    def __init__(self, name):
        host, _, port = name.removeprefix("socket://").partition(":")
        self._line = (
            socket.create_connection((host, int(port)), 2.0) if port else serial.Serial(name, RATE, timeout=2.0)
        )
        self.close = self._line.close

    def ask(self, words):
        if isinstance(self._line, socket.socket):
            self._line.sendall(words)
            return self._line.recv(len(words))
        self._line.write(words)
        return self._line.read(len(words))


@pytest.mark.parametrize("kind", [Socket, *([PseudoTerminal] if hasattr(os, "openpty") else [])])
def test_whoever_serves_a_port_outlives_that_it_is_pulled_out(kind):
    port, ended, faults = kind(), threading.Event(), []

    def serve():
        try:
            while not ended.is_set():
                port.write(port.read(0.001))
                assert port.baud_rate in (None, RATE)
        except Exception as fault:
            faults.append(fault)

    def keep_asking(client):
        with suppress(OSError, TypeError):  # TypeError: pyserial's, where another thread closes it
            while client.ask(b"who is there"):
                pass

    served = threading.Thread(target=serve)
    served.start()
    for _ in range(TIMES):
        with closing(Client(port.name)) as client:
            asking = threading.Thread(target=keep_asking, args=(client,))
            asking.start()
            port.unplug()
            assert not port.is_plugged
            port.plug()
            asking.join()
    with closing(Client(port.name)) as client:
        answer = client.ask(b"still there")
    ended.set()
    served.join()
    assert (faults, answer) == ([], b"still there")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_what_nobody_reads_is_lost_and_holds_nobody_up():
    port = PseudoTerminal()
    for _ in range(100):
        port.write(bytes(1000))
    port.unplug()
    assert not port.is_plugged


def test_a_simulator_that_has_ended_says_so():
    with SimulatorProcess.of(default_chain(("a",))) as process:
        process._process.kill()
        process._process.wait()
        with pytest.raises(ServoError, match="the simulated chain has ended: it said nothing"):
            process.state()
