"""One servo: its torque, watchdog and start, and what a test does to it.

From the e-Manual's pages of the X series, sections "Drive Mode (10)", "Operating Mode (11)", "Startup Configuration
(60)", "Shutdown (63)", "Torque Enable (64)", "Bus Watchdog (98)", "Goal Position (116)" and "Backup Ready (147)":

- Startup Configuration, bit 0 (Startup Torque On): Torque Enable is 1 once it has started. Bit 1 (RAM Restore): gains,
  profile and indirect addresses are then those of the backup ("Control Table Backup (0x20)" on the protocol's page).
- Drive Mode, bit 3 (Torque On by Goal Update): a goal that comes while Torque Enable is 0 sets it to 1 and is done.
- Bus Watchdog: with torque on only. Once it has tripped it is -1, the profile is 0, and goals answer with a range error
  until 0 is written.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from .motion import Horn, Limits
from .registers import Refusal, Registers
from .rules import CURRENT_BASED, GOALS, POSITION_MODES, SINGLE_TURN, TRIPPED, check_value, is_set, is_shut_down
from .script import ServoFaults
from .table import FULL_TURN, Entry, Model, is_backed_up
from .wire import RESULT_FAIL

VELOCITY_UNIT = 0.229 / 60 * FULL_TURN  # [counts/s]
ACCELERATION_UNIT = 214.577 / 3600 * FULL_TURN  # [counts/s²]
WATCHDOG_UNIT = 0.02  # [s]
STARTING = 0.5  # [s] that a reboot takes
REVERSED, TIMED, TORQUE_BY_GOAL = 0x01, 0x04, 0x08  # bits of the drive mode
TORQUE_AT_START, RESTORE = 0x01, 0x02  # bits of the startup configuration
VOLTAGE, HEAT = 0x01, 0x04  # bits of the hardware error status


class Servo(Registers):
    """A servo in a position mode; other modes are taken, but turn nothing.

    Args:
        model: its control table.
        id: on the bus.
        position: of the horn [counts].
        now: the time [s].
        note: called with the kind, the time and the details of what happens.

    Attributes:
        faults: what is wrong with it.
        horn: what moves.
        is_on: whether torque is on.
        now: until when time has passed for it [s].
        registered: address and bytes of a Reg Write that waits.
    """

    def __init__(self, model: Model, id: int, position: float, now: float, note: Callable[..., None]) -> None:
        super().__init__(model)
        self.faults, self.horn, self._note = ServoFaults(), Horn(position, now), note
        self.registered: tuple[int, bytes] | None = None
        self.is_on, self._has_power, self._load = False, True, 0
        self.now = self._begun = self._heard = now
        self._starts: float | None = None
        self._backup: dict[str, int] = {}
        self.put("id", id)
        self.put("goal_position", round(position))

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the table; raises Refusal where there is no entry."""
        self._report()
        return self.bytes_at(address, size)

    def check(self, address: int, data: bytes) -> list[tuple[Entry, int]]:
        """Return the entries and values that a write means; raises Refusal where one of them must not be written."""
        changes = self.meant(address, data, self.is_on)
        for entry, value in changes:
            if entry.name in self.faults.refuse:
                raise Refusal(self.faults.refuse[entry.name])
            check_value(self, entry, value)
        return changes

    def write(self, address: int, data: bytes) -> None:
        """Write whole entries, all or none; raises Refusal where one of them must not be written."""
        for entry, value in self.check(address, data):
            if entry.name not in self.faults.swallow:
                self.change(entry.name, value)

    def change(self, name: str, value: int, why: str = "write") -> None:
        """Change an entry, with all that this does."""
        before = self.get(name)
        self.put(name, value)
        if name == "torque_enable":
            self._switch(bool(value), why)
        elif name == "operating_mode":
            self._choose_mode()
        elif name == "drive_mode" and (before ^ value) & REVERSED:
            self._stand(-self.horn.position)
        elif name in GOALS:
            if name == "goal_position":
                self._note("goal", self.now, self.get("id"), value)
            if is_set(self, "drive_mode", TORQUE_BY_GOAL) and not self.is_on and not is_shut_down(self):
                self.put("torque_enable", 1)
                self._switch(True, "goal update")
            elif name == "goal_position" and self.is_on:
                self._go()

    @property
    def _offset(self) -> int:
        offset = self.get("homing_offset")
        return offset if self.get("operating_mode") != SINGLE_TURN or abs(offset) <= FULL_TURN // 4 else 0

    def _go(self) -> None:
        """Begin the motion to the goal, under the profile of this moment."""
        if self.get("operating_mode") not in POSITION_MODES:
            return
        goal = self.get("goal_position") - self._offset
        speed, rate = self.get("profile_velocity"), self.get("profile_acceleration")
        if speed == 0:
            self.horn.aim(goal, Limits(self.model.full_speed))
        elif self.get("drive_mode") & TIMED:
            self.horn.aim_timed(goal, speed / 1000, rate / 1000)
        else:
            fastest = min(speed * VELOCITY_UNIT, self.model.full_speed)
            self.horn.aim(goal, Limits(fastest, rate * ACCELERATION_UNIT or inf))

    def _switch(self, on: bool, why: str) -> None:
        """Torque comes on or goes off."""
        if on == self.is_on:
            return
        self.is_on = on
        self._note("torque", self.now, self.get("id"), on, why)
        self.horn.halt()
        if on:
            self._heard = self.now
            if self.get("operating_mode") == SINGLE_TURN:
                self.horn.place(self.horn.position % FULL_TURN)
            self._go()

    def _choose_mode(self) -> None:
        """Profile and goals are as new in another mode."""
        for name in ("profile_velocity", "profile_acceleration", "goal_velocity"):
            self.put(name, 0)
        self.put("goal_pwm", self.get("pwm_limit"))
        if "goal_current" in self.model.entries:
            self.put("goal_current", self.get("current_limit"))
        self._stand(self.horn.position)

    def _stand(self, position: float) -> None:
        """Stand somewhere, with the goal there; within one turn in the mode that knows no other."""
        self.horn.place(position % FULL_TURN if self.get("operating_mode") == SINGLE_TURN else position)
        self.put("goal_position", round(self.horn.position) + self._offset)

    # time

    def hear(self, now: float) -> None:
        """Take note of an instruction packet on the bus, which feeds the watchdog."""
        self.advance(now)
        self._heard = self.now

    def is_deaf(self) -> bool:
        """Return whether packets pass it unheard: it has no power, it starts, or a fault says so."""
        return not self._has_power or self._starts is not None or self.faults.deaf

    def advance(self, now: float) -> None:
        """Let time pass, until `now` [s]; times before the last one change nothing."""
        if now <= self.now:
            return
        if self._starts is not None and now >= self._starts:
            self._pass(self._starts)
            self._start()
        watchdog = self.get("bus_watchdog")
        bites = self._heard + watchdog * WATCHDOG_UNIT
        if self.is_on and watchdog > 0 and now > bites:
            self._pass(bites)
            self._trip()
        self._pass(now)

    def _pass(self, now: float) -> None:
        self.now = max(now, self.now)
        self.horn.advance(self.now)

    def _trip(self) -> None:
        self._note("event", self.now, self.get("id"), "watchdog")
        self._stand(self.horn.position)
        for name in ("profile_velocity", "profile_acceleration"):
            self.put(name, 0)
        self.put("bus_watchdog", TRIPPED)

    # starting

    def reboot(self, now: float, why: str = "reboot", seconds: float = STARTING) -> None:
        """Start again: the RAM as new, and deaf meanwhile."""
        self.advance(now)
        self.cut(why)
        self._note("event", self.now, self.get("id"), why)
        self._has_power, self._starts, self.registered = True, self.now + seconds, None
        for name, entry in self.model.entries.items():
            if not entry.is_eeprom and name not in ("present_input_voltage", "present_temperature"):
                self.put(name, entry.initial)
        self.put("backup_ready", int(bool(self._backup)))

    def _start(self) -> None:
        """End a start, as the startup configuration says."""
        self._starts, self._begun = None, self.now
        self._note("event", self.now, self.get("id"), "started")
        self._stand(self.horn.position)
        if is_set(self, "startup_configuration", RESTORE):
            for name, value in self._backup.items():
                if not self.model.entries[name].is_eeprom:
                    self.put(name, value)
        if is_set(self, "startup_configuration", TORQUE_AT_START):
            self.change("torque_enable", 1, "startup")

    def power(self, on: bool, now: float) -> None:
        """Lose power, or get it back, which is a start."""
        self.advance(now)
        if on and not self._has_power:
            self.reboot(now, "power")
        elif not on:
            self.cut("power")
            self._note("event", self.now, self.get("id"), "no power")
            self._has_power, self._starts = False, None

    def back_up(self) -> None:
        """Keep a copy of the EEPROM, gains, profile and indirect addresses; raises Refusal with torque on."""
        if self.is_on:
            raise Refusal(RESULT_FAIL)
        self._backup = {name: self.get(name) for name in self.model.entries if is_backed_up(self.model.entries[name])}
        self.put("backup_ready", 1)

    def restore(self, now: float) -> None:
        """Take the EEPROM from the backup and start again; raises Refusal with torque on, or without a backup."""
        if self.is_on or not self._backup:
            raise Refusal(RESULT_FAIL)
        for name, value in self._backup.items():
            if self.model.entries[name].is_eeprom:
                self.put(name, value)
        self.reboot(now, "restore")

    # errors, senses, hands

    def cut(self, why: str) -> None:
        """Turn torque off."""
        self.change("torque_enable", 0, why)

    def fail(self, bits: int) -> None:
        """Get a hardware error; torque goes off where the shutdown entry says so."""
        self._note("event", self.now, self.get("id"), f"hardware error {bits:#04x}")
        self.put("hardware_error_status", self.get("hardware_error_status") | bits)
        if is_shut_down(self):
            self.cut("shutdown")

    def sense(self, celsius: int | None = None, volts: float | None = None, load: int | None = None) -> None:
        """Feel a temperature [°C], a supply [V], a load [units of its own]; beyond a limit is a hardware error."""
        if load is not None:
            self._load = load
        if celsius is not None:
            self.put("present_temperature", celsius)
            if celsius > self.get("temperature_limit"):
                self.fail(HEAT)
        if volts is not None:
            self.put("present_input_voltage", round(volts * 10))
            if not self.get("min_voltage_limit") <= round(volts * 10) <= self.get("max_voltage_limit"):
                self.fail(VOLTAGE)

    def hold(self, is_held: bool) -> None:
        """Be held by hand where it is, or be let go: it then catches up as fast as it can."""
        self.horn.held = is_held
        self.horn.velocity = 0.0
        if not is_held and self.is_on:
            self.horn.aim(self.horn.goal, Limits(self.model.full_speed))

    def clear_turns(self) -> None:
        """Forget whole turns; raises Refusal while it moves."""
        if self.horn.is_moving:
            raise Refusal(RESULT_FAIL)
        self.horn.place(self.horn.position % FULL_TURN)
        self.put("goal_position", round(self.horn.position) + self._offset)

    # what it says of itself

    def _report(self) -> None:
        horn = self.horn
        velocity = round(horn.velocity / VELOCITY_UNIT)
        for name in ("present_position", "position_trajectory"):
            self.put(name, round(horn.position) + self._offset)
        for name in ("present_velocity", "velocity_trajectory"):
            self.put(name, velocity)
        self.put("moving", int(abs(velocity) > self.get("moving_threshold")))
        self.put("moving_status", int(horn.position == horn.goal) | (2 if horn.is_moving else 0))
        self.put("realtime_tick", int((self.now - self._begun) * 1000) % 32768)
        self.put("registered_instruction", int(self.registered is not None))
        self.put(self.model.effort, self._effort())

    def _effort(self) -> int:
        """Return the load that the test set; all that it has where somebody holds it back."""
        if not self.is_on or not self.horn.held or self.horn.position == self.horn.goal:
            return self._load if self.is_on else 0
        most = self.get("current_limit") if self.model.effort == "present_current" else 1000
        if self.get("operating_mode") == CURRENT_BASED:
            most = min(most, abs(self.get("goal_current")))
        return most if self.horn.goal > self.horn.position else -most
