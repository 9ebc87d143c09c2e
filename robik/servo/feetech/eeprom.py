"""Settings in a servo's EEPROM: its lock is opened for a write, and closed again whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...errors import ServoError
from .reading import Addressed
from .wire import Wire


@dataclass
class Opened:
    """A servo whose lock is open, and where it answers: whoever changes its id or its baud rate says so here.

    Attributes:
        servo: The servo.
        baud_rate: At which it answers [bit/s].
    """

    servo: Addressed
    baud_rate: int


@contextmanager
def opened(wire: Wire, servo: Addressed) -> Iterator[Opened]:
    """Open the lock of a servo's EEPROM within this context, and close it at its end, also after an error.

    What is written with the lock closed is forgotten when the power goes.

    Args:
        wire: At the servo's baud rate.
        servo: The servo.

    Yields:
        The servo, to be told where it answers afterwards.

    Raises:
        ServoError: Its torque is on, it does not open, or the lock does not close.
    """
    if wire.read(servo, "torque_enable"):
        raise ServoError(f"servo {servo.id} has its torque on, which locks its settings; turn it off first")
    there = Opened(servo, wire.port.baud_rate)
    try:
        wire.set_one(servo, "eeprom_lock", 0)
        yield there
    except BaseException as error:
        _close(wire, there, error)
        raise
    _close(wire, there, None)


def _close(wire: Wire, there: Opened, cause: BaseException | None) -> None:
    """Close the lock; after an error, an error of its own names both."""
    try:
        wire.open_at(there.baud_rate)
        wire.set_one(there.servo, "eeprom_lock", 1)
    except ServoError as error:
        before = f"{cause}; and then " if isinstance(cause, ServoError) else ""
        raise ServoError(
            f"{before}the lock of servo {there.servo.id}'s settings could not be closed ({error}); turning torque on"
            " closes it"
        ) from cause
