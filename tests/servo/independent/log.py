"""What happened on a chain, by its own clock (`time.monotonic` of this machine [s])."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from .wire import written

TORQUE = 64  # address of Torque Enable, of one byte
GOAL_POSITION = 116  # address, of four bytes


class Packet(NamedTuple):
    """An instruction packet that came.

    Attributes:
        time: of its last byte on the wire, at the chain's baud rate [s].
        arrived: when the chain's process had it [s].
        id: that it is for.
        instruction: its code.
        parameters: without stuffing.
    """

    time: float
    arrived: float
    id: int
    instruction: int
    parameters: bytes

    def writes(self, address: int, size: int = 1) -> dict[int, int]:
        """Return what it writes to an entry, by the id of the servo; empty if it does not write there."""
        found = {}
        for id, start, data in written(self.instruction, self.id, self.parameters):
            if start <= address and address + size <= start + len(data):
                found[id] = int.from_bytes(data[address - start : address - start + size], "little", signed=size == 4)
        return found

    @property
    def torque(self) -> dict[int, int]:
        """What it writes to Torque Enable, by the id of the servo."""
        return self.writes(TORQUE)

    @property
    def goals(self) -> dict[int, int]:
        """What it writes to Goal Position, by the id of the servo [counts]."""
        return self.writes(GOAL_POSITION, 4)


class Goal(NamedTuple):
    """A goal position that a servo took: when [s], which servo, where to [counts]."""

    time: float
    id: int
    counts: int


class Torque(NamedTuple):
    """A change of a servo's torque.

    Attributes:
        time: [s].
        id: of the servo.
        on: whether it is on from then.
        why: "write", "goal update", "startup", "reboot", "restore", "power", "shutdown" or "test".
    """

    time: float
    id: int
    on: bool
    why: str


class Event(NamedTuple):
    """Something else that happened; id 0 is the line.

    "reboot", "no power", "power", "restore", "started", "watchdog", "hardware error 0x20", "wrong checksum",
    "unplugged", "plugged".
    """

    time: float
    id: int
    what: str


Entry = TypeVar("Entry", Packet, Goal, Torque, Event)


class Log:
    """All that happened, in the order of time."""

    def __init__(self) -> None:
        self.all_packets: list[Packet] = []
        self.all_goals: list[Goal] = []
        self.all_torque: list[Torque] = []
        self.all_events: list[Event] = []

    def extend(self, entries: Iterable[list[Any]]) -> None:
        """Add what the chain's process wrote down."""
        add: dict[str, Callable[..., None]] = {
            "packet": lambda now, came, id, code, data: self.all_packets.append(
                Packet(now, came, id, code, bytes.fromhex(data))
            ),
            "goal": lambda *row: self.all_goals.append(Goal(*row)),
            "torque": lambda *row: self.all_torque.append(Torque(*row)),
            "event": lambda *row: self.all_events.append(Event(*row)),
        }
        for kind, *row in entries:
            add[kind](*row)

    def packets(self, after: float = 0.0, id: int | None = None, instruction: int | None = None) -> list[Packet]:
        """Return the packets after a time [s], for an id, with an instruction."""
        return [p for p in _later(self.all_packets, after, id) if instruction in (None, p.instruction)]

    def next_packet(self, after: float) -> Packet | None:
        """Return the first packet after a time [s]; None if there is none yet."""
        return next(iter(self.packets(after)), None)

    def goals(self, after: float = 0.0, id: int | None = None) -> list[Goal]:
        """Return the goals that servos took after a time [s]."""
        return _later(self.all_goals, after, id)

    def torque(self, after: float = 0.0, id: int | None = None, on: bool | None = None) -> list[Torque]:
        """Return the changes of torque after a time [s], all or those to on or off."""
        return [change for change in _later(self.all_torque, after, id) if on in (None, change.on)]

    def events(self, after: float = 0.0, id: int | None = None, what: str = "") -> list[Event]:
        """Return the other events after a time [s] that begin with some words."""
        return [event for event in _later(self.all_events, after, id) if event.what.startswith(what)]


def _later(entries: list[Entry], after: float, id: int | None) -> list[Entry]:
    return [entry for entry in entries if entry.time > after and id in (None, entry.id)]
