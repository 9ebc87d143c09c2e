"""Setting servos up: who is on the bus, which one is which, ids, baud rates, and what streaming wants of their
settings.

Nothing here moves anything. Settings are kept without power and locked while torque is on; with torque on they are
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ServoError
from .chain import Servo, ServoChain
from .dynamixel.bus import Bus, ServoSilent
from .dynamixel.connecting import STARTUP_FIRMWARE, STARTUP_TORQUE, TIMED_PROFILE, TORQUE_BY_GOAL
from .dynamixel.models import BAUD_RATES, MODEL_NAMES, POSITION_MODES, SINGLE_TURN_MODE
from .preflight import bus_problems
from .status import PlaySettings

SCAN_ORDER = (
    57_600,
    1_000_000,
    2_000_000,
    3_000_000,
    4_000_000,
    115_200,
    4_500_000,
    9_600,
)  # the factory's, then what people choose
STREAMING_BAUD = 1_000_000
MOVED = 60  # [counts], 5°: what counts as moved by hand
LIMITS = ("position_limits", "velocity_limit", "acceleration_limit")  # of an actuator, whoever turns it
NOBODY = ServoChain((Servo("nobody", 0),))  # for a bus whose servos are not known yet


@dataclass(frozen=True)
class Seen:
    """A servo on the bus: its id, model (None where it is not known here), model number, firmware and baud rate."""

    id: int
    model: str | None
    number: int
    firmware: int
    baud_rate: int

    @property
    def servo(self) -> Servo:
        """It, for a bus to talk to.

        Raises:
            ServoError: its model is not known.
        """
        if self.model is None:
            raise ServoError(
                f"servo {self.id} is of an unknown model, number {self.number}; it can be seen, but not set up"
            )
        return Servo(f"servo {self.id}", self.id, self.model)


@dataclass(frozen=True)
class Change:
    """An entry of a servo's table that should be another, and why."""

    servo: Seen
    entry: str
    now: int
    wanted: int
    why: str

    def __str__(self) -> str:
        return f"servo {self.servo.id}: {self.entry.replace('_', ' ')} {self.now} → {self.wanted}, {self.why}"


def open_bus(port: str, baud_rate: int = STREAMING_BAUD) -> Bus:
    """A bus whose servos are not known yet.

    Raises:
        ServoError: the port cannot be opened.
    """
    return Bus(replace(NOBODY, baud_rate=baud_rate), port)


def scan(bus: Bus, baud_rates: Iterable[int] = SCAN_ORDER, said: Callable[[str], None] = lambda _: None) -> list[Seen]:
    """All servos that answer, at any of these baud rates. A rate takes about a second, 9,600 baud five.

    Raises:
        ServoError: the port does not take a baud rate, or is gone.
    """
    found: dict[tuple[int, int], Seen] = {}
    for rate in _rates_of(bus, baud_rates):
        said(f"asking at {rate} baud")
        bus.open_at(rate)
        for id, (number, firmware) in sorted(bus.ping_all().items()):
            found[rate, id] = Seen(id, MODEL_NAMES.get(number), number, firmware, rate)
    return list(found.values())


def _rates_of(bus: Bus, baud_rates: Iterable[int]) -> Iterable[int]:
    """Return the baud rates at which to ask: of a network socket none can be set, and each servo would be there at all
    of them."""
    return (bus.chain.baud_rate,) if bus.name.startswith("socket://") else baud_rates


def torque_off(bus: Bus, baud_rates: Sequence[int] = SCAN_ORDER) -> list[tuple[Seen, bool | None]]:
    """Turn the torque of all servos off, first of all and whoever they are.

    Returns:
        Every servo that answers, and whether it has torque, as read back; None where that cannot be read.

    Raises:
        ServoError: the port does not take a baud rate, or is gone.
    """
    for rate in _rates_of(bus, baud_rates):
        bus.open_at(rate)
        bus.cut_torque_of_all()
    found = []
    for one in scan(bus, baud_rates):
        bus.open_at(one.baud_rate)
        found.append((one, bus.cut_torque_of(Servo(f"servo {one.id}", one.id, one.model or Servo.model))))
    return found


def set_id(bus: Bus, seen: Seen, id: int) -> Seen:
    """Gives a servo another id.

    Raises:
        ServoError: the id is taken or impossible, or its torque is on.
    """
    if not 0 <= id <= 252:
        raise ServoError(f"a servo's id is from 0 to 252, not {id}")
    bus.open_at(seen.baud_rate)
    if bus.ping(id) is not None:
        raise ServoError(f"id {id} is taken by another servo at {seen.baud_rate} baud; give that one another id first")
    _set(bus, seen, "id", id)
    return replace(seen, id=id)


