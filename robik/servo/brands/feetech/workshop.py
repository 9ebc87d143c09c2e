"""Setting Feetech servos up: who is on the bus, ids, baud rates, what streaming wants, and the middle of their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ....errors import ServoError
from ...bus.telemetry import Change, Found, Seen
from ...chain.servo import Servo
from ..wired.reading import Addressed, named
from ..wired.workshop import Opened, Stranger, Workshop
from .brand import FEETECH
from .inquiry import read_all
from .models import CALIBRATE, MIDDLE, POSITION_MODE, SEVERAL_TURNS, TABLE, model_named
from .wire import FeetechWire

FACTORY_RATES = (1_000_000, 115_200)  # at which every id is asked alone where nobody answers a ping to everybody
VERSION = 0, 5  # address and size: firmware, byte order, model number
SCS = 0x10000  # added to the number of a big-endian servo, so that it is no model's
CALIBRATING = 0.1  # [s] that a servo gets to take its middle
MISSED = 8  # [counts], 0.7°, by which the middle may be missed: somebody holds the robot


class FeetechWorkshop(Workshop[FeetechWire]):
    """Servos behind one open port, whoever they are: see `Workshop`."""

    wire_type = FeetechWire
    brand = FEETECH
    unplayable = "whose speed is not known, so that it is not played; a data file with its rpm mends that"

    def _scan(self, baud_rates: Sequence[int], said: Callable[[str], None]) -> list[Seen]:
        found = list[Seen]()
        for rate in baud_rates:
            said(f"asking at {rate} baud")
            self.wire.open_at(rate)
            ids, is_garbled = self.wire.ping_all()
            if is_garbled:
                said(f"asking every id at {rate} baud, since answers collide")
                ids |= self.wire.ping_each()[0]
            found += self._known(ids, rate)
        for rate in FACTORY_RATES if not found else ():
            if rate in baud_rates:
                said(f"asking every id at {rate} baud")
                self.wire.open_at(rate)
                found += self._known(self.wire.ping_each()[0], rate)
        return found

    def _known(self, ids: Iterable[int], rate: int) -> list[Seen]:
        seen = []
        for id in sorted(ids):
            servo = Stranger(id, self.brand.default_model)
            major, minor, is_big_endian, *number = self.wire.read_block(servo, *VERSION)
            value = SCS + int.from_bytes(number, "big") if is_big_endian else int.from_bytes(number, "little")
            seen.append(Seen(id, model_named(value), value, 100 * major + minor, rate))
        return seen

    def _misfit(self, seen: Seen) -> str:
        if seen.number < SCS:
            return super()._misfit(seen)
        return f"servo {seen.id} is of the SCS series, number {seen.number - SCS}; its torque can be cut, but not more"

    # settings: what is written with the lock of the EEPROM closed is forgotten when the power goes

    @contextmanager
    def _opened(self, servo: Addressed, baud_rate: int) -> Iterator[Opened]:
        with super()._opened(servo, baud_rate) as opened:
            try:
                self.wire.set_one(servo, "eeprom_lock", 0)
                yield opened
            except BaseException as error:
                self._lock(opened, error)
                raise
            self._lock(opened, None)

    def _lock(self, opened: Opened, cause: BaseException | None) -> None:
        """Close the lock; after an error, an error of its own names both."""
        try:
            self.wire.open_at(opened.baud_rate)
            self.wire.set_one(opened.servo, "eeprom_lock", 1)
        except ServoError as error:
            before = f"{cause}; and then " if isinstance(cause, ServoError) else ""
            raise ServoError(
                f"{before}the lock of servo {opened.servo.id}'s settings could not be closed ({error}); turning torque"
                " on closes it"
            ) from cause

    def _settings(self, seen: Seen) -> Iterator[Change]:
        servo = self._addressed(seen)
        entries = ("return_delay_time", "operating_mode", "angular_resolution", "phase_bits")
        is_now = {entry: self.wire.read(servo, entry) for entry in entries}
        limits = [self.wire.read(servo, entry) for entry in ("min_position_limit", "max_position_limit")]
        wanted = [
            ("return_delay_time", 0, "so that it answers at once"),
            ("operating_mode", POSITION_MODE, "since it does not follow positions"),
            ("angular_resolution", 1, "since its counts are others"),
            ("phase_bits", is_now["phase_bits"] & ~SEVERAL_TURNS, "since it reports positions beyond one turn"),
        ]
        for entry, value, why in wanted:
            yield Change(seen, entry, is_now[entry], value, why)
        if limits == [0, 0]:
            last = TABLE["max_position_limit"].high
            yield Change(seen, "max_position_limit", 0, last, "since it turns more than once without limits")

    def _calibrate(self, servos: Sequence[Servo]) -> list[int]:
        for servo in servos:  # all of them, before any is changed
            if self.wire.read(servo, "torque_enable"):
                raise ServoError(f"{named(servo)} has its torque on; turn it off first")
        return [self._centred(servo) for servo in servos]

    def _found(self, servo: Servo) -> Found:
        return read_all(self.wire, servo)

    def _centred(self, servo: Servo) -> int:
        with self._opened(servo, self.wire.port.baud_rate):
            self.wire.send("torque_enable", [CALIBRATE], [servo.id])
            self.wire.emergency.pause(CALIBRATING)
            position = self.wire.read_position(servo)
            if abs(position - MIDDLE) > MISSED:
                where = named(servo)
                raise ServoError(f"{where} does not take its place as its middle; it says {position}, not {MIDDLE}")
            self.wire.set_one(servo, "torque_enable", 0)
        return position
