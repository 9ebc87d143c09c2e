"""What a motion plays on: a servo per actuator, and its file `*.servos.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import ceil, tau
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ServoError
from ..files import read_json, write_whole
from .brand import Brand, ServoModel
from .brands import DEFAULT, brand_of, model_of
from .checks import positive, span

FORMAT, VERSION = "robik-servos", 1
ENTRIES = ("format", "version", "robot", "brand", "baud_rate", "servos")
BITS_PER_BYTE = 10  # on the wire: start, eight, stop
FULL_TURN = tau * (1 + 1e-6)  # [rad] between the limits of a servo that is not to turn more than once
FARTHEST = 2 * tau  # [rad or m] of a limit behind a gear, from which it must be asked for: degrees are beyond it


@dataclass(frozen=True)
class Servo:
    """A servo and how it moves its actuator.

    counts = zero + direction · gear_ratio · value · counts per turn / 2π

    Attributes:
        actuator: the column of a motion that it plays.
        id: on the bus, 0 to 252.
        model: the name of one of its brand's.
        direction: 1, or -1 where the servo turns against the actuator.
        zero: counts where the actuator is at 0.
        gear_ratio: turns of the servo per turn of the actuator; [rad/m] where the actuator slides.
        position_limits: lowest and highest value of the actuator [rad or m].
        velocity_limit: of the actuator [rad/s or m/s]; not above what the model can be set to.
        acceleration_limit: of the actuator [rad/s² or m/s²].
        current_limit: that the servo may draw for longer [A], below its own; None for its own.
        multi_turn: whether it may turn more than once, in the extended position mode.
        brand: the name of one in `BRANDS`.
        port: that it is on, where the robot has several; empty for the one that is played on.

    Raises:
        ServoError: names the actuator and what would be right.
    """

    actuator: str
    id: int
    model: str = DEFAULT.default_model
    direction: int = 1
    zero: int = 2048
    gear_ratio: float = 1.0
    position_limits: tuple[float, float] = (-np.pi, np.pi * 2047 / 2048)
    velocity_limit: float = 3.0
    acceleration_limit: float = 100.0
    current_limit: float | None = None
    multi_turn: bool = False
    brand: str = DEFAULT.name
    port: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.actuator, str) or not self.actuator:
            raise ServoError(f"a servo must name its actuator, not {self.actuator!r}")
        where = f"servo of {self.actuator!r}"
        try:
            model = model_of(self.brand, self.model)
        except ServoError as error:
            raise ServoError(f"{where}: {error}") from None
        if not isinstance(self.port, str):
            raise ServoError(f"{where}: its port must be a name, not {self.port!r}")
        if type(self.id) is not int or not 0 <= self.id <= 252:
            raise ServoError(f"{where}: its id must be a whole number from 0 to 252, not {self.id!r}")
        if type(self.direction) is not int or self.direction not in (1, -1):
            raise ServoError(f"{where}: its direction must be 1 or -1, not {self.direction!r}")
        if type(self.zero) is not int or abs(self.zero) > model.farthest:
            raise ServoError(f"{where}: its zero must be a whole number of counts, not {self.zero!r}")
        if type(self.multi_turn) is not bool:
            raise ServoError(f"{where}: its multi_turn must be true or false, not {self.multi_turn!r}")
        for what in ("gear_ratio", "velocity_limit", "acceleration_limit"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{where}: its {what}"))
        object.__setattr__(self, "position_limits", span(self.position_limits, f"{where}: its position_limits"))
        if self.current_limit is not None:
            object.__setattr__(self, "current_limit", positive(self.current_limit, f"{where}: its current_limit"))
        if misfit := self._misfit():
            raise ServoError(f"{where}: {misfit}")

    def _misfit(self) -> str:
        """Return why the limits cannot be those of this model, in words; empty if they can."""
        low, high = self.position_limits
        top = max(self.datasheet.highest_velocity, self.datasheet.max_speed)
        if self.velocity_limit * self.gear_ratio > top:
            horn = f"{self.velocity_limit * self.gear_ratio:g} rad/s at its horn"
            fits = f"at most {top / self.gear_ratio:.4g} fits"
            return (
                f"its velocity_limit {self.velocity_limit:g} is {horn}, more than an {self.model} can be set to; {fits}"
            )
        edges = [abs(self.zero + self.counts_per_unit * edge) for edge in (low, high)]
        if max(edges) > self.datasheet.farthest:
            turns = self.datasheet.farthest / self.datasheet.counts_per_turn
            return f"its position_limits [{low:g}, {high:g}] are farther than an {self.model} counts, {turns:.0f} turns"
        is_far = high - low > FULL_TURN if self.gear_ratio == 1.0 else max(-low, high) > FARTHEST
        if is_far and not self.multi_turn:
            hint = (
                'they are in rad, 90 degrees are 1.571; a servo that is to turn more than once has "multi_turn": true'
            )
            return f"its position_limits [{low:g}, {high:g}] are more than a turn; {hint}"
        if self.current_limit is None:
            return ""
        most = self.datasheet.highest_current
        if most is None:
            return f"an {self.model} cannot measure its current, so it takes no current_limit; leave it out"
        if self.current_limit > most * (1 + 1e-6):
            return f"its current_limit {self.current_limit:g} is in amperes, of which an {self.model} takes {most:.3g}"
        return ""

    @property
    def datasheet(self) -> ServoModel:
        """Return what its model is."""
        return brand_of(self.brand).models[self.model]

    @property
    def counts_per_unit(self) -> float:
        """Counts per rad (or m) of the actuator, with sign."""
        return self.direction * self.gear_ratio * self.datasheet.counts_per_turn / tau

    def velocity_units(self, speed: float) -> int:
        """Return an actuator's speed [rad/s or m/s] in the servo's unit, rounded up: 0 would mean no limit at all."""
        return max(1, ceil(abs(speed) * self.gear_ratio / self.datasheet.velocity_unit - 1e-9))

    @property
    def current_units(self) -> int | None:
        """The limit of its current in the servo's unit, at least 1; None for its own."""
        if self.current_limit is None or self.datasheet.current_unit is None:
            return None
        return max(1, int(self.current_limit / self.datasheet.current_unit))

    def amperes(self, units: int) -> float | None:
        """Return what the servo reports as its current [A] from its own unit; None where it reports a load instead."""
        unit = self.datasheet.current_unit
        return None if unit is None else units * unit

    def speed(self, units: float) -> float:
        """Return the actuator's velocity [rad/s or m/s] from the servo's unit."""
        return self.direction * units * self.datasheet.velocity_unit / self.gear_ratio


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
        known = [rate for rate in self.brands[0].baud_rates if all(rate in brand.baud_rates for brand in self.brands)]
        if type(self.baud_rate) is not int or self.baud_rate not in known:
            listed = ", ".join(map(str, known))
            raise ServoError(f"the baud_rate must be one of {listed}, not {self.baud_rate!r}")
        seen: dict[int, str] = {}
        for servo in self.servos:
            if servo.id in seen:
                raise ServoError(
                    f"servos of {seen[servo.id]!r} and {servo.actuator!r} have the same id {servo.id}; ids must differ"
                )
            seen[servo.id] = servo.actuator
        for part in self.parts:
            if len(part.brands) > 1:
                both = " and ".join(brand.name for brand in part.brands)
                raise ServoError(f"servos of {both} cannot share a port; give those of one brand another port")

    @cached_property
    def brands(self) -> tuple[Brand, ...]:
        """The servos' brands."""
        return tuple(brand_of(name) for name in dict.fromkeys(servo.brand for servo in self.servos))

    @property
    def brand(self) -> Brand:
        """The brand of its first servo, and of all that share its port."""
        return self.brands[0]

    def on_one_port(self) -> ServoChain:
        """Return the chain with all servos on the port that is played on, as where it is simulated."""
        return replace(self, servos=tuple(replace(servo, port="") for servo in self.servos)) if self.ports else self

    @cached_property
    def ports(self) -> tuple[str, ...]:
        """The ports that servos name, in order; none where all are on the one that is played on."""
        return tuple(dict.fromkeys(servo.port for servo in self.servos if servo.port))

    @property
    def port(self) -> str:
        """The port of a chain that is on one; empty for the one that is played on."""
        return self.servos[0].port

    @cached_property
    def parts(self) -> tuple[ServoChain, ...]:
        """The servos on each port as a chain of their own, in order."""
        ports = dict.fromkeys(servo.port for servo in self.servos)
        if len(ports) == 1:
            return (self,)
        return tuple(replace(self, servos=tuple(s for s in self.servos if s.port == port)) for port in ports)

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
        """Return actuator speeds at which no servo's horn turns faster than a speed.

        Nor faster than any limit allows.
        """
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
        """Return counts (..., n) of actuator values (..., n) [rad or m], neither rounded nor limited."""
        return self.zeros + self.scale * np.asarray(values, dtype=float)

    def values(self, counts: np.ndarray) -> np.ndarray:
        """Actuator values (..., n) [rad or m] from counts (..., n)."""
        return (np.asarray(counts, dtype=float) - self.zeros) / self.scale

    def packet_bytes(self, with_speeds: bool = False) -> int:
        """Return how many bytes a packet with all goals has, on the port that has most to carry."""
        return max(_packet_bytes(part, with_speeds) for part in self.parts)

    @property
    def goal_bytes(self) -> int:
        """Bytes of a packet with all goals, without speeds."""
        return self.packet_bytes()

    @property
    def goal_seconds(self) -> float:
        """Return how long that takes on the wire [s]."""
        return self.goal_bytes * BITS_PER_BYTE / self.baud_rate

    def bus_time(self, rate: float) -> float:
        """Return the share of the time between goals at `rate` [Hz] that they take on the wire, 0 to 1 and beyond."""
        return self.goal_seconds * rate


