"""Goals out and telemetry in, each in one packet: indirect addresses gather what lies apart in the servos' tables.

indirect data   1…4 profile velocity, 5…8 goal position    written to all by one Sync Write
                9…20 what is reported                      read from all, with 1…8, by one (fast) Sync Read
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...bus.telemetry import Telemetry
from ..wired.control_table import as_bytes, error_words
from ..wired.look import Part
from .models import HARDWARE_ERRORS, MODELS, RETURN_DELAY_UNIT
from .wire import TABLE, DynamixelWire

COMMANDED = ("profile_velocity", "goal_position")  # in this order, so that the speed is in force when the goal arrives
LOAD = "present_current"  # or present_load, at the same address
HEALTH = ("torque_enable", "bus_watchdog", "hardware_error_status")
REPORTED = (*HEALTH, LOAD, "present_position", "present_input_voltage", "present_temperature")
TRIPPED = -1
COMMAND, RUN = (112, 8), (126, 21)  # address and size: of both goals, and without gaps from load to temperature


class Exchange:
    """Reads and writes of a stream, in as few bytes as the servos' tables allow.

    `firmware` has versions by id, as far as they are known.

    Attributes:
        is_gathered: whether indirect addresses are in use; without them goals go plainly and a look reads more bytes.
        watchdog: of the bus as it was set last, in its unit; a servo that has another one is not guarded.
    """

    def __init__(self, wire: DynamixelWire, watchdog: int = 0, firmware: Mapping[int, int] | None = None) -> None:
        self.wire, self.is_gathered, self.watchdog = wire, False, watchdog
        known = firmware or {}
        self._places = {
            servo.id: MODELS[servo.model].with_firmware(known.get(servo.id, 0)).indirect for servo in wire.servos
        }
        self._delays = dict.fromkeys(self._places, 0)
        self._command_size = sum(TABLE[name].size for name in COMMANDED)
        self._size = self._command_size + sum(_size(name) for name in REPORTED)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ids of servos that can be asked in one packet.

        With indirect addresses in use these are the servos that have them at the same place in their tables.
        """
        if not self.is_gathered:
            return (self.wire.ids,)
        places = dict.fromkeys(self._places.values())
        return tuple(tuple(id for id, one in self._places.items() if one == place) for place in places)

    @property
    def takes_speeds(self) -> bool:
        """Return whether goals can carry speeds: in one packet, to the same indirect addresses of all."""
        return self.is_gathered and len(set(self._places.values())) == 1

    def gather(self) -> None:
        """Set the indirect addresses up; do without where the servos do not take them.

        Raise ServoSilent if one does not answer.
        """
        targets = [_address(name) + k for name in (*COMMANDED, *REPORTED) for k in range(_size(name))]
        wanted = b"".join(as_bytes(target, 2) for target in targets)
        if not self._holds(wanted):
            for address in {address for address, _ in self._places.values()}:
                ids = [id for id, place in self._places.items() if place[0] == address]
                self.wire.write_blocks(address, len(wanted), [wanted] * len(ids), ids)
        self.is_gathered = self._holds(wanted)
        delays = self.wire.read_each("return_delay_time").tolist()
        self._delays = dict(zip(self.wire.ids, delays, strict=True))

    def _holds(self, wanted: bytes) -> bool:
        return all(
            self.wire.read_block(servo, self._places[servo.id][0], len(wanted)) == wanted for servo in self.wire.servos
        )

    # goals

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goal positions (n,) [counts] in one packet to the servos at these places.

        Profile velocities (n,) go with them where they can; None for none.
        """
        address, blocks = TABLE["goal_position"].address, [as_bytes(count, 4) for count in counts.tolist()]
        if speeds is not None and self.takes_speeds:
            address = self._places[self.wire.ids[0]][1]
            blocks = [as_bytes(speed, 4) + goal for speed, goal in zip(speeds.tolist(), blocks, strict=True)]
        if places:
            ids = self.wire.ids
            self.wire.write_blocks(address, len(blocks[0]), [blocks[k] for k in places], [ids[k] for k in places])

    # telemetry

    def delay(self, ids: Sequence[int]) -> float:
        """Return the sum of the servos' return delays [s]."""
        return sum(self._delays[id] for id in ids) * RETURN_DELAY_UNIT

    def parts(self, ids: Sequence[int]) -> list[Part]:
        """Return addresses and sizes of what servos of one group report, in the order in which they are asked for.

        It is one part where indirect addresses are in use.
        """
        if self.is_gathered:
            return [(self._places[ids[0]][1], self._size)]
        return [COMMAND, *(TABLE[name][1:3] for name in HEALTH), RUN]

    def telemetry(self, said: list[bytes]) -> Telemetry:
        """Return the telemetry in the bytes of a servo's parts."""
        return self._gathered(said[0]) if len(said) == 1 else self._apart(said)

    def _apart(self, said: list[bytes]) -> Telemetry:
        command, *health, run = said
        parts = dict(zip(HEALTH, health, strict=True))
        for (start, _), block, names in ((COMMAND, command, COMMANDED), (RUN, run, REPORTED[len(HEALTH) :])):
            parts |= {name: block[_address(name) - start :][: _size(name)] for name in names}
        return self._telemetry(parts)

    def _gathered(self, block: bytes) -> Telemetry:
        parts, start = {}, 0
        for name in (*COMMANDED, *REPORTED):
            parts[name] = block[start : start + _size(name)]
            start += _size(name)
        return self._telemetry(parts)

    def _telemetry(self, parts: dict[str, bytes]) -> Telemetry:
        def number(name: str) -> int:
            return TABLE[name].decode(parts[name])

        watchdog, errors = number("bus_watchdog"), number("hardware_error_status")
        return Telemetry(
            torque=bool(number("torque_enable")),
            is_guarded=watchdog == self.watchdog and number("profile_velocity") > 0,
            is_stopped=watchdog == TRIPPED,
            errors=errors,
            error=error_words(errors, HARDWARE_ERRORS) if errors else "",
            load=number(LOAD),
            position=number("present_position"),
            volts=number("present_input_voltage") / 10,
            celsius=float(number("present_temperature")),
            goal=number("goal_position"),
        )


def _address(name: str) -> int:
    return TABLE[name].address


def _size(name: str) -> int:
    return TABLE[name].size
