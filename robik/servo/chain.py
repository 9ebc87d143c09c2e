"""What a motion plays on: a servo per actuator, and its file `*.servos.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from math import ceil, tau
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ServoError
from ..files import read_json, write_whole
from .dynamixel.models import BAUD_RATES, MAX_TURNS_COUNTS, MODELS, VELOCITY_UNIT, Model

FORMAT, VERSION = "robik-servos", 1
FORWARD_BYTES = 4  # of a goal's speed, per servo
SYNC_WRITE_BYTES = (14, 5)  # of a Sync Write of goal positions: fixed, and per servo
BITS_PER_BYTE = 10  # on the wire: start, eight, stop
FULL_TURN = tau * (1 + 1e-6)  # [rad] between the limits of a servo that is not to turn more than once
LARGEST = 1e100  # of any number: beyond it products are no numbers any more
FARTHEST = 2 * tau  # [rad or m] of a limit behind a gear, from which it must be asked for: degrees are beyond it


@dataclass(frozen=True)
class Servo:
    """A servo and how it moves its actuator.

    counts = zero + direction · gear_ratio · value · counts per turn / 2π

    Attributes:
        actuator: the column of a motion that it plays.
        id: on the bus, 0 to 252.
        model: a name in `MODELS`.
        direction: 1, or -1 where the servo turns against the actuator.
        zero: counts where the actuator is at 0.
        gear_ratio: turns of the servo per turn of the actuator; [rad/m] where the actuator slides.
        position_limits: lowest and highest value of the actuator [rad or m].
        velocity_limit: of the actuator [rad/s or m/s]; not above what the model can be set to.
        acceleration_limit: of the actuator [rad/s² or m/s²].
        current_limit: that the servo may draw for longer [A], below its own; None for its own.
        multi_turn: whether it may turn more than once, in the extended position mode.

    Raises:
        ServoError: names the actuator and what would be right.
    """

    actuator: str
    id: int
    model: str = "XH430-W350"
    direction: int = 1
    zero: int = 2048
    gear_ratio: float = 1.0
    position_limits: tuple[float, float] = (-np.pi, np.pi * 2047 / 2048)
    velocity_limit: float = 3.0
    acceleration_limit: float = 100.0
    current_limit: float | None = None
    multi_turn: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.actuator, str) or not self.actuator:
            raise ServoError(f"a servo must name its actuator, not {self.actuator!r}")
        where = f"servo of {self.actuator!r}"
        if not isinstance(self.model, str) or self.model not in MODELS:
            raise ServoError(f"{where}: unknown model {self.model!r}; the models are {', '.join(MODELS)}")
        if type(self.id) is not int or not 0 <= self.id <= 252:
            raise ServoError(f"{where}: its id must be a whole number from 0 to 252, not {self.id!r}")
        if type(self.direction) is not int or self.direction not in (1, -1):
            raise ServoError(f"{where}: its direction must be 1 or -1, not {self.direction!r}")
        if type(self.zero) is not int or abs(self.zero) > MAX_TURNS_COUNTS:
            raise ServoError(f"{where}: its zero must be a whole number of counts, not {self.zero!r}")
        if type(self.multi_turn) is not bool:
            raise ServoError(f"{where}: its multi_turn must be true or false, not {self.multi_turn!r}")
        for what in ("gear_ratio", "velocity_limit", "acceleration_limit"):
            object.__setattr__(self, what, _positive(getattr(self, what), f"{where}: its {what}"))
        object.__setattr__(self, "position_limits", _span(self.position_limits, f"{where}: its position_limits"))
        if self.current_limit is not None:
            object.__setattr__(self, "current_limit", _positive(self.current_limit, f"{where}: its current_limit"))
        if misfit := self._misfit():
            raise ServoError(f"{where}: {misfit}")

    def _misfit(self) -> str:
        """Return why the limits cannot be those of this model, in words; empty if they can."""
        low, high = self.position_limits
        top = max(self.table.table["velocity_limit"].high * VELOCITY_UNIT, self.table.max_speed)
        if self.velocity_limit * self.gear_ratio > top:
            horn = f"{self.velocity_limit * self.gear_ratio:g} rad/s at its horn"
            fits = f"at most {top / self.gear_ratio:.4g} fits"
            return (
                f"its velocity_limit {self.velocity_limit:g} is {horn}, more than an {self.model} can be set to; {fits}"
            )
        edges = [abs(self.zero + self.counts_per_unit * edge) for edge in (low, high)]
        if max(edges) > MAX_TURNS_COUNTS:
            return f"its position_limits [{low:g}, {high:g}] are farther than an {self.model} counts, 256 turns"
        is_far = high - low > FULL_TURN if self.gear_ratio == 1.0 else max(-low, high) > FARTHEST
        if is_far and not self.multi_turn:
            hint = (
                'they are in rad, 90 degrees are 1.571; a servo that is to turn more than once has "multi_turn": true'
            )
            return f"its position_limits [{low:g}, {high:g}] are more than a turn; {hint}"
        if self.current_limit is None:
            return ""
        if self.table.current_unit is None:
            return f"an {self.model} cannot measure its current, so it takes no current_limit; leave it out"
        most = self.table.table["current_limit"].high * self.table.current_unit
        if self.current_limit > most * (1 + 1e-6):
            return f"its current_limit {self.current_limit:g} is in amperes, of which an {self.model} takes {most:.3g}"
        return ""

    @property
    def table(self) -> Model:
        """The model's control table and constants."""
        return MODELS[self.model]

    @property
    def counts_per_unit(self) -> float:
        """Counts per rad (or m) of the actuator, with sign."""
        return self.direction * self.gear_ratio * self.table.counts_per_turn / tau

    def velocity_units(self, speed: float) -> int:
        """An actuator's speed [rad/s or m/s] in the servo's unit, rounded up: 0 would mean no limit at all."""
        return max(1, ceil(abs(speed) * self.gear_ratio / VELOCITY_UNIT - 1e-9))

    @property
    def current_units(self) -> int | None:
        """The limit of its current in the servo's unit, at least 1; None for its own."""
        if self.current_limit is None or self.table.current_unit is None:
            return None
        return max(1, int(self.current_limit / self.table.current_unit))

    def amperes(self, units: int) -> float | None:
        """What the servo reports as its current [A] from its own unit; None where it reports a load instead."""
        return None if self.table.current_unit is None else units * self.table.current_unit

    def speed(self, units: float) -> float:
        """The actuator's velocity [rad/s or m/s] from the servo's unit."""
        return self.direction * units * VELOCITY_UNIT / self.gear_ratio


