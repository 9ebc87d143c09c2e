"""The wire: Feetech servos behind a port, read and written in packets."""

from __future__ import annotations

from collections.abc import Sequence

from ..wired.packet import AROUND, BROADCAST, HIGHEST_ID, Instruction, encode, sync_read
from ..wired.packet_wire import PacketWire, answered
from ..wired.question import Question
from ..wired.reading import Addressed, Entries
from .models import GAIN_ENTRIES, TABLE

EVERYBODY = 0.8  # [s] in which all servos answer a ping to everybody


class FeetechWire(PacketWire):
    """An open port with Feetech servos behind it, of which it reads and which it writes: see `PacketWire`."""

    table = TABLE
    entries = Entries(
        "torque_enable",
        "present_position",
        (4, 6, 7),
        "error_status",
        (*GAIN_ENTRIES, "goal_acceleration"),
        "model_number",
    )

    def _read_together(self, address: int, size: int, ids: Sequence[int]) -> list[bytes] | None:
        found = self._asked(sync_read(address, size, ids), dict.fromkeys(ids, size))
        return None if found is None else [found[id] for id in ids]

    def _question_to(self, ids: Sequence[int], address: int, size: int) -> Question:
        return self._asking(sync_read(address, size, ids), dict.fromkeys(ids, size))

    def ping_all(self) -> tuple[set[int], bool]:
        """Return the ids of all that answer at this baud rate, and whether there were bytes that nobody sent whole.

        If there were, each id is to be asked alone.
        """
        self._settle()
        self.port.clear()
        asked = encode(BROADCAST, Instruction.PING)
        self.port.write(asked, changes=False)
        self.emergency.pause(EVERYBODY + HIGHEST_ID * AROUND * self.port.seconds_per_byte)
        return answered(self.port.arrived().removeprefix(asked))

    def reboot(self, servo: Addressed) -> None:
        self._free(servo)
