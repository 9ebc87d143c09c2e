"""One servo: torque, alarms, settings, and what a test does to it.

- Both angle limits 0: a wheel, which follows no goals. A goal beyond them is an angle limit error, and is not taken.
- Moving speed 0: as fast as it can.
- Errors are bits of each answer. Those of heat, supply and overload stay as long as their cause; the others are in the
  answer to what was wrong. An alarm whose bit `shutdown` has makes the torque limit 0: then it has no torque, until the
  cause is gone and another limit is written.
- Settings can be written while torque is off and `lock` is 0. A lock stays closed until the power goes.
- Without power the RAM is as new: torque off, no limit of speed, the torque limit that of the EEPROM.
- Nothing here watches the bus: a servo goes to its last goal, whoever is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from tests.servo.feetech.independent import wire
from tests.servo.independent.motion import Horn, Limits
from tests.servo.independent.script import ServoFaults

from .table import RAM, Model

STARTING = 0.3  # [s] that a start takes
SUPPLY, ANGLE, HEAT, RANGE, SUM, OVERLOAD, UNKNOWN = 1, 2, 4, 8, 16, 32, 64
LASTING = SUPPLY | HEAT | OVERLOAD


@dataclass(frozen=True)
class Faults(ServoFaults):
    """What is wrong with a servo and its answers."""

    def answer(self, id: int, error: int, data: bytes) -> bytes:
        """Return the bytes of an answer with these faults; none if it is silent."""
        if self.silent:
            return b""
        return self.spoil(wire.status(id if self.answer_id is None else self.answer_id, error, data))


class Servo:
    """A servo in the joint mode; as a wheel it is taken, but turns nothing.

    Args:
        model: whose table it has.
        id: on the bus.
        position: of the horn [counts].
        now: the time [s].
        note: called with the kind, the time and the details of what happens.

    Attributes:
        faults, horn, now: what is wrong with it; what moves; until when time has passed for it [s].
        registered: address and bytes of a Reg Write that waits.
    """

    def __init__(self, model: Model, id: int, position: float, now: float, note: Callable[..., None]) -> None:
        self.faults, self.horn, self._note, self._model = Faults(), Horn(position, now), note, model
        self.registered: tuple[int, bytes] | None = None
        self._values = {name: entry.initial for name, entry in model.entries.items()} | {"id": id}
        self._values["goal"] = round(position)
        self._has_power, self._load, self._errors = True, 0, 0
        self._starts: float | None = None
        self.now = now

    def get(self, name: str) -> int:
        """Return an entry."""
        return self._values[name]

    def put(self, name: str, value: int) -> None:
        """Change an entry from within, without effects."""
        if name not in self._values:
            raise KeyError(name)
        self._values[name] = value

    def values(self) -> dict[str, int]:
        """Return all entries."""
        self._report()
        return dict(self._values)

    @property
    def is_on(self) -> bool:
        """Whether it has torque."""
        return bool(self._values["torque"] and self._values["torque_limit"])

    # packets

    def errors(self) -> int:
        """Return the error bits of an answer."""
        bits, self._errors = self._errors, self._errors & LASTING
        return bits

    def wrong(self, bit: int) -> None:
        """Say an error in the next answer."""
        self._errors |= bit

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the table; 0 where there is no entry."""
        self._report()
        memory = bytearray(512)
        for name, entry in self._model.entries.items():
            memory[entry.address : entry.address + entry.size] = entry.put(self._values[name])
        return bytes(memory[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        """Write whole entries, in the order of their addresses; what is only reported stays."""
        for name, entry in sorted(self._model.entries.items(), key=lambda pair: pair[1].address):
            start = entry.address - address
            if entry.access != "RW" or start < 0 or start + entry.size > len(data) or name in self.faults.swallow:
                continue
            if entry.address < RAM and (self._values["torque"] or self._values["lock"]):
                self.wrong(RANGE)
                continue
            self.change(name, entry.take(data[start : start + entry.size]))

    def change(self, name: str, value: int, why: str = "write") -> None:
        """Change an entry, with all that this does."""
        if name not in self._values:
            raise KeyError(name)
        if name == "lock" and self._values["lock"] and not value and why == "write":
            return
        if name == "goal" and not self._values["cw_limit"] <= value <= self._values["ccw_limit"]:
            self.wrong(ANGLE)
            return
        had_torque = self.is_on
        self._values[name] = value
        if name == "goal":
            self._note("goal", self.now, self._values["id"], value)
        if self.is_on != had_torque:
            self._note("torque", self.now, self._values["id"], self.is_on, why)
        if name in ("torque", "goal", "torque_limit") or (name == "speed" and self.horn.is_moving):
            self._go()

    def _go(self) -> None:
        if not self.is_on:
            self._errors &= ~OVERLOAD  # nothing pushes any more
            self.horn.halt()
            return
        if self._values["cw_limit"] == self._values["ccw_limit"]:
            return
        per_rpm = 6 * self._model.counts_per_degree  # a revolution per minute is six degrees per second
        speed = min(self._model.rpm, self._values["speed"] * self._model.unit or inf) * per_rpm
        rate = self._values.get("acceleration", 0) * 8.583 * self._model.counts_per_degree
        self.horn.aim(self._values["goal"], Limits(speed, rate or inf))

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

    # what a test does

    def reboot(self, now: float, why: str = "reboot", seconds: float = STARTING) -> None:
        """Lose power for a moment."""
        self.advance(now)
        if self.is_on:
            self._note("torque", self.now, self._values["id"], False, why)
        self._note("event", self.now, self._values["id"], why)
        self._has_power, self._starts, self.registered, self._errors = True, self.now + seconds, None, 0
        feel = {name: self._values[name] for name in ("voltage", "temperature")}
        entries = self._model.entries
        self._values |= {name: entry.initial for name, entry in entries.items() if entry.address >= RAM} | feel
        self._values["torque_limit"] = self._values["max_torque"]
        self._values["goal"] = round(self.horn.position)
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
        """Get a hardware error, and shut down where the alarm's bit is set so."""
        self._note("event", self.now, self._values["id"], f"hardware error {bits:#04x}")
        self._errors |= bits
        if bits & self._values["shutdown"]:
            if self.is_on:
                self._note("torque", self.now, self._values["id"], False, "shutdown")
            self._values["torque_limit"] = 0
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
            self._errors &= ~bit

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
        return most if self.horn.goal > self.horn.position else -most

    def _report(self) -> None:
        unit = 6 * self._model.counts_per_degree * self._model.unit
        self._values["position"] = min(max(round(self.horn.position), 0), self._model.turn[0] - 1)
        self._values["velocity"] = max(-1023, min(1023, round(self.horn.velocity / unit)))
        self._values["load"] = self._effort()
        self._values["moving"] = int(self.horn.is_moving)
        self._values["waiting"] = int(self.registered is not None)
