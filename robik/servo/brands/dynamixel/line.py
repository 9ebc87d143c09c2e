"""A line of Dynamixel servos: what the bus asks of it, as entries of their control tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...bus.emergency import Emergency
from ...bus.telemetry import Telemetry
from ...chain.chain import ServoChain
from ...chain.servo import Servo
from ..wired.line import WiredLine
from ..wired.look import Part
from .exchange import TRIPPED, Exchange
from .inquiry import Settings, read_settings
from .models import CURRENT_POSITION_MODE, FAST_READ_FIRMWARE, WATCHDOG_UNIT
from .wire import DynamixelWire

LONGEST_WATCHDOG = 127  # units


class DynamixelLine(WiredLine[DynamixelWire, Settings]):
    """Servos of a chain behind one open port: see `WiredLine`."""

    wire_type = DynamixelWire

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        super().__init__(chain, port, silence, emergency)
        self._exchange = Exchange(self._wire)

    @property
    def takes_speeds(self) -> bool:
        """Return whether the same indirect addresses are in use in all; known after `prepare`."""
        return self._exchange.takes_speeds

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return self._exchange.groups

    # connecting

    def forget(self) -> None:
        super().forget()
        self._exchange = Exchange(self._wire, self._exchange.watchdog)

    def _read_settings(self, servo: Servo) -> Settings:
        return read_settings(self._wire, servo, self._chain.baud_rate)

    def leave_out(self, missing: Sequence[Servo]) -> None:
        super().leave_out(missing)
        firmware = {id: one.firmware for id, one in self._settings.items()}
        self._wire.has_fast_read = all(version >= FAST_READ_FIRMWARE for version in firmware.values())
        if self.servos:
            self._exchange = Exchange(self._wire, self._exchange.watchdog, firmware)

    def prepare(self) -> None:
        """Set up indirect addresses; raises ServoSilent."""
        self._exchange.gather()

    # reading

    def _parts(self, ids: Sequence[int]) -> list[Part]:
        return self._exchange.parts(ids)

    def _telemetry(self, id: int, said: list[bytes]) -> Telemetry:
        return self._exchange.telemetry(said)

    def _delay(self, ids: Sequence[int]) -> float:
        return self._exchange.delay(ids)

    def are_stopped(self) -> list[bool]:
        """Return which servos were stopped by their watchdog; raises ServoSilent."""
        return (self._wire.read_each("bus_watchdog") == TRIPPED).tolist()

    # writing

    def set_watchdog(self, seconds: float) -> None:
        """Set the bus watchdog of all servos to `seconds`; 0 turns it off."""
        self._exchange.watchdog = watchdog_units(seconds)
        self._wire.set("bus_watchdog", [self._exchange.watchdog] * len(self.servos))

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Turn the bus watchdog of some servos off, unanswered."""
        if servos:
            self._wire.send("bus_watchdog", [0] * len(servos), [servo.id for servo in servos])

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the profiles to speeds (n,) of the actuators [rad/s or m/s]."""
        units = [servo.velocity_units(speed) for servo, speed in zip(self.servos, speeds.tolist(), strict=True)]
        self._wire.set("profile_acceleration", [self._accelerations.get(servo.id, 0) for servo in self.servos])
        self._wire.set("profile_velocity", units)

    def hold_at(self, counts: np.ndarray) -> None:
        """Write goal positions (n,) [counts], and goal currents in the mode that takes them."""
        self._sent.note(dict(zip(self._wire.ids, counts.tolist(), strict=True)))
        self._wire.set("goal_position", counts.tolist())
        for servo in self.servos:
            settings = self._settings[servo.id]
            if settings.pwm_limit is not None:
                self._wire.set_one(servo, "goal_pwm", settings.pwm_limit)
            if settings.current_limit is not None and settings.mode == CURRENT_POSITION_MODE:
                self._wire.set_one(servo, "goal_current", settings.load_limit)

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions (n,) [counts] to the servos at these places; unanswered.

        `speeds` are profile velocities (n,) in the models' units, None for none.
        """
        ids, goals = self._wire.ids, counts.tolist()
        self._sent.note({ids[k]: goals[k] for k in places})
        self._exchange.send_goals(counts, speeds, places)


def watchdog_units(seconds: float) -> int:
    """Return a time [s] of the bus watchdog in units of 20 ms, at most 127; 0 for none."""
    return 0 if seconds == 0 else min(LONGEST_WATCHDOG, max(1, round(seconds / WATCHDOG_UNIT)))
