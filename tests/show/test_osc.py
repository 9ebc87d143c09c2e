"""OSC messages through a UDP socket: python-osc's client, the specification's examples, and packets that are none."""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message_builder import OscMessageBuilder, build_msg
from pythonosc.udp_client import SimpleUDPClient

from robik.errors import MissingExtraError, ServoError
from robik.show.osc import LARGEST, MOST, Listener, Message, OscError

# OSC 1.0, "OSC Message Examples"
FREQUENCY = bytes.fromhex("2f6f7363696c6c61746f722f342f6672657175656e637900 2c660000 43dc0000")
FOO = bytes.fromhex("2f666f6f 00000000 2c696973 66660000 000003e8 ffffffff 68656c6c 6f000000 3f9df3b6 40b5b22d")
ACT = b"/robik/act\0\0,s\0\0bow\0"
NEXT = b"/robik/next\0"
EMPTY = 16  # bytes of a bundle of nothing, which is OSC
PATIENCE = 10.0  # [s]


def bundle(*packets: bytes) -> bytes:
    return b"#bundle\0" + bytes(7) + b"\1" + b"".join(struct.pack(">i", len(one)) + one for one in packets)


class Wire:
    """A listener and a socket that sends to it."""

    def __init__(self, listener: Listener, desk: socket.socket) -> None:
        self.listener, self._desk = listener, desk
        self.host, number = listener.address.split(":")
        self.port = int(number)

    def take(self, count: int) -> list[Message | OscError]:
        """Return the messages that have come, as many as are waited for."""
        found: list[Message | OscError] = []
        ends = time.monotonic() + PATIENCE
        while len(found) < count:
            assert time.monotonic() < ends, found
            found += self.listener.messages()
        return found

    def send(self, *packets: bytes) -> list[Message | OscError]:
        """Send packets; return what comes of them, one by one."""
        found: list[Message | OscError] = []
        for packet in packets:
            self._desk.sendto(packet, (self.host, self.port))
            found += self.take(1)
        return found


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Listener("0") as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
        yield Wire(listener, desk)


def test_the_client_of_the_library_as_sender(wire) -> None:
    with contextlib.closing(SimpleUDPClient(wire.host, wire.port)) as client:
        client.send_message("/robik/act", "Verbeugung, tief: ☺")
        client.send_message("/robik/act", 2)
        client.send_message("/robik/pause", 1.0)
        client.send_message("/robik/next", [])
        client.send_message("/many", [True, False, None, 1 << 40, b"abc", [1, [2, "three"]]])
        both = OscBundleBuilder(IMMEDIATELY)
        inner = OscBundleBuilder(time.time() + 3600.0)  # nobody waits for it
        inner.add_content(build_msg("/robik/stop"))
        for content in (build_msg("/robik/act", "bow"), inner.build(), build_msg("/robik/resume", 0)):
            both.add_content(content)
        client.send(both.build())
        assert wire.take(8) == [
            Message("/robik/act", ("Verbeugung, tief: ☺",)),
            Message("/robik/act", (2,)),
            Message("/robik/pause", (1.0,)),
            Message("/robik/next"),
            Message("/many", (True, False, None, 1 << 40, b"abc", [1, [2, "three"]])),
            Message("/robik/act", ("bow",)),
            Message("/robik/stop"),
            Message("/robik/resume", (0,)),
        ]


def test_the_examples_of_the_specification(wire) -> None:
    frequency, foo = wire.send(FREQUENCY, FOO)
    assert frequency == Message("/oscillator/4/frequency", (440.0,))
    assert (foo.address, foo.arguments[:3]) == ("/foo", (1000, -1, "hello"))
    assert foo.arguments[3:] == pytest.approx((1.234, 5.678))


def test_every_type_that_the_library_writes_is_read(wire) -> None:
    values = {
        "i": -7, "h": -(1 << 40), "f": 0.5, "d": 0.1, "s": "", "b": b"\0\1", "r": 0xFF8000FF, "m": (1, 0x90, 60, 127),
    }  # fmt: skip
    builder = OscMessageBuilder("/all")
    for kind, value in values.items():
        builder.add_arg(value, kind)
    assert wire.send(builder.build().dgram) == [Message("/all", tuple(values.values()))]


def test_impulses_and_messages_without_types(wire) -> None:
    assert wire.send(NEXT, NEXT + b",I\0\0", NEXT + b",Ii\0\0\0\0\5") == [
        Message("/robik/next"),
        Message("/robik/next", (None,)),
        Message("/robik/next", (None, 5)),
    ]


