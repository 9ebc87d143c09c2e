"""Mount of a sensor of tilt (an IMU): which one it is, and how it sits on the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from ...errors import ServoError
from .protocols import PROTOCOLS

BAUD_RATES = (9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1_000_000, 2_000_000)


@dataclass(frozen=True)
class ImuMount:
    """A sensor beside the bus.

    Attributes:
        port: a device path, or a URL that pyserial opens.
        type: what it speaks, of `PROTOCOLS`.
        baud_rate: [bit/s]; its type's own if 0.
        body: on which it sits; the base if empty.
        mounting: how the sensor is turned on the body's own axes, quaternion wxyz.

    Raises:
        ServoError: names what is wrong.
    """

    port: str
    type: str = "witmotion"
    baud_rate: int = 0
    body: str = ""
    mounting: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.port, str) or not self.port.strip():
            raise ServoError(f"the imu's port must be a name such as /dev/ttyUSB1, not {self.port!r}")
        if self.type not in PROTOCOLS:
            raise ServoError(f"the imu's type must be one of {', '.join(PROTOCOLS)}, not {self.type!r}")
        if type(self.baud_rate) is not int or self.baud_rate not in (0, *BAUD_RATES):
            raise ServoError(
                f"the imu's baud_rate must be one of {', '.join(map(str, BAUD_RATES))}, not {self.baud_rate!r}"
            )
        if not isinstance(self.body, str):
            raise ServoError(f"the imu's body must be a name, not {self.body!r}")
        object.__setattr__(self, "mounting", _unit(self.mounting))

    @property
    def rate(self) -> int:
        """Baud rate of its port [bit/s]."""
        return self.baud_rate or PROTOCOLS[self.type].baud_rate

    def on_body(self, up: np.ndarray) -> np.ndarray:
        """Return a direction of the sensor's axes in the body's.

        Args:
            up: Direction (3,) in the sensor's axes.

        Returns:
            Direction (3,).
        """
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
