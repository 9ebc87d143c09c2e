"""A simulated servo of Protocol 1.0: a control table with the vendor's rules, and a motor that its entries drive.

Torque: a goal position turns it on, as users say. Errors are in answers: heat, supply and overload for as long as they
last, others in the next answer alone. Where `shutdown` has the bit of an error, the torque limit becomes 0; another
limit ends that, and an overload ends once torque is off. Settings are locked while torque is on, and by `lock` until
the power goes.
"""

from __future__ import annotations

from math import tau

from ....simulator.motor import Motor
from ....simulator.servo import WAKING, EntryServo
from ..models import ANGLE, EEPROM_END, HARDWARE, HEAT, OVERLOAD, RANGE, VOLTAGE, Model

LOAD_TOP = 1023  # [0.1 %]


class SimulatedServo(EntryServo):
    """A servo on the simulated bus; `position` is that of its horn [counts]."""

    shown = ("torque_enable", "goal_position", "moving_speed", "torque_limit", "cw_angle_limit", "ccw_angle_limit")

    def __init__(self, model: Model, id: int, position: int, now: float) -> None:
        self.model, self._errors = model, 0
        self._unit = model.velocity_unit / tau * model.counts_per_turn  # [counts/s]
        super().__init__(model, id, Motor(float(position), model.max_speed / tau * model.counts_per_turn), now)
        self._start()

    @property
    def _place(self) -> float:
        return self.motor.position

    @property
    def _is_joint(self) -> bool:
        """Return whether it follows positions within one turn."""
        return self.get("cw_angle_limit") != self.get("ccw_angle_limit")

    # what is read and written

    def said(self) -> int:
        """Return the error bits of an answer; those that are no hardware's are in one answer only."""
        bits = self._errors
        self._errors &= HARDWARE
        return bits

    def refuse(self, bit: int) -> None:
        """Set an error bit in the next answer."""
        self._errors |= bit

    def write(self, address: int, data: bytes) -> list[str]:
        before = bytes(self._memory)
        written = []
        for name in self._take(address, data):
            item = self.model.table[name]
            was = item.decode(before[item.address : item.address + item.size])
            bit = self._refusal(name, was)
            if bit is None:
                written.append(name)
                continue
            self.refuse(bit)
            self._memory[item.address : item.address + item.size] = before[item.address : item.address + item.size]
        for name in written:
            self._follow(name)
        return written

    def _refusal(self, name: str, was: int) -> int | None:
        """Return the error bit of what an entry cannot become; None if it can."""
        item, value = self.model.table[name], self.get(name)
        is_locked = (item.address < EEPROM_END and (self.motor.powered or self.get("lock"))) or (name == "lock" and was)
        if is_locked or not item.low <= value <= item.high:
            return RANGE
        low, high = self.get("cw_angle_limit"), self.get("ccw_angle_limit")
        return ANGLE if name == "goal_position" and self._is_joint and not low <= value <= high else None

    def _follow(self, name: str) -> None:
        """Do what follows from an entry that was written."""
        if name == "goal_position":
            self.set("torque_enable", 1)
        if name in ("torque_enable", "goal_position"):
            self.motor.powered = bool(self.get("torque_enable"))
            if self.motor.powered and self._is_joint:
                self.motor.goal = float(self.get("goal_position"))
            else:
                self.motor.halt()
                self._errors &= ~OVERLOAD
        self._apply_limits()

    def _apply_limits(self) -> None:
        self.motor.travel_speed = self.get("moving_speed") * self._unit
        self.motor.strength = self.get("torque_limit") / LOAD_TOP

    # faults

    def raise_error(self, bits: int) -> None:
        self._errors |= bits
        if bits & self.get("shutdown"):
            self.set("torque_limit", 0)
            self.motor.halt()
            self._apply_limits()

    def sense(self, volts: float | None = None, celsius: float | None = None) -> None:
        """Set supply voltage [V] and temperature [°C], as its sensors read them; None leaves one as it is.

        A value within limits again clears its error.
        """
        if volts is not None:
            tenths = round(volts * 10)
            self.set("present_voltage", tenths)
            self._judge(VOLTAGE, not self.get("min_voltage_limit") <= tenths <= self.get("max_voltage_limit"))
        if celsius is not None:
            self.set("present_temperature", round(celsius))
            self._judge(HEAT, celsius > self.get("temperature_limit"))

    def _judge(self, bit: int, is_wrong: bool) -> None:
        if is_wrong:
            self.raise_error(bit)
        else:
            self._errors &= ~bit

    def reboot(self, now: float) -> None:
        """Lose power and get it back: torque is off, the EEPROM is as it was, the rest is new."""
        self._awake = now + WAKING
        keep = {name: self.get(name) for name in ("present_voltage", "present_temperature")}
        for item in self.model.items:
            if not item.is_eeprom:
                self.set(item.name, keep.get(item.name, item.initial))
        self.registered = None
        self._start()

    def reset(self) -> None:
        """Become as from the factory, with its id and its baud rate too."""
        for item in self.model.items:
            if item.is_eeprom and item.writable:
                self.set(item.name, item.initial)

    def _start(self) -> None:
        self._errors = 0
        self.motor.powered = False
        self.motor.halt()
        self.set("goal_position", max(0, min(self.model.last, round(self.motor.position))))
        self.set("torque_limit", self.get("max_torque"))
        self._apply_limits()

    def _report(self) -> None:
        self.set("present_position", max(0, min(self.model.last, round(self.motor.position))))
        self.set("present_speed", max(-1023, min(1023, round(self.motor.velocity / self._unit))))
        self.set("present_load", round(self.motor.effort * LOAD_TOP))
        self.set("moving", int(self.motor.velocity != 0.0))
        self.set("registered_instruction", int(self.registered is not None))