MALFORMED = {
    b"": "must begin with /",
    b"act\0": "must begin with /",
    b"/act": "cut off",
    b"/act\0\0": "cut off",
    b"/act\0\0\0\0s\0\0\0bow\0": "cut off",
    b"/act\0\0\0\0,s\0\0bow": "cut off",
    b"/act\0\0\0\0,i\0\0\0\0": "cut off",
    b"/act\0\0\0\0,d\0\0\0\0\0\0": "cut off",
    b"/act\0\0\0\0,b\0\0\0\0\0\x09abcd": "cut off",
    b"/act\0\0\0\0,[\0\0": "cut off",
    b"/act\0\0\0\0,]\0\0": "cut off",
    b"/act\0\0\0\0,q\0\0": "arguments of type 'q' are not known",
    b"/act\0\0\0\0,\xc3\xa9\0": "arguments of type 'é' are not known",
    b"/\xff\xfe\0": "not UTF-8",
    b"/act\0\0\0\0,s\0\0\xff\xfe\0\0": "not UTF-8",
    b"#bundle\0": "cut off",
    b"#bundle\0" + bytes(8) + b"\x7f\xff\xff\xff": "cut off",
    b"#bundle\0" + bytes(8) + b"\xff\xff\xff\xfc": "cut off",
    b"#bundle\0" + bytes(12): "cut off",
    bundle(b"abc\0"): "must begin with /",
    bundle(ACT)[:-4]: "cut off",
    bundle(ACT) + b"\0": "cut off",
    ACT + bytes(LARGEST): "more than 8192 bytes",
}


@pytest.mark.parametrize("packet", MALFORMED)
def test_packets_that_are_no_osc_are_told_and_those_behind_them_heard(wire, packet: bytes) -> None:
    refused, heard = wire.send(packet, ACT)
    assert isinstance(refused, OscError)
    assert MALFORMED[packet] in str(refused)
    assert heard == Message("/robik/act", ("bow",))


def hostile() -> Iterator[bytes]:
    draws = np.random.default_rng(5)
    deep = ACT
    for _ in range(100):
        deep = bundle(deep)
    yield deep
    yield b"/a\0\0," + b"[" * 8000 + bytes(3)
    for _ in range(1000):
        yield draws.bytes(int(draws.integers(0, 80)))
    whole = bundle(ACT, FOO, bundle(FREQUENCY))
    for at in range(len(whole)):
        if at != EMPTY:
            yield whole[:at]
        for _ in range(12):
            yield whole[:at] + draws.bytes(1) + whole[at + 1 :]


def test_any_bytes_are_messages_or_refused_and_nothing_else_is_said(wire, caplog, capfd) -> None:
    caplog.set_level(logging.DEBUG)
    found = wire.send(*hostile())
    assert isinstance(found[0], OscError)  # a hundred bundles in one another
    kinds = [isinstance(one, OscError) for one in found]
    assert kinds.count(True) > 1300
    assert kinds.count(False) > 500
    assert (caplog.records, *capfd.readouterr()) == ([], "", "")


def test_a_flood_is_taken_piece_by_piece(wire) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        for _ in range(2 * MOST):
            other.sendto(ACT, (wire.host, wire.port))
    assert len(wire.take(1)) <= MOST
    time.sleep(0.1)
    assert 0 < len(wire.take(1)) <= MOST


def test_by_itself_a_port_of_this_computer_alone(wire) -> None:
    assert wire.host == "127.0.0.1"
    assert wire.listener.messages() == []
    with pytest.raises(ServoError, match=rf"OSC cannot listen on 127.0.0.1:{wire.port}"):
        Listener(str(wire.port))
    with Listener("0.0.0.0:0") as opened:
        assert opened.address.startswith("0.0.0.0:")


def test_without_the_package_one_sentence_and_no_port(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pythonosc", None)
    for name in [name for name in sys.modules if name.startswith("pythonosc.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        MissingExtraError, match=r"^taking OSC messages needs the extra 'osc': pip install '\.\[osc\]' in a checkout$"
    ):
        Listener("0")


def test_a_show_without_osc_does_not_need_the_package() -> None:
    program = "import sys; sys.modules['pythonosc'] = None; import robik.show.command"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize("port", ["", "osc", "70000", "-1", "localhost:"])
def test_ports_that_are_none(port: str) -> None:
    with pytest.raises(ServoError, match="OSC needs a port such as 9000"):
        Listener(port)
