"""Interface of a servo brand's driver: a line of servos behind a port, a workshop that sets servos up, a simulator.

The package of a brand has a module `driver` with a `DRIVER` of the type below. Only the bus, setting up and the
simulator's commands ask for it, so that a chain can be read where nothing is installed that talks to servos.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from ..errors import ServoError
from .brands import brand_of
from .chain import Servo, ServoChain
from .emergency import Emergency
from .looks import Look
from .telemetry import Change, Found, Seen, Telemetry


class PortGone(ServoError):
    """The port itself fails: unplugged, or its other end has died."""


class ServoSilent(ServoError):
    """A servo does not answer."""


class Line(Protocol):
    """Servos of one brand behind one open port. One thread at a time owns it.

    Any method may raise `PortGone`. Any but those that turn torque off leaves with `EmergencyStopped` when the
    emergency stop is pressed meanwhile. Arrays and lists are in the order of `servos`.

    Attributes:
        name: of the port.
        servos: whom it speaks to.
    """

    name: str

    @property
    def servos(self) -> tuple[Servo, ...]:
        """Servos of the chain, in its order."""

    @property
    def latency(self) -> float:
        """Time from a question to its answer, at best, as measured while inquiring [s]; 0 where it is not known."""
        ...

    @property
    def takes_speeds(self) -> bool:
        """Return whether goals can carry speeds; known after `prepare`."""
        ...

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ids of servos that can be asked together while goals go out; known after `prepare`."""
        ...

    def close(self) -> None:
        """Close the port; whatever the servos do, they go on doing."""
        ...

    # connecting

    def forget(self) -> None:
        """Speak to all servos of the chain, and know nothing of them but what the chain says."""
        ...

    def inquire(self, servo: Servo) -> Found:
        """Read what a servo is and how it is set up.

        Raises:
            ServoSilent: it does not answer.
            ServoError: it is not what the chain says.
        """
        ...

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak to the others from here on, who were all inquired; torque-off still goes to everybody."""
        ...

    def prepare(self) -> None:
        """Set up what streaming needs.

        Raises:
            ServoSilent: a servo does not answer.
        """
        ...

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts].

        Raises:
            ServoSilent: names the servo that does not answer.
        """
        ...

    def begin_look(self, ids: Sequence[int]) -> Look:
        """Return a look at servos of one group, of which nothing has been asked yet; nobody waits for its answers."""
        ...

    def look(self) -> list[Telemetry] | None:
        """Look at all in one go, quickly; None where that cannot be had, or not all answers arrived."""
        ...

    def look_at(self, servo: Servo, hastily: bool) -> Telemetry:
        """Look at one servo; hastily, while goals wait, it is asked only once and gets little time.

        Raises:
            ServoSilent: it does not answer.
        """
        ...

    def glance(self, servo: Servo) -> Telemetry | None:
        """Look at one servo, asking once; None if it does not answer."""
        ...

    def has_error(self, servo: Servo) -> bool:
        """Return whether a servo has a hardware error.

        Raises:
            ServoSilent: it does not answer.
        """
        ...

    def are_stopped(self) -> list[bool]:
        """Return which servos were stopped by their watchdog.

        Raises:
            ServoSilent: one does not answer.
        """
        ...

    # writing; what is not answered is read back, unless it says so

    def set_watchdog(self, seconds: float) -> None:
        """Let the servos stop when no packet has come for this long [s].

        0 turns that off and clears one that has stopped them.

        Raises:
            ServoError: a servo does not take it.
        """
        ...

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Let these servos hold without packets; unanswered."""
        ...

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the servos' own speed limits; speeds (n,) of the actuators [rad/s or m/s].

        Raises:
            ServoError: a servo does not take it.
        """
        ...

    def hold_at(self, counts: np.ndarray) -> None:
        """Let goals (n,) [counts] and the limits of currents be there before torque is.

        Raises:
            ServoError: a servo does not take them.
        """
        ...

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goals (n,) [counts] to the servos at these places in `servos`; unanswered.

        Args:
            counts: of all.
            speeds: (n,) at which they are to be reached [the models' velocity units] where it `takes_speeds`; None
                for none.
            places: of those that get them.
        """
        ...

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque on or off, for each servo.

        Raises:
            ServoError: a servo does not obey.
        """
        ...

    def send_torque_off(self) -> None:
        """Turn torque off at once, of who is left out too; unanswered."""
        ...

    def confirm_torque_off(self) -> list[bool | None]:
        """Turn torque off where it still is on.

        Return what is read back of each servo, None where one does not answer.
        """
        ...

    def reboot(self, servo: Servo) -> None:
        """Reboot a servo: its torque goes off, and it answers again after the brand's `waking`; unanswered."""
        ...


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
        """
        ...

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Returns:
            Every servo that answers, and its torque as read back; None where that cannot be read.
        """
        ...

    def set_id(self, seen: Seen, id: int) -> Seen:
        """Give a servo another id; raises ServoError where it is impossible or taken."""
        ...

    def set_baud_rate(self, seen: Seen, baud_rate: int) -> Seen:
        """Give a servo another baud rate, and make sure that it answers there."""
        ...

    def advice(self, seen: Iterable[Seen], baud_rate: int) -> list[Change]:
        """Return what should be changed so that servos can stream; nothing of one that cannot be played."""
        ...

    def unfit(self, seen: Iterable[Seen]) -> list[str]:
        """Say of each servo that cannot be played why it is left as it is."""
        ...

    def apply(self, changes: Iterable[Change]) -> None:
        """Make these changes; those before one that fails are made."""
        ...

    def has_torque(self, seen: Seen) -> bool:
        """Return whether a servo has torque."""
        ...

    def position(self, seen: Seen) -> int:
        """Return where a servo is [counts]."""
        ...

    def standing(self, servos: Sequence[Servo]) -> list[int]:
        """Return where servos of a chain stand, as it will be once torque is on [counts].

        Raises ServoSilent where one is silent.
        """
        ...


class Simulator(Protocol):
    """Simulated servos in a process of their own, which ends with this one.

    Attributes:
        port: behind which they are.
    """

    port: str

    def end(self) -> None:
        """End it and wait until it is gone."""
        ...


class Server(Protocol):
    """Simulated servos that this process serves."""

    @property
    def name(self) -> str:
        """The port behind which they are."""
        ...

    def run(self) -> None:
        """Serve until `end`."""
        ...

    def end(self) -> None:
        """Make `run` return; any thread may."""
        ...


class Driver(Protocol):
    """What opens lines, workshops and simulators of a brand."""

    def open_line(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> Line:
        """Open a port with a chain behind it.

        a servo is asked again for `silence` [s] before it counts as gone, unless goals wait.

        Raises:
            ServoError: the port does not exist or cannot be opened; says what to do.
        """
        ...

    def open_workshop(self, port: str, baud_rate: int) -> Workshop:
        """Open a port with whomever behind it.

        Raises:
            ServoError: the port does not exist or cannot be opened; says what to do.
        """
        ...

    def start_simulator(self, chain: ServoChain) -> Simulator:
        """Start simulated servos in a process of their own.

        Raises:
            ServoError: it did not start.
        """
        ...

    def serve(self, chain: ServoChain, over_socket: bool, record: str | Path | None) -> Server:
        """Return simulated servos of this process, on a TCP socket or behind a pseudo-terminal.

        Args:
            chain: what to simulate.
            over_socket: which.
            record: a file that gets a line `time,id,counts` per goal that a servo takes; None for none.

        Raises:
            ServoError: there are no pseudo-terminals on this system.
        """
        ...


def driver_of(brand: str) -> Driver:
    """Return the driver of a brand.

    Raises:
        ServoError: there is no such brand.
        MissingExtraError: what it needs is not installed; says how to install it.
    """
    return cast(Driver, import_module(f".{brand_of(brand).name}.driver", __package__).DRIVER)
