"""A simulated servo with a control table: its entries in memory, the motor that they drive, and time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from ..brands.wired.control_table import Item
from .motor import Motor

MEMORY = 256  # bytes of a table, at least
WAKING = 0.1  # [s] that a servo is deaf after a restart
OVERLOAD = 0x20  # bit of an overload, in the errors that every brand's servos report


class TableModel(Protocol):
    """Servo model with a control table."""

    @property
    def table(self) -> Mapping[str, Item]:
        """Entries by name."""

    @property
    def items(self) -> Sequence[Item]:
        """Entries by address."""


class TableServo(ABC):
    """A servo on the simulated bus. A brand says what follows from what is written, and what is reported.

    Attributes:
        silent: does not answer and does not listen, as if unplugged.
        motor: the motor that it turns.
        registered: address and data of a Reg Write that waits for its Action.
        heard: when a packet last passed on the bus [s].
        moved: when the horn last moved, as far as anybody looked [s].
        shown: names of entries worth a look, where the model has them.
    """

    shown: ClassVar[tuple[str, ...]]

    def __init__(self, model: TableModel, id: int, motor: Motor, now: float) -> None:
        self.silent, self.motor = False, motor
        self.registered: tuple[int, bytes] | None = None
        self._now = self._awake = self.heard = self.moved = now
        self._table = model.table
        self._memory = bytearray(max(MEMORY, *(item.address + item.size for item in model.items)))
        for item in model.items:
            self.set(item.name, item.initial)
        self.set("id", id)

    @property
    def id(self) -> int:
        """Id on the bus, as it is now."""
        return self.get("id")

    @property
    @abstractmethod
    def _place(self) -> float:
        """Position that the servo counts [counts]."""

    @abstractmethod
    def raise_error(self, bits: int) -> None:
        """Raise a hardware error of these bits, as the brand reports them, with what follows from it."""

    @abstractmethod
    def _report(self) -> None:
        """Set the entries that are only reported to what they are now."""

    # entries

    def get(self, name: str) -> int:
        """Return an entry's value."""
        item = self._table[name]
        return item.decode(self._memory[item.address : item.address + item.size])

    def set(self, name: str, value: int) -> None:
        """Change an entry from within, without the rules for writing."""
        item = self._table[name]
        self._memory[item.address : item.address + item.size] = item.encode(value)

    def set_up(self, settings: Sequence[tuple[str, int]]) -> None:
        """Count as when a chain's zero was taken, standing at the same counts."""
        for name, value in settings:
            if name in self._table:
                self.set(name, value)

    def state(self) -> dict[str, float]:
        """Return position [counts], velocity [counts/s], `moved` and `heard` [s], and entries worth a look."""
        motion = {"position": self._place, "velocity": self.motor.velocity, "heard": self.heard, "moved": self.moved}
        return motion | {name: self.get(name) for name in self.shown if name in self._table}

    # time

    def hear(self, now: float) -> None:
        """Hear a packet on the bus, for whichever servo: it feeds a watchdog."""
        self.advance(now)
        self.heard = now

    def is_deaf(self, now: float) -> bool:
        """Return whether the servo hears no packets: it is unplugged, or still wakes up."""
        return self.silent or now < self._awake

    def advance(self, now: float) -> None:
        """Let time pass up to `now` [s]: motion and overload, at its own time however late one looks."""
        overloaded = self._now + self.motor.endures
        if now > overloaded:
            self._move(overloaded)
            self.raise_error(OVERLOAD)
        self._move(now)

    def _move(self, now: float) -> None:
        before = self.motor.position
        self.motor.advance(max(0.0, now - self._now))
        self._now = max(now, self._now)
        if self.motor.position != before:
            self.moved = self._now


class EntryServo(TableServo):
    """Servo of which whole entries are written; what is only reported stays, and where there is no entry are zeros."""

    @abstractmethod
    def write(self, address: int, data: bytes) -> list[str]:
        """Write bytes of the table, with all that follows from it, and return the names of the entries."""

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the table, with what the servo reports now; 0 where there is no entry."""
        self._report()
        return bytes(self._memory[address : address + size]).ljust(size, b"\0")

    def _take(self, address: int, data: bytes) -> list[str]:
        """Put bytes into the table, and return the names of the entries that they are."""
        taken, span = [], range(address, address + len(data))
        for item in self._table.values():
            if item.writable and item.address in span and item.address + item.size - 1 in span:
                start = item.address - address
                self._memory[item.address : item.address + item.size] = data[start : start + item.size]
                taken.append(item)
        return [item.name for item in sorted(taken, key=lambda item: item.address)]
