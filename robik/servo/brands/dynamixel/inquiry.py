"""State of servos at connecting, and reasons that keep one from playing. Reads only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...bus.telemetry import Found
from ...chain.servo import Servo
from ..wired.control_table import error_words
from ..wired.inquiry import another_model, find, read_surely
from ..wired.reading import Reader, named
from .models import CURRENT_POSITION_MODE, HARDWARE_ERRORS, MODEL_NAMES, MODELS, POSITION_MODES, SINGLE_TURN_MODE

TIMED_PROFILE, TORQUE_BY_GOAL = 0x04, 0x08  # bits of the drive mode
STARTUP_TORQUE = 0x01  # a bit of the startup configuration
STARTUP_FIRMWARE = 45  # from which there is one
WATCHDOG_FIRMWARE = 38
LOAD_TOP = 1000  # of models without a current sensor [0.1 %]


@dataclass(frozen=True, kw_only=True)
class Settings(Found):
    """Settings in a servo's control table, beside what servos of any brand say of themselves.

    Attributes:
        firmware: version.
        mode: operating mode.
        drive_mode: drive mode.
        homing_offset: homing offset [counts].
        startup: startup configuration.
        errors: hardware error bits.
        pwm_limit: limit of its PWM in its unit; None where the model has none.
        current_limit: limit of its current in its unit; None where the model has none.
    """

    firmware: int
    mode: int
    drive_mode: int
    homing_offset: int
    startup: int
    errors: int
    pwm_limit: int | None
    current_limit: int | None


def read_settings(reader: Reader, servo: Servo, baud_rate: int) -> Settings:
    """Read the model and the settings of a servo.

    Raise ServoSilent if it does not answer, ServoError if it is another model than the chain says, or says
    something else every time.
    """
    number = find(reader, servo, baud_rate)
    model = MODEL_NAMES.get(number)
    if model != servo.model:
        raise another_model(servo, model, number)
    settings = read_surely(reader, servo, lambda: read_all(reader, servo))
    return replace(settings, obstacles=tuple(_obstacles(servo, settings)))


def read_all(reader: Reader, servo: Servo) -> Settings:
    """Read a servo's settings, once."""
    mode, firmware = reader.read(servo, "operating_mode"), reader.read(servo, "firmware_version")
    table = MODELS[servo.model].table
    pwm, current = (reader.read(servo, name) if name in table else None for name in ("pwm_limit", "current_limit"))
    low, high = reader.read(servo, "min_position_limit"), reader.read(servo, "max_position_limit")
    drive_mode, homing_offset = reader.read(servo, "drive_mode"), reader.read(servo, "homing_offset")
    counting = {"drive_mode": drive_mode & ~(TIMED_PROFILE | TORQUE_BY_GOAL), "operating_mode": mode}
    counting |= {"homing_offset": homing_offset, "min_position_limit": low, "max_position_limit": high}
    is_single_turn = mode == SINGLE_TURN_MODE
    return Settings(
        firmware=firmware,
        mode=mode,
        drive_mode=drive_mode,
        homing_offset=homing_offset,
        startup=reader.read(servo, "startup_configuration") if firmware >= STARTUP_FIRMWARE else 0,
        torque=bool(reader.read(servo, "torque_enable")),
        position=reader.read_position(servo),
        low=low if is_single_turn else None,
        high=high if is_single_turn else None,
        is_single_turn=is_single_turn,
        errors=reader.read(servo, "hardware_error_status"),
        volts=reader.read(servo, "present_input_voltage") / 10,
        celsius=float(reader.read(servo, "present_temperature")),
        celsius_limit=float(reader.read(servo, "temperature_limit")),
        load_limit=_load_limit(servo, current),
        pwm_limit=pwm,
        current_limit=current,
        zero_settings=tuple(counting.items()),
    )


def _load_limit(servo: Servo, current_limit: int | None) -> int:
    if current_limit is None:
        return LOAD_TOP
    own = max(1, current_limit)
    return own if servo.current_units is None else min(own, servo.current_units)


def _obstacles(servo: Servo, found: Settings) -> list[str]:
    where = named(servo)
    if found.errors:
        words = error_words(found.errors, HARDWARE_ERRORS)
        return [f"{where} has a hardware error ({words}); remove the cause and reboot it"]
    if found.firmware < WATCHDOG_FIRMWARE:
        return [
            f"{where} has firmware {found.firmware}, too old for the bus watchdog; update it to {WATCHDOG_FIRMWARE} or"
            " later"
        ]
    if found.mode not in POSITION_MODES:
        return [f"{where} is in operating mode {found.mode}; set it to a position mode (3, 4 or 5)"]
    if found.drive_mode & TIMED_PROFILE:
        return [f"{where} has a time-based profile; set its drive mode to a velocity-based one (without 4)"]
    if found.startup & STARTUP_TORQUE or found.drive_mode & TORQUE_BY_GOAL:
        which = "Startup Torque On" if found.startup & STARTUP_TORQUE else "Torque On by Goal Update"
        return [
            f"{where} has {which} set, so that it would run at full speed after a restart; robik servos prepare"
            " clears it"
        ]
    if found.pwm_limit == 0:
        return [f"{where} has a PWM limit of 0, so that it has no torque; set it with DYNAMIXEL Wizard"]
    if found.current_limit == 0 and found.mode == CURRENT_POSITION_MODE:
        return [f"{where} has a current limit of 0, so that it has no torque; set it with DYNAMIXEL Wizard"]
    if found.homing_offset:  # with a watchdog, old firmware moves by it
        return [f"{where} has a homing offset of {found.homing_offset}; set it to 0 and put it into the chain's zero"]
    return []
