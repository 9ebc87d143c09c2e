"""Mount of a sensor of tilt (an IMU): which one it is, and how it sits on the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from ...errors import ServoError
from .boards import BOARDS
from .protocols import PROTOCOLS

BAUD_RATES = (9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1_000_000, 2_000_000)
MOST_ID = 252


@dataclass(frozen=True)
class ImuMount:
    """A sensor on a port of its own, or on the servos' bus.

    Attributes:
        port: a device path, or a URL that pyserial opens; on the bus, the port that its servos name, or empty.
        type: its protocol, of `PROTOCOLS`, or its board, of `BOARDS`.
        baud_rate: of its own port [bit/s]; its type's own if 0.
        body: on which it sits; the base if empty.
        mounting: orientation of the sensor in the body's own axes, quaternion wxyz.
        id: of a board on the bus; its type's own if 0.
    """

    port: str = ""
    type: str = "witmotion"
    baud_rate: int = 0
    body: str = ""
    mounting: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    id: int = 0

    def __post_init__(self) -> None:
        if self.type not in (*PROTOCOLS, *BOARDS):
            raise ServoError(f"the imu's type must be one of {', '.join((*PROTOCOLS, *BOARDS))}, not {self.type!r}")
        if not isinstance(self.port, str) or not (self.port.strip() or self.is_on_bus):
            raise ServoError(f"the imu's port must be a name such as /dev/ttyUSB1, not {self.port!r}")
        if type(self.id) is not int or not 0 <= self.id <= (MOST_ID if self.is_on_bus else 0):
            where = f"a number up to {MOST_ID}" if self.is_on_bus else f"left out, since a {self.type} has none"
            raise ServoError(f"the imu's id must be {where}, not {self.id!r}")
        if self.is_on_bus and self.baud_rate:
            raise ServoError(f"the imu is on the servos' bus, whose baud_rate it has; leave {self.baud_rate!r} out")
        if type(self.baud_rate) is not int or self.baud_rate not in (0, *BAUD_RATES):
            raise ServoError(
                f"the imu's baud_rate must be one of {', '.join(map(str, BAUD_RATES))}, not {self.baud_rate!r}"
            )
        if not isinstance(self.body, str):
            raise ServoError(f"the imu's body must be a name, not {self.body!r}")
        object.__setattr__(self, "mounting", _unit(self.mounting))

    @property
    def is_on_bus(self) -> bool:
        """Return whether it is on the servos' bus."""
        return self.type in BOARDS

    @property
    def bus_id(self) -> int:
        """Return its id on the bus."""
        return self.id or BOARDS[self.type].id

    @property
    def place(self) -> str:
        """Return where it is, for messages."""
        return f"with id {self.bus_id} on the servos' bus" if self.is_on_bus else f"on {self.port}"

    @property
    def rate(self) -> int:
        """Baud rate of its port [bit/s]."""
        return self.baud_rate or PROTOCOLS[self.type].baud_rate

    def on_body(self, up: np.ndarray) -> np.ndarray:
        """Return a direction (3,), given in the sensor's axes, in the body's."""
        w, axis = self.mounting[0], np.array(self.mounting[1:])
        across = 2.0 * np.cross(axis, up)
        return np.asarray(up + w * across + np.cross(axis, across))


def _unit(mounting: object) -> tuple[float, float, float, float]:
    """Return a quaternion of length 1; raise ServoError where it is none."""
    try:
        numbers = tuple(float(value) for value in mounting)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        numbers = ()
    length = sqrt(sum(value * value for value in numbers))
    if len(numbers) != 4 or not isfinite(length) or length < 1e-6:
        raise ServoError(f"the imu's mounting must be a quaternion [w, x, y, z], not {mounting!r}")
    w, x, y, z = (value / length for value in numbers)
    return w, x, y, z
