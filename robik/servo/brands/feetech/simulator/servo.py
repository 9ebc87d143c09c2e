"""A simulated Feetech servo: a control table with the vendor's rules, and a motor that its entries drive.

Torque: a goal position turns it on. Overload: pushing with more than `overload_torque` for `protection_time` leaves
`protective_torque`, until a goal position comes or torque goes off. Heat, supply, current and sensor turn torque off
where `unloading_condition` says so. EEPROM: what is written while the lock is closed is gone after a loss of power.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import tau

from ....simulator.motor import Motor
from ....simulator.servo import WAKING, EntryServo
from ..models import (
    CALIBRATE,
    COARSE,
    COUNTS_PER_TURN,
    CURRENT,
    FINE_SPEEDS,
    HEAT,
    MIDDLE,
    OVERLOAD,
    POSITION_MODE,
    VOLTAGE,
    Model,
)

ACCELERATION_UNIT = 100  # [counts/s²]
LOAD_TOP = 1000  # [0.1 %]
PERCENT, TEN_MS = 0.01, 0.01


class SimulatedServo(EntryServo):
    """A servo on the simulated bus; `position` is that of its horn by its sensor [counts]."""

    shown = (
        *("torque_enable", "goal_position", "goal_speed", "goal_torque_limit", "error_status", "eeprom_lock"),
        *("homing_offset", "operating_mode"),
    )

    def __init__(self, model: Model, id: int, position: int, now: float) -> None:
        self.model = model
        super().__init__(model, id, Motor(float(position), model.max_speed / tau * COUNTS_PER_TURN), now)
        self._kept = bytes(self._memory)
        self._start()

    def set(self, name: str, value: int) -> None:
        super().set(name, value)
        if self.model.table[name].is_eeprom:
            self._kept = bytes(self._memory)

    def set_up(self, settings: Sequence[tuple[str, int]]) -> None:
        there = round(self._turned())
        super().set_up(settings)
        self.motor.position = self._sensed(there)

    @property
    def _place(self) -> float:
        return self._turned()

    # what is read and written

    def write(self, address: int, data: bytes) -> list[str]:
        written = self._take(address, data)
        if self.get("eeprom_lock") == 0:
            self._kept = bytes(self._memory)
        for name in written:
            self._follow(name)
        return written

    def _follow(self, name: str) -> None:
        """Do what follows from an entry that was written."""
        if name == "torque_enable":
            self._switch_torque(self.get(name))
        elif name == "goal_position":
            self._aim()
        elif name in ("goal_speed", "goal_acceleration", "goal_torque_limit"):
            self._apply_limits()
        elif name == "operating_mode" and self.get(name) != POSITION_MODE:
            self.motor.halt()

    def _switch_torque(self, value: int) -> None:
        if value == CALIBRATE:
            self._calibrate()
            return
        if not value:
            self._recover()
        self.motor.powered = bool(value)
        if not value:
            self.motor.halt()
        elif self.get("operating_mode") == POSITION_MODE:
            self.motor.goal = self._sensed(self.get("goal_position"))
        self._apply_limits()

    def _calibrate(self) -> None:
        """Make the present position the middle; the largest offset that there is room for is one count short."""
        offset = round(self.motor.position) % COUNTS_PER_TURN - MIDDLE
        self.set_as_written("homing_offset", max(-MIDDLE + 1, offset))
        self._memory[self.model.table["torque_enable"].address] = int(self.motor.powered)

    def set_as_written(self, name: str, value: int) -> None:
        """Change an entry as a packet would; it survives a reboot only where the lock is open."""
        super().set(name, value)
        if self.get("eeprom_lock") == 0:
            self._kept = bytes(self._memory)

    def _aim(self) -> None:
        """Go to the goal, which turns torque on and ends an overload, unless another protection keeps it off."""
        is_kept_off = self.get("error_status") & self.get("unloading_condition") & ~OVERLOAD
        if self.get("operating_mode") != POSITION_MODE or is_kept_off:
            return
        self._recover()
        low, high = self.get("min_position_limit"), self.get("max_position_limit")
        if high > low:
            self.set("goal_position", max(low, min(high, self.get("goal_position"))))
        self.set("torque_enable", 1)
        self.motor.powered = True
        self._apply_limits()
        self.motor.goal = self._sensed(self.get("goal_position"))

    def _recover(self) -> None:
        self.set("error_status", self.get("error_status") & ~(OVERLOAD | CURRENT))
        self.motor.pushing_for = 0.0
        self._apply_limits()

    def _apply_limits(self) -> None:
        unit = 1 if self.get("phase_bits") & FINE_SPEEDS else COARSE
        self.motor.travel_speed = float(abs(self.get("goal_speed")) * unit)
        self.motor.travel_acceleration = float(self.get("goal_acceleration") * ACCELERATION_UNIT)
        most = self.get("goal_torque_limit") / LOAD_TOP
        is_overloaded = self.get("error_status") & OVERLOAD
        self.motor.strength = most * (self.get("protective_torque") * PERCENT if is_overloaded else 1.0)
        self.motor.overload_share = self.get("overload_torque") * PERCENT
        self.motor.overload_after = self.get("protection_time") * TEN_MS

    # positions: what it says is what its sensor says less the offset, within a turn

    def _turned(self) -> float:
        return (self.motor.position - self.get("homing_offset")) % COUNTS_PER_TURN

    def _sensed(self, counts: int) -> float:
        """Return the sensor's position of one that it is told, on the way that crosses neither end of its turn."""
        return self.motor.position + counts - self._turned()

    # faults

    def raise_error(self, bits: int) -> None:
        self.set("error_status", self.get("error_status") | bits)
        if bits & self.get("unloading_condition") & ~OVERLOAD:
            self.set("torque_enable", 0)
            self.motor.powered = False
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
            self._judge(HEAT, celsius > self.get("max_temperature_limit"))

    def _judge(self, bit: int, is_wrong: bool) -> None:
        if is_wrong:
            self.raise_error(bit)
        else:
            self.set("error_status", self.get("error_status") & ~bit)

    def reboot(self, now: float) -> None:
        """Lose power and get it back: torque is off, the EEPROM is as it was kept, the rest is new."""
        self._awake = now + WAKING
        keep = {name: self.get(name) for name in ("present_voltage", "present_temperature")}
        self._memory[:] = self._kept
        for item in self.model.items:
            if not item.is_eeprom:
                self.set(item.name, keep.get(item.name, item.initial))
        self.registered = None
        self.motor.powered = False
        self.motor.halt()
        self._start()

    def _start(self) -> None:
        self.set("goal_torque_limit", self.get("max_torque_limit"))
        self._apply_limits()

    def _report(self) -> None:
        self.set("present_position", round(self._turned()) % COUNTS_PER_TURN)
        unit = 1 if self.get("phase_bits") & FINE_SPEEDS else COARSE
        self.set("present_speed", round(self.motor.velocity / unit))
        self.set("present_load", round(self.motor.effort * LOAD_TOP))
        self.set("moving_status", int(self.motor.velocity != 0.0))
        self.set("registered_write", int(self.registered is not None))
