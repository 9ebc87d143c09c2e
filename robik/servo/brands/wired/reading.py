"""Reading of servos by their control tables, at once or while goals go out."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from ...bus.emergency import Emergency
from ...bus.line import ServoSilent
from ...chain.servo import Servo
from .control_table import Item
from .patience import UNHURRIED, Patience

DRAIN = 0.01  # [s] that a late answer gets to arrive and be thrown away, so that it is not taken for the next one
LATE = 0.06  # [s] that one may be late at worst

_Result = TypeVar("_Result")


class Addressed(Protocol):
    """Addressee of a packet: a servo of a chain, or one that is being set up."""

    @property
    def id(self) -> int:
        """Id on the bus."""

    @property
    def actuator(self) -> str:
        """Name of the actuator that the servo turns."""

    @property
    def model(self) -> str:
        """Name of the model."""


def named(servo: Addressed) -> str:
    """Return a servo as messages name it, by its id and its actuator."""
    return f"servo {servo.id} ({servo.actuator})"


class Question(Protocol):
    """The same bytes of several servos' tables, asked for without waiting for the answers."""

    @property
    def seconds(self) -> float:
        """Time of the question and its answers on the wire [s]."""

    def send(self) -> None:
        """Ask."""
        ...

    def answers(self) -> dict[int, bytes] | None:
        """Return the bytes of each servo that has answered, by id; None while answers may still come."""
        ...


class OpenPort(Protocol):
    """Port of a brand. Reads and writes of it leave with `EmergencyStopped` when the emergency stop is pressed."""

    def open_at(self, baud_rate: int) -> None:
        """Open it again at a baud rate [bit/s]; raise ServoError if it cannot be opened."""
        ...

    def close(self) -> None:
        """Close it, if it is open."""
        ...

    def flush(self) -> None:
        """Wait until all that was written is on the wire; raises PortGone."""
        ...

    def clear(self) -> None:
        """Throw away what has arrived."""
        ...


class Entries(NamedTuple):
    """Names in a brand's control tables of what is asked of servos of any brand.

    Attributes:
        torque: whether it is on, 0 where it is off.
        position: the present position [counts].
        spans: how many bytes from there on are asked for in turn [bytes]; nothing else is read in as many, so that a
            late answer to another question, or to the look before, is known by its length.
        errors: bits of hardware errors, 0 where there are none; empty where no entry has them.
        tuning: gains of the position control, P, I and D, and the profile's acceleration, as in `Tuning`; empty where
            the models have none in common.
        number: of the model; empty where an answer to a ping says it.
    """

    torque: str
    position: str
    spans: tuple[int, ...]
    errors: str = ""
    tuning: tuple[str, ...] = ()
    number: str = ""


