"""The wire: servos behind a port, read and written through the vendor's SDK. One thread at a time owns a `Wire`."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ServoError
from ...extras import extra
from ..line import PortGone, ServoSilent
from .models import MODELS, torque_places
from .port import LATENCY
from .question import REFUSED
from .reading import TABLE, TRIES, Addressed, Reader

with extra("servo"):
    from dynamixel_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, GroupSyncWrite

BROADCAST = 0xFE  # the id that every servo hears


class Wire(Reader):
    """An open port with servos behind it, of which it reads and which it writes: see `Reader`."""

    def write_blocks(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int] = ()) -> None:
        """Write bytes of the servos' tables in one Sync Write, which nobody answers.

        Who needs to know reads them back.

        Args:
            address: Of the first byte.
            size: Number of bytes.
            blocks: The bytes of each servo.
            ids: Ids of the servos; the chain's if left out.

        Raises:
            PortGone: The port takes no bytes.
        """
        group = GroupSyncWrite(self._port, self._packets, address, size)
        for id, block in zip(ids or self.ids, blocks, strict=True):
            group.addParam(id, block)
        if self._guard(group.txPacket) != COMM_SUCCESS:
            raise PortGone(f"port {self.name} does not take what is written; check the adapter and its cable")

    def send(self, entry: str, values: Sequence[int]) -> None:
        """Send an entry of all servos in one Sync Write.

        Args:
            entry: Name of the entry.
            values: One per servo.
        """
        item = TABLE[entry]
        self.write_blocks(item.address, item.size, [as_bytes(value, item.size) for value in values])

    def set(self, entry: str, values: list[int]) -> None:
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
            if taken == values:
                return
        for servo, wanted, is_value in zip(self.servos, values, taken, strict=True):
            if wanted != is_value:
                what = entry.replace("_", " ")
                raise ServoError(
                    f"servo {servo.id} ({servo.actuator}) does not take {wanted} as {what}; it stays at {is_value}"
                )

    def set_one(self, servo: Addressed, entry: str, value: int) -> None:
        """Write an entry of one servo, whether it is in the chain or not, and make sure of it.

        Args:
            servo: The servo.
            entry: Name of the entry.
            value: Its new value.

        Raises:
            ServoError: It does not take it.
        """
        item = MODELS[servo.model].table[entry]
        data = list(as_bytes(value, item.size))
        for _ in self._attempts():
            failed = (COMM_RX_CORRUPT, 0)
            result, error = self._read_guarded(
                lambda: self._packets.writeTxRx(self._port, servo.id, item.address, item.size, data), failed
            )
            if result == COMM_SUCCESS and not error & REFUSED:
                return
            self.drain()
        refusal = self._packets.getRxPacketError(error) if result == COMM_SUCCESS else "it does not answer"
        raise ServoError(
            f"servo {servo.id} ({servo.actuator}) does not take {value} as {entry.replace('_', ' ')}:"
            f" {refusal.strip('[] !')}"
        )

    def reboot(self, servo: Addressed) -> None:
        """Reboot a servo: its torque goes off; it answers again after half a second or so.

        Args:
            servo: The servo.
        """
        self._read_guarded(lambda: self._packets.reboot(self._port, servo.id), None)

    def send_torque_off(self) -> None:
        """Turn torque off.

        Nobody answers a Sync Write, so it is sent three times, and a missing servo may still hear it.
        """
        ids, item = [*self.ids, *(servo.id for servo in self.missing)], TABLE["torque_enable"]
        for _ in range(TRIES):
            self.write_blocks(item.address, item.size, [bytes(item.size)] * len(ids), ids)

    def cut_torque_of_all(self) -> None:
        """Turn torque off on every servo at this baud rate, known or not.

        By broadcasts that nobody answers: one for each place at which a model keeps it.
        """
        with self.emergency.serving():
            for _ in range(TRIES):
                for address, size in torque_places():
                    self._guard(self._packets.writeTxOnly, self._port, BROADCAST, address, size, [0] * size)
            self._guard(self._port.ser.flush)
            self.drain()  # the last packet has to be on the wire before anybody changes the baud rate

    def cut_torque_of(self, servo: Addressed) -> bool | None:
        """Turn the torque of a servo off, if it is not.

        Args:
            servo: The servo.

        Returns:
            Its torque as read back; None if it does not answer.
        """
        item, powered = MODELS[servo.model].table["torque_enable"], None
        for _ in range(TRIES):
            powered = self._torque_of(servo)
            if powered is False:
                break
            self.write_blocks(item.address, item.size, [bytes(item.size)], [servo.id])
        return powered

    def _torque_of(self, servo: Addressed) -> bool | None:
        with self.in_haste(LATENCY):
            try:
                return bool(self.read(servo, "torque_enable"))
            except ServoSilent:
                return None


def as_bytes(value: int, size: int) -> bytes:
    """Return a number as the table holds it, two's complement where it is negative.

    Args:
        value: The number.
        size: Number of bytes.

    Returns:
        The bytes.
    """
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