def set_baud_rate(bus: Bus, seen: Seen, baud_rate: int) -> Seen:
    """Gives a servo another baud rate, and makes sure that it answers there.

    Raises:
        ServoError: there is no such rate, a servo of this id is there already, or its torque is on.
    """
    if baud_rate not in BAUD_RATES:
        raise ServoError(f"a servo's baud rate is one of {', '.join(map(str, BAUD_RATES))}, not {baud_rate}")
    bus.open_at(baud_rate)
    if baud_rate != seen.baud_rate and bus.ping(seen.id) is not None:
        raise ServoError(f"at {baud_rate} baud there is a servo {seen.id} already; give one of them another id first")
    bus.open_at(seen.baud_rate)
    _set(bus, seen, "baud_rate", BAUD_RATES.index(baud_rate))
    bus.open_at(baud_rate)
    if bus.ping(seen.id) is None:
        raise ServoError(f"servo {seen.id} took {baud_rate} baud but does not answer there; scan again")
    return replace(seen, baud_rate=baud_rate)


def _set(bus: Bus, seen: Seen, entry: str, value: int) -> None:
    if bus.read(seen.servo, "torque_enable"):
        raise ServoError(f"servo {seen.id} has its torque on, which locks its settings; turn it off first")
    bus.set_one(seen.servo, entry, value)


def advice(bus: Bus, seen: Iterable[Seen], baud_rate: int = STREAMING_BAUD) -> list[Change]:
    """What should be changed so that these servos can stream: a factory servo has 57,600 baud and waits 0.5 ms before
    it answers.

    Raises:
        ServoError: one does not answer, or its model is unknown.
    """
    changes: list[Change] = []
    for one in seen:
        bus.open_at(one.baud_rate)
        has_startup = one.firmware >= STARTUP_FIRMWARE
        entries = (
            "return_delay_time",
            "operating_mode",
            "drive_mode",
            "homing_offset",
            *["startup_configuration"] * has_startup,
        )
        is_now = {entry: bus.read(one.servo, entry) for entry in entries}
        wanted = [
            ("return_delay_time", 0, "so that it answers at once"),
            (
                "drive_mode",
                is_now["drive_mode"] & ~(TIMED_PROFILE | TORQUE_BY_GOAL),
                _drive_mode_reason(is_now["drive_mode"]),
            ),
            ("homing_offset", 0, "since the chain's zero does that, and old firmware moves by it"),
        ]
        if has_startup:
            cleared = is_now["startup_configuration"] & ~STARTUP_TORQUE
            wanted.append(
                ("startup_configuration", cleared, "since it would turn its torque on by itself after a restart")
            )
        if is_now["operating_mode"] not in POSITION_MODES:
            wanted.append(("operating_mode", SINGLE_TURN_MODE, "since it does not follow positions"))
        changes += [
            Change(one, entry, is_now[entry], value, why) for entry, value, why in wanted if is_now[entry] != value
        ]
        if one.baud_rate != baud_rate:  # last: afterwards it must be spoken to at another rate
            codes = BAUD_RATES.index(one.baud_rate), BAUD_RATES.index(baud_rate)
            changes.append(Change(one, "baud_rate", *codes, f"{one.baud_rate} → {baud_rate} baud"))
    return changes


def _drive_mode_reason(drive_mode: int) -> str:
    if drive_mode & TORQUE_BY_GOAL:
        return "since a goal would turn its torque on after a restart"
    return "since its profile counts in time instead of speed"


def apply(bus: Bus, changes: Iterable[Change]) -> None:
    """Makes these changes.

    Raises:
        ServoError: a servo does not take one; those before it are made.
    """
    for change in changes:
        bus.open_at(change.servo.baud_rate)
        if change.entry == "baud_rate":
            set_baud_rate(bus, change.servo, BAUD_RATES[change.wanted])
        else:
            _set(bus, change.servo, change.entry, change.wanted)


def rate_warning(chain: ServoChain, settings: PlaySettings) -> str:
    """Whether the chain's baud rate cannot carry the goals that are to be sent, with the arithmetic.

    Empty if it can.
    """
    return "; ".join(bus_problems(chain, settings.rate, settings.feed_forward))


class Dragging:
    """Which servo is being moved by hand, torque being off.

    Args:
        bus: at the servos' baud rate.
        seen: which may be.

    Raises:
        ServoError: one of them has its torque on, or does not answer.
    """

    def __init__(self, bus: Bus, seen: Iterable[Seen]) -> None:
        self._bus, self._seen = bus, list(seen)
        if powered := [one.id for one in self._seen if bus.read(one.servo, "torque_enable")]:
            raise ServoError(f"servo {powered[0]} has its torque on and cannot be moved by hand; turn it off first")
        self._before = self._positions()

    def _positions(self) -> np.ndarray:
        return np.array([self._bus.read(one.servo, "present_position") for one in self._seen])

    def moved(self) -> Seen | None:
        """The one that has moved the most since the last one was found, once that is plain; None before.

        Raises:
            ServoError: one does not answer.
        """
        now = self._positions()
        away = np.abs(now - self._before)
        k = int(np.argmax(away))
        if away[k] < MOVED:
            return None
        self._before = now
        return self._seen[k]


