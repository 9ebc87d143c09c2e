"""Interface of a servo brand's driver: lines of servos behind ports, workshops that set servos up, simulated servos.

The package of a brand has a module `driver` with a `DRIVER` of the type below. Only the bus, setting up and the
simulator's commands ask for it, so that a chain can be read where nothing is installed that talks to servos.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Protocol, cast

from .brands import brand_of
from .chain import ServoChain
from .emergency import Emergency
from .line import Line
from .servo import Servo
from .simulator.simulated import OnGoal, SimulatedBus
from .telemetry import Change, Seen


class Workshop(Protocol):
    """Servos behind one open port that are being set up, whoever they are. Nothing here moves anything.

    Settings are kept without power and locked while torque is on; with torque on they are refused. Any method may
    raise `ServoError`: the port is gone or does not take a baud
    rate, a servo does not answer, refuses, or is of a model that is not known.

    Attributes:
        name: of the port.
    """

    name: str

    def close(self) -> None:
        """Close the port."""
        ...

    def scan(self, baud_rates: Iterable[int] | None = None, said: Callable[[str], None] = ...) -> list[Seen]:
        """Return all servos that answer, at any of these baud rates or at those that are likely.

        Says where it looks.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.
            said: Called with what is being done.

        Returns:
            The servos.
        """
        ...

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.

        Returns:
            Every servo that answers, and its torque as read back; None where that cannot be read.
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
            ServoError: The id is impossible or taken.
        """
        ...

    def set_baud_rate(self, seen: Seen, baud_rate: int) -> Seen:
        """Give a servo another baud rate, and make sure that it answers there.

        Args:
            seen: The servo as a scan found it.
            baud_rate: Rate [bit/s].

        Returns:
            The servo at its new rate.
        """
        ...

    def advice(self, seen: Iterable[Seen], baud_rate: int) -> list[Change]:
        """Return what should be changed so that servos can stream; nothing of one that cannot be played.

        Args:
            seen: Servos as a scan found them.
            baud_rate: Rate [bit/s].

        Returns:
            The changes.
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
        """Make these changes; those before one that fails are made.

        Args:
            changes: The changes, in their order.
        """
        ...

    def has_torque(self, seen: Seen) -> bool:
        """Return whether a servo has torque.

        Args:
            seen: The servo as a scan found it.

        Returns:
            True where it is on.
        """
        ...

    def position(self, seen: Seen) -> int:
        """Return the position of a servo.

        Args:
            seen: The servo as a scan found it.

        Returns:
            Position [counts].
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
            ServoError: One has its torque on, or does not take it.
        """
        ...


class Driver(Protocol):
    """Factory of lines, workshops and simulated servos of a brand."""

    def open_line(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> Line:
        """Open a port with a chain behind it.

        a servo is asked again for `silence` [s] before it counts as gone, unless goals wait.

        Args:
            chain: The chain of servos.
            port: Name of the port.
            silence: How long a servo is asked again before it counts as gone [s], unless goals wait.
            emergency: The emergency stop.

        Returns:
            The line.

        Raises:
            ServoError: The port does not exist or cannot be opened; says what to do.
        """
        ...

    def open_workshop(self, port: str, baud_rate: int) -> Workshop:
        """Open a port with unknown servos behind it.

        Args:
            port: Name of the port.
            baud_rate: Rate [bit/s].

        Returns:
            The workshop.

        Raises:
            ServoError: The port does not exist or cannot be opened; says what to do.
        """
        ...

    def simulate(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> SimulatedBus:
        """Return simulated servos, set up for streaming at the chain's baud rate.

        Args:
            chain: The servos, all of this brand.
            now: Time by the servos' clock [s].
            on_goal: Called with each goal position that a servo takes.

        Returns:
            The servos on their bus.
        """
        ...


def driver_of(brand: str) -> Driver:
    """Return the driver of a brand.

    Args:
        brand: Name of a brand.

    Returns:
        Its driver.

    Raises:
        ServoError: There is no such brand.
        MissingExtraError: What it needs is not installed; says how to install it.
    """
    return cast(Driver, import_module(f".{brand_of(brand).name}.driver", __package__).DRIVER)
