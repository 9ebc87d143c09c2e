"""State of servos at connecting, and reasons that keep one from playing. Reads only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import ServoError
from ..line import ServoSilent
from ..servo import Servo
from ..telemetry import Found
from .models import MODEL_NAMES, MODELS, POSITION_MODES, SINGLE_TURN_MODE, describe_hardware_error
from .reading import TRIES
from .wire import Wire

TIMED_PROFILE, TORQUE_BY_GOAL = 0x04, 0x08  # bits of the drive mode
STARTUP_TORQUE = 0x01  # a bit of the startup configuration
STARTUP_FIRMWARE = 45  # from which there is one
WATCHDOG_FIRMWARE = 38
LOAD_TOP = 1000  # of models without a current sensor [0.1 %]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings in a servo's control table.

    Attributes:
        firmware: version.
        mode, drive_mode, homing_offset, startup: operating mode, drive mode, homing offset and startup configuration.
        torque: whether it is on.
        position: as read [counts].
        low, high: its own limits for goals [counts]; None where its mode has none.
        errors: hardware error bits.
        volts, celsius: supply [V] and temperature [°C].
        celsius_limit: at which it turns itself off [°C].
        load_limit: the most that its current or load may show, in its own unit: its own limit, or the chain's below
            that.
    """

    firmware: int
    mode: int
    drive_mode: int
    homing_offset: int
    startup: int
    torque: bool
    position: int
    low: int | None
    high: int | None
    errors: int
    volts: float
    celsius: float
    celsius_limit: float
    load_limit: int

    def found(self, servo: Servo) -> Found:
        """Return it as the servos of any brand say it.

        Args:
            servo: The servo.

        Returns:
            What a servo of any brand says of itself.
        """
        return Found(
            torque=self.torque,
            position=self.position,
            low=self.low,
            high=self.high,
            is_single_turn=self.mode == SINGLE_TURN_MODE,
            volts=self.volts,
            celsius=self.celsius,
            celsius_limit=self.celsius_limit,
            load_limit=self.load_limit,
            obstacles=tuple(_obstacles(servo, self)),
        )


def read_settings(wire: Wire, servo: Servo, baud_rate: int) -> Settings:
    """Read what a servo is and how it is set up.

    Args:
        wire: The bus.
        servo: The servo.
        baud_rate: Rate [bit/s].

    Returns:
        The settings.

    Raises:
        ServoSilent: It does not answer.
        ServoError: It is another model than the chain says, or says something else every time.
    """
    _check_model(wire, servo, baud_rate)
    return _read_surely(wire, servo)


def _check_model(wire: Wire, servo: Servo, baud_rate: int) -> None:
    number = wire.ping(servo.id)
    if number is None:
        hint = f"check its power, its cable, its id, and that it is set to {baud_rate} baud"
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) does not answer on {wire.name}; {hint}")
    if MODEL_NAMES.get(number) != servo.model:
        named = MODEL_NAMES.get(number, f"of an unknown model, number {number}")
        raise ServoError(f"servo {servo.id} ({servo.actuator}) is {named}, not {servo.model} as the chain says")


def _read_surely(wire: Wire, servo: Servo) -> Settings:
    """Until it says the same twice: on a bad line an answer may belong to an earlier question."""
    before = _read_all(wire, servo)
    for _ in range(TRIES):
        now = _read_all(wire, servo)
        if replace(now, position=0, volts=0.0, celsius=0.0) == replace(before, position=0, volts=0.0, celsius=0.0):
            return now
        before = now
    raise ServoError(
        f"servo {servo.id} ({servo.actuator}) says something else every time on {wire.name}; check the cable and its"
        " plugs"
    )


def _read_all(wire: Wire, servo: Servo) -> Settings:
    mode, firmware = wire.read(servo, "operating_mode"), wire.read(servo, "firmware_version")
    has_limits = mode == SINGLE_TURN_MODE
    return Settings(
        firmware=firmware,
        mode=mode,
        drive_mode=wire.read(servo, "drive_mode"),
        homing_offset=wire.read(servo, "homing_offset"),
        startup=wire.read(servo, "startup_configuration") if firmware >= STARTUP_FIRMWARE else 0,
        torque=bool(wire.read(servo, "torque_enable")),
        position=wire.read(servo, "present_position"),
        low=wire.read(servo, "min_position_limit") if has_limits else None,
        high=wire.read(servo, "max_position_limit") if has_limits else None,
        errors=wire.read(servo, "hardware_error_status"),
        volts=wire.read(servo, "present_input_voltage") / 10,
        celsius=float(wire.read(servo, "present_temperature")),
        celsius_limit=float(wire.read(servo, "temperature_limit")),
        load_limit=_load_limit(wire, servo),
    )


def _load_limit(wire: Wire, servo: Servo) -> int:
    if "current_limit" not in MODELS[servo.model].table:
        return LOAD_TOP
    own = max(1, wire.read(servo, "current_limit"))
    return own if servo.current_units is None else min(own, servo.current_units)


def _obstacles(servo: Servo, found: Settings) -> list[str]:
    where = f"servo {servo.id} ({servo.actuator})"
    if found.errors:
        return [
            f"{where} has a hardware error ({describe_hardware_error(found.errors)}); remove the cause and reboot it"
        ]
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
    if found.homing_offset:  # with a watchdog, old firmware moves by it
        return [f"{where} has a homing offset of {found.homing_offset}; set it to 0 and put it into the chain's zero"]
    return []
