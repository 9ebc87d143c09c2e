"""The wire: servos behind a port, read and written through the vendor's SDK.

With its port and `question` the only place that talks through the SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....errors import ServoError
from ....extras import extra
from ...bus.emergency import EmergencyStopped
from ...bus.line import PortGone
from ...bus.serial_port import PORT_ERRORS, gone
from ..wired.control_table import Item
from ..wired.reading import Addressed, Entries, named
from ..wired.wire import Wire
from .models import GAIN_ENTRIES, MODELS, SHAPE, torque_places
from .packets import REFUSED, Packets
from .port import SerialPort
from .question import TRIPS, Question

with extra("servo"):
    from dynamixel_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, GroupSyncRead, GroupSyncWrite

BROADCAST = 0xFE  # the id that every servo hears
TABLE = MODELS[SHAPE].table  # the entries used here have one address in all models that are played


class DynamixelWire(Wire):
    """An open port with Dynamixel servos behind it, of which it reads and which it writes: see `Wire`.

    Attributes:
        port: the SDK's.
        has_fast_read: whether all servos answer fast sync reads; found out at connecting.
    """

    table = TABLE
    tuning = (*GAIN_ENTRIES, "profile_acceleration")
    entries = Entries("torque_enable", "present_position", (12, 14, 15), "hardware_error_status", tuning)
    port: SerialPort

    def _open(self, baud_rate: int) -> None:
        self.has_fast_read = False
        self._packets = Packets()
        self.port = SerialPort(self.name, self.emergency, self.patience)
        self.port.open_at(baud_rate)

    def _item(self, servo: Addressed, entry: str) -> Item:
        return MODELS[servo.model].table[entry]

    # reading

    def _ping(self, id: int) -> int | None:
        number, result, error = self._read_guarded(lambda: self._packets.ping(self.port, id), (0, COMM_RX_CORRUPT, 0))
        return int(number) if result == COMM_SUCCESS and not error & REFUSED else None

    def ping_all(self) -> dict[int, tuple[int, int]]:
        """Return model number and firmware of all that answer at this baud rate, by id."""
        self._settle()
        found, _ = self._read_guarded(lambda: self._packets.broadcastPing(self.port), ({}, COMM_RX_CORRUPT))
        return {int(id): (int(number), int(firmware)) for id, (number, firmware) in found.items()}

    def _read(self, servo: Addressed, address: int, size: int) -> bytes | None:
        data, result, error = self._read_guarded(
            lambda: self._packets.readTxRx(self.port, servo.id, address, size), ([], COMM_RX_CORRUPT, 0)
        )
        # of an answer that is a refusal, to a question that arrived broken, the SDK gives the checksum as data
        return bytes(data) if result == COMM_SUCCESS and len(data) == size and not error & REFUSED else None

    def _read_together(self, address: int, size: int, ids: Sequence[int]) -> list[bytes] | None:
        group = GroupSyncRead(self.port, self._packets, address, size)
        for id in ids:
            group.addParam(id)
        result = self._read_guarded(group.fastSyncRead if self.has_fast_read else group.txRxPacket, COMM_RX_CORRUPT)
        blocks = [bytes(group.data_dict[id]) for id in ids]
        return blocks if result == COMM_SUCCESS and all(len(block) == size for block in blocks) else None

    def _question_to(self, ids: Sequence[int], address: int, size: int) -> Question:
        fast = self.has_fast_read and set(ids) <= set(self.ids)  # a board between the servos knows no fast read
        return Question(self.port, self._packets, ids, address, size, fast)

    # writing

    def _write(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int]) -> None:
        group = GroupSyncWrite(self.port, self._packets, address, size)
        for id, block in zip(ids, blocks, strict=True):
            group.addParam(id, block)
        if self._guard(group.txPacket) != COMM_SUCCESS:
            raise PortGone(f"port {self.name} does not take what is written; check the adapter and its cable")

    def set_one(self, servo: Addressed, entry: str, value: int) -> None:
        item = self._item(servo, entry)
        data = list(item.encode(value))
        for _ in self.patience.attempts():
            result, error = self._read_guarded(
                lambda: self._packets.writeTxRx(self.port, servo.id, item.address, item.size, data),
                (COMM_RX_CORRUPT, 0),
            )
            if result == COMM_SUCCESS and not error & REFUSED:
                return
            self.drain()
        refusal = self._packets.getRxPacketError(error) if result == COMM_SUCCESS else "it does not answer"
        what = entry.replace("_", " ")
        raise ServoError(f"{named(servo)} does not take {value} as {what}: {refusal.strip('[] !')}")

    def reboot(self, servo: Addressed) -> None:
        self._read_guarded(lambda: self._packets.reboot(self.port, servo.id), None)

    def _broadcast_torque_off(self) -> None:
        for address, size in torque_places():
            self._guard(self._packets.writeTxOnly, self.port, BROADCAST, address, size, [0] * size)

    # the SDK

    def _read_guarded(self, call: Callable[[], Any], failed: Any) -> Any:
        """As `_guard`; and what the SDK makes of garbage, which it trips over in its own ways, is `failed`."""
        try:
            return self._guard(call)
        except TRIPS:
            self.port.is_using = False
            return failed

    def _guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except EmergencyStopped:
            self.port.is_using = False
            raise
        except PORT_ERRORS as error:
            self.port.is_using = False
            raise gone(self.name, error) from None
