"""What servos say of themselves at connecting, and what keeps them from playing. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ...errors import ServoError
from ..chain import Servo, ServoChain
from .bus import TRIES, Bus, PortGone, ServoSilent
from .models import FAST_READ_FIRMWARE, MODEL_NAMES, POSITION_MODES, SINGLE_TURN_MODE, describe_hardware_error

TIMED_PROFILE, TORQUE_BY_GOAL = 0x04, 0x08  # bits of the drive mode
STARTUP_TORQUE = 0x01  # a bit of the startup configuration
STARTUP_FIRMWARE = 45  # from which there is one
WATCHDOG_FIRMWARE = 38
WAKING = 0.6  # [s] that a servo takes to answer again after a reboot
LOAD_TOP = 1000  # of models without a current sensor [0.1 %]


class Unfit(ServoError):
    """Servos that answer, but cannot play as they are."""


@dataclass(frozen=True)
class Found:
    """What a servo says of itself at connecting.

    Attributes:
        firmware: version.
        mode, drive_mode, homing_offset, startup: operating mode, drive mode, homing offset and startup configuration.
        torque: whether it is on.
        position: [counts], as read.
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


def find(bus: Bus, without: Collection[int] = ()) -> tuple[Found, ...]:
    """Reads every servo of the bus's chain.

    Args:
        bus: whose chain is reduced by those to do without; they become its `missing`.
        without: ids of servos to do without.

    Returns:
        What the others say, in the chain's order.

    Raises:
        ServoError: none answers as the chain says, or there is no servo of an id to do without.
        Unfit: some do not answer, are another model, have a hardware error, or are set up so that they cannot follow
            positions; names all of them, and what to do.
    """
    found: list[Found] = []
    silent: dict[Servo, str] = {}
    problems: list[str] = []
    left_out = _left_out(bus.chain, without)
    bus.round_trip, bus.missing = 0.0, ()
    for servo in bus.chain.servos:
        if servo in left_out:
            continue
        try:
            _check_model(bus, servo)
            found.append(_read_surely(bus, servo))
            problems += _obstacles(servo, found[-1])
        except PortGone:
            raise
        except ServoSilent as error:
            silent[servo] = str(error)
        except ServoError as error:
            problems.append(str(error))
    if silent and found:
        ids = " ".join(str(servo.id) for servo in silent)
        problems.insert(0, "; ".join(silent.values()) + f"; or play without: --without {ids}, in Blender Play Without")
    elif silent:
        problems = [*silent.values(), *problems]
    if not found and len(bus.chain.servos) > 1:
        hint = f"check their power, the cable, and whether they are set to {bus.chain.baud_rate} baud"
        raise ServoError(
            f"none of the {len(bus.chain.servos)} servos answers as the chain says on {bus.name}; {hint}; first:"
            f" {problems[0]}"
        )
    if problems:
        raise (Unfit if found else ServoError)("; ".join(problems))
    if left_out:
        bus.chain = replace(bus.chain, servos=tuple(servo for servo in bus.chain.servos if servo not in left_out))
        bus.missing = left_out
    bus.has_fast_read = all(f.firmware >= FAST_READ_FIRMWARE for f in found)
    return tuple(found)


def _left_out(chain: ServoChain, without: Collection[int]) -> tuple[Servo, ...]:
    unknown = sorted(set(without) - set(chain.ids))
    if unknown:
        raise ServoError(
            f"there is no servo {unknown[0]} to play without; the chain has {', '.join(map(str, chain.ids))}"
        )
    left_out = tuple(servo for servo in chain.servos if servo.id in without)
    if len(left_out) == len(chain.servos):
        raise ServoError("every servo of the chain is to be played without; nobody would be left")
    return left_out


def absence(missing: Sequence[Servo]) -> str:
    """Say who is played without; empty where nobody is."""
    return f"played without {names(missing)}, as asked" if missing else ""


def names(servos: Sequence[Servo]) -> str:
    """Servos by id and actuator."""
    return ", ".join(f"servo {servo.id} ({servo.actuator})" for servo in servos)


def _check_model(bus: Bus, servo: Servo) -> None:
    number = bus.ping(servo.id)
    if number is None:
        hint = f"check its power, its cable, its id, and that it is set to {bus.chain.baud_rate} baud"
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) does not answer on {bus.name}; {hint}")
    if MODEL_NAMES.get(number) != servo.model:
        named = MODEL_NAMES.get(number, f"of an unknown model, number {number}")
        raise ServoError(f"servo {servo.id} ({servo.actuator}) is {named}, not {servo.model} as the chain says")


def _read_surely(bus: Bus, servo: Servo) -> Found:
    """Until it says the same twice: on a bad line an answer may belong to an earlier question."""
    before = _read_all(bus, servo)
    for _ in range(TRIES):
        now = _read_all(bus, servo)
        if replace(now, position=0, volts=0.0, celsius=0.0) == replace(before, position=0, volts=0.0, celsius=0.0):
            return now
        before = now
    raise ServoError(
        f"servo {servo.id} ({servo.actuator}) says something else every time on {bus.name}; check the cable and its"
        " plugs"
    )


def _read_all(bus: Bus, servo: Servo) -> Found:
    mode, firmware = bus.read(servo, "operating_mode"), bus.read(servo, "firmware_version")
    has_limits = mode == SINGLE_TURN_MODE
    return Found(
        firmware=firmware,
        mode=mode,
        drive_mode=bus.read(servo, "drive_mode"),
        homing_offset=bus.read(servo, "homing_offset"),
        startup=bus.read(servo, "startup_configuration") if firmware >= STARTUP_FIRMWARE else 0,
        torque=bool(bus.read(servo, "torque_enable")),
        position=bus.read(servo, "present_position"),
        low=bus.read(servo, "min_position_limit") if has_limits else None,
        high=bus.read(servo, "max_position_limit") if has_limits else None,
        errors=bus.read(servo, "hardware_error_status"),
        volts=bus.read(servo, "present_input_voltage") / 10,
        celsius=float(bus.read(servo, "present_temperature")),
        celsius_limit=float(bus.read(servo, "temperature_limit")),
        load_limit=_load_limit(bus, servo),
    )


def _load_limit(bus: Bus, servo: Servo) -> int:
    if "current_limit" not in servo.table.table:
        return LOAD_TOP
    own = max(1, bus.read(servo, "current_limit"))
    return own if servo.current_units is None else min(own, servo.current_units)


def _obstacles(servo: Servo, found: Found) -> list[str]:
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
