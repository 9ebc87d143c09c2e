"""Wires of packets as Dynamixel's Protocol 1.0 has them: see `packet`.

Whatever is written goes out as Sync Write, which nobody answers, and is read back: an answer to a write says only which
errors a servo has, and whether it answers at all depends on its settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import tau
from typing import ClassVar

import numpy as np

from ....errors import ServoError
from .packet import AROUND, BROADCAST, HIGHEST_ID, LONGEST, Instruction, Packet, encode, packets, sync_writes
from .patience import LATENCY, TRIES
from .port import Port
from .question import Question
from .reading import Addressed, named
from .wire import Wire

FRAME = 2e-3  # [s]: a USB adapter sends what it got within this in one go
SLOWEST_ANSWER = 5.1e-4  # [s] that a servo may wait before it answers
NEAR = 0.06  # [rad] between two looks at a position that is believed


class PacketWire(Wire):
    """An open port with servos behind it that speak such packets: see `Wire`.

    Attributes:
        longest: bytes of a packet that the servos take.
        errors: bits of each servo's last answer, by its id.
    """

    longest: ClassVar[int] = LONGEST
    port: Port

    def _open(self, baud_rate: int) -> None:
        self.errors: dict[int, int] = {}
        self.port = Port(self.name, baud_rate, self.emergency)

    # reading

    def _asking(self, packet: bytes, sizes: Mapping[int, int], latency: float = LATENCY) -> Question:
        """Return a question that takes note of the errors in its answers."""
        return Question(self.port, packet, sizes, self._take_note, latency)

    def _take_note(self, answer: Packet) -> None:
        self.errors[answer.id] = answer.code

    def _asked(self, packet: bytes, sizes: Mapping[int, int]) -> dict[int, bytes] | None:
        """Ask, and wait for the answers; None if some do not come."""
        question = self._asking(packet, sizes, self.patience.latency)
        question.send()
        while (found := question.answers(waits=True)) is None:
            continue
        return found if len(found) == len(sizes) else None

    def _ping(self, id: int) -> int | None:
        item = self.table[self.entries.number]
        if (number := self._read_from(id, item.address, item.size)) is not None:
            return item.decode(number)
        return None if self._asked(encode(id, Instruction.PING), {id: 0}) is None else 0

    def _read(self, servo: Addressed, address: int, size: int) -> bytes | None:
        return self._read_from(servo.id, address, size)

    def _read_from(self, id: int, address: int, size: int) -> bytes | None:
        found = self._asked(encode(id, Instruction.READ, bytes([address, size])), {id: size})
        return None if found is None else found[id]

    def ping_each(self) -> tuple[set[int], bool]:
        """Ping every id without waiting for answers, and return the ids that answer.

        The second value says whether there were bytes that nobody sent whole.
        """
        self._settle()
        self.port.clear()
        pings = [encode(id, Instruction.PING) for id in range(HIGHEST_ID + 1)]
        for ping in pings:
            self.port.write(ping, changes=False)
            self.emergency.pause(FRAME + SLOWEST_ANSWER + 2 * AROUND * self.port.seconds_per_byte)
        self.emergency.pause(LATENCY)
        data = self.port.arrived()
        if all(ping in data for ping in pings):  # an adapter that gives back what is sent
            for ping in pings:
                data = data.replace(ping, b"", 1)
        return answered(data)

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts] that were seen twice: the protocol's check lets some garbage pass.

        Raise ServoSilent if a servo does not answer, ServoError if it is somewhere else every time.
        """
        near = NEAR * np.array([servo.datasheet.counts_per_turn for servo in self.servos]) / tau
        before = self.read_positions()
        for _ in range(TRIES):
            there = self.read_positions()
            beyond = np.abs(there - before) - near
            if not len(beyond) or beyond.max() <= 0:
                return there
            before = there
        where = f"{named(self.servos[int(np.argmax(beyond))])} says another position every time on {self.name}"
        raise ServoError(f"{where}; hold it still, and check the cable")

    # writing

    def _write(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int]) -> None:
        self._send(address, size, blocks, ids, changes=True)

    def _send(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int], changes: bool) -> None:
        for packet in sync_writes(address, size, blocks, ids, self.longest):
            self.port.write(packet, changes)

    def _free(self, servo: Addressed) -> None:
        """Turn a servo's torque off, whatever the emergency stop says."""
        item = self.table[self.entries.torque]
        self._send(item.address, item.size, [item.encode(0)], [servo.id], changes=False)

    def _broadcast_torque_off(self) -> None:
        item = self.table[self.entries.torque]
        self.port.write(encode(BROADCAST, Instruction.WRITE, bytes([item.address, 0])), changes=True)


def answered(data: bytes) -> tuple[set[int], bool]:
    """Return the ids of servos that answered pings, and whether bytes are left that belong to no answer."""
    whole = [packet for packet, _ in packets(data)]
    found = {packet.id for packet in whole if packet.id <= HIGHEST_ID and not packet.parameters}
    return found, len(data) > AROUND * len(whole)
