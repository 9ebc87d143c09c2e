"""What arrives at a port is taken in by a thread of its own: no packet waits for it."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator

import pytest

from robik.servo.brands.dynamixel import port
from robik.servo.bus.emergency import Emergency
from robik.servo.bus.listener import Listener

from .independent import IndependentChain

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")


@pytest.fixture
def ends() -> Iterator[tuple[Listener, int]]:
    """A listener, and the other end of its pipe."""
    listened, other = os.pipe()
    os.set_blocking(listened, False)
    listener = Listener(listened)
    yield listener, other
    listener.close()
    os.close(listened)


def test_bytes_come_in_their_order_as_soon_as_there_are_any(ends):
    listener, other = ends
    threading.Timer(0.05, lambda: os.write(other, b"abcdef")).start()
    assert listener.take(2, 60.0) == b"ab"
    assert listener.take(1, 0.0) == b"c"
    os.write(other, b"gh")
    taken = b""
    while len(taken) < 5:
        taken += listener.take(5, 60.0)
    assert taken == b"defgh"
    os.close(other)


def test_nothing_is_nothing_and_takes_its_time(ends):
    listener, other = ends
    began = time.monotonic()
    assert listener.take(5, 0.2) == b""
    assert time.monotonic() - began >= 0.2
    assert listener.take_all() == b""
    os.close(other)


def test_what_came_before_the_end_is_read_first(ends):
    listener, other = ends
    os.write(other, b"last")
    os.close(other)
    assert listener.take(4, 60.0) == b"last"
    for take in (lambda: listener.take(1, 60.0), listener.take_all):
        with pytest.raises(OSError, match="unplugged") as raised:
            take()
        assert raised.value.errno == errno.EIO


def test_goals_ask_nobody_what_has_arrived(monkeypatch):
    """A look at what waits, and throwing it away, would wait for the kernel's own worker."""
    with IndependentChain(ids=(1,)) as servos:
        opened = port.SerialPort(servos.port, Emergency())
        opened.setBaudRate(1_000_000)
        for name in ("reset_input_buffer", "read", "write"):
            monkeypatch.setattr(opened.ser, name, lambda *_: pytest.fail("that waits"))
        monkeypatch.setattr(type(opened.ser), "in_waiting", property(lambda _: pytest.fail("that waits, too")))
        ping = bytes.fromhex("fffffd000103000119 4e".replace(" ", ""))
        for is_kept in (False, True):
            if is_kept:
                opened.keep()
            opened.clearPort()
            assert opened.writePort(list(ping)) == len(ping)
            answer = b""
            while len(answer) < 14:
                answer = opened.arrived() if is_kept else answer + opened.readPort(14)
            assert answer[:5] == bytes.fromhex("fffffd0001")
        opened.closePort()
        assert not [thread for thread in threading.enumerate() if thread.name == "listener"]