@dataclass(frozen=True)
class ServoChain:
    """The servos of a robot on one bus.

    Attributes:
        servos: in the order in which they are written to.
        baud_rate: of the bus [bit/s].
        robot: its name, for the reader of the file.

    Raises:
        ServoError: names the servo that is wrong.
    """

    servos: tuple[Servo, ...]
    baud_rate: int = 1_000_000
    robot: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "servos", tuple(self.servos))
        if not self.servos:
            raise ServoError("a chain needs at least one servo")
        if not isinstance(self.robot, str):
            raise ServoError(f"the robot must be a name, not {self.robot!r}")
        if type(self.baud_rate) is not int or self.baud_rate not in BAUD_RATES:
            listed = ", ".join(map(str, BAUD_RATES))
            raise ServoError(f"the baud_rate must be one of {listed}, not {self.baud_rate!r}")
        seen: dict[int, str] = {}
        for servo in self.servos:
            if servo.id in seen:
                raise ServoError(
                    f"servos of {seen[servo.id]!r} and {servo.actuator!r} have the same id {servo.id}; ids must differ"
                )
            seen[servo.id] = servo.actuator

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The servos' ids, in order."""
        return tuple(servo.id for servo in self.servos)

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """The servos' actuators, in order."""
        return tuple(servo.actuator for servo in self.servos)

    @cached_property
    def zeros(self) -> np.ndarray:
        """Counts (n,) at actuator value 0."""
        return np.array([servo.zero for servo in self.servos], dtype=float)

    @cached_property
    def scale(self) -> np.ndarray:
        """Counts (n,) per rad or m, with sign."""
        return np.array([servo.counts_per_unit for servo in self.servos])

    @cached_property
    def limits(self) -> np.ndarray:
        """Lowest and highest actuator values (n, 2) [rad or m]."""
        return np.array([servo.position_limits for servo in self.servos])

    @cached_property
    def count_limits(self) -> np.ndarray:
        """Lowest and highest whole counts (n, 2) inside the limits."""
        edges = np.sort(self.zeros[:, None] + self.scale[:, None] * self.limits, axis=1)
        return np.column_stack([np.ceil(edges[:, 0] - 1e-6), np.floor(edges[:, 1] + 1e-6)]).astype(np.int64)

    @cached_property
    def speed_limits(self) -> np.ndarray:
        """Highest actuator speeds (n,) [rad/s or m/s]."""
        return np.array([servo.velocity_limit for servo in self.servos])

    def approach_speeds(self, horns: float) -> np.ndarray:
        """Actuator speeds (n,) [rad/s or m/s] at which no servo's horn turns faster than `horns` [rad/s], nor any limit
        allows."""
        return np.minimum(horns / np.array([servo.gear_ratio for servo in self.servos]), self.speed_limits)

    @cached_property
    def acceleration_limits(self) -> np.ndarray:
        """Highest actuator accelerations (n,) [rad/s² or m/s²]."""
        return np.array([servo.acceleration_limit for servo in self.servos])

    def counts(self, values: np.ndarray) -> np.ndarray:
        """Whole counts (..., n) nearest to actuator values (..., n) [rad or m], never outside the limits."""
        counts = np.clip(np.rint(self.exact_counts(values)), self.count_limits[:, 0], self.count_limits[:, 1])
        return counts.astype(np.int64)  # last: a number that is far too large is no whole number

    def exact_counts(self, values: np.ndarray) -> np.ndarray:
        """Counts (..., n) of actuator values (..., n) [rad or m], neither rounded nor limited."""
        return self.zeros + self.scale * np.asarray(values, dtype=float)

    def values(self, counts: np.ndarray) -> np.ndarray:
        """Actuator values (..., n) [rad or m] from counts (..., n)."""
        return (np.asarray(counts, dtype=float) - self.zeros) / self.scale

    @property
    def goal_bytes(self) -> int:
        """Bytes of a Sync Write of all goals."""
        fixed, each = SYNC_WRITE_BYTES
        return fixed + each * len(self.servos)

    @property
    def goal_seconds(self) -> float:
        """How long that takes on the wire [s]."""
        return self.goal_bytes * BITS_PER_BYTE / self.baud_rate

    def bus_time(self, rate: float) -> float:
        """The share of the time between goals at `rate` [Hz] that they take on the wire, 0 to 1 and beyond."""
        return self.goal_seconds * rate


