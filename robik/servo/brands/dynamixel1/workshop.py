"""Setting up Dynamixel servos of Protocol 1.0: who is on the bus, ids, baud rates, and what streaming wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ....errors import ServoError
from ...bus.line import ServoSilent
from ...bus.telemetry import Change, Found, Seen
from ...chain.servo import Servo
from ..wired.reading import Addressed
from ..wired.workshop import Opened, Stranger, Workshop
from .brand import DYNAMIXEL1
from .inquiry import read_all
from .models import MODEL_NAMES, MODELS
from .wire import Dynamixel1Wire

VERSION = 0, 3  # address and size: model number, firmware
PINGS_ONLY = -1  # as the number of a servo that answers nothing but pings


class Dynamixel1Workshop(Workshop[Dynamixel1Wire]):
    """Servos behind one open port, whoever they are: see `Workshop`."""

    wire_type = Dynamixel1Wire
    brand = DYNAMIXEL1
    unplayable = "whose speed is not known, so that it is not played; a data file with its rpm mends that"

    def _scan(self, baud_rates: Sequence[int], said: Callable[[str], None]) -> list[Seen]:
        found = list[Seen]()
        for rate in baud_rates:
            said(f"asking at {rate} baud")
            self.wire.open_at(rate)
            ids, is_garbled = self.wire.ping_each()
            if is_garbled:
                said(f"asking at {rate} baud again, since answers came broken")
                ids |= self.wire.ping_each()[0]
            found += self._known(ids, rate)
        return found

    def _known(self, ids: Iterable[int], rate: int) -> list[Seen]:
        seen = []
        for id in sorted(ids):
            try:
                low, high, firmware = self.wire.read_block(Stranger(id, self.brand.default_model), *VERSION)
            except ServoSilent:
                seen.append(Seen(id, None, PINGS_ONLY, 0, rate))
                continue
            number = low + 256 * high
            seen.append(Seen(id, MODEL_NAMES.get(number), number, firmware, rate))
        return seen

    def _misfit(self, seen: Seen) -> str:
        if seen.number == PINGS_ONLY:
            level = "its status return level is 0; set it to 2 with DYNAMIXEL Wizard"
            return f"servo {seen.id} answers nothing but pings, as where {level}"
        return super()._misfit(seen)

    def _rates_of(self, seen: Seen) -> Sequence[int]:
        item = MODELS[seen.model or self.brand.default_model].table["baud_rate"]
        return [rate for rate in self.brand.baud_rates if self.brand.baud_code(rate) <= item.high]

    @contextmanager
    def _opened(self, servo: Addressed, baud_rate: int) -> Iterator[Opened]:
        with super()._opened(servo, baud_rate) as opened:
            if self.wire.read(servo, "lock"):
                raise ServoError(f"the settings of servo {servo.id} are locked; switch its power off and on")
            yield opened

    def _settings(self, seen: Seen) -> Iterator[Change]:
        servo = self._addressed(seen)
        table = MODELS[servo.model].table
        delay, low, high = (
            self.wire.read(servo, entry) for entry in ("return_delay_time", "cw_angle_limit", "ccw_angle_limit")
        )
        yield Change(seen, "return_delay_time", delay, 0, "so that it answers at once")
        if low == high == 0:
            last = table["ccw_angle_limit"].high
            yield Change(seen, "ccw_angle_limit", 0, last, "since it turns as a wheel without limits")
        elif low == high:
            yield Change(seen, "cw_angle_limit", low, 0, "since it turns more than once with both limits alike")
        if (divider := "resolution_divider") in table:
            yield Change(seen, divider, self.wire.read(servo, divider), 1, "since its counts are others")

    def _calibrate(self, servos: Sequence[Servo]) -> list[int]:
        self.wire.servos = tuple(servos)
        return self.wire.positions().tolist()

    def _found(self, servo: Servo) -> Found:
        return read_all(self.wire, servo)
