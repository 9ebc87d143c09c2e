"""A line of Dynamixel servos: what the bus asks of it, as entries of their control tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from ..chain import ServoChain
from ..emergency import Emergency
from ..looks import Look
from ..servo import Servo
from ..telemetry import Found, Telemetry
from .exchange import TRIPPED, Exchange
from .inquiry import Settings, read_settings
from .models import CURRENT_POSITION_MODE, FAST_READ_FIRMWARE, WATCHDOG_UNIT
from .reading import TABLE
from .wire import Wire

LONGEST_WATCHDOG = 127  # units


class DynamixelLine:
    """Servos of a chain behind one open port: see `Line`.

    Args:
        chain: who should be there, and at which baud rate.
        port: a device path, or a URL that pyserial opens.
        silence: how long a servo is asked again, unless goals are waiting, before it counts as gone [s].
        emergency: the owner's emergency stop.

    Attributes:
        name: of the port.

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        self.name = port
        self._chain = chain
        self._wire = Wire(chain.servos, port, chain.baud_rate, silence, emergency)
        self._exchange = Exchange(self._wire)
        self._settings: dict[int, Settings] = {}

    @property
    def servos(self) -> tuple[Servo, ...]:
        """Return whom it speaks to."""
        return self._wire.servos

    @property
    def latency(self) -> float:
        """Time from a question to its answer, at best [s]; 0 before there was one."""
        return self._wire.quickest if isfinite(self._wire.quickest) else 0.0

    @property
    def takes_speeds(self) -> bool:
        """Return whether the same indirect addresses are in use in all; known after `prepare`."""
        return self._exchange.takes_speeds

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ids of servos that can be asked in one packet; known after `prepare`."""
        return self._exchange.groups

    def close(self) -> None:
        """Close the port."""
        self._wire.close()

    # connecting

    def forget(self) -> None:
        """Speak to all servos of the chain, and know nothing of them but what the chain says."""
        self._wire.servos, self._wire.missing = self._chain.servos, ()
        self._wire.round_trip, self._wire.quickest = 0.0, inf
        self._exchange = Exchange(self._wire, self._exchange.watchdog)
        self._settings = {}

    def inquire(self, servo: Servo) -> Found:
        """Read what a servo is and how it is set up.

        Args:
            servo: The servo.

        Returns:
            What it says of itself.

        Raises:
            ServoSilent: It does not answer.
            ServoError: It is not what the chain says.
        """
        settings = self._settings[servo.id] = read_settings(self._wire, servo, self._chain.baud_rate)
        return settings.found(servo)

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak to the others from here on, who were all inquired.

        Args:
            missing: Servos that do not answer.
        """
        wire = self._wire
        wire.servos = tuple(servo for servo in self._chain.servos if servo not in missing)
        wire.missing = tuple(missing)
        firmware = {id: one.firmware for id, one in self._settings.items()}
        wire.has_fast_read = all(version >= FAST_READ_FIRMWARE for version in firmware.values())
        if wire.servos:
            self._exchange = Exchange(wire, self._exchange.watchdog, firmware)

    def prepare(self) -> None:
        """Set up indirect addresses; raises ServoSilent."""
        self._exchange.gather()

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts]; raises ServoSilent."""
        return self._wire.read_each("present_position")

    def begin_look(self, ids: Sequence[int]) -> Look:
        """Return a look at servos of one group, of which nothing has been asked yet.

        Args:
            ids: Ids of the servos.

        Returns:
            The look.
        """
        return self._exchange.begin_look(ids)

    def look(self) -> list[Telemetry] | None:
        """Look at all in one go; None where not all answers arrived, or it cannot be had."""
        return self._exchange.look()

    def look_at(self, servo: Servo, hastily: bool) -> Telemetry:
        """Look at one servo.

        Args:
            servo: The servo.
            hastily: Whether goals wait: it is asked only once and gets little time.

        Returns:
            Its telemetry.

        Raises:
            ServoSilent: It does not answer.
        """
        return self._exchange.look_at(servo, hastily)

    def glance(self, servo: Servo) -> Telemetry | None:
        """Look at one servo, asking once; None if it does not answer.

        Args:
            servo: The servo.

        Returns:
            Its telemetry, or None.
        """
        return self._exchange.glance(servo)

    def p_gains(self) -> list[int]:
        """Return the position P gains [the control table's unit]; raises ServoSilent."""
        return [self._wire.read(servo, "position_p_gain") for servo in self.servos]

    def has_error(self, servo: Servo) -> bool:
        """Return whether a servo has a hardware error.

        Args:
            servo: The servo.

        Returns:
            The error's state.

        Raises:
            ServoSilent: It does not answer.
        """
        return bool(self._wire.read(servo, "hardware_error_status"))

    def are_stopped(self) -> list[bool]:
        """Return which servos were stopped by their watchdog; raises ServoSilent."""
        return (self._wire.read_each("bus_watchdog") == TRIPPED).tolist()

    # writing

    def set_watchdog(self, seconds: float) -> None:
        """Set the bus watchdog of all servos.

        Args:
            seconds: Longest time without a packet [s]; 0 turns the watchdog off.

        Raises:
            ServoError: A servo does not take it.
        """
        self._exchange.watchdog = watchdog_units(seconds)
        self._wire.set("bus_watchdog", [self._exchange.watchdog] * len(self.servos))

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Turn the bus watchdog of some off, unanswered.

        Args:
            servos: The servos.
        """
        item = TABLE["bus_watchdog"]
        if servos:
            self._wire.write_blocks(
                item.address, item.size, [bytes(item.size)] * len(servos), [servo.id for servo in servos]
            )

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the profiles to speeds of the actuators.

        Args:
            speeds: Speeds (n,) of the actuators [rad/s or m/s].

        Raises:
            ServoError: A servo does not take it.
        """
        units = [servo.velocity_units(speed) for servo, speed in zip(self.servos, speeds.tolist(), strict=True)]
        self._wire.set("profile_acceleration", [0] * len(units))
        self._wire.set("profile_velocity", units)

    def hold_at(self, counts: np.ndarray) -> None:
        """Write goal positions, and goal currents in the mode that takes them.

        Args:
            counts: Counts (..., n).

        Raises:
            ServoError: A servo does not take them.
        """
        self._wire.set("goal_position", counts.tolist())
        for servo in self.servos:
            if servo.current_units is not None and self._settings[servo.id].mode == CURRENT_POSITION_MODE:
                self._wire.set_one(servo, "goal_current", servo.current_units)

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions, and profile velocities, to some servos; unanswered.

        Args:
            counts: Counts (..., n).
            speeds: Profile velocities (n,) in the models' units, or None.
            places: Places of the servos that get them.
        """
        self._exchange.send_goals(counts, speeds, places)

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque on or off, for each servo.

        Args:
            powered: Whether each servo gets torque.

        Raises:
            ServoError: A servo does not obey.
        """
        self._wire.set("torque_enable", [int(on) for on in powered])

    def send_torque_off(self) -> None:
        """Turn torque off at once, of who is left out too; unanswered."""
        self._wire.send_torque_off()

    def confirm_torque_off(self) -> list[bool | None]:
        """Turn torque off where it still is on, one by one.

        A packet that met somebody's late answer on the wire is lost.

        Returns:
            Torque of each servo as read back, None where one does not answer.
        """
        self._wire.drain()  # of answers to what was asked before
        return [self._wire.cut_torque_of(servo) for servo in self.servos]

    def reboot(self, servo: Servo) -> None:
        """Reboot a servo; unanswered.

        Args:
            servo: The servo.
        """
        self._wire.reboot(servo)


def watchdog_units(seconds: float) -> int:
    """Return a time of the bus watchdog in its unit; 0 for none.

    Args:
        seconds: Longest time without a packet [s]; 0 turns the watchdog off.

    Returns:
        Units of 20 ms, at most 127.
    """
    return 0 if seconds == 0 else min(LONGEST_WATCHDOG, max(1, round(seconds / WATCHDOG_UNIT)))
