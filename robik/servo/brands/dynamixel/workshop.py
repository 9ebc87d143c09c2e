"""Setting Dynamixel servos up: who is on the bus, ids, baud rates, and what streaming wants of their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...bus.telemetry import Change, Found, Seen
from ...chain.servo import Servo
from ..wired.workshop import Opened, Workshop
from .brand import DYNAMIXEL
from .inquiry import STARTUP_FIRMWARE, STARTUP_TORQUE, TIMED_PROFILE, TORQUE_BY_GOAL, read_all
from .models import COUNTS_PER_TURN, MODEL_NAMES, POSITION_MODES, SINGLE_TURN_MODE
from .wire import DynamixelWire


class DynamixelWorkshop(Workshop[DynamixelWire]):
    """Servos behind one open port, whoever they are: see `Workshop`."""

    wire_type = DynamixelWire
    brand = DYNAMIXEL
    unplayable = "which cannot be played; its torque can be cut, but not more"

    def _scan(self, baud_rates: Sequence[int], said: Callable[[str], None]) -> list[Seen]:
        found: dict[tuple[int, int], Seen] = {}
        for rate in baud_rates:
            said(f"asking at {rate} baud")
            self.wire.open_at(rate)
            for id, (number, firmware) in sorted(self.wire.ping_all().items()):
                found[rate, id] = Seen(id, MODEL_NAMES.get(number), number, firmware, rate)
        return list(found.values())

    def _write_id(self, opened: Opened, id: int) -> None:
        self.wire.set_one(opened.servo, "id", id)

    def _write_baud_rate(self, opened: Opened, code: int) -> None:
        self.wire.set_one(opened.servo, "baud_rate", code)

    def _settings(self, seen: Seen) -> Iterator[Change]:
        has_startup = seen.firmware >= STARTUP_FIRMWARE
        startup = ["startup_configuration"] * has_startup
        entries = ("return_delay_time", "operating_mode", "drive_mode", "homing_offset", *startup)
        servo = self._addressed(seen)
        is_now = {entry: self.wire.read(servo, entry) for entry in entries}
        drive_mode, mode = is_now["drive_mode"], is_now["operating_mode"]
        wanted = [
            ("return_delay_time", 0, "so that it answers at once"),
            ("drive_mode", drive_mode & ~(TIMED_PROFILE | TORQUE_BY_GOAL), _drive_mode_reason(drive_mode)),
            ("homing_offset", 0, "since the chain's zero does that, and old firmware moves by it"),
        ]
        if has_startup:
            cleared = is_now["startup_configuration"] & ~STARTUP_TORQUE
            why = "since it would turn its torque on by itself after a restart"
            wanted.append(("startup_configuration", cleared, why))
        if mode not in POSITION_MODES:
            wanted.append(("operating_mode", SINGLE_TURN_MODE, "since it does not follow positions"))
        for entry, value, why in wanted:
            yield Change(seen, entry, is_now[entry], value, why)

    def _calibrate(self, servos: Sequence[Servo]) -> list[int]:
        self.wire.servos = tuple(servos)
        there = self.wire.read_positions().tolist()
        return [self._folded(servo, position) for servo, position in zip(servos, there, strict=True)]

    def _found(self, servo: Servo) -> Found:
        return read_all(self.wire, servo)

    def _folded(self, servo: Servo, position: int) -> int:
        is_single = self.wire.read(servo, "operating_mode") == SINGLE_TURN_MODE
        return position % COUNTS_PER_TURN if is_single else position


def _drive_mode_reason(drive_mode: int) -> str:
    if drive_mode & TORQUE_BY_GOAL:
        return "since a goal would turn its torque on after a restart"
    return "since its profile counts in time instead of speed"
