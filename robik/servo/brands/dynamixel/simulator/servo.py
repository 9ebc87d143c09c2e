"""A simulated servo: a control table with the vendor's rules, and a motor that its entries drive.

How it starts, and how a goal turns torque on, follow the e-Manual: sections "Startup Configuration (60)" and "Drive
Mode (10)" of the X series, and "Control Table Backup (0x20)" of the page "DYNAMIXEL Protocol 2.0".
"""

from __future__ import annotations

from math import tau

from ....simulator.motor import Motor
from ....simulator.servo import WAKING
from ...wired.control_table import Item
from ..models import (
    ACCELERATION_UNIT,
    CURRENT_POSITION_MODE,
    EXTENDED_MODE,
    POSITION_MODES,
    SINGLE_TURN_MODE,
    VELOCITY_UNIT,
    WATCHDOG_UNIT,
    Model,
)
from .backup import Backup, copy_settings
from .memory import GOALS, TRIPPED, CheckedServo
from .packet import PacketError, TableError

CURRENT_MODE, VELOCITY_MODE, PWM_MODE = 0, 1, 16
LOAD_TOP = 1000  # of models without a current sensor [0.1 %]
OVERHEATING, VOLTAGE = 0x04, 0x01
TORQUE_BY_GOAL = 0x08  # a bit of the drive mode: a goal turns torque on
TORQUE_AT_START, RAM_RESTORE = 0x01, 0x02  # bits of the startup configuration
STARTUP_FIRMWARE = 45  # from which there are these bits and backups


