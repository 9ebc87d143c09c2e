"""Goals out and telemetry in, each in one packet: indirect addresses gather what lies apart in the servos' tables.

indirect data   1…4 profile velocity, 5…8 goal position    written to all by one Sync Write
                9…20 what is reported                      read from all, with 1…8, by one (fast) Sync Read
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import numpy as np

from ..driver import ServoSilent
from ..telemetry import Telemetry
from .models import MODELS, describe_hardware_error
from .port import LATENCY
from .wire import TABLE, Addressed, Wire, as_bytes

COMMANDED = ("profile_velocity", "goal_position")  # in this order, so that the speed is in force when the goal arrives
LOAD = "present_current"  # or present_load, at the same address
HEALTH = ("torque_enable", "bus_watchdog", "hardware_error_status")
REPORTED = (*HEALTH, LOAD, "present_position", "present_input_voltage", "present_temperature")
SEEN = ("profile_velocity", *REPORTED)
TRIPPED = -1
RUN = (126, 21)  # address and size: without gaps from load to temperature


class Exchange:
    """Reads and writes what a stream needs, in as few bytes as the servos' tables allow.

    Args:
        wire: with servos that were found.
        watchdog: of the bus as it was set last, in its unit.
        firmware: versions by id, as far as they are known.

    Attributes:
        is_gathered: whether indirect addresses are in use; without them goals go plainly and a look reads more bytes.
        watchdog: see above; a servo that has another one is not guarded.
    """

    def __init__(self, wire: Wire, watchdog: int = 0, firmware: Mapping[int, int] | None = None) -> None:
        self.wire, self.is_gathered, self.watchdog = wire, False, watchdog
        known = firmware or {}
        places = {MODELS[servo.model].with_firmware(known.get(servo.id, 0)).indirect for servo in wire.servos}
        self._addresses, self._data = min(places)
        self._can_gather = len(places) == 1  # a chain of models with other places cannot be spoken to in one packet
        self._command_size = sum(TABLE[name].size for name in COMMANDED)
        self._report_size = sum(_size(name) for name in REPORTED)

    def gather(self) -> None:
        """Sets the indirect addresses up; where the servos do not take that, does without.

        Raises:
            ServoSilent: a servo does not answer.
        """
        if not self._can_gather:
            return
        targets = [_address(name) + k for name in (*COMMANDED, *REPORTED) for k in range(_size(name))]
        wanted = b"".join(as_bytes(target, 2) for target in targets)
        if self._holds(wanted):
            self.is_gathered = True
            return
        self.wire.write_blocks(self._addresses, len(wanted), [wanted] * len(self.wire.servos))
        self.is_gathered = self._holds(wanted)

    def _holds(self, wanted: bytes) -> bool:
        return all(self.wire.read_block(servo, self._addresses, len(wanted)) == wanted for servo in self.wire.servos)

    # goals

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions in one packet.

        Args:
            counts: (n,) of all servos.
            speeds: (n,) profile velocities that go with them where they can; None for none.
            places: of the servos that get them.
        """
        address, blocks = TABLE["goal_position"].address, [as_bytes(count, 4) for count in counts.tolist()]
        if speeds is not None and self.is_gathered:
            address = self._data
            blocks = [as_bytes(speed, 4) + goal for speed, goal in zip(speeds.tolist(), blocks, strict=True)]
        if places:
            ids = self.wire.ids
            self.wire.write_blocks(address, len(blocks[0]), [blocks[k] for k in places], [ids[k] for k in places])

    # telemetry

    def look(self) -> list[Telemetry] | None:
        """Look at all servos at once; None where not all answers arrived, or it cannot be had in one go."""
        if not self.is_gathered:
            return None
        with self.wire.in_haste():
            blocks = self.wire.read_blocks(self._data, self._command_size + self._report_size)
        return None if blocks is None else [self._gathered(block) for block in blocks]

    def look_at(self, servo: Addressed, hastily: bool) -> Telemetry:
        """Look at one servo.

        Raises:
            ServoSilent: it does not answer.
        """
        with self.wire.in_haste() if hastily else nullcontext():
            return self._read(servo)

    def glance(self, servo: Addressed) -> Telemetry | None:
        """Look at one servo, asking once; None if it does not answer."""
        with self.wire.in_haste(LATENCY):
            try:
                return self._read(servo)
            except ServoSilent:
                return None

    def _read(self, servo: Addressed) -> Telemetry:
        if self.is_gathered:
            return self._gathered(self.wire.read_block(servo, self._data, self._command_size + self._report_size))
        apart = [name for name in SEEN if _address(name) < RUN[0]]
        parts = {name: self.wire.read_block(servo, _address(name), _size(name)) for name in apart}
        run = self.wire.read_block(servo, *RUN)
        return self._telemetry(parts | {n: run[_address(n) - RUN[0] :][: _size(n)] for n in SEEN if n not in parts})

    def _gathered(self, block: bytes) -> Telemetry:
        parts, start = {}, 0
        for name in (*COMMANDED, *REPORTED):
            parts[name] = block[start : start + _size(name)]
            start += _size(name)
        return self._telemetry(parts)

    def _telemetry(self, parts: dict[str, bytes]) -> Telemetry:
        def number(name: str) -> int:
            return int.from_bytes(parts[name], "little", signed=_is_signed(name))

        watchdog, errors = number("bus_watchdog"), number("hardware_error_status")
        return Telemetry(
            torque=bool(number("torque_enable")),
            is_guarded=watchdog == self.watchdog and number("profile_velocity") > 0,
            is_stopped=watchdog == TRIPPED,
            errors=errors,
            error=describe_hardware_error(errors) if errors else "",
            load=number(LOAD),
            position=number("present_position"),
            volts=number("present_input_voltage") / 10,
            celsius=float(number("present_temperature")),
        )


def _address(name: str) -> int:
    return TABLE[name].address


def _size(name: str) -> int:
    return TABLE[name].size


def _is_signed(name: str) -> bool:
    return TABLE[name].is_signed
