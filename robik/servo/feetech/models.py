"""The servo models: control tables and constants.

Read from the data files in `control_tables/` and in the user's own folder; each names where its figures are from.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from math import tau
from typing import NamedTuple

from ..tables import Table, TableError, own_folder, read_tables, user_folder

NAME = "feetech"  # of the brand
NEEDED = (
    *("model_number", "byte_order", "id", "baud_rate", "return_delay_time", "min_position_limit", "max_position_limit"),
    *("max_temperature_limit", "max_torque_limit", "phase_bits", "p_coefficient", "angular_resolution"),
    *("homing_offset", "operating_mode", "overload_torque", "torque_enable", "goal_acceleration", "goal_position"),
    *("goal_speed", "goal_torque_limit", "eeprom_lock", "present_position", "present_load", "present_voltage"),
    *("present_temperature", "error_status", "moving_status"),
)  # entries that playing and setting up ask for: a model without them is left out
BAUD_RATES = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)  # by their code in the table
EEPROM_END = 40  # addresses below are kept without power, where the lock is open
POSITION_MODE = 0
FINE_SPEEDS, SEVERAL_TURNS = 0x04, 0x10  # phase bits: speeds in counts/s; positions beyond one turn
COARSE = 50  # [counts/s], the unit of speeds without FINE_SPEEDS
COUNTS_PER_TURN = 4096
MIDDLE = 2048  # [counts] to which `CALIBRATE` sets the present position
CALIBRATE = 128  # written to torque_enable: the present position becomes MIDDLE
OVERLOAD, CURRENT, HEAT, ENCODER, VOLTAGE = 0x20, 0x08, 0x04, 0x02, 0x01  # bits of error_status, and of each answer
HARDWARE_ERRORS = {
    VOLTAGE: "voltage out of range",
    ENCODER: "encoder",
    HEAT: "overheating",
    CURRENT: "too much current",
    OVERLOAD: "overload",
}
SHAPE = "STS3215"  # the model whose addresses those of all others are
LOG = logging.getLogger(__name__)


class Item(NamedTuple):
    """One entry of a control table.

    Attributes:
        name: as the code asks for it.
        address, size: [bytes].
        writable: False for what the servo only reports.
        initial: the factory value (EEPROM) or the value after power-up (RAM).
        low, high: what may be written.
        sign_bit: that makes the rest a negative magnitude; None where there are no negative values.
    """

    name: str
    address: int
    size: int
    writable: bool
    initial: int
    low: int
    high: int
    sign_bit: int | None

    @property
    def is_eeprom(self) -> bool:
        """Return whether it survives a loss of power."""
        return self.address < EEPROM_END

    def encode(self, value: int) -> bytes:
        """Return a value as the table holds it, low byte first.

        Args:
            value: The value.

        Returns:
            The bytes.
        """
        bits = abs(value) | (1 << self.sign_bit if self.sign_bit is not None and value < 0 else 0)
        return bits.to_bytes(self.size, "little")

    def decode(self, data: bytes) -> int:
        """Return the value that bytes of the table mean.

        Args:
            data: The bytes.

        Returns:
            The value.
        """
        bits = int.from_bytes(data, "little")
        if self.sign_bit is None:
            return bits
        magnitude = bits & ((1 << self.sign_bit) - 1)
        return -magnitude if bits & (1 << self.sign_bit) else magnitude


@dataclass(frozen=True)
class Model:
    """A servo model.

    Attributes:
        name: as chains name it.
        number: what the servo reports as its model; models that differ in their gears alone share it.
        table: entries by name.
        max_speed: of the horn without load [rad/s]; 0 where it is not known.
    """

    name: str
    number: int
    table: dict[str, Item]
    max_speed: float

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The entries by address."""
        return tuple(sorted(self.table.values(), key=lambda item: item.address))


def model_of(table: Table) -> Model:
    """Return the model that a data file describes.

    Args:
        table: Content of a data file.

    Returns:
        The model.

    Raises:
        TableError: An entry is elsewhere than in the STS series, whose packets all models share.
    """
    items = {}
    for name, e in table.entries.items():
        values = (e.get("initial", 0), e.get("low", 0), e.get("high", 0), e.get("sign_bit"))
        items[name] = Item(name, e["address"], e["size"], e["access"] == "RW", *values)
    items["model_number"] = items["model_number"]._replace(initial=table.number)
    return Model(table.name, table.number, items, table.rpm / 60 * tau)


def _load() -> tuple[dict[str, Model], list[str]]:
    """Return the models by name, and what is wrong with files of the user's."""
    ours = own_folder(NAME)
    models = {table.name: model_of(table) for table in read_tables(ours, needed=NEEDED)[0]}
    shape = models[SHAPE].table
    mine, problems = read_tables(user_folder(NAME), ours, needed=NEEDED)
    for table in mine:
        model = model_of(table)
        if (moved := next((name for name in NEEDED if model.table[name][:3] != shape[name][:3]), "")) != "":
            problems.append(str(TableError(table.path, f"its entry {moved!r} is not where the STS series has it")))
            continue
        models[table.name] = model
    return models, problems


MODELS, PROBLEMS = _load()
TABLE = MODELS[SHAPE].table  # the entries used here have one address in all models
for _problem in PROBLEMS:
    LOG.warning(_problem)


def model_named(number: int) -> str | None:
    """Return the name of the model that reports a number; the first where several share it.

    Args:
        number: As the servo reports it.

    Returns:
        The name, or None.
    """
    return next((model.name for model in MODELS.values() if model.number == number), None)


def describe_hardware_error(bits: int) -> str:
    """Return the error bits of a servo in words.

    Args:
        bits: The entry `error_status`.

    Returns:
        Words with commas.
    """
    words = [word for bit, word in HARDWARE_ERRORS.items() if bits & bit]
    return ", ".join(words) if words else f"unknown (0x{bits:02x})"
