"""Lines of servos with control tables: what the bus asks of them, whatever their brand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ...bus.emergency import Emergency
from ...bus.line import ServoSilent
from ...bus.looks import Look
from ...bus.telemetry import Found, Telemetry
from ...chain.chain import ServoChain
from ...chain.servo import Servo
from ...chain.tuning import Tuning
from .look import AskedLook, Part
from .patience import LATENCY
from .sent_goals import SentGoals
from .wire import Wire

_Wire = TypeVar("_Wire", bound=Wire)
_Settings = TypeVar("_Settings", bound=Found)


@dataclass(frozen=True)
class _Board:
    """A board on the bus, as a packet's addressee."""

    id: int
    actuator: str = "board"
    model: str = ""


class WiredLine(ABC, Generic[_Wire, _Settings]):
    """Servos of a chain behind one open port. A brand adds what is missing for a `Line`, and how it is looked at.

    Args:
        chain: who should be there, and at which baud rate.
        port: a device path, or a URL that pyserial opens.
        silence: how long a servo is asked again, unless goals are waiting, before it counts as gone [s].
        emergency: the owner's emergency stop.

    Attributes:
        name: of the port.
        wire_type: what the brand's packets go over.

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    wire_type: type[_Wire]

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        self.name, self._chain = port, chain
        self._wire = self.wire_type(chain.servos, port, chain.baud_rate, silence, emergency)
        self._settings: dict[int, _Settings] = {}
        self._sent = SentGoals()
        self._accelerations: dict[int, int] = {}  # of profiles, by id; none where nobody asked for one

    # of the brand

    @abstractmethod
    def _read_settings(self, servo: Servo) -> _Settings:
        """Read what a servo is and how it is set up; raises ServoSilent, or ServoError where it is another one."""

    @abstractmethod
    def _parts(self, ids: Sequence[int]) -> list[Part]:
        """Return addresses and sizes of what servos of a group report, in the order in which they are asked for."""

    @abstractmethod
    def _telemetry(self, id: int, said: list[bytes]) -> Telemetry:
        """Return what the bytes of these parts mean."""

    def _delay(self, ids: Sequence[int]) -> float:
        """Return what servos wait before they answer, beyond what a question counts on [s]."""
        return 0.0

    # the servos

    @property
    def servos(self) -> tuple[Servo, ...]:
        """Return whom it speaks to."""
        return self._wire.servos

    @property
    def latency(self) -> float:
        """Time from a question to its answer, at best [s]; 0 before there was one."""
        return self._wire.patience.best

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ids of servos that can be asked in one packet; known after `prepare`."""
        return (self._wire.ids,)

    def close(self) -> None:
        """Close the port; whatever the servos do, they go on doing."""
        self._wire.close()

    def forget(self) -> None:
        """Speak to all servos of the chain, and know nothing of them but what the chain says."""
        self._wire.servos, self._wire.missing = self._chain.servos, ()
        self._wire.patience.forget()
        self._settings, self._sent = {}, SentGoals()

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
        settings = self._settings[servo.id] = self._read_settings(servo)
        return settings

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak to the others from here on, who were all inquired; torque-off still goes to everybody.

        Args:
            missing: Servos that do not answer.
        """
        self._wire.servos = tuple(servo for servo in self._chain.servos if servo not in missing)
        self._wire.missing = tuple(missing)

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts]; raises ServoSilent."""
        return self._wire.read_positions()

    def begin_look(self, ids: Sequence[int]) -> Look[Telemetry]:
        """Return a look at servos of one group, of which nothing has been asked yet.

        Args:
            ids: Ids of the servos.

        Returns:
            The look.
        """
        return AskedLook(self._wire, ids, self._parts(ids), self._judged, self._delay(ids))

    def begin_late_look(self, id: int) -> Look[Telemetry] | None:
        """Return a look at one servo in one question, of which nothing has been asked yet.

        Args:
            id: Id of the servo.

        Returns:
            The look; None where one question is not enough.
        """
        return self.begin_look([id]) if len(self._parts([id])) == 1 else None

    def look(self) -> list[Telemetry] | None:
        """Look at all in one go.

        Returns:
            The state of each; None where one question is not enough, or not all answers arrived.
        """
        seen: dict[int, Telemetry] = {}
        for group in self.groups:
            first, *more = self._parts(group)
            if more:
                return None
            with self._wire.patience.in_haste():
                blocks = self._wire.read_blocks(*first, group)
            if blocks is None:
                return None
            seen |= {id: self._judged(id, [block]) for id, block in zip(group, blocks, strict=True)}
        return [seen[id] for id in self._wire.ids]

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
        with self._wire.patience.in_haste() if hastily else nullcontext():
            return self._look_at(servo)

    def glance(self, servo: Servo) -> Telemetry | None:
        """Look at one servo, asking once; None if it does not answer.

        Args:
            servo: The servo.

        Returns:
            Its telemetry, or None.
        """
        with self._wire.patience.in_haste(LATENCY):
            try:
                return self._look_at(servo)
            except ServoSilent:
                return None

    def _look_at(self, servo: Servo) -> Telemetry:
        said = [self._wire.read_block(servo, *part) for part in self._parts([servo.id])]
        return self._judged(servo.id, said)

    def _judged(self, id: int, said: list[bytes]) -> Telemetry:
        """Return what the bytes of a look mean, and whether the goal among them is somebody else's."""
        servo = next(servo for servo in self._chain.servos if servo.id == id)
        return self._sent.judged(servo, self._telemetry(id, said))

    def read_beside(self, id: int, address: int, size: int) -> bytes | None:
        """Return bytes of a board on the bus that is none of the servos, asking once.

        Args:
            id: Its id.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The bytes; None without an answer.
        """
        with self._wire.patience.in_haste(LATENCY):
            try:
                return self._wire.read_block(_Board(id), address, size)
            except ServoSilent:
                return None

    def look_beside(self, id: int, address: int, size: int) -> AskedLook[bytes]:
        """Return a look at such a board, of which nothing has been asked yet.

        Args:
            id: Its id.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The look.
        """
        return AskedLook(self._wire, [id], [(address, size)], lambda _, said: said[0])

    def tunings(self) -> list[Tuning]:
        """Return the tuning of each servo, as read; raises ServoSilent."""
        if not self._wire.entries.tuning:
            return [Tuning()] * len(self.servos)
        columns = [self._wire.read_each(entry).tolist() for entry in self._wire.entries.tuning]
        rows = zip(self.servos, zip(*columns, strict=True), strict=True)
        return [Tuning(*row) if servo.datasheet.gains else Tuning() for servo, row in rows]

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        """Write gains and the profile's acceleration of a servo, whether it has torque or not; None stays as it is.

        Args:
            servo: The servo.
            tuning: Its new tuning.

        Raises:
            ServoError: It does not take it.
        """
        for entry, value in zip(self._wire.entries.tuning, tuning, strict=False):  # models may have none
            if value is not None:
                self._wire.set_one(servo, entry, value)
        self._accelerations[servo.id] = tuning.acceleration or 0

    def has_error(self, servo: Servo) -> bool:
        """Return whether a servo has a hardware error.

        Args:
            servo: The servo.

        Returns:
            The error's state.

        Raises:
            ServoSilent: It does not answer.
        """
        return bool(self._wire.read(servo, self._wire.entries.errors))

    # torque

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque on or off, for each servo.

        Args:
            powered: Whether each servo gets torque.

        Raises:
            ServoError: A servo does not obey.
        """
        self._wire.set(self._wire.entries.torque, [int(on) for on in powered])

    def send_torque_off(self) -> None:
        """Turn torque off at once, of who is left out too; unanswered."""
        self._wire.send_torque_off()

    def confirm_torque_off(self) -> list[bool | None]:
        """Turn torque off where it still is on, one by one.

        A packet that met somebody's late answer on the wire is lost.

        Returns:
            Torque of each servo as read back, None where one does not answer.
        """
        self._wire.drain()  # of answers to what was asked before
        return [self._wire.cut_torque_of(servo) for servo in self.servos]

    def reboot(self, servo: Servo) -> None:
        """Reboot a servo; unanswered.

        Args:
            servo: The servo.
        """
        self._wire.reboot(servo)