class SimulatedServo(CheckedServo):
    """A servo on the simulated bus; `position` is that of its horn [counts], also beyond one turn."""

    shown = (
        *("torque_enable", "goal_position", "bus_watchdog", "hardware_error_status", "profile_velocity"),
        *("profile_acceleration", "goal_current"),
    )

    def __init__(self, model: Model, id: int, position: int, now: float) -> None:
        super().__init__(model, id, Motor(float(position), model.max_speed / tau * model.counts_per_turn), now)
        self._started, self._is_waking = now, False
        self._backup = Backup()
        self.set("goal_position", position)

    @property
    def _place(self) -> float:
        return self.motor.position

    def write(self, address: int, data: bytes) -> list[tuple[Item, int]]:
        """Write and let follow what follows; return the entries with their values, as `checked` does."""
        changes = self.checked(address, data)
        for item, value in changes:
            self._change(item, value)
        return changes

    # what writing does

    def _change(self, item: Item, value: int) -> None:
        self.set(item.name, value)
        if (
            item.name in GOALS
            and self._has(TORQUE_BY_GOAL, "drive_mode")
            and not (self.motor.powered or self.is_shut_down)
        ):
            self.set("torque_enable", 1)
            self._switch_torque(True)
        if item.name == "torque_enable":
            self._switch_torque(bool(value))
        elif item.name == "operating_mode":
            self._choose_mode()
        elif item.name == "goal_velocity" and self.get("operating_mode") == VELOCITY_MODE:
            self.motor.target_velocity = value * self._velocity_unit
        elif item.name in ("goal_current", "goal_pwm"):
            self._apply_drive()
        elif item.name in ("goal_position", "profile_velocity", "profile_acceleration"):
            self._apply_goal()

    @property
    def _velocity_unit(self) -> float:
        return VELOCITY_UNIT / tau * self.model.counts_per_turn

    def _apply_goal(self) -> None:
        self.motor.travel_speed = self.get("profile_velocity") * self._velocity_unit
        unit = ACCELERATION_UNIT / tau * self.model.counts_per_turn
        self.motor.travel_acceleration = self.get("profile_acceleration") * unit
        if self.get("operating_mode") in POSITION_MODES:
            self.motor.goal = float(self.get("goal_position") - self.get("homing_offset"))

    def _apply_drive(self) -> None:
        """Apply the currents and voltages of this mode.

        They set the drive itself, or the most that the position controller may use.
        """
        mode = self.get("operating_mode")
        has_current = "goal_current" in self.model.table
        current = self.get("goal_current") / self.model.table["current_limit"].initial if has_current else 0.0
        voltage = self.get("goal_pwm") / self.model.table["pwm_limit"].initial
        self.motor.drive = {CURRENT_MODE: current, PWM_MODE: voltage}.get(mode)
        self.motor.drive_is_voltage = mode == PWM_MODE
        self.motor.strength = min(1.0, abs(current)) if mode == CURRENT_POSITION_MODE else 1.0

    def _switch_torque(self, on: bool) -> None:
        if on and not self.motor.powered and self.get("operating_mode") == SINGLE_TURN_MODE:
            self._fold()
        if on and not self.motor.powered:
            self.heard = self._now
            self._apply_goal()
            self._apply_drive()
        self.motor.powered = on
        if not on:
            self.motor.halt()
            self.motor.goal = float(self.get("goal_position") - self.get("homing_offset"))

    def _choose_mode(self) -> None:
        mode = self.get("operating_mode")
        self.motor.target_velocity = 0.0 if mode == VELOCITY_MODE else None
        if mode not in (EXTENDED_MODE, CURRENT_POSITION_MODE):
            self._fold()
        if mode == CURRENT_MODE:
            self.set("goal_current", 0)
        elif mode == PWM_MODE:
            self.set("goal_pwm", 0)
        self._apply_drive()
        self.motor.halt()
        self.set("goal_position", round(self.motor.position) + self.get("homing_offset"))

    def _fold(self) -> None:
        self.motor.position %= self.model.counts_per_turn

    # time

    def advance(self, now: float) -> None:
        if self._is_waking and now >= self._awake:
            self._move(self._awake)
            self._wake()
        watchdog = self.get("bus_watchdog")
        bites = self.heard + watchdog * WATCHDOG_UNIT
        if watchdog > 0 and self.motor.powered and now > bites:
            super().advance(bites)
            if self.motor.powered:
                self._trip()
        super().advance(now)

    def _trip(self) -> None:
        self.motor.halt()
        self.set("bus_watchdog", TRIPPED)
        self.set("goal_position", round(self.motor.position) + self.get("homing_offset"))
        self.set("profile_velocity", 0)
        self.set("profile_acceleration", 0)

    # faults

    def raise_error(self, bits: int) -> None:
        self.set("hardware_error_status", self.get("hardware_error_status") | bits)
        if self.is_shut_down and self.motor.powered:
            self.set("torque_enable", 0)
            self._switch_torque(False)

    def sense(self, volts: float | None = None, celsius: float | None = None) -> None:
        """Set supply voltage [V] and temperature [°C], as its sensors read them; None leaves one as it is."""
        if volts is not None:
            self.set("present_input_voltage", round(volts * 10))
            if not self.get("min_voltage_limit") <= round(volts * 10) <= self.get("max_voltage_limit"):
                self.raise_error(VOLTAGE)
        if celsius is not None:
            self.set("present_temperature", round(celsius))
            if celsius > self.get("temperature_limit"):
                self.raise_error(OVERHEATING)

    def reboot(self, now: float) -> None:
        """Reboot, as if the power had been off: the EEPROM stays, the rest is new, the position is within one turn."""
        self._awake, self._is_waking = now + WAKING, True
        keep = ("present_input_voltage", "present_temperature", "backup_ready")
        for item in self.model.items:
            if not item.is_eeprom and item.name not in keep:
                self.set(item.name, item.initial)
        self.registered = None
        self.motor.powered = False
        self._fold()
        self._choose_mode()
        self._apply_goal()
        self._started = self._now

    def _wake(self) -> None:
        """End a reboot: settings from the backup, and torque on, where the startup configuration says so."""
        self._is_waking = False
        if self._has(RAM_RESTORE, "startup_configuration"):
            self._set_all(self._backup.ram)
            self._apply_goal()
        if self._has(TORQUE_AT_START, "startup_configuration"):
            self.set("torque_enable", 1)
            self._switch_torque(True)

    def _has(self, bit: int, entry: str) -> bool:
        """Return whether a bit of newer firmware is set."""
        return bool(self.get(entry) & bit) and self.get("firmware_version") >= STARTUP_FIRMWARE

    def store_backup(self) -> None:
        """Keep a copy of its settings; raise TableError with torque on, or where the firmware is too old."""
        self._check_backup()
        self._backup = copy_settings(self.model, self.get)
        self.set("backup_ready", 1)

    def restore_backup(self, now: float) -> None:
        """Restore the EEPROM from the backup; then reboot.

        Raise TableError if torque is on, there is no backup, or the firmware is too old.
        """
        self._check_backup(is_there=bool(self._backup.eeprom))
        self._set_all(self._backup.eeprom)
        self.reboot(now)

    def _check_backup(self, is_there: bool = True) -> None:
        if self.get("firmware_version") < STARTUP_FIRMWARE:
            raise TableError(PacketError.INSTRUCTION)
        if self.motor.powered or not is_there:
            raise TableError(PacketError.RESULT_FAIL)

    def _set_all(self, values: dict[str, int]) -> None:
        for name, value in values.items():
            self.set(name, value)

    def factory_reset(self, option: int, now: float) -> None:
        """Reset the EEPROM, then reboot; raise TableError for an unknown option.

        The options are all of it (0xFF), all but the id (1), and all but id and baud rate (2).
        """
        kept = {0xFF: (), 0x01: ("id",), 0x02: ("id", "baud_rate")}.get(option)
        if kept is None:
            raise TableError(PacketError.DATA_RANGE)
        for item in self.model.items:
            if item.is_eeprom and item.name not in kept:
                self.set(item.name, item.initial)
        self.reboot(now)

    def clear_turns(self) -> None:
        """Forget whole turns; raise TableError while it moves."""
        if not self.motor.is_at_rest:
            raise TableError(PacketError.RESULT_FAIL)
        self._fold()
        self.motor.halt()
        self.set("goal_position", round(self.motor.position) + self.get("homing_offset"))

    # what the servo reports

    def _report(self) -> None:
        motor = self.motor
        position = round(motor.position) + self.get("homing_offset")
        self.set("present_position", position)
        velocity = motor.velocity / self._velocity_unit
        self.set("present_velocity", round(velocity))
        self.set("velocity_trajectory", round(velocity))
        self.set("position_trajectory", position)
        self.set("moving", int(abs(velocity) > self.get("moving_threshold")))
        self.set("moving_status", int(motor.position == motor.goal) | (0 if motor.is_at_rest else 2))
        self.set("realtime_tick", int((self._now - self._started) * 1000) % 32768)
        self.set("registered_instruction", int(self.registered is not None))
        if "present_current" in self.model.table:
            self.set("present_current", round(motor.effort * self.model.table["current_limit"].initial))
        else:
            self.set("present_load", round(motor.effort * LOAD_TOP))
