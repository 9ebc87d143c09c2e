"""State of servos at connecting, with reasons that keep one from playing, and while they play. Reads only.

All that they report while they play lies in one run of their tables; their errors are in each answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import tau

from ...bus.telemetry import Telemetry
from ...chain.servo import Servo
from ..wired.control_table import error_words
from ..wired.inquiry import another_model, find, read_surely
from ..wired.reading import named
from ..wired.unguarded import SAG, Marked
from .models import HARDWARE_ERRORS, MODEL_NAMES, MODELS, SHUT_DOWN, SLAVE, TABLE
from .wire import Dynamixel1Wire

ALL = 0, TABLE["lock"].address + 1  # address and size of what is asked for at connecting
FIRST, LAST = TABLE["torque_enable"], TABLE["present_temperature"]
RUN = FIRST.address, LAST.address + LAST.size - FIRST.address  # address and size of what is asked for while they play
COUNTING = ("cw_angle_limit", "ccw_angle_limit", "drive_mode", "multi_turn_offset", "resolution_divider")
PREPARED = "robik servos prepare --brand dynamixel1 sets that right"


@dataclass(frozen=True, kw_only=True)
class Settings(Marked):
    """Settings in a servo's control table, beside what servos of any brand say of themselves.

    Attributes:
        number: of its model.
        return_delay: before it answers, in its unit.
        divider: of its resolution; 1 where it has none.
        drive_mode: drive mode; 0 where it has none.
        is_torque_controlled: whether it is in the torque control mode.
        p_gain: P gain of its position control; None where it has a compliance instead.
        margin: the wider of its compliance margins, within which it holds nothing [counts]; 0 where it has gains.
        errors: bits of hardware errors, and `SHUT_DOWN`.
    """

    number: int
    return_delay: int
    divider: int
    drive_mode: int
    is_torque_controlled: bool
    p_gain: int | None
    margin: int
    errors: int


def read_settings(wire: Dynamixel1Wire, servo: Servo, baud_rate: int) -> Settings:
    """Read the model and the settings of a servo.

    Raise ServoSilent if it does not answer, ServoError if it is another model than the chain says, or says
    something else every time.
    """
    find(wire, servo, baud_rate)
    settings = read_surely(wire, servo, lambda: read_all(wire, servo))
    if settings.number != MODELS[servo.model].number:
        raise another_model(servo, MODEL_NAMES.get(settings.number), settings.number)
    return replace(settings, obstacles=tuple(_obstacles(servo, settings)))


def read_all(wire: Dynamixel1Wire, servo: Servo) -> Settings:
    """Read a servo's settings, once."""
    block, table = wire.read_block(servo, *ALL), MODELS[servo.model].table

    def value(entry: str, without: int = 0) -> int:
        item = table.get(entry)
        return without if item is None else item.decode(block[item.address :][: item.size])

    mode = table.get("torque_control_mode")
    return Settings(
        number=value("model_number"),
        return_delay=value("return_delay_time"),
        torque=bool(value("torque_enable")),
        position=value("present_position"),
        low=value("cw_angle_limit"),  # both 0 as a wheel, both the highest where it turns more than once
        high=value("ccw_angle_limit"),
        is_single_turn=False,  # it never reports more than its turn
        errors=wire.hardware_errors(servo.id) | _shut_down(value("torque_limit"), value("max_torque")),
        volts=value("present_voltage") / 10,
        celsius=float(value("present_temperature")),
        celsius_limit=float(value("temperature_limit")),
        load_limit=max(1, value("max_torque")),
        restart_torque=value("max_torque"),
        zero_settings=tuple((name, value(name)) for name in COUNTING if name in table),
        divider=value("resolution_divider", 1),
        drive_mode=value("drive_mode"),
        p_gain=value("p_gain") if "p_gain" in table else None,
        margin=max(value("cw_compliance_margin"), value("ccw_compliance_margin")),
        is_torque_controlled=mode is not None and bool(wire.read_block(servo, mode.address, mode.size)[0]),
    )


def _shut_down(limit: int, most: int = 1) -> int:
    """Return the bit that says that an alarm took the torque limit; 0 where none did, or there was none to take."""
    return SHUT_DOWN if limit == 0 < most else 0


def _obstacles(servo: Servo, found: Settings) -> list[str]:
    where = named(servo)
    if found.errors:
        words = error_words(found.errors, HARDWARE_ERRORS)
        return [f"{where} has a hardware error ({words}); remove the cause and reboot it"]
    if found.low == found.high == 0:
        return [f"{where} is in the wheel mode: both its angle limits are 0; {PREPARED}"]
    if found.low == found.high:
        return [f"{where} is in the multi-turn mode: both its angle limits are {found.high}; {PREPARED}"]
    if found.divider != 1:
        return [f"{where} has a resolution divider of {found.divider}, so that its counts are others; {PREPARED}"]
    if found.restart_torque == 0:
        return [f"{where} has a max torque of 0, so that it has no torque; set it with DYNAMIXEL Wizard"]
    if found.drive_mode & SLAVE:
        return [f"{where} is the slave of another servo (drive mode {found.drive_mode}); play that one instead"]
    if found.p_gain == 0:
        return [f"{where} has a P gain of 0, so that it would hold nothing; switch its power off and on"]
    if found.margin > SAG * servo.datasheet.counts_per_turn / tau:
        margin = f"a compliance margin of {found.margin} counts, within which it would hold nothing"
        return [f"{where} has {margin}; switch its power off and on"]
    if found.is_torque_controlled:
        return [f"{where} is in the torque control mode; switch its power off and on"]
    return []


def telemetry(block: bytes, mark: int, errors: int) -> Telemetry:
    """Return the telemetry in a block of bytes that a servo reports while it plays.

    `mark` is its torque limit if it has not restarted, `errors` are the bits of hardware errors in its answer.
    """

    def value(entry: str) -> int:
        item = TABLE[entry]
        return item.decode(block[item.address - RUN[0] :][: item.size])

    errors |= _shut_down(value("torque_limit"))
    return Telemetry(
        torque=bool(value("torque_enable")),
        is_guarded=value("torque_limit") == mark and value("moving_speed") > 0,
        is_stopped=False,
        errors=errors,
        error=error_words(errors, HARDWARE_ERRORS) if errors else "",
        load=value("present_load"),
        position=value("present_position"),
        volts=value("present_voltage") / 10,
        celsius=float(value("present_temperature")),
        goal=value("goal_position"),
    )
