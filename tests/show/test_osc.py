"""OSC messages: as the specification's examples have them, and packets that are none."""

from __future__ import annotations

import socket
import struct
import time

import numpy as np
import pytest

from robik.errors import ServoError
from robik.show.osc import Listener, Message, OscError, read_packet

FREQUENCY = bytes.fromhex("2f6f7363696c6c61746f722f342f6672657175656e637900 2c660000 43dc0000")
FOO = bytes.fromhex("2f666f6f 00000000 2c696973 66660000 000003e8 ffffffff 68656c6c 6f000000 3f9df3b6 40b5b22d")
ACT = b"/robik/act\0\0,s\0\0bow\0"


def bundle(*packets: bytes) -> bytes:
    return b"#bundle\0" + bytes(7) + b"\1" + b"".join(struct.pack(">i", len(one)) + one for one in packets)


def test_the_examples_of_the_specification() -> None:
    """OSC 1.0, "OSC Message Examples"."""
    assert read_packet(FREQUENCY) == [Message("/oscillator/4/frequency", (440.0,))]
    (foo,) = read_packet(FOO)
    assert (foo.address, foo.arguments[:3]) == ("/foo", (1000, -1, "hello"))
    assert foo.arguments[3:] == pytest.approx((1.234, 5.678))


def test_bundles_and_messages_without_arguments() -> None:
    both = read_packet(bundle(ACT, bundle(b"/robik/next\0", b"/a\0\0,TN\0")))
    assert both == [Message("/robik/act", ("bow",)), Message("/robik/next"), Message("/a", (True, None))]


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"act\0",
        b"/act",
        b"/act\0\0\0\0s\0\0\0bow\0",
        b"/act\0\0\0\0,s\0\0bow",
        b"/act\0\0\0\0,i\0\0\0\0",
        b"/act\0\0\0\0,q\0\0",
        b"/\xff\xfe\0",
        b"#bundle\0",
        b"#bundle\0" + bytes(8) + b"\x7f\xff\xff\xff",
        b"#bundle\0" + bytes(12),
        bundle(ACT)[:-4],
    ],
)
def test_packets_that_are_no_osc(packet: bytes) -> None:
    with pytest.raises(OscError):
        read_packet(packet)


def test_any_bytes_are_messages_or_refused() -> None:
    draws = np.random.default_rng(5)
    whole = bundle(ACT, FOO, bundle(FREQUENCY))
    deep = ACT
    for _ in range(100):
        deep = bundle(deep)
    refused = 0
    for packet in [deep, *(bytes(draws.bytes(int(draws.integers(0, 80)))) for _ in range(2000)), *(
        whole[:at] + bytes([int(draws.integers(256))]) + whole[at + 1 :] for at in range(len(whole)) for _ in range(20)
    )]:  # fmt: skip
        try:
            read_packet(packet)
        except OscError:
            refused += 1
    assert refused > 2000


def test_a_port_of_this_computer_takes_messages_and_goes_on_after_others() -> None:
    with Listener("0") as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
        host, port = listener.address.split(":")
        assert host == "127.0.0.1"
        assert listener.messages() == []
        for packet in (b"\0\1\2", ACT):
            desk.sendto(packet, (host, int(port)))
        found: list[object] = []
        ends = time.monotonic() + 10.0
        while len(found) < 2 and time.monotonic() < ends:
            found += listener.messages()
        assert isinstance(found[0], OscError)
        assert found[1] == Message("/robik/act", ("bow",))
        with pytest.raises(ServoError, match=rf"OSC cannot listen on 127.0.0.1:{port}"):
            Listener(port)


@pytest.mark.parametrize("port", ["", "osc", "70000", "-1", "localhost:"])
def test_ports_that_are_none(port: str) -> None:
    with pytest.raises(ServoError, match="OSC needs a port such as 9000"):
        Listener(port)
