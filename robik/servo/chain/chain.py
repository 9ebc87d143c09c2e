"""Servo chains: a servo per actuator, with limits and the way from values to counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import ServoError
from ..brands.brand import Brand
from ..brands.registry import DEFAULT, brand_at, brand_of, model_of
from ..imu.mount import ImuMount
from .port_name import device_of
from .servo import Servo

TUNED = ("p_gain", "i_gain", "d_gain", "profile_acceleration")  # entries of a servo that say how it follows its goals
BITS_PER_BYTE = 10  # on the wire: start, eight, stop


@dataclass(frozen=True)
class ServoChain:
    """The servos of a robot on one bus.

    Attributes:
        servos: in the order in which they are written to.
        baud_rate: of the bus [bit/s].
        robot: its name, for the reader of the file.
        imu: the sensor of tilt beside the bus or on it; None where there is none.

    Raises:
        ServoError: names the servo that is wrong.
    """

    servos: tuple[Servo, ...]
    baud_rate: int = 1_000_000
    robot: str = ""
    imu: ImuMount | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "servos", tuple(self.servos))
        if not self.servos:
            raise ServoError("a chain needs at least one servo")
        if not isinstance(self.robot, str):
            raise ServoError(f"the robot must be a name, not {self.robot!r}")
        wired = [brand.baud_rates for brand in self.brands if brand.baud_rates]
        known = [rate for rate in wired[0] if all(rate in rates for rates in wired)] if wired else [self.baud_rate]
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
        if self.imu is not None and self.imu.is_on_bus and self.imu.bus_id in seen:
            raise ServoError(f"the imu and the servo of {seen[self.imu.bus_id]!r} have the same id {self.imu.bus_id}")
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
        """Return the chain with as few ports as can be, as where it is simulated.

        The servos of the first brand are on the port that is played on, those of each other on one named after it.
        """
        port_of = {brand.name: brand.name if k else "" for k, brand in enumerate(self.brands)}
        return replace(self, servos=tuple(replace(servo, port=port_of[servo.brand]) for servo in self.servos))

    def as_at(self, port: str) -> ServoChain:
        """Return the chain as it is spoken to.

        Servos behind a program that has their bus are spoken to as that program has them.

        Args:
            port: The port that is played on.

        Returns:
            The chain.
        """
        brands = [brand_at(servo.port or port) for servo in self.servos]
        pairs = zip(self.servos, brands, strict=True)
        return replace(self, servos=tuple(servo.as_of(brand) if brand else servo for servo, brand in pairs))

    def on_ports(self, ports: Mapping[str, str]) -> ServoChain:
        """Return the chain with its servos on other ports.

        Args:
            ports: Name of the port by the one that they are on now.

        Returns:
            The chain.
        """
        return replace(self, servos=tuple(replace(servo, port=ports[servo.port]) for servo in self.servos))

    def with_one_name_each(self, port: str) -> ServoChain:
        """Return the chain with one name for each port, and none for the one that is played on.

        Args:
            port: The port that is played on.

        Returns:
            The chain.

        Raises:
            ServoError: Servos of two brands turn out to share a port.
        """
        first = {device_of(port): ""}
        names = {name: first.setdefault(device_of(name or port), name) for name in ("", *self.ports)}
        return self if all(name == one for name, one in names.items()) else self.on_ports(names)

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
    def counts_per_turn(self) -> np.ndarray:
        """Counts (n,) per turn of the servos' horns."""
        return np.array([servo.datasheet.counts_per_turn for servo in self.servos])

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

        Args:
            horns: Highest speed of a horn [rad/s].

        Returns:
            Speeds (n,) [rad/s or m/s].
        """
        return np.minimum(horns / np.array([servo.gear_ratio for servo in self.servos]), self.speed_limits)

    @cached_property
    def acceleration_limits(self) -> np.ndarray:
        """Highest actuator accelerations (n,) [rad/s² or m/s²]."""
        return np.array([servo.acceleration_limit for servo in self.servos])

    def counts(self, values: np.ndarray) -> np.ndarray:
        """Return the whole counts nearest to actuator values, never outside the limits.

        Args:
            values: Values (..., n) [rad or m].

        Returns:
            Counts (..., n).
        """
        counts = np.clip(np.rint(self.exact_counts(values)), self.count_limits[:, 0], self.count_limits[:, 1])
        return counts.astype(np.int64)  # last: a number that is far too large is no whole number

    def exact_counts(self, values: np.ndarray) -> np.ndarray:
        """Return the counts of actuator values, neither rounded nor limited.

        Args:
            values: Values (..., n) [rad or m].

        Returns:
            Counts (..., n), with fractions.
        """
        return self.zeros + self.scale * np.asarray(values, dtype=float)

    def values(self, counts: np.ndarray) -> np.ndarray:
        """Return actuator values from counts.

        Args:
            counts: Counts (..., n).

        Returns:
            Values (..., n) [rad or m].
        """
        return (np.asarray(counts, dtype=float) - self.zeros) / self.scale

    def packet_bytes(self, with_speeds: bool = False) -> int:
        """Return the length of a packet with all goals, on the port that has most to carry.

        Args:
            with_speeds: Whether it carries speeds too.

        Returns:
            Length [bytes].
        """
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
        """Return the share of the time between goals that they take on the wire.

        Args:
            rate: Goals per second [Hz].

        Returns:
            Share, 0 to 1 and beyond.
        """
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
        actuators: Names (`Mechanism.actuators`).
        position_limits: Per actuator [rad]; narrowed to the servo's single turn, which also holds where none is given.
        velocity_limits: Per actuator [rad/s]; lowered to what the servo can do, which also holds where none is given.
        model: Name of the servos' model.
        baud_rate: Rate of the bus [bit/s].
        robot: Name of the robot.
        brand: Name of the brand.

    Returns:
        The chain.

    Raises:
        ServoError: An unknown model, or limits that leave an actuator nothing.
    """
    datasheet = model_of(brand, model)
    turn = datasheet.turn
    top = min(datasheet.factory_velocity, datasheet.max_speed)
    servos = []
    for k, actuator in enumerate(actuators):
        low, high = (position_limits or {}).get(actuator, turn)
        speed = (velocity_limits or {}).get(actuator, top)
        limits = (max(low, turn[0]), min(high, turn[1]))
        servo = Servo(
            actuator,
            k + 1,
            model,
            zero=datasheet.centre,
            position_limits=limits,
            velocity_limit=min(speed, top),
            brand=brand,
        )
        servos.append(servo)
    return ServoChain(tuple(servos), baud_rate, robot)


def retuned(chain: ServoChain, servo: Servo) -> ServoChain:
    """Return the chain with the gains and the profile's acceleration of a servo.

    Args:
        chain: The servos.
        servo: The servo as it is to be; its id says which one.

    Returns:
        The chain; the same where the servo is not in it.
    """
    entries = {name: getattr(servo, name) for name in TUNED}
    return replace(chain, servos=tuple(replace(one, **entries) if one.id == servo.id else one for one in chain.servos))
