"""The wire: Feetech servos behind a port, read and written. One thread at a time owns a `Wire`.

Whatever is written goes out as Sync Write, which nobody answers, and is read back: an answer to a write says only which
errors a servo has, and whether it answers at all depends on its settings.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ServoError
from ..line import ServoSilent
from .models import TABLE
from .packet import BROADCAST, Instruction, encode, sync_writes
from .question import ANSWER_DELAY, LATENCY
from .reading import TRIES, Addressed, Reader


class Wire(Reader):
    """An open port with servos behind it, of which it reads and which it writes: see `Reader`."""

    def write_blocks(
        self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int] = (), changes: bool = True
    ) -> None:
        """Write bytes of the servos' tables; nobody answers.

        Args:
            address: Of the first byte.
            size: Number of bytes.
            blocks: The bytes of each servo.
            ids: Ids of the servos; the chain's if left out.
            changes: Whether the emergency stop keeps it from being sent.

        Raises:
            PortGone: The port takes no bytes.
        """
        for packet in sync_writes(address, size, blocks, ids or self.ids):
            self.port.write(packet, changes)

    def send(self, entry: str, values: Sequence[int], ids: Sequence[int] = (), changes: bool = True) -> None:
        """Write an entry of servos; nobody answers.

        Args:
            entry: Name of the entry.
            values: One per servo.
            ids: Ids of the servos; the chain's if left out.
            changes: Whether the emergency stop keeps it from being sent.

        Raises:
            PortGone: The port takes no bytes.
        """
        item = TABLE[entry]
        self.write_blocks(item.address, item.size, [item.encode(value) for value in values], ids, changes)

    def set(self, entry: str, values: Sequence[int]) -> None:
        """Write an entry of all servos and make sure of it, trying again where a packet was lost.

        Args:
            entry: Name of the entry.
            values: One per servo.

        Raises:
            ServoError: Names the servo that would not take it.
        """
        for _ in range(TRIES):
            self.send(entry, values)
            taken = self.read_each(entry).tolist()
            if taken == list(values):
                return
        for servo, wanted, is_value in zip(self.servos, values, taken, strict=True):
            if wanted != is_value:
                raise ServoError(_refusal(servo, entry, wanted, is_value))

    def set_one(self, servo: Addressed, entry: str, value: int) -> None:
        """Write an entry of one servo, whether it is in the chain or not, and make sure of it.

        Args:
            servo: The servo.
            entry: Name of the entry.
            value: Its new value.

        Raises:
            ServoSilent: It does not answer.
            ServoError: It does not take it.
        """
        for _ in range(TRIES):
            self.send(entry, [value], [servo.id])
            if (taken := self.read(servo, entry)) == value:
                return
        raise ServoError(_refusal(servo, entry, value, taken))

    # torque

    def send_torque_off(self) -> None:
        """Turn torque off.

        Nobody answers, so it is sent three times, and a missing servo may still hear it.
        """
        ids = [*self.ids, *(servo.id for servo in self.missing)]
        for _ in range(TRIES):
            self.send("torque_enable", [0] * len(ids), ids)

    def cut_torque_of_all(self) -> None:
        """Turn torque off on every servo at this baud rate, known or not, by a broadcast that nobody answers."""
        item = TABLE["torque_enable"]
        with self.emergency.serving():
            for _ in range(TRIES):
                self.port.write(encode(BROADCAST, Instruction.WRITE, bytes([item.address, 0])), changes=True)
            self.port.flush()
            self.emergency.pause(ANSWER_DELAY)  # the last packet has to be on the wire before the rate changes
            self.drain()

    def cut_torque_of(self, servo: Addressed) -> bool | None:
        """Turn the torque of a servo off, if it is not.

        Args:
            servo: The servo.

        Returns:
            Its torque as read back; None if it does not answer.
        """
        powered = None
        for _ in range(TRIES):
            powered = self._torque_of(servo)
            if powered is False:
                break
            self.send("torque_enable", [0], [servo.id])
        return powered

    def _torque_of(self, servo: Addressed) -> bool | None:
        with self.in_haste(LATENCY):
            try:
                return bool(self.read(servo, "torque_enable"))
            except ServoSilent:
                return None


def _refusal(servo: Addressed, entry: str, wanted: int, stays: int) -> str:
    what = entry.replace("_", " ")
    return f"servo {servo.id} ({servo.actuator}) does not take {wanted} as {what}; it stays at {stays}"