def _packet_bytes(part: ServoChain, with_speeds: bool) -> int:
    fixed, each = part.brand.goal_bytes
    return fixed + len(part.servos) * (each + (part.brand.speed_bytes if with_speeds else 0))


def default_chain(
    actuators: tuple[str, ...],
    position_limits: Mapping[str, tuple[float, float]] | None = None,
    velocity_limits: Mapping[str, float] | None = None,
    model: str = DEFAULT.default_model,
    baud_rate: int = 1_000_000,
    robot: str = "",
    brand: str = DEFAULT.name,
) -> ServoChain:
    """Return a chain with ids 1, 2, … in the order of the actuators, each servo centred on its actuator's 0.

    Args:
        actuators: names (`Mechanism.actuators`).
        position_limits: per actuator [rad]; narrowed to the servo's single turn, which also holds where none is given.
        velocity_limits: per actuator [rad/s]; lowered to what the servo can do, which also holds where none is given.
        model, baud_rate, robot, brand: of the chain.

    Raises:
        ServoError: an unknown model, or limits that leave an actuator nothing.
    """
    datasheet = model_of(brand, model)
    centre, counts = datasheet.centre, datasheet.counts_per_turn
    turn = (-tau * centre / counts, tau * (counts - centre - 1) / counts)
    top = min(datasheet.factory_velocity, datasheet.max_speed)
    servos = []
    for k, actuator in enumerate(actuators):
        low, high = (position_limits or {}).get(actuator, turn)
        speed = (velocity_limits or {}).get(actuator, top)
        limits = (max(low, turn[0]), min(high, turn[1]))
        servo = Servo(
            actuator, k + 1, model, zero=centre, position_limits=limits, velocity_limit=min(speed, top), brand=brand
        )
        servos.append(servo)
    return ServoChain(tuple(servos), baud_rate, robot)


