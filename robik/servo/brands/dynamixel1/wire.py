"""The wire: Dynamixel servos of Protocol 1.0 behind a port, read one by one and written together.

Errors are in every answer, and nowhere in the control table.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..wired.control_table import Item
from ..wired.packet import Instruction, encode
from ..wired.packet_wire import PacketWire
from ..wired.question import Question
from ..wired.reading import Addressed, Entries
from .models import HARDWARE, MODELS, TABLE


class Dynamixel1Wire(PacketWire):
    """An open port with Dynamixel servos of Protocol 1.0 behind it: see `PacketWire`."""

    table = TABLE
    entries = Entries("torque_enable", "present_position", (4, 6, 7), number="model_number")
    longest = 143  # the servos' buffer

    def _item(self, servo: Addressed, entry: str) -> Item:
        return MODELS[servo.model].table[entry]

    def _read_together(self, address: int, size: int, ids: Sequence[int]) -> list[bytes] | None:
        blocks = []
        for id in ids:  # no model of the AX series answers in company
            if (block := self._read_from(id, address, size)) is None:
                return None
            blocks.append(block)
        return blocks

    def _question_to(self, ids: Sequence[int], address: int, size: int) -> Question:
        (id,) = ids
        return self._asking(encode(id, Instruction.READ, bytes([address, size])), {id: size})

    def hardware_errors(self, id: int) -> int:
        """Return the bits of hardware errors in a servo's last answer; 0 for none."""
        return self.errors.get(id, 0) & HARDWARE

    def reboot(self, servo: Addressed) -> None:
        self._free(servo)
        if self.cut_torque_of(servo) is False:
            self.send("torque_limit", [self.read(servo, "max_torque")], [servo.id])
