"""Bytes of the protocol, held against the vendor's worked examples and the vendor's own CRC."""

import random

import pytest
from dynamixel_sdk import Protocol2PacketHandler

from robik.servo.brands.dynamixel.simulator.packet import (
    Decoder,
    Packet,
    crc16,
    encode,
    encode_status,
    stuffed,
    unstuffed,
)

EXAMPLES = [
    ("ping", encode(1, 0x01, b""), "FF FF FD 00 01 03 00 01 19 4E"),
    ("answer to a ping", encode_status(1, 0, bytes([0x06, 0x04, 0x26])), "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D"),
    ("read", encode(1, 0x02, bytes([0x84, 0, 4, 0])), "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"),
    ("write", encode(1, 0x03, bytes([0x74, 0, 0, 2, 0, 0])), "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89"),
    ("clear", encode(1, 0x10, bytes([1, 0x44, 0x58, 0x4C, 0x22])), "FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC"),
    ("sync read", encode(0xFE, 0x82, bytes([0x84, 0, 4, 0, 1, 2])), "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA"),
]


@pytest.mark.parametrize(("name", "made", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_worked_examples(name, made, expected):
    assert made == bytes.fromhex(expected)


def test_crc_is_the_vendors():
    handler = Protocol2PacketHandler()
    rng = random.Random(1)
    for _ in range(50):
        data = rng.randbytes(rng.randint(1, 300))
        assert crc16(data) == handler.updateCRC(0, list(data), len(data))


BODIES = [b"\xff\xff\xfd", b"\x03\xff\xff\xfd\xfd\x01", b"\xff\xff\xff\xfd\xff\xff\xfd", b"\xff\xff\xfd\xff\xff\xfd"]


@pytest.mark.parametrize("body", BODIES)
def test_stuffing_hides_every_header_and_comes_off_again(body):
    assert b"\xff\xff\xfd" not in stuffed(body).replace(b"\xff\xff\xfd\xfd", b"")
    assert unstuffed(stuffed(body)) == body


def test_packets_are_found_in_noise_and_in_pieces():
    rng = random.Random(7)
    bodies = [rng.randbytes(rng.randint(0, 40)) + b"\xff\xff\xfd" * rng.randint(0, 2) for _ in range(60)]
    packets = [Packet(rng.randint(0, 252), 0x03, body) for body in bodies]
    stream = b""
    for packet in packets:
        noise = rng.randbytes(rng.randint(0, 6)).replace(b"\xff", b"\x11")
        stream += noise + encode(packet.id, packet.instruction, packet.parameters)
    decoder, found = Decoder(), []
    while stream:
        size = rng.randint(1, 9)
        found += decoder.feed(stream[:size])
        stream = stream[size:]
    assert found == packets


def test_a_broken_packet_is_reported_and_does_not_swallow_the_next():
    broken = bytearray(encode(5, 0x03, bytes(6)))
    broken[10] ^= 0x40
    found = Decoder().feed(bytes(broken) + encode(6, 0x01, b""))
    assert [(p.id, p.intact) for p in found] == [(5, False), (6, True)]
