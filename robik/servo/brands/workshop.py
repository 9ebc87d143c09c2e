"""Interface of a workshop: servos behind one open port that are being set up, whoever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from ..bus.telemetry import Change, Seen
from ..chain.servo import Servo
from .brand import Brand


class Workshop(Protocol):
    """Servos that are being set up. Nothing here moves anything.

    Settings are kept without power and locked while torque is on; with torque on they are refused. Any method may raise
    `ServoError`: the port is gone or does not take a baud rate, a servo does not answer, refuses, or is of a model that
    is not known.

    Attributes:
        name: Of the port.
        brand: Whose servos they are.
    """

    name: str
    brand: ClassVar[Brand]

    def close(self) -> None:
        """Close the port."""
        ...

    def scan(self, baud_rates: Iterable[int] | None = None, said: Callable[[str], None] = lambda _: None) -> list[Seen]:
        """Return all servos that answer, at any of these baud rates. A rate takes about a second, a slow one five.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.
            said: Called with what is being done.

        Returns:
            The servos.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        ...

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.

        Returns:
            Every servo that answers, and whether it has torque, as read back; None where that cannot be read.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        ...

    def set_id(self, seen: Seen, id: int) -> Seen:
        """Give a servo another id.

        Args:
            seen: The servo as a scan found it.
            id: Id of the servo.

        Returns:
            The servo with its new id.

        Raises:
            ServoError: The id is taken or impossible, or its torque is on.
        """
        ...

    def set_baud_rate(self, seen: Seen, baud_rate: int) -> Seen:
        """Give a servo another baud rate, and make sure that it answers there.

        Args:
            seen: The servo as a scan found it.
            baud_rate: Rate [bit/s].

        Returns:
            The servo at its new rate.

        Raises:
            ServoError: There is no such rate, a servo of this id is there already, or its torque is on.
        """
        ...

    def advice(self, seen: Iterable[Seen], baud_rate: int) -> list[Change]:
        """Return what should be changed so that servos can stream; nothing of those that cannot be played.

        Args:
            seen: Servos as a scan found them.
            baud_rate: Rate [bit/s].

        Returns:
            The changes.

        Raises:
            ServoError: One does not answer, or there is no such baud rate.
        """
        ...

    def unfit(self, seen: Iterable[Seen]) -> list[str]:
        """Say of each servo that cannot be played why it is left as it is.

        Args:
            seen: Servos as a scan found them.

        Returns:
            A sentence for each.
        """
        ...

    def apply(self, changes: Iterable[Change]) -> None:
        """Make these changes.

        Args:
            changes: The changes, in their order.

        Raises:
            ServoError: A servo does not take one; those before it are made.
        """
        ...

    def has_torque(self, seen: Seen) -> bool:
        """Return whether a servo has torque.

        Args:
            seen: The servo as a scan found it.

        Returns:
            True where it is on.

        Raises:
            ServoSilent: It does not answer.
        """
        ...

    def position(self, seen: Seen) -> int:
        """Return the position of a servo.

        Args:
            seen: The servo as a scan found it.

        Returns:
            Position [counts].

        Raises:
            ServoSilent: It does not answer.
        """
        ...

    def calibrate(self, servos: Sequence[Servo]) -> list[int]:
        """Let servos that can be told so count from where they stand, in the middle of their turn.

        Others stay as they are. Nothing moves.

        Args:
            servos: The servos.

        Returns:
            Positions [counts], as they will be once torque is on.

        Raises:
            ServoSilent: One does not answer.
            ServoError: One has its torque on, or does not take it; those before it have.
        """
        ...

    def zero_settings(self, servo: Servo) -> tuple[tuple[str, int], ...]:
        """Return what decides where a servo counts from, which way, and how far.

        Args:
            servo: The servo.

        Returns:
            Settings by name; empty where a program has them.

        Raises:
            ServoSilent: It does not answer.
            ServoError: It says something else every time.
        """
        ...
