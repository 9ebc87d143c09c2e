"""State of Feetech servos at connecting, and reasons that keep one from playing. Reads only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import ServoError
from ..line import ServoSilent
from ..servo import Servo
from ..telemetry import Found
from .models import (
    COARSE,
    FINE_SPEEDS,
    MODELS,
    POSITION_MODE,
    SEVERAL_TURNS,
    TABLE,
    describe_hardware_error,
    model_named,
)
from .reading import TRIES, Addressed, Reader

ALL = 0, TABLE["moving_status"].address + 1  # address and size of all that is asked for
PERCENT = 10  # of the load's unit


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings in a servo's control table.

    Attributes:
        number, is_big_endian: what it is.
        mode, phase, resolution: operating mode, phase bits, and by how much counts are multiplied.
        torque: whether it is on.
        position: as read [counts].
        low, high: its own limits for goals [counts]; both 0 where it turns more than once.
        errors: hardware error bits.
        volts, celsius: supply [V] and temperature [°C].
        celsius_limit: at which it turns itself off [°C].
        load_limit: at which its overload protection begins to count [0.1 %].
        torque_limit: that it has after a restart [0.1 %].
    """

    number: int
    is_big_endian: bool
    mode: int
    phase: int
    resolution: int
    torque: bool
    position: int
    low: int
    high: int
    errors: int
    volts: float
    celsius: float
    celsius_limit: float
    load_limit: int
    torque_limit: int

    @property
    def mark(self) -> int:
        """The torque limit that it gets while it is played, 0.1 % below its own: a restart takes that away."""
        return self.torque_limit - 1 if self.torque_limit > 1 else 2

    @property
    def speed_unit(self) -> int:
        """Of the speeds that goals carry [counts/s]."""
        return 1 if self.phase & FINE_SPEEDS else COARSE

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
            is_single_turn=True,
            volts=self.volts,
            celsius=self.celsius,
            celsius_limit=self.celsius_limit,
            load_limit=self.load_limit,
            obstacles=tuple(_obstacles(servo, self)),
        )


def read_settings(reader: Reader, servo: Servo, baud_rate: int) -> Settings:
    """Read what a servo is and how it is set up.

    Args:
        reader: The bus.
        servo: The servo.
        baud_rate: Rate [bit/s].

    Returns:
        The settings.

    Raises:
        ServoSilent: It does not answer.
        ServoError: It is another model than the chain says, or says something else every time.
    """
    if not reader.ping(servo.id):
        hint = f"check its power, its cable, its id, and that it is set to {baud_rate} baud"
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) does not answer on {reader.name}; {hint}")
    settings = _read_surely(reader, servo)
    where = f"servo {servo.id} ({servo.actuator})"
    if settings.is_big_endian:
        raise ServoError(f"{where} is of the SCS series, which RobIK does not speak to; STS and SMS servos it does")
    if settings.number != MODELS[servo.model].number:
        named = model_named(settings.number) or f"of an unknown model, number {settings.number}"
        raise ServoError(f"{where} is {named}, not {servo.model} as the chain says")
    return settings


def _read_surely(reader: Reader, servo: Addressed) -> Settings:
    """Until it says the same twice: on a bad line an answer may be garbage, or belong to an earlier question."""
    before = read_all(reader, servo)
    for _ in range(TRIES):
        now = read_all(reader, servo)
        if _lasting(now) == _lasting(before):
            return now
        before = now
    raise ServoError(
        f"servo {servo.id} ({servo.actuator}) says something else every time on {reader.name}; check the cable and its"
        " plugs"
    )


def _lasting(settings: Settings) -> Settings:
    return replace(settings, position=0, volts=0.0, celsius=0.0)


def read_all(reader: Reader, servo: Addressed) -> Settings:
    """Read a servo's settings, once.

    Args:
        reader: The bus.
        servo: The servo.

    Returns:
        The settings.

    Raises:
        ServoSilent: It does not answer.
    """
    block = reader.read_block(servo, *ALL)

    def value(entry: str) -> int:
        item = TABLE[entry]
        return item.decode(block[item.address : item.address + item.size])

    return Settings(
        number=value("model_number"),
        is_big_endian=bool(value("byte_order")),
        mode=value("operating_mode"),
        phase=value("phase_bits"),
        resolution=value("angular_resolution"),
        torque=bool(value("torque_enable")),
        position=value("present_position"),
        low=value("min_position_limit"),
        high=value("max_position_limit"),
        errors=value("error_status"),
        volts=value("present_voltage") / 10,
        celsius=float(value("present_temperature")),
        celsius_limit=float(value("max_temperature_limit")),
        load_limit=max(1, PERCENT * value("overload_torque")),
        torque_limit=value("max_torque_limit"),
    )


def _obstacles(servo: Servo, found: Settings) -> list[str]:
    where, prepared = f"servo {servo.id} ({servo.actuator})", "robik servos prepare --brand feetech sets that right"
    if found.errors:
        return [
            f"{where} has a hardware error ({describe_hardware_error(found.errors)}); remove the cause and reboot it"
        ]
    if found.mode != POSITION_MODE:
        return [f"{where} is in operating mode {found.mode}, not in the position mode (0); {prepared}"]
    if found.low == found.high == 0:
        return [f"{where} has no position limits, so that it turns more than once; {prepared}"]
    if found.resolution != 1:
        return [f"{where} has an angular resolution of {found.resolution}, so that its counts are others; {prepared}"]
    if found.phase & SEVERAL_TURNS:
        return [f"{where} reports positions beyond one turn (phase {found.phase}); {prepared}"]
    return []