def default_chain(
    actuators: tuple[str, ...],
    position_limits: Mapping[str, tuple[float, float]] | None = None,
    velocity_limits: Mapping[str, float] | None = None,
    model: str = "XH430-W350",
    baud_rate: int = 1_000_000,
    robot: str = "",
) -> ServoChain:
    """A chain with ids 1, 2, … in the order of the actuators, each servo centred on its actuator's 0.

    Args:
        actuators: names (`Mechanism.actuators`).
        position_limits: per actuator [rad]; narrowed to the servo's single turn, which also holds where none is given.
        velocity_limits: per actuator [rad/s]; lowered to what the servo can do, which also holds where none is given.
        model, baud_rate, robot: of the chain.

    Raises:
        ServoError: an unknown model, or limits that leave an actuator nothing.
    """
    if model not in MODELS:
        raise ServoError(f"unknown model {model!r}; the models are {', '.join(MODELS)}")
    half = MODELS[model].counts_per_turn // 2
    turn = (-np.pi, np.pi * (half - 1) / half)
    top = min(MODELS[model].table["velocity_limit"].initial * VELOCITY_UNIT, MODELS[model].max_speed)
    servos = []
    for k, actuator in enumerate(actuators):
        low, high = (position_limits or {}).get(actuator, turn)
        speed = (velocity_limits or {}).get(actuator, top)
        span = (max(low, turn[0]), min(high, turn[1]))
        servos.append(Servo(actuator, k + 1, model, zero=half, position_limits=span, velocity_limit=min(speed, top)))
    return ServoChain(tuple(servos), baud_rate, robot)


