"""Protocols of sensors of tilt: which bytes say which way is up. Nothing is ever written to a sensor.

witmotion: sensors of WitMotion's standard protocol (WT901, HWT905, WT61, …): packets of eleven bytes, 0x55, what it is,
four numbers of 16 bits, and the sum of the bytes before. Angles (0x53) are in 180°/32768, turned about z, y and x in
that order; the quaternion (0x59) is in 1/32768, w first.

bno08x: BNO080, BNO085 and BNO086 with their pins set to UART-RVC: nineteen bytes a hundred times a second, 0xAA 0xAA, a
count, yaw, pitch and roll in 0.01°, accelerations, three bytes, and the sum of what follows the head.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

ANGLES, QUATERNION = 0x53, 0x59
UNIT_LENGTH = 0.02  # how far from 1 a quaternion's length may be


@dataclass(frozen=True)
class Protocol:
    """Protocol of a type of sensor.

    Attributes:
        baud_rate: that the sensor has where nobody says another [bit/s].
        head: how a packet begins.
        size: of a packet [bytes].
        up: what a whole packet says: the world's up in the sensor's axes (3,), or None where it says something else or
            is spoilt; and whether its sum is right.
        packet: a packet that says a roll and a pitch [rad], as a simulated sensor sends it.
    """

    baud_rate: int
    head: bytes
    size: int
    up: Callable[[bytes], tuple[np.ndarray | None, bool]]
    packet: Callable[[float, float, int], bytes]


class Packets:
    """Decoder of directions from bytes in pieces of any size.

    Attributes:
        spoilt: bytes that belonged to no packet.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol, self._rest = protocol, b""
        self.spoilt = 0

    def feed(self, data: bytes) -> list[np.ndarray]:
        """Return the world's up (3,) in the sensor's axes, for each packet that more bytes complete, in order."""
        protocol, data, found = self._protocol, self._rest + data, []
        while (begin := data.find(protocol.head)) >= 0:
            packet = data[begin : begin + protocol.size]
            if len(packet) < protocol.size:
                break
            up, is_whole = protocol.up(packet)
            used = protocol.size if is_whole else 1  # a head may be a number of another packet
            self.spoilt += begin + (0 if is_whole else 1)
            if up is not None:
                found.append(up)
            data = data[begin + used :]
        keep = len(data) - begin if begin >= 0 else len(protocol.head) - 1
        self._rest = data[-keep:] if keep else b""
        return found


def up_of_angles(roll: float, pitch: float) -> np.ndarray:
    """Return the world's up (3,) in the axes of a sensor turned about z, then y (pitch), then x (roll) [rad]."""
    return np.array([-sin(pitch), sin(roll) * cos(pitch), cos(roll) * cos(pitch)])


def _witmotion_up(packet: bytes) -> tuple[np.ndarray | None, bool]:
    if sum(packet[:-1]) & 0xFF != packet[-1]:
        return None, False
    a, b, c, d = struct.unpack("<4h", packet[2:10])
    if packet[1] == ANGLES:
        return up_of_angles(radians(a * 180 / 32768), radians(b * 180 / 32768)), True
    if packet[1] != QUATERNION:
        return None, True
    q = np.array([a, b, c, d]) / 32768
    length = float(np.linalg.norm(q))
    if abs(length - 1.0) > UNIT_LENGTH:
        return None, True
    w, x, y, z = q / length
    return np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]), True


def _witmotion_packet(roll: float, pitch: float, count: int) -> bytes:
    body = struct.pack("<2B4h", 0x55, ANGLES, *(_sixteen(np.degrees(one) / 180 * 32768) for one in (roll, pitch, 0, 0)))
    return body + bytes([sum(body) & 0xFF])


def _bno08x_up(packet: bytes) -> tuple[np.ndarray | None, bool]:
    if sum(packet[2:-1]) & 0xFF != packet[-1]:
        return None, False
    _, pitch, roll = struct.unpack("<3h", packet[3:9])
    return up_of_angles(radians(roll / 100), radians(pitch / 100)), True


def _bno08x_packet(roll: float, pitch: float, count: int) -> bytes:
    angles = (_sixteen(100 * np.degrees(one)) for one in (0.0, pitch, roll))
    body = struct.pack("<B6h3B", count & 0xFF, *angles, 0, 0, 1000, 0, 0, 0)
    return b"\xaa\xaa" + body + bytes([sum(body) & 0xFF])


def _sixteen(number: float) -> int:
    return int(np.clip(round(number), -32768, 32767))


PROTOCOLS = {
    "witmotion": Protocol(115200, b"\x55", 11, _witmotion_up, _witmotion_packet),
    "bno08x": Protocol(115200, b"\xaa\xaa", 19, _bno08x_up, _bno08x_packet),
}
