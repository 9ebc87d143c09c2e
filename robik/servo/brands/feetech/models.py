"""The servo models: control tables and constants.

Read from the data files in `control_tables/` and in the user's own folder; each names where its figures are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import tau

from ..brand import Motor, motor_of
from ..tables import Table
from ..wired.control_table import Item, item_of, load_models

NAME = "feetech"  # of the brand
NEEDED = (
    *("model_number", "byte_order", "id", "baud_rate", "return_delay_time", "min_position_limit", "max_position_limit"),
    *("max_temperature_limit", "max_torque_limit", "phase_bits", "p_coefficient", "angular_resolution"),
    *("i_coefficient", "d_coefficient"),
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
DRIVE = 0.166  # of a motor, by radian of error and unit of the P coefficient: STS3215s at an oscilloscope (Rhoban/bam)
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
GAIN_ENTRIES = ("p_coefficient", "i_coefficient", "d_coefficient")
SHAPE = "STS3215"  # the model whose addresses those of all others are


@dataclass(frozen=True)
class Model:
    """A servo model.

    Attributes:
        name: as chains name it.
        number: what the servo reports as its model; models that differ in their gears alone share it.
        table: entries by name.
        max_speed: of the horn without load [rad/s]; 0 where it is not known.
        motor: what its motor can; None where that is not known.
    """

    name: str
    number: int
    table: dict[str, Item]
    max_speed: float
    motor: Motor | None = None

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The entries by address."""
        return tuple(sorted(self.table.values(), key=lambda item: item.address))


def model_of(table: Table) -> Model:
    """Return the model that a data file describes."""
    items = {name: item_of(name, entry, EEPROM_END) for name, entry in table.entries.items()}
    items["model_number"] = items["model_number"]._replace(initial=table.number)
    motor = motor_of(table.motor, table.entries["p_coefficient"], DRIVE)
    return Model(table.name, table.number, items, table.rpm / 60 * tau, motor)


def _misfit(model: Model, models: Mapping[str, Model]) -> str:
    """Return which entry of a model is not where those are whose packets all models share; empty if there is none."""
    shape = models[SHAPE].table
    moved = next((name for name in NEEDED if model.table[name][:3] != shape[name][:3]), "")
    return f"its entry {moved!r} is not where the STS series has it" if moved else ""


MODELS, PROBLEMS = load_models(NAME, NEEDED, model_of, _misfit)
TABLE = MODELS[SHAPE].table  # the entries used here have one address in all models


def model_named(number: int) -> str | None:
    """Return the name of the model that reports a number: the first of several that share it, or None."""
    return next((model.name for model in MODELS.values() if model.number == number), None)
