"""The memory behind a control table: entries by name, by address, and through the indirect ones."""

from __future__ import annotations

from .table import Entry, Model
from .wire import ACCESS_ERROR, LENGTH_ERROR


class Refusal(Exception):
    """An instruction that the servo refuses, with the error number of its answer."""

    def __init__(self, error: int) -> None:
        super().__init__(f"error {error}")
        self.error = error


class Registers:
    """The values of a control table.

    Attributes:
        model: its entries.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._values = {name: entry.initial for name, entry in model.entries.items()}

    def get(self, name: str) -> int:
        """Return the value of an entry."""
        return self._values[name]

    def put(self, name: str, value: int) -> None:
        """Change an entry from within: no rules, no effects."""
        if name not in self._values:
            raise KeyError(name)
        self._values[name] = value

    def values(self) -> dict[str, int]:
        """Return all entries but the indirect ones."""
        return {name: value for name, value in self._values.items() if not name.startswith("indirect")}

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return bytes of the table; raises Refusal where there is no entry."""
        if size < 1:
            raise Refusal(LENGTH_ERROR)
        data, at = b"", address
        while at < address + size:
            target = self._target(at)
            entry = self.model.at[target]
            whole = (self._values[entry.name] % (1 << 8 * entry.size)).to_bytes(entry.size, "little")
            part = whole[target - entry.address :] if target == at else whole[target - entry.address :][:1]
            data, at = data + part, at + len(part)
        return data[:size]

    def _target(self, address: int) -> int:
        """Return the address that is meant: that of indirect data leads elsewhere."""
        entry = self.model.at.get(address)
        if entry is not None and entry.name.startswith("indirect_data"):
            address = self._values[entry.name.replace("data", "address")]
        if address not in self.model.at:
            raise Refusal(ACCESS_ERROR)
        return address

    def meant(self, address: int, data: bytes, is_locked: bool) -> list[tuple[Entry, int]]:
        """Return the entries and values that a write means; raises Refusal where it does not write whole entries.

        Args:
            address: of the first byte.
            data: to be written.
            is_locked: whether the EEPROM is read-only now.
        """
        if not data:
            raise Refusal(LENGTH_ERROR)
        targets = [self._target(address + k) for k in range(len(data))]
        changes: list[tuple[Entry, int]] = []
        while targets:
            entry = self.model.at[targets[0]]
            if entry.access == "R" or (entry.is_eeprom and is_locked):
                raise Refusal(ACCESS_ERROR)
            if targets[: entry.size] != list(range(entry.address, entry.address + entry.size)):
                raise Refusal(LENGTH_ERROR)
            changes.append((entry, int.from_bytes(data[: entry.size], "little", signed=entry.low < 0)))
            targets, data = targets[entry.size :], data[entry.size :]
        return changes
