"""One servo: torque, protection, the lock, and what a test does to it.

- A goal position turns torque on, unless heat, supply, current or sensor keep it off.
- Overload: pushing with more than `overload_torque` for `protection_time` leaves `protective_torque`; a goal position
  or torque off ends it. Current, heat, supply and sensor: torque goes off where `unloading` says so.
- Without power the RAM is as new: torque off, speed and acceleration without a limit, the torque limit that of the
  EEPROM. What was written into the EEPROM while the lock was closed is gone, too.
- Nothing here watches the bus: a servo goes to its last goal, whoever is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from tests.servo.independent.motion import Horn, Limits
from tests.servo.independent.script import ServoFaults

from . import wire
from .table import ENTRIES, FASTEST, FULL_TURN, RAM

STARTING = 0.3  # [s] that a start takes
OVERLOAD, CURRENT, HEAT, SENSOR, SUPPLY = 32, 8, 4, 2, 1
MIDDLE, CALIBRATE = 2048, 128


@dataclass(frozen=True)
class Faults(ServoFaults):
    """What is wrong with a servo and its answers."""

    def answer(self, id: int, error: int, data: bytes) -> bytes:
        """Return the bytes of an answer with these faults; none if it is silent."""
        return (
            b""
            if self.silent
            else self.spoil(wire.status(id if self.answer_id is None else self.answer_id, error, data))
        )


class Servo:
    """A servo in the position mode; others are taken, but turn nothing.

    Args:
        number: of its model.
        id: on the bus.
        position: of the horn, by its sensor [counts].
        now: the time [s].
        note: called with the kind, the time and the details of what happens.

    Attributes:
        faults, horn, now: what is wrong with it; what moves; until when time has passed for it [s].
        registered: address and bytes of a Reg Write that waits.
    """

    def __init__(self, number: int, id: int, position: float, now: float, note: Callable[..., None]) -> None:
        self.faults, self.horn, self._note, self._top = Faults(), Horn(position, now), note, FASTEST[number]
        self.registered: tuple[int, bytes] | None = None
        self._values = {name: entry.initial for name, entry in ENTRIES.items()} | {"id": id, "model": number}
        self._kept = self._eeprom()
        self._has_power, self._load = True, 0
        self._starts: float | None = None
        self._pushing_since = inf
        self.now = now

    def _eeprom(self) -> dict[str, int]:
        return {name: value for name, value in self._values.items() if ENTRIES[name].address < RAM}

    def get(self, name: str) -> int:
        """Return an entry."""
        return self._values[name]

    def put(self, name: str, value: int) -> None:
        """Change an entry from within, for good, without effects."""
        if name not in self._values:
            raise KeyError(name)
        self._values[name] = value
        self._kept = self._kept | {name: value} if name in self._kept else self._kept

    def values(self) -> dict[str, int]:
        """Return all entries."""
        self._report()
        return dict(self._values)

    @property
    def is_on(self) -> bool:
        """Whether torque is on."""
        return self._values["torque"] not in (0, CALIBRATE)

    # packets

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the table; 0 where there is no entry."""
        self._report()
        memory = bytearray(256)
        for name, entry in ENTRIES.items():
            memory[entry.address : entry.address + entry.size] = entry.put(self._values[name])
        return bytes(memory[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        """Write whole entries, in their order; what is only reported stays."""
        for name, entry in ENTRIES.items():
            start = entry.address - address
            if (
                entry.access == "RW"
                and start >= 0
                and start + entry.size <= len(data)
                and name not in self.faults.swallow
            ):
                self.change(name, entry.take(data[start : start + entry.size]))

    def change(self, name: str, value: int, why: str = "write") -> None:
        """Change an entry, with all that this does."""
        if name not in self._values:
            raise KeyError(name)
        self._values[name] = value
        if self._values["lock"] == 0:
            self._kept = self._eeprom()
        if name == "torque":
            self._switch(value, why)
        elif name == "goal":
            self._note("goal", self.now, self._values["id"], value)
            self._aim(why)
        elif name == "speed" and self.horn.is_moving and self.is_on:
            self._go()

    def _switch(self, value: int, why: str) -> None:
        if value == CALIBRATE:
            self._values["offset"] = max(1 - MIDDLE, round(self.horn.position) % FULL_TURN - MIDDLE)
            self._values["torque"] = 0
            self._kept = self._eeprom() if self._values["lock"] == 0 else self._kept
            return
        self._note("torque", self.now, self._values["id"], bool(value), why)
        if value:
            self._go()
        else:
            self._values["status"] &= ~(OVERLOAD | CURRENT)
            self._pushing_since = inf
            self.horn.halt()

    def _aim(self, why: str) -> None:
        if self._values["status"] & self._values["unloading"] & ~OVERLOAD or self._values["mode"] != 0:
            return
        self._values["status"] &= ~OVERLOAD
        self._pushing_since = inf
        if not self.is_on:
            self._values["torque"] = 1
            self._note("torque", self.now, self._values["id"], True, "goal update")
        self._go()

    def _go(self) -> None:
        goal = min(max(self._values["goal"], self._values["min_angle"]), self._values["max_angle"] or FULL_TURN - 1)
        unit = 1 if self._values["phase"] & 4 else 50
        speed = min(self._top, abs(self._values["speed"]) * unit or inf)
        rate = self._values["acceleration"] * 100 or inf
        self.horn.aim(self.horn.position + goal - self._shown(), Limits(speed, rate))

    def _shown(self) -> float:
        """Return the position that it says."""
        return (self.horn.position - self._values["offset"]) % FULL_TURN

    # time

    def hear(self, now: float) -> None:
        """Take note of a packet: that is nothing to it."""
        self.advance(now)

    def is_deaf(self) -> bool:
        """Return whether packets pass it unheard."""
        return not self._has_power or self._starts is not None or self.faults.deaf

    def advance(self, now: float) -> None:
        """Let time pass, until `now` [s]; times before the last one change nothing."""
        if now <= self.now:
            return
        if self._starts is not None and now >= self._starts:
            self._starts = None
            self._note("event", self.now, self._values["id"], "started")
        self.now = now
        self.horn.advance(now)
        self._protect()

    def _protect(self) -> None:
        """Count how long it has pushed too hard."""
        if abs(self._effort()) < self._values["overload_torque"] * 10 or self._values["status"] & OVERLOAD:
            self._pushing_since = inf
            return
        self._pushing_since = min(self._pushing_since, self.now)
        if self.now - self._pushing_since >= self._values["protection_time"] / 100:
            self.fail(OVERLOAD)

    # what a test does

    def reboot(self, now: float, why: str = "reboot", seconds: float = STARTING) -> None:
        """Lose power for a moment."""
        self.advance(now)
        if self.is_on:
            self._note("torque", self.now, self._values["id"], False, why)
        self._note("event", self.now, self._values["id"], why)
        self._has_power, self._starts, self.registered = True, self.now + seconds, None
        feel = {name: self._values[name] for name in ("voltage", "temperature")}
        self._values = {name: entry.initial for name, entry in ENTRIES.items()} | self._kept | feel
        self._values["torque_limit"] = self._values["max_torque"]
        self.horn.halt()

    def power(self, on: bool, now: float) -> None:
        """Lose power, or get it back, which is a start."""
        if on and not self._has_power:
            self.reboot(now, "power")
        elif not on:
            self.advance(now)
            self._values["torque"] = 0
            self.horn.halt()
            self._has_power, self._starts = False, None

    def fail(self, bits: int) -> None:
        """Get a hardware error."""
        self._note("event", self.now, self._values["id"], f"hardware error {bits:#04x}")
        self._values["status"] |= bits
        if bits & self._values["unloading"] & ~OVERLOAD:
            self._note("torque", self.now, self._values["id"], False, "shutdown")
            self._values["torque"] = 0
            self.horn.halt()

    def sense(self, celsius: int | None = None, volts: float | None = None, load: int | None = None) -> None:
        """Feel a temperature [°C], a supply [V], a load [0.1 %]; within its limits again is no error any more."""
        self._load = self._load if load is None else load
        if celsius is not None:
            self._values["temperature"] = celsius
            self._judge(HEAT, celsius > self._values["max_temperature"])
        if volts is not None:
            self._values["voltage"] = round(volts * 10)
            self._judge(SUPPLY, not self._values["min_voltage"] <= round(volts * 10) <= self._values["max_voltage"])

    def _judge(self, bit: int, is_wrong: bool) -> None:
        if is_wrong:
            self.fail(bit)
        else:
            self._values["status"] &= ~bit

    def hold(self, is_held: bool) -> None:
        """Be held by hand where it is, or be let go: it then goes on as fast as its speed allows."""
        self.horn.held = is_held
        self.horn.velocity = 0.0
        if not is_held and self.is_on:
            self._go()

    def _effort(self) -> int:
        """Return the load that it shows: what the test set, or all that it has where somebody holds it back."""
        if not self.is_on:
            return 0
        if not self.horn.held or abs(self.horn.goal - self.horn.position) < 1:
            return self._load
        most = self._values["torque_limit"]
        most = most * self._values["protective_torque"] // 100 if self._values["status"] & OVERLOAD else most
        return most if self.horn.goal > self.horn.position else -most

    def _report(self) -> None:
        self._values["position"] = round(self._shown()) % FULL_TURN
        self._values["velocity"] = round(self.horn.velocity)
        self._values["load"] = self._effort()
        self._values["moving"] = int(self.horn.is_moving)
        self._values["waiting"] = int(self.registered is not None)

    def state(self) -> dict[str, Any]:
        """Return what it is like."""
        return self._values
