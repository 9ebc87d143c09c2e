"""A line of Feetech servos: what the bus asks of it, as entries of their control tables.

A goal position turns torque on by itself, and frees a servo from its overload protection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from ...bus.telemetry import Telemetry
from ...chain.servo import Servo
from ...chain.tuning import Tuning
from ..wired.look import Part
from ..wired.unguarded import Goal, UnguardedLine
from .inquiry import RUN, Settings, read_settings, telemetry
from .models import TABLE
from .wire import FeetechWire

GOAL = TABLE["goal_position"].address, 6  # position, time and speed, in this order


class FeetechLine(UnguardedLine[FeetechWire, Settings]):
    """Servos of a chain behind one open port: see `UnguardedLine`."""

    wire_type = FeetechWire

    # connecting

    def _read_settings(self, servo: Servo) -> Settings:
        return read_settings(self._wire, servo, self._chain.baud_rate)

    def prepare(self) -> None:
        """Lock the settings, remove what slows the servos, and leave the mark that a restart removes.

        Raise ServoSilent or ServoError if a servo does not take that.
        """
        self._wire.set("eeprom_lock", [1] * len(self.servos))
        self._wire.set("goal_acceleration", [0] * len(self.servos))
        self._wire.set("goal_torque_limit", [self._settings[servo.id].mark for servo in self.servos])

    # reading

    def _parts(self, ids: Sequence[int]) -> list[Part]:
        return [RUN]

    def _report(self, id: int, said: list[bytes]) -> Telemetry:
        return telemetry(said[0], self._settings[id].mark if id in self._settings else -1)

    def are_stopped(self) -> list[bool]:
        """Return which servos stand, since they have no watchdog; raises ServoSilent."""
        return (self._wire.read_each("moving_status") == 0).tolist()

    # goals

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        self._wire.set_one(servo, "eeprom_lock", 1)
        super().tune(servo, tuning)

    def _write_goals(self, goals: Mapping[int, Goal]) -> None:
        position, speed = TABLE["goal_position"], TABLE["goal_speed"]
        blocks = []
        for id, goal in goals.items():
            units = ceil(goal.speed / self._settings[id].speed_unit)  # 0 would mean no limit
            blocks.append(position.encode(goal.position) + bytes(2) + speed.encode(units))
        self._wire.write_blocks(*GOAL, blocks, tuple(goals))

    def _read_goals(self) -> list[Goal]:
        positions, speeds = self._wire.read_each("goal_position"), self._wire.read_each("goal_speed")
        return [Goal(*pair) for pair in zip(positions.tolist(), speeds.tolist(), strict=True)]