class Reader(ABC):
    """An open port with servos behind it, of which it reads. A brand says how its packets ask and answer.

    A servo is asked again for `silence` [s], unless goals are waiting, before it counts as gone. Raise ServoError
    if the port, a device path or a URL that pyserial opens, cannot be opened.

    Attributes:
        name: of the port.
        servos: whose entries are read and written where nobody else is named.
        emergency: the owner's; every read and write leaves with `EmergencyStopped` when it is pressed.
        missing: who is left out, but hears when torque is turned off.
        patience: with who does not answer.
        port: the open port.
        table: entries that have one address in all models that are played.
        entries: names of those that every brand has.
    """

    table: ClassVar[Mapping[str, Item]]
    entries: ClassVar[Entries]
    port: OpenPort

    def __init__(
        self,
        servos: Sequence[Servo],
        port: str,
        baud_rate: int,
        silence: float = UNHURRIED,
        emergency: Emergency | None = None,
    ) -> None:
        self.name, self.servos, self.missing = port, tuple(servos), tuple[Servo, ...]()
        self.emergency, self.patience = emergency or Emergency(), Patience(silence)
        self._owes = False  # an answer that was not waited for
        self._question: Question | None = None  # whose answers nobody waits for
        self._spans = cycle(self.entries.spans)
        self._open(baud_rate)

    # of the brand: attempts at asking, without patience

    @abstractmethod
    def _open(self, baud_rate: int) -> None:
        """Open `port`; raises ServoError."""

    @abstractmethod
    def _ping(self, id: int) -> int | None:
        """Ask a servo for its model number; 0 where an answer does not say it, None without one."""

    @abstractmethod
    def _read(self, servo: Addressed, address: int, size: int) -> bytes | None:
        """Ask a servo for bytes of its table; None without an answer."""

    @abstractmethod
    def _read_together(self, address: int, size: int, ids: Sequence[int]) -> list[bytes] | None:
        """Ask servos for the same bytes in one go; None if some are lost."""

    @abstractmethod
    def _question_to(self, ids: Sequence[int], address: int, size: int) -> Question:
        """Return a question to servos, which has not been asked yet."""

    def _guard(self, call: Callable[[], _Result]) -> _Result:
        """Use the port; a failure of it becomes `PortGone`, where it is not yet."""
        return call()

    def _item(self, servo: Addressed, entry: str) -> Item:
        """Return an entry as the table of a servo's model has it."""
        return self.table[entry]

    # the port

    def open_at(self, baud_rate: int) -> None:
        """Open the port, or open it again, at a baud rate [bit/s]; raise ServoError if it cannot be opened."""
        self.port.open_at(baud_rate)

    def close(self) -> None:
        """Close the port; whatever the servos do, they go on doing."""
        self.port.close()

    # reading

    @property
    def ids(self) -> tuple[int, ...]:
        """The servos' ids, in order."""
        return tuple(servo.id for servo in self.servos)

    def ping(self, id: int) -> int | None:
        """Return the model number of a servo, 0 where the brand's answer does not say it; None without an answer."""
        for _ in self.patience.attempts():
            self._settle()
            started = time.perf_counter()
            if (number := self._ping(id)) is not None:
                self.patience.note(time.perf_counter() - started)
                return number
            self.drain()
        return None

    def read(self, servo: Addressed, entry: str) -> int:
        """Return an entry of a servo's table; raise ServoSilent if it does not answer."""
        item = self._item(servo, entry)
        return item.decode(self.read_block(servo, item.address, item.size))

    def read_block(self, servo: Addressed, address: int, size: int) -> bytes:
        """Return bytes of a servo's table; raise ServoSilent if it does not answer."""
        for _ in self.patience.attempts():
            self._settle()
            if (data := self._read(servo, address, size)) is not None:
                return data
            self.drain()
        raise ServoSilent(f"{named(servo)} stopped answering on {self.name}")

    def read_blocks(self, address: int, size: int, ids: Sequence[int] = ()) -> list[bytes] | None:
        """Return the same bytes of servos' tables with one question; None if some are lost.

        Without ids they are the chain's.
        """
        self._settle()
        blocks = self._read_together(address, size, ids or self.ids)
        if blocks is None:
            self.drain()
        return blocks

    def read_each(self, entry: str) -> np.ndarray:
        """Return an entry (n,) of all servos; raise ServoSilent if one does not answer."""
        item = self.table[entry]
        return self._read_each(item, item.size)

    def _read_each(self, item: Item, size: int) -> np.ndarray:
        """Return an entry of all servos, with which so many bytes are asked for."""
        blocks = self.read_blocks(item.address, size)
        if blocks is None:
            blocks = [self.read_block(servo, item.address, size) for servo in self.servos]
        return np.array([item.decode(block[: item.size]) for block in blocks], dtype=np.int64)

    def read_positions(self) -> np.ndarray:
        """Return the present positions (n,) of all servos [counts], asked for unlike anything before."""
        return self._read_each(self.table[self.entries.position], next(self._spans))

    def read_position(self, servo: Addressed) -> int:
        """Return the present position of a servo [counts], asked for unlike anything before."""
        item = self._item(servo, self.entries.position)
        return item.decode(self.read_block(servo, item.address, next(self._spans))[: item.size])

    def drain(self, times: int = 1) -> None:
        """Discard a late answer, so that it does not become the answer to another question.

        It is waited for `times` as long as usual. In haste the questions are all the same, and so are the answers.
        """
        self.emergency.pause(times * (DRAIN if self.patience.is_hasty and not self._question else LATE))
        self._question = None
        self._guard(self.port.clear)
        self._owes = self.patience.is_hasty

    def _settle(self) -> None:
        """Wait for what haste left behind, and for answers that nobody waited for."""
        if self._question or (self._owes and not self.patience.is_hasty):
            self.drain()

    # reading, while goals go out

    def seconds(self, ids: Sequence[int], address: int, size: int) -> float:
        """Return the time on the wire of a question to servos and their answers [s]."""
        return self._question_to(ids, address, size).seconds

    def ask(self, ids: Sequence[int], address: int, size: int) -> None:
        """Ask servos for the same bytes, and go on: `answers` has what they say."""
        self._settle()
        question = self._question_to(ids, address, size)
        self._guard(question.send)
        self._question = question

    def answers(self) -> dict[int, bytes] | None:
        """Return the bytes of each servo that has answered what was asked, by id; None while answers may still come."""
        found = self._guard(self._question.answers) if self._question else {}
        if found is not None:
            self._question = None
        return found
