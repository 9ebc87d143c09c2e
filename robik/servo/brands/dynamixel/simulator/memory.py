"""A simulated servo's control table: the vendor's rules for reading and writing its entries."""

from __future__ import annotations

from ....simulator.motor import Motor
from ....simulator.servo import TableServo
from ...wired.control_table import Item
from ..models import MAX_TURNS_COUNTS, SINGLE_TURN_MODE, Model
from .packet import PacketError, TableError

GOALS = ("goal_pwm", "goal_current", "goal_velocity", "goal_position")
TRIPPED = -1  # of the bus watchdog


class CheckedServo(TableServo):
    """A servo with the vendor's rules for its control table.

    Attributes:
        model: whose table it is.
    """

    def __init__(self, model: Model, id: int, motor: Motor, now: float) -> None:
        self.model = model
        super().__init__(model, id, motor, now)

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of the table, with what the servo reports now.

        Raise TableError for an address without an entry, or no bytes at all.
        """
        self._report()
        if size <= 0:
            raise TableError(PacketError.DATA_LENGTH)
        return bytes(self._memory[self._real(a)] for a in range(address, address + size))

    def checked(self, address: int, data: bytes) -> list[tuple[Item, int]]:
        """Return the entries and values that a write means.

        Raise TableError for an address without an entry, one only for reading or locked, part of an entry, or a
        value out of range.
        """
        if not data:
            raise TableError(PacketError.DATA_LENGTH)
        addresses = [self._real(address + k) for k in range(len(data))]
        changes: list[tuple[Item, int]] = []
        k = 0
        while k < len(data):
            item = self.model.item_at[addresses[k]]
            if not item.writable or (item.is_eeprom and self.get("torque_enable")):
                raise TableError(PacketError.ACCESS)
            if addresses[k : k + item.size] != list(range(item.address, item.address + item.size)):
                raise TableError(PacketError.DATA_LENGTH)
            value = item.decode(data[k : k + item.size])
            self._check_value(item, value)
            changes.append((item, value))
            k += item.size
        return changes

    def _real(self, address: int) -> int:
        """Return the address itself, or what an indirect data entry stands for."""
        via = self.model.indirect_at.get(address)
        target = address if via is None else via.decode(self._memory[via.address : via.address + via.size])
        if target not in self.model.item_at:
            raise TableError(PacketError.ACCESS)
        return target

    def _check_value(self, item: Item, value: int) -> None:
        if not item.low <= value <= item.high:
            raise TableError(PacketError.DATA_RANGE)
        if item.name == "bus_watchdog" and value == TRIPPED:
            raise TableError(PacketError.DATA_RANGE)
        if item.name == "torque_enable" and value and self.is_shut_down:
            raise TableError(PacketError.RESULT_FAIL)
        if item.name in GOALS and self.get("bus_watchdog") == TRIPPED:
            raise TableError(PacketError.DATA_RANGE)
        low, high = self._goal_limits(item.name)
        if not low <= value <= high:
            raise TableError(PacketError.DATA_LIMIT)

    def _goal_limits(self, name: str) -> tuple[int, int]:
        limit = {"goal_pwm": "pwm_limit", "goal_current": "current_limit", "goal_velocity": "velocity_limit"}.get(name)
        if limit:
            return -self.get(limit), self.get(limit)
        if name == "goal_position":
            if self.get("operating_mode") == SINGLE_TURN_MODE:
                return self.get("min_position_limit"), self.get("max_position_limit")
            return -MAX_TURNS_COUNTS, MAX_TURNS_COUNTS
        item = self.model.table[name]
        return item.low, item.high

    @property
    def is_shut_down(self) -> bool:
        """Return whether a hardware error holds torque off until a reboot."""
        return bool(self.get("hardware_error_status") & self.get("shutdown"))
