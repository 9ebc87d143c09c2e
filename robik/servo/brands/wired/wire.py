"""Wires: servos behind a port, read and written by their control tables. One thread at a time owns a `Wire`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ....errors import ServoError
from ...bus.line import ServoSilent
from .patience import LATENCY, TRIES
from .reading import Addressed, Reader, named


class Wire(Reader):
    """An open port with servos behind it, of which it reads and which it writes: see `Reader`."""

    # of the brand

    @abstractmethod
    def _write(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int]) -> None:
        """Write bytes of servos' tables, in one packet if there is room; nobody answers. Raises PortGone."""

    @abstractmethod
    def reboot(self, servo: Addressed) -> None:
        """Reboot a servo, or end its protection: its torque goes off; unanswered.

        Args:
            servo: The servo.
        """

    @abstractmethod
    def _broadcast_torque_off(self) -> None:
        """Tell every servo at this baud rate, known or not, to turn its torque off; nobody answers."""

    # writing

    def write_blocks(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int] = ()) -> None:
        """Write bytes of the servos' tables; nobody answers. Who needs to know reads them back.

        Args:
            address: Of the first byte.
            size: Number of bytes.
            blocks: The bytes of each servo.
            ids: Ids of the servos; the chain's if left out.

        Raises:
            PortGone: The port takes no bytes.
        """
        self._write(address, size, blocks, ids or self.ids)

    def send(self, entry: str, values: Sequence[int], ids: Sequence[int] = ()) -> None:
        """Write an entry of servos; nobody answers.

        Args:
            entry: Name of the entry.
            values: One per servo.
            ids: Ids of the servos; the chain's if left out.

        Raises:
            PortGone: The port takes no bytes.
        """
        item = self.table[entry]
        self.write_blocks(item.address, item.size, [item.encode(value) for value in values], ids)

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
                raise _refusal(servo, entry, wanted, is_value)

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
        item = self._item(servo, entry)
        for _ in range(TRIES):
            self.write_blocks(item.address, item.size, [item.encode(value)], [servo.id])
            if (taken := self.read(servo, entry)) == value:
                return
        raise _refusal(servo, entry, value, taken)

    # torque

    def send_torque_off(self) -> None:
        """Turn torque off.

        Nobody answers, so it is sent three times, and a missing servo may still hear it.
        """
        ids = [*self.ids, *(servo.id for servo in self.missing)]
        for _ in range(TRIES):
            self.send(self.entries.torque, [0] * len(ids), ids)

    def cut_torque_of_all(self) -> None:
        """Turn torque off on every servo at this baud rate, known or not, by broadcasts that nobody answers."""
        with self.emergency.serving():
            for _ in range(TRIES):
                self._broadcast_torque_off()
            self.port.flush()
            self.drain()  # the last packet has to be on the wire before anybody changes the baud rate

    def cut_torque_of(self, servo: Addressed) -> bool | None:
        """Turn the torque of a servo off, if it is not.

        Args:
            servo: The servo.

        Returns:
            Its torque as read back; None if it does not answer.
        """
        item, powered = self._item(servo, self.entries.torque), None
        for _ in range(TRIES):
            powered = self._torque_of(servo)
            if powered is False:
                break
            self.write_blocks(item.address, item.size, [bytes(item.size)], [servo.id])
        return powered

    def _torque_of(self, servo: Addressed) -> bool | None:
        with self.patience.in_haste(LATENCY):
            try:
                return bool(self.read(servo, self.entries.torque))
            except ServoSilent:
                return None


def _refusal(servo: Addressed, entry: str, wanted: int, stays: int) -> ServoError:
    return ServoError(f"{named(servo)} does not take {wanted} as {entry.replace('_', ' ')}; it stays at {stays}")