def save_chain(chain: ServoChain, path: str | Path) -> None:
    """Writes a chain as `*.servos.json`, whole or not at all."""
    write_whole(path, chain_text(chain))


def chain_text(chain: ServoChain) -> str:
    """A chain as JSON."""
    head = {"format": FORMAT, "version": VERSION, "robot": chain.robot, "baud_rate": chain.baud_rate}
    servos = ",\n".join("    " + json.dumps(asdict(servo)) for servo in chain.servos)
    lines = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    return "{\n" + lines + '  "servos": [\n' + servos + "\n  ]\n}\n"


def load_chain(path: str | Path) -> ServoChain:
    """Reads what `save_chain` writes.

    Raises:
        FormatError: there is no such file, or it is not JSON.
        ServoError: names the file and the entry that is wrong.
    """
    return read_chain(read_json(path), str(path))


def read_chain(data: Any, path: str) -> ServoChain:
    """A chain from its JSON data.

    Raises:
        ServoError: names the entry that is wrong, and where the data is from.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ServoError(f'{path} is not a servo chain; it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise ServoError(f"{path}: version {data.get('version')!r} is not known; this RobIK reads version {VERSION}")
    if unknown := set(data) - {"format", "version", "robot", "baud_rate", "servos"}:
        raise ServoError(
            f"{path}: unknown entry {sorted(unknown)[0]!r}; there are format, version, robot, baud_rate, servos"
        )
    entries = data.get("servos")
    if not isinstance(entries, list):
        raise ServoError(f'{path}: "servos" must be a list of servos')
    try:
        servos = tuple(_servo(k, entry) for k, entry in enumerate(entries))
        return ServoChain(servos, data.get("baud_rate", 1_000_000), data.get("robot", ""))
    except ServoError as error:
        raise ServoError(f"{path}: {error}") from None


def _servo(k: int, entry: object) -> Servo:
    known = [field.name for field in fields(Servo)]
    if not isinstance(entry, dict) or not {"actuator", "id"} <= set(entry):
        raise ServoError(f'entry {k} of "servos" must be an object with at least "actuator" and "id"')
    if unknown := set(entry) - set(known):
        raise ServoError(
            f"servo of {entry['actuator']!r}: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(known)}"
        )
    return Servo(**entry)


def _positive(value: Any, what: str) -> float:
    if not _is_finite(value) or value < 1 / LARGEST:
        raise ServoError(f"{what} must be a positive number, not {value!r}")
    return float(value)


def _span(values: Any, what: str) -> tuple[float, float]:
    if (
        not isinstance(values, (tuple, list))
        or len(values) != 2
        or not all(_is_finite(v) for v in values)
        or values[0] >= values[1]
    ):
        raise ServoError(f"{what} must be two finite numbers, low then high, not {values!r}")
    return float(values[0]), float(values[1])


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        return False
    return bool(-LARGEST <= value <= LARGEST)  # no NaN, no infinity
