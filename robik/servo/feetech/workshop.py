"""Setting Feetech servos up: who is on the bus, ids, baud rates, what streaming wants, and the middle of their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ...errors import ServoError
from ..servo import Servo
from ..telemetry import Change, Seen
from .brand import FEETECH
from .eeprom import opened
from .models import BAUD_RATES, CALIBRATE, MIDDLE, POSITION_MODE, SEVERAL_TURNS, TABLE, model_named
from .packet import HIGHEST_ID
from .reading import Addressed
from .wire import Wire

FACTORY_RATES = (1_000_000, 115_200)  # at which every id is asked alone where nobody answers a ping to everybody
VERSION = 0, 5  # address and size: firmware, byte order, model number
SCS = 0x10000  # added to the number of a big-endian servo, so that it is no model's
CALIBRATING = 0.1  # [s] that a servo gets to take its middle
MISSED = 8  # [counts], 0.7°, by which the middle may be missed: somebody holds the robot


@dataclass(frozen=True)
class Stranger:
    """A servo of no chain, for the wire to talk to."""

    id: int

    @property
    def actuator(self) -> str:
        """A name for messages."""
        return f"servo {self.id}"


class FeetechWorkshop:
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

    # who is there

    def scan(self, baud_rates: Iterable[int] | None = None, said: Callable[[str], None] = lambda _: None) -> list[Seen]:
        """Return all servos that answer, at any of these baud rates.

        A rate takes about a second; where answers collide, or nobody answers at all, every id is asked by itself.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.
            said: Called with what is being done.

        Returns:
            The servos.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        asked, found = [], list[Seen]()
        for rate in self._rates(FEETECH.likely_bauds if baud_rates is None else baud_rates):
            said(f"asking at {rate} baud")
            asked.append(rate)
            self.wire.open_at(rate)
            ids, is_garbled = self.wire.ping_all()
            if is_garbled:
                said(f"asking every id at {rate} baud, since answers collide")
                ids |= self.wire.ping_each()
            found += self._known(ids, rate)
        for rate in FACTORY_RATES if not found else ():
            if rate in asked:
                said(f"asking every id at {rate} baud")
                self.wire.open_at(rate)
                found += self._known(self.wire.ping_each(), rate)
        return found

    def _rates(self, baud_rates: Iterable[int]) -> Iterable[int]:
        """Return the baud rates at which to ask.

        Of a network socket none can be set, and each servo would be there at all of them.
        """
        return (self._baud_rate,) if self.name.startswith("socket://") else baud_rates

    def _known(self, ids: Iterable[int], rate: int) -> list[Seen]:
        seen = []
        for id in sorted(ids):
            major, minor, is_big_endian, *number = self.wire.read_block(Stranger(id), *VERSION)
            value = SCS + int.from_bytes(number, "big") if is_big_endian else int.from_bytes(number, "little")
            seen.append(Seen(id, model_named(value), value, 100 * major + minor, rate))
        return seen

    def torque_off(self, baud_rates: Sequence[int] | None = None) -> list[tuple[Seen, bool | None]]:
        """Turn the torque of all servos off, first of all and whoever they are.

        Args:
            baud_rates: Rates to ask at [bit/s]; the likely ones if left out.

        Returns:
            Every servo that answers, and whether it has torque, as read back; None where that cannot be read.

        Raises:
            ServoError: The port does not take a baud rate, or is gone.
        """
        rates = FEETECH.likely_bauds if baud_rates is None else baud_rates
        for rate in self._rates(rates):
            self.wire.open_at(rate)
            self.wire.cut_torque_of_all()
        found = []
        for one in self.scan(rates):
            self.wire.open_at(one.baud_rate)
            found.append((one, self.wire.cut_torque_of(Stranger(one.id))))
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
        if not 0 <= id <= HIGHEST_ID - 1:
            raise ServoError(f"a servo's id is from 0 to {HIGHEST_ID - 1}, not {id}")
        self.wire.open_at(seen.baud_rate)
        if self.wire.ping(id):
            raise ServoError(
                f"id {id} is taken by another servo at {seen.baud_rate} baud; give that one another id first"
            )
        with opened(self.wire, _addressed(seen)) as there:
            self.wire.send("id", [id], [seen.id])
            if not self.wire.ping(id):
                raise ServoError(f"servo {seen.id} does not take {id} as id")
            there.servo = Stranger(id)
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
        if baud_rate == seen.baud_rate:
            return seen
        self.wire.open_at(baud_rate)
        if self.wire.ping(seen.id):
            raise ServoError(
                f"at {baud_rate} baud there is a servo {seen.id} already; give one of them another id first"
            )
        self.wire.open_at(seen.baud_rate)
        with opened(self.wire, _addressed(seen)) as there:
            self.wire.send("baud_rate", [BAUD_RATES.index(baud_rate)], [seen.id])
            self.wire.port.flush()
            self.wire.open_at(baud_rate)
            if not self.wire.ping(seen.id):
                raise ServoError(f"servo {seen.id} took {baud_rate} baud but does not answer there; scan again")
            there.baud_rate = baud_rate
        return replace(seen, baud_rate=baud_rate)

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
        _check_baud_rate(baud_rate)
        return [change for one in seen if not _misfit(one) for change in self._advice(one, baud_rate)]

    def _advice(self, one: Seen, baud_rate: int) -> list[Change]:
        self.wire.open_at(one.baud_rate)
        entries = ("return_delay_time", "operating_mode", "angular_resolution", "phase_bits")
        is_now = {entry: self.wire.read(_addressed(one), entry) for entry in entries}
        limits = [self.wire.read(_addressed(one), entry) for entry in ("min_position_limit", "max_position_limit")]
        wanted = [
            ("return_delay_time", 0, "so that it answers at once"),
            ("operating_mode", POSITION_MODE, "since it does not follow positions"),
            ("angular_resolution", 1, "since its counts are others"),
            ("phase_bits", is_now["phase_bits"] & ~SEVERAL_TURNS, "since it reports positions beyond one turn"),
        ]
        changes = [Change(one, entry, is_now[entry], value, why) for entry, value, why in wanted]
        if limits == [0, 0]:
            last = TABLE["max_position_limit"].high
            changes.append(Change(one, "max_position_limit", 0, last, "since it turns more than once without limits"))
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
                continue
            with opened(self.wire, _addressed(change.servo)) as there:
                self.wire.set_one(there.servo, change.entry, change.wanted)

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
        """Make the place where each servo stands the middle of its turn, kept in its EEPROM: nothing moves.

        Its range then reaches half a turn either way, instead of ending where its sensor starts over.

        Args:
            servos: The servos.

        Returns:
            Positions [counts].

        Raises:
            ServoSilent: One does not answer.
            ServoError: One has its torque on, or does not take it; those before it have.
        """
        for servo in servos:  # all of them, before any is changed
            if self.wire.read(servo, "torque_enable"):
                raise ServoError(f"servo {servo.id} ({servo.actuator}) has its torque on; turn it off first")
        return [self._calibrate(servo) for servo in servos]

    def _calibrate(self, servo: Servo) -> int:
        with opened(self.wire, servo):
            self.wire.send("torque_enable", [CALIBRATE], [servo.id])
            self.wire.emergency.pause(CALIBRATING)
            position = self.wire.read(servo, "present_position")
            if abs(position - MIDDLE) > MISSED:
                where = f"servo {servo.id} ({servo.actuator})"
                raise ServoError(f"{where} does not take its place as its middle; it says {position}, not {MIDDLE}")
            self.wire.set_one(servo, "torque_enable", 0)
        return position


def _check_baud_rate(baud_rate: int) -> None:
    if baud_rate not in BAUD_RATES:
        raise ServoError(f"a servo's baud rate is one of {', '.join(map(str, BAUD_RATES))}, not {baud_rate}")


def _misfit(seen: Seen) -> str:
    """Return why a servo cannot be played, in words; empty if it can."""
    if seen.number >= SCS:
        return f"servo {seen.id} is of the SCS series, number {seen.number - SCS}; its torque can be cut, but not more"
    if seen.model is None:
        return f"servo {seen.id} is of an unknown model, number {seen.number}; it can be seen, but not set up"
    if seen.model not in FEETECH.playable:
        why = "whose speed is not known, so that it is not played; a data file with its rpm mends that"
        return f"servo {seen.id} is an {seen.model}, {why}"
    return ""


def _addressed(seen: Seen) -> Addressed:
    """Return a servo as the wire talks to it; raises ServoError where it cannot be played."""
    if misfit := _misfit(seen):
        raise ServoError(misfit)
    return Stranger(seen.id)
