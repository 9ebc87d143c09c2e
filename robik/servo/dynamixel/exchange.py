"""Goals out and telemetry in, each in one packet: indirect addresses gather what lies apart in the servos' tables.

indirect data   1…4 profile velocity, 5…8 goal position    written to all by one Sync Write
                9…20 what is reported                      read from all, with 1…8, by one (fast) Sync Read
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from ..chain import Servo
from .bus import TABLE, Bus, ServoSilent, as_bytes
from .look import AskedLook
from .models import describe_hardware_error
from .port import LATENCY

COMMANDED = ("profile_velocity", "goal_position")  # in this order, so that the speed is in force when the goal arrives
LOAD = "present_current"  # or present_load, at the same address
HEALTH = ("torque_enable", "bus_watchdog", "hardware_error_status")
REPORTED = (*HEALTH, LOAD, "present_position", "present_input_voltage", "present_temperature")
SEEN = ("profile_velocity", *REPORTED)
TRIPPED = -1
RUN = (126, 21)  # address and size: without gaps from load to temperature
APART = tuple(name for name in SEEN if TABLE[name].address < RUN[0])  # what is asked for one by one


@dataclass(frozen=True)
class Telemetry:
    """What one servo reports.

    Attributes:
        torque: whether it is powered.
        watchdog: of the bus, in its unit; 0 where there is none, `TRIPPED` where it has stopped the servo.
        profile: its own speed limit, in its unit; 0 where there is none.
        errors: hardware error bits.
        load: current or load, in its own unit, with sign.
        position: [counts].
        volts, celsius: supply [V] and temperature [°C].
    """

    torque: bool
    watchdog: int
    profile: int
    errors: int
    load: int
    position: int
    volts: float
    celsius: float

    def is_guarded(self, watchdog: int) -> bool:
        """Return whether this bus watchdog [its unit] and a speed limit of its own are in force, as whoever sends goals
        set them."""
        return self.watchdog == watchdog and self.profile > 0

    @property
    def complaint(self) -> str:
        """Why this servo does not do what it is told, in words; empty if it does."""
        if self.errors:
            return f"has a hardware error ({describe_hardware_error(self.errors)})"
        if not self.torque:
            return "lost its torque, as after a loss of power"
        return "was stopped by its watchdog, since it heard nothing for too long" if self.watchdog == TRIPPED else ""


class Exchange:
    """Reads and writes what a stream needs, in as few bytes as the servos' tables allow.

    Args:
        bus: with servos that were found.

    Attributes:
        is_gathered: whether indirect addresses are in use; without them goals go plainly and a look reads more bytes.
        failed: servos, by their place in the chain, that get no goals any more.
    """

    def __init__(self, bus: Bus) -> None:
        self.bus, self.is_gathered, self.failed = bus, False, set[int]()
        self._places = [_indirect(servo) for servo in bus.chain.servos]
        self._delays = [0] * len(self._places)
        self._command_size = sum(TABLE[name].size for name in COMMANDED)
        self._size = self._command_size + sum(_size(name) for name in REPORTED)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Servos that can be asked in one packet, by their place in the chain.

        With indirect addresses in use these are the servos that have them at the same place in their tables.
        """
        if not self.is_gathered:
            return (tuple(range(len(self._places))),)
        return tuple(
            tuple(k for k, one in enumerate(self._places) if one == place) for place in dict.fromkeys(self._places)
        )

    @property
    def takes_speeds(self) -> bool:
        """Whether goals can carry speeds: in one packet, to the same indirect addresses of all."""
        return self.is_gathered and len(set(self._places)) == 1

    def gather(self) -> None:
        """Set the indirect addresses up; where the servos do not take that, do without.

        Raises:
            ServoSilent: a servo does not answer.
        """
        targets = [_address(name) + k for name in (*COMMANDED, *REPORTED) for k in range(_size(name))]
        wanted = b"".join(as_bytes(target, 2) for target in targets)
        if not self._holds(wanted):
            for address in {address for address, _ in self._places}:
                ids = [id for id, place in zip(self.bus.chain.ids, self._places, strict=True) if place[0] == address]
                self.bus.write_blocks(address, len(wanted), [wanted] * len(ids), ids)
        self.is_gathered = self._holds(wanted)
        self._delays = self.bus.read_each("return_delay_time").tolist()

    def _holds(self, wanted: bytes) -> bool:
        servos = zip(self.bus.chain.servos, self._places, strict=True)
        return all(self.bus.read_block(servo, address, len(wanted)) == wanted for servo, (address, _) in servos)

    # goals

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None = None) -> None:
        """Goal positions (n,) [counts] to all servos in one packet, with profile velocities (n,) where they are given
        and can be."""
        address, blocks = TABLE["goal_position"].address, [as_bytes(count, 4) for count in counts.tolist()]
        if speeds is not None and self.takes_speeds:
            address = self._places[0][1]
            blocks = [as_bytes(speed, 4) + goal for speed, goal in zip(speeds.tolist(), blocks, strict=True)]
        obeying = [k for k in range(len(blocks)) if k not in self.failed]
        if obeying:
            ids = self.bus.chain.ids
            self.bus.write_blocks(address, len(blocks[0]), [blocks[k] for k in obeying], [ids[k] for k in obeying])

    # telemetry

    def begin_look(self, places: Sequence[int]) -> AskedLook[Telemetry]:
        """Return a look at servos of one group, of which nothing has been asked yet."""
        delays = [self._delays[place] for place in places]
        if self.is_gathered:
            parts, decode = [(self._places[places[0]][1], self._size)], lambda said: _gathered(said[0])
        else:
            parts, decode = [*((_address(name), _size(name)) for name in APART), RUN], _apart
        return AskedLook(self.bus, places, parts, delays, decode)

    def look(self) -> list[Telemetry] | None:
        """At all servos at once, waiting for answers; None where some are lost, or it cannot be had so."""
        if not self.is_gathered:
            return None
        seen: dict[int, Telemetry] = {}
        for group in self.groups:
            ids = [self.bus.chain.ids[place] for place in group]
            with self.bus.in_haste():
                blocks = self.bus.read_blocks(self._places[group[0]][1], self._size, ids)
            if blocks is None:
                return None
            seen |= {place: _gathered(block) for place, block in zip(group, blocks, strict=True)}
        return [seen[place] for place in range(len(seen))]

    def look_at(self, servo: Servo, hastily: bool = True) -> Telemetry:
        """At one servo.

        Raises:
            ServoSilent: it does not answer.
        """
        with self.bus.in_haste() if hastily else nullcontext():
            return self._read(servo)

    def _read(self, servo: Servo) -> Telemetry:
        if self.is_gathered:
            data = self._places[self.bus.chain.servos.index(servo)][1]
            return _gathered(self.bus.read_block(servo, data, self._size))
        said = [self.bus.read_block(servo, _address(name), _size(name)) for name in APART]
        return _apart([*said, self.bus.read_block(servo, *RUN)])

    def look_at_whoever_answers(self) -> list[Telemetry | None]:
        """Look at every servo, asking once; None for each that does not answer."""
        return [self._glance(servo) for servo in self.bus.chain.servos]

    def _glance(self, servo: Servo) -> Telemetry | None:
        with self.bus.in_haste(LATENCY):
            try:
                return self._read(servo)
            except ServoSilent:
                return None

    def look_at_each(self) -> list[Telemetry]:
        """At all servos, one after the other where it must be.

        Raises:
            ServoSilent: names the one that does not answer.
        """
        return self.look() or [self.look_at(servo, hastily=False) for servo in self.bus.chain.servos]


