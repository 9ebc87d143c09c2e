"""The wire: Feetech servos behind a port, read and written.

Whatever is written goes out as Sync Write, which nobody answers, and is read back: an answer to a write says only which
errors a servo has, and whether it answers at all depends on its settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import ServoError
from ..wired.patience import SHORTEST_LATENCY, TRIES
from ..wired.port import Port
from ..wired.reading import Addressed, Entries, named
from ..wired.wire import Wire
from .models import GAIN_ENTRIES, TABLE
from .packet import AROUND, BROADCAST, HIGHEST_ID, Instruction, encode, packets, sync_read, sync_writes
from .question import Question

EVERYBODY = 0.8  # [s] in which all servos answer a ping to everybody
NEAR = 40  # [counts] between two looks at a position that is believed


class FeetechWire(Wire):
    """An open port with Feetech servos behind it, of which it reads and which it writes: see `Wire`."""

    table = TABLE
    entries = Entries("torque_enable", "present_position", "error_status", (*GAIN_ENTRIES, "goal_acceleration"))
    port: Port

    def _open(self, baud_rate: int) -> None:
        self.port = Port(self.name, baud_rate, self.emergency)

    # reading

    def _asked(self, packet: bytes, sizes: Mapping[int, int]) -> dict[int, bytes] | None:
        """Ask, and wait for the answers; None if some do not come."""
        question = Question(self.port, packet, sizes, self.patience.latency)
        question.send()
        while (found := question.answers(waits=True)) is None:
            continue
        return found if len(found) == len(sizes) else None

    def _ping(self, id: int) -> int | None:
        return None if self._asked(encode(id, Instruction.PING), {id: 0}) is None else 0

    def _read(self, servo: Addressed, address: int, size: int) -> bytes | None:
        found = self._asked(encode(servo.id, Instruction.READ, bytes([address, size])), {servo.id: size})
        return None if found is None else found[servo.id]

    def _read_together(self, address: int, size: int, ids: Sequence[int]) -> list[bytes] | None:
        found = self._asked(sync_read(address, size, ids), dict.fromkeys(ids, size))
        return None if found is None else [found[id] for id in ids]

    def _question_to(self, ids: Sequence[int], address: int, size: int) -> Question:
        return Question(self.port, sync_read(address, size, ids), dict.fromkeys(ids, size))

    def ping_all(self) -> tuple[set[int], bool]:
        """Ask who is there at this baud rate.

        Returns:
            Ids of all that answer, and whether there were bytes that nobody sent whole: then each is to be asked alone.
        """
        self._settle()
        self.port.clear()
        asked = encode(BROADCAST, Instruction.PING)
        self.port.write(asked, changes=False)
        self.emergency.pause(EVERYBODY + HIGHEST_ID * AROUND * self.port.seconds_per_byte)
        data = self.port.arrived().removeprefix(asked)
        whole = [packet for packet, _ in packets(data)]
        found = {packet.id for packet in whole if packet.id <= HIGHEST_ID and not packet.parameters}
        return found, len(data) > AROUND * len(whole)

    def ping_each(self) -> set[int]:
        """Ask every id by itself.

        Returns:
            Ids of all that answer.
        """
        with self.patience.in_haste(SHORTEST_LATENCY):
            return {id for id in range(HIGHEST_ID + 1) if self.ping(id) is not None}

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts] that were seen twice: the protocol's check lets some garbage pass.

        Raises:
            ServoSilent: Names the servo that does not answer.
            ServoError: Names a servo that is somewhere else every time.
        """
        before = self.read_each("present_position")
        for _ in range(TRIES):
            there = self.read_each("present_position")
            away = np.abs(there - before)
            if not len(away) or away.max() <= NEAR:
                return there
            before = there
        where = f"{named(self.servos[int(np.argmax(away))])} says another position every time on {self.name}"
        raise ServoError(f"{where}; hold it still, and check the cable")

    # writing

    def _write(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int]) -> None:
        for packet in sync_writes(address, size, blocks, ids):
            self.port.write(packet, changes=True)

    def reboot(self, servo: Addressed) -> None:
        """Turn a servo's torque off, which ends its protection; these servos know no reboot. Unanswered.

        The emergency stop does not keep it from being sent.

        Args:
            servo: The servo.
        """
        item = TABLE["torque_enable"]
        for packet in sync_writes(item.address, item.size, [item.encode(0)], [servo.id]):
            self.port.write(packet, changes=False)

    def _broadcast_torque_off(self) -> None:
        item = TABLE["torque_enable"]
        self.port.write(encode(BROADCAST, Instruction.WRITE, bytes([item.address, 0])), changes=True)
