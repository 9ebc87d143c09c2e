"""Interface of a line: one port with the part of a chain behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ...errors import ServoError
from ..chain.chain import Servo
from ..chain.tuning import Tuning
from .looks import Look
from .telemetry import Found, Telemetry


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

        Args:
            servo: The servo.

        Returns:
            What it says of itself.

        Raises:
            ServoSilent: It does not answer.
            ServoError: It is not what the chain says.
        """
        ...

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak to the others from here on, who were all inquired; torque-off still goes to everybody.

        Args:
            missing: Servos that do not answer.
        """
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

    def begin_look(self, ids: Sequence[int]) -> Look[Telemetry]:
        """Return a look at servos of one group, of which nothing has been asked yet.

        Nobody waits for its answers.

        Args:
            ids: Ids of the servos.

        Returns:
            The look.
        """
        ...

    def begin_late_look(self, id: int) -> Look[Telemetry] | None:
        """Return a look at one servo in one question, of which nothing has been asked yet.

        Args:
            id: Id of the servo.

        Returns:
            The look; None where one question is not enough, or the servo's goal is not among what it reports.
        """
        ...

    def look(self) -> list[Telemetry] | None:
        """Look at all in one go, quickly.

        Returns:
            The state of each; None where one question is not enough, or not all answers arrived.
        """
        ...

    def look_at(self, servo: Servo, hastily: bool) -> Telemetry:
        """Look at one servo.

        Args:
            servo: The servo.
            hastily: Whether goals wait: it is asked only once and gets little time.

        Returns:
            Its telemetry.

        Raises:
            ServoSilent: It does not answer.
        """
        ...

    def tunings(self) -> list[Tuning]:
        """Return the tuning of each of its servos, as read; entries that are not known are None.

        Raises:
            ServoSilent: Names the one that does not answer.
        """
        ...

    def glance(self, servo: Servo) -> Telemetry | None:
        """Look at one servo, asking once; None if it does not answer.

        Args:
            servo: The servo.

        Returns:
            Its telemetry, or None.
        """
        ...

    def has_error(self, servo: Servo) -> bool:
        """Return whether a servo has a hardware error.

        Args:
            servo: The servo.

        Returns:
            The error's state.

        Raises:
            ServoSilent: It does not answer.
        """
        ...

    def are_stopped(self) -> list[bool]:
        """Return which servos were stopped by their watchdog; where the brand has none, which stand.

        Raises:
            ServoSilent: one does not answer.
        """
        ...

    # writing; what is not answered is read back, unless it says so

    def set_watchdog(self, seconds: float) -> None:
        """Let the servos stop when no packet has come for this long [s].

        0 turns that off and clears one that has stopped them. Where the brand has no watchdog, this is the time in
        which a servo must reach each of its goals, which are held that near to it.

        Args:
            seconds: Longest time without a packet [s]; 0 turns the watchdog off.

        Raises:
            ServoError: A servo does not take it.
        """
        ...

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Let these servos hold without packets; unanswered.

        Args:
            servos: The servos.
        """
        ...

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the servos' own speed limits.

        Args:
            speeds: Speeds (n,) of the actuators [rad/s or m/s].

        Raises:
            ServoError: A servo does not take it.
        """
        ...

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        """Write gains and the profile's acceleration of a servo, whether it has torque or not; None stays as it is.

        They are forgotten when the servo loses its power.

        Args:
            servo: The servo.
            tuning: Its new tuning.

        Raises:
            ServoError: It does not take it.
        """
        ...

    def hold_at(self, counts: np.ndarray) -> None:
        """Set goals and the limits of currents before torque is on.

        Args:
            counts: (n,), a goal a servo.

        Raises:
            ServoError: A servo does not take them.
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

        Args:
            powered: Whether each servo gets torque.

        Raises:
            ServoError: A servo does not obey.
        """
        ...

    def send_torque_off(self) -> None:
        """Turn torque off at once, of who is left out too; unanswered."""
        ...

    def confirm_torque_off(self) -> list[bool | None]:
        """Turn torque off where it is still on.

        Returns:
            What is read back of each servo; None where one does not answer.
        """
        ...

    def reboot(self, servo: Servo) -> None:
        """Reboot a servo: its torque goes off, and it answers again after the brand's `waking`; unanswered.

        Args:
            servo: The servo.
        """
        ...


@runtime_checkable
class BoardLine(Protocol):
    """A line that can also read boards on its bus that are none of its servos."""

    def read_beside(self, id: int, address: int, size: int) -> bytes | None:
        """Return bytes of a board, asking once.

        Args:
            id: Its id.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The bytes; None without an answer.
        """
        ...

    def look_beside(self, id: int, address: int, size: int) -> Look[bytes]:
        """Return a look at a board, of which nothing has been asked yet.

        Args:
            id: Its id.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The look.
        """
        ...