def _address(name: str) -> int:
    return TABLE[name].address


def _size(name: str) -> int:
    return TABLE[name].size


def _indirect(servo: Servo) -> tuple[int, int]:
    """Return where the indirect addresses of a servo begin, and their data."""
    table = servo.table.table
    return table["indirect_address_1"].address, table["indirect_data_1"].address


def _apart(said: list[bytes]) -> Telemetry:
    run = said[-1]
    parts = dict(zip(APART, said, strict=False))
    return _telemetry(parts | {n: run[_address(n) - RUN[0] :][: _size(n)] for n in SEEN if n not in parts})


def _gathered(block: bytes) -> Telemetry:
    parts, start = {}, 0
    for name in (*COMMANDED, *REPORTED):
        parts[name] = block[start : start + _size(name)]
        start += _size(name)
    return _telemetry(parts)


def _telemetry(parts: dict[str, bytes]) -> Telemetry:
    def number(name: str) -> int:
        return int.from_bytes(parts[name], "little", signed=TABLE[name].is_signed)

    return Telemetry(
        torque=bool(number("torque_enable")),
        watchdog=number("bus_watchdog"),
        profile=number("profile_velocity"),
        errors=number("hardware_error_status"),
        load=number(LOAD),
        position=number("present_position"),
        volts=number("present_input_voltage") / 10,
        celsius=float(number("present_temperature")),
    )