def zeroed(bus: Bus, values: dict[str, float] | None = None) -> ServoChain:
    """The bus's chain with zeros by which the robot, as it stands now, is in a pose: put there by hand, torque off.

    Args:
        bus: with its chain.
        values: of the actuators in that pose [rad or m]; 0 where there is none.

    Raises:
        ServoError: a servo does not answer.
    """
    chain = bus.chain
    try:
        positions = [int(_folded(bus, servo, at)) for servo, at in zip(chain.servos, bus.positions(), strict=True)]
    except ServoSilent as silent:
        raise ServoError(f"the pose cannot be taken: {silent}") from None
    return with_zeros(chain, dict(zip(chain.ids, positions, strict=True)), values)


def _folded(bus: Bus, servo: Servo, position: int) -> int:
    """Return a position as it will be once torque is on: turned by hand, a single-turn servo counts beyond its turn."""
    is_single = bus.read(servo, "operating_mode") == SINGLE_TURN_MODE
    return position % servo.table.counts_per_turn if is_single else position


def with_zeros(chain: ServoChain, counts: dict[int, int], values: dict[str, float] | None = None) -> ServoChain:
    """The chain with zeros by which servos at these counts, by id, stand at these actuator values.

    Others keep theirs.
    """
    servos = []
    for servo in chain.servos:
        value = (values or {}).get(servo.actuator, 0.0)
        here = counts.get(servo.id)
        servos.append(servo if here is None else replace(servo, zero=round(here - servo.counts_per_unit * value)))
    return replace(chain, servos=tuple(servos))


def turned_round(chain: ServoChain, id: int) -> ServoChain:
    """The chain with this servo's direction the other way round.

    Raises:
        ServoError: there is no such servo.
    """
    return edited(chain, id, direction=-_servo(chain, id).direction)


def edited(chain: ServoChain, id: int, /, **entries: Any) -> ServoChain:
    """The chain with other entries of this servo. The actuator's limits become those of all servos on it.

    Raises:
        ServoError: there is no such servo, or an entry cannot be so.
    """
    servo = _servo(chain, id)
    limits = {name: value for name, value in entries.items() if name in LIMITS}
    servos = [replace(one, **limits) if one.actuator == servo.actuator else one for one in chain.servos]
    servos[chain.servos.index(servo)] = replace(servo, **entries)
    return replace(chain, servos=tuple(servos))


def with_another(chain: ServoChain, servo: Servo) -> ServoChain:
    """The chain with another servo, whose id becomes the next free one, after those of its actuator.

    Raises:
        ServoError: all ids are taken.
    """
    free = next(id for id in range(1, len(chain.servos) + 2) if id not in chain.ids)
    same = [k for k, one in enumerate(chain.servos) if one.actuator == servo.actuator]
    at = same[-1] + 1 if same else len(chain.servos)
    return replace(chain, servos=(*chain.servos[:at], replace(servo, id=free), *chain.servos[at:]))


def without(chain: ServoChain, id: int) -> ServoChain:
    """The chain without this servo.

    Raises:
        ServoError: there is no such servo, or it is the last.
    """
    gone = _servo(chain, id)
    return replace(chain, servos=tuple(servo for servo in chain.servos if servo != gone))


def _servo(chain: ServoChain, id: int) -> Servo:
    found = next((servo for servo in chain.servos if servo.id == id), None)
    if found is None:
        raise ServoError(f"the chain has no servo {id}; it has {', '.join(map(str, chain.ids))}")
    return found


def assigned(chain: ServoChain, actuator: str, seen: Seen) -> ServoChain:
    """The chain with this servo on an actuator: whoever had its id gives it up, whoever turned the actuator is
    replaced.

    Raises:
        ServoError: the model is not known, or nobody would be left.
    """
    mine = next((servo for servo in chain.servos if servo.actuator == actuator), Servo(actuator, seen.id))
    others = [servo for servo in chain.servos if servo.actuator != actuator and servo.id != seen.id]
    made = replace(mine, id=seen.id, model=seen.servo.model)
    order = {servo.actuator: k for k, servo in enumerate(chain.servos)}
    servos = sorted([*others, made], key=lambda servo: order.get(servo.actuator, len(order)))
    return replace(chain, servos=tuple(servos))
