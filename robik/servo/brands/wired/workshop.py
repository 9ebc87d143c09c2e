"""Workshops: servos behind one open port that are being set up, whoever they are. Nothing here moves anything.

Settings are kept without power and locked while torque is on; with torque on they are refused. Any method may raise
`ServoError`: the port is gone or does not take a baud rate, a servo does not answer, refuses, or is of a model that is
not known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from ....errors import ServoError
from ...bus.emergency import Emergency
from ...bus.telemetry import Change, Found, Seen
from ...chain.servo import Servo
from ..brand import Brand
from .inquiry import read_surely
from .patience import TRIES
from .reading import Addressed
from .wire import Wire

HIGHEST_ID = 252  # that a servo may have

_Wire = TypeVar("_Wire", bound=Wire)


@dataclass(frozen=True)
class Stranger:
    """A servo of no chain, for the wire to talk to."""

    id: int
    model: str

    @property
    def actuator(self) -> str:
        """A name for messages."""
        return f"servo {self.id}"


@dataclass
class Opened:
    """A servo whose settings may be written, and where it answers: whoever changes that says so here.

    Attributes:
        servo: The servo.
        baud_rate: At which it answers [bit/s].
    """

    servo: Addressed
    baud_rate: int


class Workshop(ABC, Generic[_Wire]):
    """Servos behind one open port, whoever they are. A brand says how they are found and what their settings are.

    Args:
        port: a device path, or a URL that pyserial opens.
        baud_rate: at which to open it [bit/s].
        emergency: of who only turns torque off.

    Attributes:
        name: of the port.
        wire: the open port.
        wire_type: what the brand's packets go over.
        brand: whose servos they are.
        unplayable: why a servo of a model that is known may be left as it is, in words.

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    wire_type: type[_Wire]
    brand: ClassVar[Brand]
    unplayable: ClassVar[str]

    def __init__(self, port: str, baud_rate: int, emergency: Emergency | None = None) -> None:
        self.name, self._baud_rate = port, baud_rate
        self.wire = self.wire_type((), port, baud_rate, emergency=emergency)

    # of the brand

    @abstractmethod
    def _scan(self, baud_rates: Sequence[int], said: Callable[[str], None]) -> list[Seen]:
        """Return all servos that answer at any of these baud rates."""

    @abstractmethod
    def _settings(self, seen: Seen) -> Iterator[Change]:
        """Yield how settings should be so that a servo can stream, in their order, also those that are so."""

    @abstractmethod
    def _calibrate(self, servos: Sequence[Servo]) -> list[int]:
        """Do what `calibrate` says."""

    @abstractmethod
    def _found(self, servo: Servo) -> Found:
        """Read how a servo is set up, once; raises ServoSilent."""

    def _write_id(self, opened: Opened, id: int) -> None:
        """Give a servo another id; raises ServoError where it does not take it."""
        self.wire.send("id", [id], [opened.servo.id])
        if self.wire.ping(id) is None:
            raise ServoError(f"servo {opened.servo.id} does not take {id} as id")
        opened.servo = Stranger(id, opened.servo.model)

    def _write_baud_rate(self, opened: Opened, code: int) -> None:
        """Give a servo another baud rate, by its code, and do not wonder whether it answers there."""
        self.wire.send("baud_rate", [code], [opened.servo.id])
        self.wire.port.flush()

    def _rates_of(self, seen: Seen) -> Sequence[int]:
        """Return the baud rates that a servo can be set to [bit/s]."""
        return self.brand.baud_rates

    @contextmanager
    def _opened(self, servo: Addressed, baud_rate: int) -> Iterator[Opened]:
        """Let settings of a servo be written within this context; raises ServoError where its torque is on."""
        if self.wire.read(servo, self.wire.entries.torque):
            raise ServoError(f"servo {servo.id} has its torque on, which locks its settings; turn it off first")
        yield Opened(servo, baud_rate)

    def _misfit(self, seen: Seen) -> str:
        """Return why a servo cannot be played, in words; empty if it can."""
        if seen.model is None:
            return f"servo {seen.id} is of an unknown model, number {seen.number}; it can be seen, but not set up"
        return "" if seen.model in self.brand.playable else f"servo {seen.id} is an {seen.model}, {self.unplayable}"

    # who is there

    def close(self) -> None:
        """Close the port."""
        self.wire.close()

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
        return self._scan(self._rates(baud_rates), said)

    def _rates(self, baud_rates: Iterable[int] | None) -> tuple[int, ...]:
        """Return the baud rates at which to ask.

        Of a network socket none can be set, and each servo would be there at all of them.
        """
        if self.name.startswith("socket://"):
            return (self._baud_rate,)
        return tuple(self.brand.likely_bauds if baud_rates is None else baud_rates)

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.

        Returns:
            Every servo that answers, and whether it has torque, as read back; None where that cannot be read.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        rates = self._rates(baud_rates)
        for rate in rates:
            self.wire.open_at(rate)
            self.wire.cut_torque_of_all()
        found = []
        for one in self.scan(rates):
            self.wire.open_at(one.baud_rate)
            found.append((one, self.wire.cut_torque_of(Stranger(one.id, one.model or self.brand.default_model))))
        return found

    # settings

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
        if not 0 <= id <= HIGHEST_ID:
            raise ServoError(f"a servo's id is from 0 to {HIGHEST_ID}, not {id}")
        self.wire.open_at(seen.baud_rate)
        if self.wire.ping(id) is not None:
            raise ServoError(
                f"id {id} is taken by another servo at {seen.baud_rate} baud; give that one another id first"
            )
        with self._opened(self._addressed(seen), seen.baud_rate) as opened:
            self._write_id(opened, id)
        return replace(seen, id=id)

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
        self._check_baud_rate(baud_rate, self._rates_of(seen))
        if baud_rate == seen.baud_rate:
            return seen
        self.wire.open_at(baud_rate)
        if self.wire.ping(seen.id) is not None:
            raise ServoError(
                f"at {baud_rate} baud there is a servo {seen.id} already; give one of them another id first"
            )
        self.wire.open_at(seen.baud_rate)
        with self._opened(self._addressed(seen), seen.baud_rate) as opened:
            for _ in range(TRIES):  # bytes that an adapter still holds when its rate changes are lost
                self.wire.open_at(seen.baud_rate)
                if self.wire.ping(seen.id) is None:
                    break
                self._write_baud_rate(opened, self.brand.baud_code(baud_rate))
                self.wire.open_at(baud_rate)
                if self.wire.ping(seen.id) is not None:
                    opened.baud_rate = baud_rate
                    return replace(seen, baud_rate=baud_rate)
            raise ServoError(f"servo {seen.id} was given {baud_rate} baud but does not answer there; scan again")

    def _check_baud_rate(self, baud_rate: int, rates: Sequence[int]) -> None:
        if baud_rate not in rates:
            raise ServoError(f"a servo's baud rate is one of {', '.join(map(str, rates))}, not {baud_rate}")

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
        fit = [one for one in seen if not self._misfit(one)]
        if not fit:
            self._check_baud_rate(baud_rate, self.brand.baud_rates)
        return [change for one in fit for change in self._advice(one, baud_rate)]

    def _advice(self, one: Seen, baud_rate: int) -> list[Change]:
        self._check_baud_rate(baud_rate, self._rates_of(one))
        self.wire.open_at(one.baud_rate)
        changes = [change for change in self._settings(one) if change.now != change.wanted]
        if one.baud_rate != baud_rate:  # last: afterwards it must be spoken to at another rate
            now, wanted = map(self.brand.baud_code, (one.baud_rate, baud_rate))
            changes.append(Change(one, "baud_rate", now, wanted, f"{one.baud_rate} → {baud_rate} baud"))
        return changes

    def unfit(self, seen: Iterable[Seen]) -> list[str]:
        """Say of each servo that cannot be played why it is left as it is.

        Args:
            seen: Servos as a scan found them.

        Returns:
            A sentence for each.
        """
        return [misfit for one in seen if (misfit := self._misfit(one))]

    def apply(self, changes: Iterable[Change]) -> None:
        """Make these changes.

        Args:
            changes: The changes, in their order.

        Raises:
            ServoError: A servo does not take one; those before it are made.
        """
        for change in changes:
            seen = change.servo
            self.wire.open_at(seen.baud_rate)
            if change.entry == "baud_rate":
                self.set_baud_rate(seen, self.brand.baud_rate(change.wanted))
                continue
            with self._opened(self._addressed(seen), seen.baud_rate) as opened:
                self.wire.set_one(opened.servo, change.entry, change.wanted)

    # one by one

    def has_torque(self, seen: Seen) -> bool:
        """Return whether a servo has torque.

        Args:
            seen: The servo as a scan found it.

        Returns:
            True where it is on.

        Raises:
            ServoSilent: It does not answer.
        """
        return bool(self.wire.read(self._addressed(seen), self.wire.entries.torque))

    def position(self, seen: Seen) -> int:
        """Return the position of a servo.

        Args:
            seen: The servo as a scan found it.

        Returns:
            Position [counts].

        Raises:
            ServoSilent: It does not answer.
        """
        return self.wire.read_position(self._addressed(seen))

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
        return self._calibrate(servos)

    def zero_settings(self, servo: Servo) -> tuple[tuple[str, int], ...]:
        """Return what decides where a servo counts from, which way, and how far.

        Args:
            servo: The servo.

        Returns:
            Settings by name.

        Raises:
            ServoSilent: It does not answer.
            ServoError: It says something else every time.
        """
        return read_surely(self.wire, servo, lambda: self._found(servo)).zero_settings

    def _addressed(self, seen: Seen) -> Addressed:
        """Return a servo as the wire talks to it; raises ServoError where it cannot be played."""
        if misfit := self._misfit(seen):
            raise ServoError(misfit)
        return Stranger(seen.id, seen.model or self.brand.default_model)
