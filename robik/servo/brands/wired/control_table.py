"""Control tables: the entries of a servo's memory, as the data files of its brand describe them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from ..tables import Table, TableError, own_folder, read_tables, user_folder

LOG = logging.getLogger(__name__)


class Item(NamedTuple):
    """One entry of a control table.

    Attributes:
        name: as the code asks for it.
        address: of its first byte.
        size: [bytes].
        writable: False for what the servo only reports.
        initial: the factory value (EEPROM) or the value after power-up (RAM).
        low: the least that may be written; negative where the item is signed.
        high: the most that may be written.
        is_eeprom: whether it is kept without power.
        sign_bit: that makes the rest a negative magnitude; None where bytes are two's complement.
    """

    name: str
    address: int
    size: int
    writable: bool
    initial: int
    low: int
    high: int
    is_eeprom: bool
    sign_bit: int | None = None

    @property
    def is_signed(self) -> bool:
        """Return whether it has negative values."""
        return self.low < 0

    def encode(self, value: int) -> bytes:
        """Return a value as the table holds it, low byte first."""
        if self.sign_bit is None:
            return as_bytes(value, self.size)
        return (abs(value) | (value < 0) << self.sign_bit).to_bytes(self.size, "little")

    def decode(self, data: bytes | bytearray) -> int:
        """Return the value of bytes of the table."""
        if self.sign_bit is None:
            return int.from_bytes(data, "little", signed=self.is_signed)
        bits = int.from_bytes(data, "little")
        magnitude = bits & ((1 << self.sign_bit) - 1)
        return -magnitude if bits & (1 << self.sign_bit) else magnitude


def item_of(name: str, entry: Mapping[str, Any], eeprom_end: int) -> Item:
    """Return an entry of a data file; from the address `eeprom_end` on, the table is forgotten without power."""
    values = (entry.get("initial", 0), entry.get("low", 0), entry.get("high", 0))
    kept, sign_bit = entry["address"] < eeprom_end, entry.get("sign_bit")
    return Item(name, entry["address"], entry["size"], entry["access"] == "RW", *values, kept, sign_bit)


def as_bytes(value: int, size: int) -> bytes:
    """Return a number as a table holds it, low byte first, two's complement where it is negative."""
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def error_words(bits: int, names: Mapping[int, str]) -> str:
    """Return the error bits of a servo in words, with commas; `names` has the brand's words for each bit."""
    words = [word for bit, word in names.items() if bits & bit]
    return ", ".join(words) if words else f"unknown (0x{bits:02x})"


class Numbered(Protocol):
    """Servo model that a servo names by a number."""

    @property
    def name(self) -> str:
        """Name, as chains have it."""

    @property
    def number(self) -> int:
        """Number that the servo reports."""


_Model = TypeVar("_Model", bound=Numbered)


def load_models(
    brand: str,
    needed: Collection[str],
    model_of: Callable[[Table], _Model],
    misfit: Callable[[_Model, Mapping[str, _Model]], str],
) -> tuple[dict[str, _Model], list[str]]:
    """Return a brand's models by name, from its data files and the user's, and what is wrong with the user's files.

    That is warned of too. `needed` names the entries that every model has, `model_of` makes a model of a data file,
    and `misfit` says why a model of the user's does not go with those that there are; empty if it does.
    """
    ours = own_folder(brand)
    models = {table.name: model_of(table) for table in read_tables(ours, needed=needed)[0]}
    mine, problems = read_tables(user_folder(brand), ours, needed=needed)
    for table in mine:
        try:
            model = model_of(table)
            why = misfit(model, models)
        except (KeyError, TypeError) as error:
            why = f"an entry lacks {error}"
        if why:
            problems.append(str(TableError(table.path, why)))
        else:
            models[table.name] = model
    for problem in problems:
        LOG.warning(problem)
    return models, problems
