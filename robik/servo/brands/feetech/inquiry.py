"""State of Feetech servos: at connecting with reasons that keep one from playing, and while they play. Reads only.

All that they report while they play lies in one run of their tables, which one packet asks of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....errors import ServoError
from ...bus.telemetry import Telemetry
from ...chain.servo import Servo
from ..wired.control_table import error_words
from ..wired.inquiry import another_model, find, read_surely
from ..wired.reading import Addressed, Reader, named
from ..wired.unguarded import Marked
from .models import COARSE, FINE_SPEEDS, HARDWARE_ERRORS, MODELS, POSITION_MODE, SEVERAL_TURNS, TABLE, model_named

ALL = 0, TABLE["moving_status"].address + 1  # address and size of what is asked for at connecting
FIRST, LAST = TABLE["torque_enable"], TABLE["error_status"]
RUN = FIRST.address, LAST.address + LAST.size - FIRST.address  # address and size of what is asked for while they play
COUNTING = (
    *("min_position_limit", "max_position_limit", "phase_bits", "angular_resolution", "homing_offset"),
    "operating_mode",
)
PERCENT = 10  # of the load's unit


@dataclass(frozen=True, kw_only=True)
class Settings(Marked):
    """Settings in a servo's control table, beside what servos of any brand say of themselves.

    Attributes:
        number: of its model.
        is_big_endian: whether it is of the SCS series.
        mode: operating mode.
        phase: phase bits.
        resolution: by how much counts are multiplied.
        errors: hardware error bits.
    """

    number: int
    is_big_endian: bool
    mode: int
    phase: int
    resolution: int
    errors: int

    @property
    def speed_unit(self) -> int:
        """Of the speeds that goals carry [counts/s]."""
        return 1 if self.phase & FINE_SPEEDS else COARSE


def read_settings(reader: Reader, servo: Servo, baud_rate: int) -> Settings:
    """Read the model and the settings of a servo.

    Raise ServoSilent if it does not answer, ServoError if it is another model than the chain says, or says
    something else every time.
    """
    find(reader, servo, baud_rate)
    settings = read_surely(reader, servo, lambda: read_all(reader, servo))
    if settings.is_big_endian:
        where = named(servo)
        raise ServoError(f"{where} is of the SCS series, which RobIK does not speak to; STS and SMS servos it does")
    if settings.number != MODELS[servo.model].number:
        raise another_model(servo, model_named(settings.number), settings.number)
    return replace(settings, obstacles=tuple(_obstacles(servo, settings)))


def _value(block: bytes, entry: str, start: int) -> int:
    """Return an entry of a run of the table from an address on."""
    item = TABLE[entry]
    return item.decode(block[item.address - start :][: item.size])


def read_all(reader: Reader, servo: Addressed) -> Settings:
    """Read a servo's settings, once."""
    block = reader.read_block(servo, *ALL)

    def value(entry: str) -> int:
        return _value(block, entry, ALL[0])

    counting = {name: value(name) for name in COUNTING}
    counting["phase_bits"] &= ~SEVERAL_TURNS
    return Settings(
        zero_settings=tuple(counting.items()),
        number=value("model_number"),
        is_big_endian=bool(value("byte_order")),
        mode=value("operating_mode"),
        phase=value("phase_bits"),
        resolution=value("angular_resolution"),
        torque=bool(value("torque_enable")),
        position=value("present_position"),
        low=value("min_position_limit"),  # both 0 where it turns more than once
        high=value("max_position_limit"),
        is_single_turn=True,
        errors=value("error_status"),
        volts=value("present_voltage") / 10,
        celsius=float(value("present_temperature")),
        celsius_limit=float(value("max_temperature_limit")),
        load_limit=max(1, PERCENT * value("overload_torque")),  # at which its overload protection begins to count
        restart_torque=value("max_torque_limit"),
    )


def _obstacles(servo: Servo, found: Settings) -> list[str]:
    where, prepared = named(servo), "robik servos prepare --brand feetech sets that right"
    if found.errors:
        words = error_words(found.errors, HARDWARE_ERRORS)
        return [f"{where} has a hardware error ({words}); remove the cause and reboot it"]
    if found.mode != POSITION_MODE:
        return [f"{where} is in operating mode {found.mode}, not in the position mode (0); {prepared}"]
    if found.low == found.high == 0:
        return [f"{where} has no position limits, so that it turns more than once; {prepared}"]
    if found.restart_torque == 0:
        return [f"{where} has a max torque limit of 0, so that it has no torque; set it with Feetech's own program"]
    if found.resolution != 1:
        return [f"{where} has an angular resolution of {found.resolution}, so that its counts are others; {prepared}"]
    if found.phase & SEVERAL_TURNS:
        return [f"{where} reports positions beyond one turn (phase {found.phase}); {prepared}"]
    return []


def telemetry(block: bytes, mark: int) -> Telemetry:
    """Return the telemetry in a block of bytes that a servo reports while it plays.

    `mark` is its torque limit if it has not restarted.
    """

    def value(entry: str) -> int:
        return _value(block, entry, RUN[0])

    errors = value("error_status")
    return Telemetry(
        torque=bool(value("torque_enable")),
        is_guarded=value("goal_torque_limit") == mark and value("goal_speed") > 0,
        is_stopped=False,
        errors=errors,
        error=error_words(errors, HARDWARE_ERRORS) if errors else "",
        load=value("present_load"),
        position=value("present_position"),
        volts=value("present_voltage") / 10,
        celsius=float(value("present_temperature")),
        goal=value("goal_position"),
    )
