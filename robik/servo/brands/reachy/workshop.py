"""Setting Reachy Mini's motors up: its daemon has done that, so that they can be looked at, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NoReturn

from ....errors import ServoError
from ...bus.emergency import Emergency
from ...bus.telemetry import Change, Seen
from ...chain.servo import Servo
from ..brand import Brand
from .brand import MODEL, MOTORS, REACHY
from .daemon import QUIET, Daemon

OF_DAEMON = "Reachy Mini's daemon knows its motors: ids, baud rates and zeros are changed on the robot's own port"
KNOWN = "Reachy Mini's daemon knows which motor is which; none has to be found by hand"


class ReachyWorkshop:
    """Motors behind a daemon: see `Workshop`. The daemon has the bus, so baud rates are not used.

    Attributes:
        name: of the port.
        brand: whose servos they are.
    """

    brand: ClassVar[Brand] = REACHY

    def __init__(self, port: str, baud_rate: int, emergency: Emergency | None = None) -> None:
        self.name = port
        self._daemon = Daemon(port, QUIET, Emergency())

    def close(self) -> None:
        """Let go of the daemon."""
        self._daemon.close()

    def scan(self, baud_rates: Iterable[int] | None = None, said: Callable[[str], None] = lambda _: None) -> list[Seen]:
        """Return the motors of the robot; `said` is called with progress in words."""
        said(f"asking the daemon on {self.name}")
        self._daemon.wait_for_angles()
        return [Seen(id, MODEL, 0, 0, 0, about) for id, about in MOTORS.items()]

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all motors off, and return each with its torque as read back."""
        self._daemon.tell_torque(False)
        has_torque = self._daemon.confirm_torque(False)
        return [(one, has_torque) for one in self.scan()]

    # what the daemon does itself

    def advice(self, seen: Iterable[Seen], baud_rate: int) -> list[Change]:
        """Return no change: the daemon has set its motors up."""
        return []

    def unfit(self, seen: Iterable[Seen]) -> list[str]:
        """Return no servo: the daemon plays every motor."""
        return []

    def apply(self, changes: Iterable[Change]) -> None:
        """Make no change, since none is advised."""

    def set_id(self, seen: Seen, id: int) -> NoReturn:
        """Raise ServoError: the daemon has the bus."""
        raise ServoError(OF_DAEMON)

    def set_baud_rate(self, seen: Seen, baud_rate: int) -> NoReturn:
        """Raise ServoError: the daemon has the bus."""
        raise ServoError(OF_DAEMON)

    def has_torque(self, seen: Seen) -> NoReturn:
        """Raise ServoError: a motor behind the daemon is not looked for by hand."""
        raise ServoError(KNOWN)

    def position(self, seen: Seen) -> NoReturn:
        """Raise ServoError: a motor behind the daemon is not looked for by hand."""
        raise ServoError(KNOWN)

    def zero_settings(self, servo: Servo) -> tuple[tuple[str, int], ...]:
        """Return nothing: the daemon has the settings."""
        return ()

    def calibrate(self, servos: Sequence[Servo]) -> NoReturn:
        """Raise ServoError: the daemon has the bus."""
        raise ServoError(OF_DAEMON)
