"""The servo models: control tables and constants.

Read from the data files in `control_tables/` and in the user's own folder; each names where its figures are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import tau

from ..tables import Table
from ..wired.control_table import Item, item_of, load_models

NAME = "dynamixel1"  # of the brand
NEEDED = (
    *("model_number", "firmware_version", "id", "baud_rate", "return_delay_time", "cw_angle_limit", "ccw_angle_limit"),
    *("temperature_limit", "max_torque", "status_return_level", "shutdown", "torque_enable", "goal_position"),
    *("moving_speed", "torque_limit", "present_position", "present_load", "present_voltage", "present_temperature"),
    *("moving", "lock"),
)  # entries that playing and setting up ask for: a model without them is left out
BAUD_RATES, BAUD_CODES = zip(
    *((1_000_000, 1), (500_000, 3), (400_000, 4), (250_000, 7), (200_000, 9), (115_200, 16), (57_600, 34)),
    *((19_200, 103), (9_600, 207), (2_250_000, 250), (2_500_000, 251), (3_000_000, 252)),
    strict=True,
)
EEPROM_END = 24  # addresses below are kept without power, and locked while torque is on
RETURN_DELAY_UNIT = 2e-6  # [s]
SLAVE = 0x02  # a bit of the drive mode
VOLTAGE, ANGLE, HEAT, RANGE, CHECKSUM, OVERLOAD, INSTRUCTION = (1 << bit for bit in range(7))  # bits of each answer
HARDWARE = VOLTAGE | HEAT | OVERLOAD
SHUT_DOWN = 0x100  # no bit of theirs: an alarm made the torque limit 0, also where its cause is gone
HARDWARE_ERRORS = {
    VOLTAGE: "voltage out of range",
    HEAT: "overheating",
    OVERLOAD: "overload",
    SHUT_DOWN: "shut down by an alarm",
}
SHAPE = "AX-12A"  # the model whose addresses those of all others are


@dataclass(frozen=True)
class Model:
    """A servo model.

    Attributes:
        name: as chains name it.
        number: what the servo reports as its model.
        table: entries by name.
        max_speed: of the horn without load [rad/s]; 0 where it is not known.
        counts_per_turn: of positions, as if its turn were a whole one.
        velocity_unit: of its speeds [rad/s].
    """

    name: str
    number: int
    table: dict[str, Item]
    max_speed: float
    counts_per_turn: float
    velocity_unit: float

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The entries by address."""
        return tuple(sorted(self.table.values(), key=lambda item: item.address))

    @property
    def last(self) -> int:
        """Its greatest position [counts]."""
        return self.table["ccw_angle_limit"].high


def model_of(table: Table) -> Model:
    """Return the model that a data file describes."""
    items = {name: item_of(name, entry, EEPROM_END) for name, entry in table.entries.items()}
    items["model_number"] = items["model_number"]._replace(initial=table.number)
    units = table.counts_per_turn, table.velocity_unit / 60 * tau
    return Model(table.name, table.number, items, table.rpm / 60 * tau, *units)


def _misfit(model: Model, models: Mapping[str, Model]) -> str:
    """Return why a model of the user's does not go with those that there are; empty if it does."""
    shape = models[SHAPE].table
    if moved := next((name for name in NEEDED if model.table[name][1:3] != shape[name][1:3]), ""):
        return f"its entry {moved!r} is not where the others have it"
    if not model.counts_per_turn or not model.velocity_unit:
        return 'it needs "counts_per_turn" and "velocity_unit"'
    taken = next((one for one in models.values() if one.number == model.number and one.name != model.name), None)
    return "" if taken is None else f"number {model.number} is the model {taken.name}'s"


MODELS, PROBLEMS = load_models(NAME, NEEDED, model_of, _misfit)
MODEL_NAMES: dict[int, str] = {model.number: model.name for model in MODELS.values()}
TABLE = MODELS[SHAPE].table  # the entries used here have one address in all models
