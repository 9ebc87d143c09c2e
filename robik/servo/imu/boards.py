"""Boards with a sensor of tilt on the servos' own bus: where in their control tables they say which way is up.

opencr: ROBOTIS OpenCR as it sits in ROBOTIS OP3, with that robot's firmware: roll and pitch in tenths of a degree at
44 and 46, model number 0x7400, id 200 (opencr_op3/dxl_node_op3.h in ROBOTIS-GIT/OpenCR). It answers pings, reads and
sync reads, and knows no fast reads. Nothing is ever written to it: its table also has the servos' power.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import degrees, radians

import numpy as np

from .protocols import up_of_angles

MODEL_NUMBER = (0, 2)  # address and size in every table


@dataclass(frozen=True)
class Board:
    """A kind of board.

    Attributes:
        brand: of the servos whose packets it speaks.
        id: that it has where nobody says another.
        number: that it says it is.
        address, size: of the bytes that say its tilt.
        up: what those bytes say: the world's up in the sensor's axes (3,).
        data: bytes that say a roll and a pitch [rad], as a simulated board has them.
    """

    brand: str
    id: int
    number: int
    address: int
    size: int
    up: Callable[[bytes], np.ndarray]
    data: Callable[[float, float], bytes]


def _opencr_up(data: bytes) -> np.ndarray:
    roll, pitch = struct.unpack("<2h", data)
    return up_of_angles(radians(roll / 10), radians(pitch / 10))


def _opencr_data(roll: float, pitch: float) -> bytes:
    return struct.pack("<2h", *(int(10 * degrees(angle)) for angle in (roll, pitch)))


BOARDS = {"opencr": Board("dynamixel", 200, 0x7400, 44, 4, _opencr_up, _opencr_data)}