def save_chain(chain: ServoChain, path: str | Path) -> None:
    """Write a chain as `*.servos.json`, whole or not at all."""
    write_whole(path, chain_text(chain))


def chain_text(chain: ServoChain) -> str:
    """Return a chain as JSON."""
    brand = chain.brand.name
    head = {"format": FORMAT, "version": VERSION, "robot": chain.robot, "brand": brand, "baud_rate": chain.baud_rate}
    usual = {"brand": brand, "port": ""}  # of every servo that does not say otherwise
    entries = [{k: v for k, v in asdict(servo).items() if usual.get(k) != v} for servo in chain.servos]
    servos = ",\n".join("    " + json.dumps(entry) for entry in entries)
    lines = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    return "{\n" + lines + '  "servos": [\n' + servos + "\n  ]\n}\n"


def load_chain(path: str | Path) -> ServoChain:
    """Read what `save_chain` writes.

    Raises:
        FormatError: there is no such file, or it is not JSON.
        ServoError: names the file and the entry that is wrong.
    """
    return read_chain(read_json(path), str(path))


def read_chain(data: Any, path: str) -> ServoChain:
    """Return a chain from its JSON data.

    Raises:
        ServoError: names the entry that is wrong, and where the data is from.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ServoError(f'{path} is not a servo chain; it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise ServoError(f"{path}: version {data.get('version')!r} is not known; this RobIK reads version {VERSION}")
    if unknown := set(data) - set(ENTRIES):
        raise ServoError(f"{path}: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(ENTRIES)}")
    entries = data.get("servos")
    if not isinstance(entries, list):
        raise ServoError(f'{path}: "servos" must be a list of servos')
    try:
        brand = brand_of(data.get("brand", DEFAULT.name))
        servos = tuple(_servo(k, entry, brand) for k, entry in enumerate(entries))
        return ServoChain(servos, data.get("baud_rate", 1_000_000), data.get("robot", ""))
    except ServoError as error:
        raise ServoError(f"{path}: {error}") from None


def _servo(k: int, entry: object, brand: Brand) -> Servo:
    known = [field.name for field in fields(Servo)]
    if not isinstance(entry, dict) or not {"actuator", "id"} <= set(entry):
        raise ServoError(f'entry {k} of "servos" must be an object with at least "actuator" and "id"')
    if unknown := set(entry) - set(known):
        raise ServoError(
            f"servo of {entry['actuator']!r}: unknown entry {sorted(unknown)[0]!r}; there are {', '.join(known)}"
        )
    return Servo(**({"brand": brand.name, "model": brand.default_model} | entry))  # type: ignore[arg-type]
