"""Setting Dynamixel servos up: who is on the bus, ids, baud rates, and what streaming wants of their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ...errors import ServoError
from ..servo import Servo
from ..telemetry import Change, Seen
from .brand import DYNAMIXEL
from .inquiry import STARTUP_FIRMWARE, STARTUP_TORQUE, TIMED_PROFILE, TORQUE_BY_GOAL
from .models import BAUD_RATES, MODEL_NAMES, POSITION_MODES, SHAPE, SINGLE_TURN_MODE
from .wire import Wire

HIGHEST_ID = 252


@dataclass(frozen=True)
class Stranger:
    """A servo of no chain, for the wire to talk to."""

    id: int
    model: str

    @property
    def actuator(self) -> str:
        """A name for messages."""
        return f"servo {self.id}"


class DynamixelWorkshop:
    """Servos behind one open port, whoever they are: see `Workshop`.

    Args:
        port: a device path, or a URL that pyserial opens.
        baud_rate: at which to open it [bit/s].

    Attributes:
        name: of the port.
        wire: the open port.

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    def __init__(self, port: str, baud_rate: int) -> None:
        self.name = port
        self.wire = Wire((), port, baud_rate)
        self._baud_rate = baud_rate

    def close(self) -> None:
        """Close the port."""
        self.wire.close()

    def scan(self, baud_rates: Iterable[int] | None = None, said: Callable[[str], None] = lambda _: None) -> list[Seen]:
        """Return all servos that answer, at any of these baud rates. A rate takes about a second, 9,600 baud five.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.
            said: Called with what is being done.

        Returns:
            The servos.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        found: dict[tuple[int, int], Seen] = {}
        for rate in self._rates(DYNAMIXEL.likely_bauds if baud_rates is None else baud_rates):
            said(f"asking at {rate} baud")
            self.wire.open_at(rate)
            for id, (number, firmware) in sorted(self.wire.ping_all().items()):
                found[rate, id] = Seen(id, MODEL_NAMES.get(number), number, firmware, rate)
        return list(found.values())

    def _rates(self, baud_rates: Iterable[int]) -> Iterable[int]:
        """Return the baud rates at which to ask.

        Of a network socket none can be set, and each servo would be there at all of them.
        """
        return (self._baud_rate,) if self.name.startswith("socket://") else baud_rates

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.

        Returns:
            Every servo that answers, and whether it has torque, as read back; None where that cannot be read.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        rates = DYNAMIXEL.likely_bauds if baud_rates is None else baud_rates
        for rate in self._rates(rates):
            self.wire.open_at(rate)
            self.wire.cut_torque_of_all()
        found = []
        for one in self.scan(rates):
            self.wire.open_at(one.baud_rate)
            found.append((one, self.wire.cut_torque_of(Stranger(one.id, one.model or SHAPE))))
        return found

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
        self._set(seen, "id", id)
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
        _check_baud_rate(baud_rate)
        self.wire.open_at(baud_rate)
        if baud_rate != seen.baud_rate and self.wire.ping(seen.id) is not None:
            raise ServoError(
                f"at {baud_rate} baud there is a servo {seen.id} already; give one of them another id first"
            )
        self.wire.open_at(seen.baud_rate)
        self._set(seen, "baud_rate", BAUD_RATES.index(baud_rate))
        self.wire.open_at(baud_rate)
        if self.wire.ping(seen.id) is None:
            raise ServoError(f"servo {seen.id} took {baud_rate} baud but does not answer there; scan again")
        return replace(seen, baud_rate=baud_rate)

    def _set(self, seen: Seen, entry: str, value: int) -> None:
        servo = _addressed(seen)
        if self.wire.read(servo, "torque_enable"):
            raise ServoError(f"servo {seen.id} has its torque on, which locks its settings; turn it off first")
        self.wire.set_one(servo, entry, value)

    def advice(self, seen: Iterable[Seen], baud_rate: int) -> list[Change]:
        """Return what should be changed so that servos can stream; nothing of those that cannot be played.

        A factory servo has 57,600 baud and waits 0.5 ms before it answers.

        Args:
            seen: Servos as a scan found them.
            baud_rate: Rate [bit/s].

        Returns:
            The changes.

        Raises:
            ServoError: One does not answer, or there is no such baud rate.
        """
        _check_baud_rate(baud_rate)
        return [change for one in seen if not _misfit(one) for change in self._advice(one, baud_rate)]

    def _advice(self, one: Seen, baud_rate: int) -> list[Change]:
        self.wire.open_at(one.baud_rate)
        has_startup = one.firmware >= STARTUP_FIRMWARE
        startup = ["startup_configuration"] * has_startup
        entries = ("return_delay_time", "operating_mode", "drive_mode", "homing_offset", *startup)
        is_now = {entry: self.wire.read(_addressed(one), entry) for entry in entries}
        drive_mode = is_now["drive_mode"]
        wanted = [
            ("return_delay_time", 0, "so that it answers at once"),
            ("drive_mode", drive_mode & ~(TIMED_PROFILE | TORQUE_BY_GOAL), _drive_mode_reason(drive_mode)),
            ("homing_offset", 0, "since the chain's zero does that, and old firmware moves by it"),
        ]
        if has_startup:
            cleared = is_now["startup_configuration"] & ~STARTUP_TORQUE
            why = "since it would turn its torque on by itself after a restart"
            wanted.append(("startup_configuration", cleared, why))
        if is_now["operating_mode"] not in POSITION_MODES:
            wanted.append(("operating_mode", SINGLE_TURN_MODE, "since it does not follow positions"))
        changes = [Change(one, entry, is_now[entry], value, why) for entry, value, why in wanted]
        changes = [change for change in changes if change.now != change.wanted]
        if one.baud_rate != baud_rate:  # last: afterwards it must be spoken to at another rate
            codes = BAUD_RATES.index(one.baud_rate), BAUD_RATES.index(baud_rate)
            changes.append(Change(one, "baud_rate", *codes, f"{one.baud_rate} → {baud_rate} baud"))
        return changes

    def unfit(self, seen: Iterable[Seen]) -> list[str]:
        """Say of each servo that cannot be played why it is left as it is.

        Args:
            seen: Servos as a scan found them.

        Returns:
            A sentence for each.
        """
        return [misfit for one in seen if (misfit := _misfit(one))]

    def apply(self, changes: Iterable[Change]) -> None:
        """Make these changes.

        Args:
            changes: The changes, in their order.

        Raises:
            ServoError: A servo does not take one; those before it are made.
        """
        for change in changes:
            self.wire.open_at(change.servo.baud_rate)
            if change.entry == "baud_rate":
                self.set_baud_rate(change.servo, BAUD_RATES[change.wanted])
            else:
                self._set(change.servo, change.entry, change.wanted)

    def has_torque(self, seen: Seen) -> bool:
        """Return whether a servo has torque.

        Args:
            seen: The servo as a scan found it.

        Returns:
            True where it is on.

        Raises:
            ServoSilent: It does not answer.
        """
        return bool(self.wire.read(_addressed(seen), "torque_enable"))

    def position(self, seen: Seen) -> int:
        """Return the position of a servo.

        Args:
            seen: The servo as a scan found it.

        Returns:
            Position [counts].

        Raises:
            ServoSilent: It does not answer.
        """
        return self.wire.read(_addressed(seen), "present_position")

    def calibrate(self, servos: Sequence[Servo]) -> list[int]:
        """Return the positions of servos, as they will be once torque is on. They keep no middle of their own here.

        Turned by hand, one in the single-turn mode counts beyond its turn.

        Args:
            servos: The servos.

        Returns:
            Positions [counts].

        Raises:
            ServoSilent: One does not answer.
        """
        self.wire.servos = tuple(servos)
        there = self.wire.read_each("present_position").tolist()
        return [self._folded(servo, position) for servo, position in zip(servos, there, strict=True)]

    def _folded(self, servo: Servo, position: int) -> int:
        is_single = self.wire.read(servo, "operating_mode") == SINGLE_TURN_MODE
        return position % servo.datasheet.counts_per_turn if is_single else position


def _check_baud_rate(baud_rate: int) -> None:
    if baud_rate not in BAUD_RATES:
        raise ServoError(f"a servo's baud rate is one of {', '.join(map(str, BAUD_RATES))}, not {baud_rate}")


def _misfit(seen: Seen) -> str:
    """Return why a servo cannot be played, in words; empty if it can."""
    if seen.model is None:
        return f"servo {seen.id} is of an unknown model, number {seen.number}; it can be seen, but not set up"
    if seen.model not in DYNAMIXEL.playable:
        return f"servo {seen.id} is an {seen.model}, which cannot be played; its torque can be cut, but not more"
    return ""


def _addressed(seen: Seen) -> Stranger:
    """Return a servo as the wire talks to it; raises ServoError where it cannot be played."""
    if misfit := _misfit(seen):
        raise ServoError(misfit)
    assert seen.model is not None
    return Stranger(seen.id, seen.model)


def _drive_mode_reason(drive_mode: int) -> str:
    if drive_mode & TORQUE_BY_GOAL:
        return "since a goal would turn its torque on after a restart"
    return "since its profile counts in time instead of speed"
