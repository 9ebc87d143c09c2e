"""A line of Dynamixel servos of Protocol 1.0: what the bus asks of it, as entries of their control tables.

A servo that an alarm shut down has a torque limit of 0, and may still have its torque and an old goal: it is not played
before it was rebooted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...bus.telemetry import Telemetry
from ...chain.servo import Servo
from ..wired.look import Part
from ..wired.unguarded import Goal, UnguardedLine
from .inquiry import RUN, Settings, read_settings, telemetry
from .models import MODELS, RETURN_DELAY_UNIT, TABLE
from .wire import Dynamixel1Wire

GOAL = TABLE["goal_position"].address, 4  # position and speed, in this order


class Dynamixel1Line(UnguardedLine[Dynamixel1Wire, Settings]):
    """Servos of a chain behind one open port: see `UnguardedLine`."""

    wire_type = Dynamixel1Wire

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((id,) for id in self._wire.ids)

    # connecting

    def _read_settings(self, servo: Servo) -> Settings:
        return read_settings(self._wire, servo, self._chain.baud_rate)

    def prepare(self) -> None:
        """Remove what slows the servos, and leave the mark that a restart removes.

        Raise ServoSilent or ServoError if a servo does not take that.
        """
        self._wire.set("torque_limit", [self._settings[servo.id].mark for servo in self.servos])
        for servo in self.servos:
            if "goal_acceleration" in MODELS[servo.model].table:
                self._wire.set_one(servo, "goal_acceleration", 0)

    # reading

    def _parts(self, ids: Sequence[int]) -> list[Part]:
        return [RUN]

    def _delay(self, ids: Sequence[int]) -> float:
        return sum(self._settings[id].return_delay for id in ids if id in self._settings) * RETURN_DELAY_UNIT

    def _report(self, id: int, said: list[bytes]) -> Telemetry:
        mark = self._settings[id].mark if id in self._settings else -1
        return telemetry(said[0], mark, self._wire.hardware_errors(id))

    def are_stopped(self) -> list[bool]:
        """Return which servos stand, since they have no watchdog; raises ServoSilent."""
        return (self._wire.read_each("moving") == 0).tolist()

    def has_error(self, servo: Servo) -> bool:
        is_shut_down = self._wire.read(servo, "torque_limit") == 0
        return is_shut_down or bool(self._wire.hardware_errors(servo.id))

    # goals

    def _write_goals(self, goals: Mapping[int, Goal]) -> None:
        position, speed = TABLE["goal_position"], TABLE["moving_speed"]
        blocks = [position.encode(goal.position) + speed.encode(min(goal.speed, speed.high)) for goal in goals.values()]
        self._wire.write_blocks(*GOAL, blocks, tuple(goals))

    def _read_goals(self) -> list[Goal]:
        positions, speeds = self._wire.read_each("goal_position"), self._wire.read_each("moving_speed")
        return [Goal(*pair) for pair in zip(positions.tolist(), speeds.tolist(), strict=True)]
