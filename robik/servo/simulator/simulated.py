"""Interface of a brand's simulated servos, and what they tell of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .imu import SimulatedBoard
from .motor import Motor


@dataclass(frozen=True)
class Answer:
    """Bytes that servos send back, and how long the bus needs for it [s]."""

    data: bytes
    seconds: float


@dataclass(frozen=True)
class GoalRecord:
    """A goal position that a servo took: when [s, the system's monotonic clock], which servo, what [counts]."""

    time: float
    id: int
    counts: int


OnGoal = Callable[[GoalRecord], None]


class Simulated(Protocol):
    """One simulated servo.

    Attributes:
        silent: does not answer and does not listen, as if unplugged.
        motor: what moves.
    """

    silent: bool
    motor: Motor

    @property
    def id(self) -> int:
        """Id on the bus, as it is now."""

    def set(self, name: str, value: int) -> None:
        """Change an entry from within, without the rules for writing.

        Args:
            name: Name of the entry.
            value: Its new value.
        """
        ...

    def advance(self, now: float) -> None:
        """Let time pass.

        Args:
            now: Time by the servos' clock [s].
        """
        ...

    def reboot(self, now: float) -> None:
        """Start again, as if the power had been off.

        Args:
            now: Time by the servos' clock [s].
        """
        ...

    def raise_error(self, bits: int) -> None:
        """Raise a hardware error, with what follows from it.

        Args:
            bits: As the brand reports them.
        """
        ...

    def sense(self, volts: float | None = None, celsius: float | None = None) -> None:
        """Set what its sensors find.

        Args:
            volts: Supply voltage [V]; None leaves it as it is.
            celsius: Temperature [°C]; None leaves it as it is.
        """
        ...

    def state(self) -> dict[str, float]:
        """Return position [counts], velocity [counts/s], `moved` and `heard` [s], and entries worth a look."""
        ...


class SimulatedBus(Protocol):
    """Simulated servos on one bus.

    Attributes:
        board: a sensor of tilt between them; None where there is none.
    """

    board: SimulatedBoard | None

    @property
    def servos(self) -> Sequence[Simulated]:
        """Servos in the order of the chain."""

    def receive(self, data: bytes, now: float, baud_rate: int | None = None) -> list[Answer]:
        """Return the answers to these bytes.

        Args:
            data: As they arrived, in pieces of any size.
            now: [s], increasing.
            baud_rate: At which they were sent; servos set to another hear nothing. None where there is no such thing.

        Returns:
            Bytes with the times at which they are sent.
        """
        ...
