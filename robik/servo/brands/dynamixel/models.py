"""The servo models: control tables and constants.

Read from the data files in `control_tables/` and in the user's own folder.

Everything in them is the vendor's documentation of Protocol 2.0 devices: addresses, sizes, access, factory values and
ranges. What playing and setting up ask for by name is in `PLAYED`: a model that has it elsewhere, or not at all, is
known but not played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import tau

from ..brand import Motor, motor_of
from ..tables import Table
from ..wired.control_table import Item, item_of, load_models

NAME = "dynamixel"  # of the brand
NEEDED = ("model_number", "torque_enable")  # entries by which every servo is known, and that cut its torque
EEPROM_END = 64  # addresses below are kept without power, and locked while torque is on
BAUD_RATES = (
    9_600,
    57_600,
    115_200,
    1_000_000,
    2_000_000,
    3_000_000,
    4_000_000,
    4_500_000,
)  # by their code in the table
SINGLE_TURN_MODE, EXTENDED_MODE, CURRENT_POSITION_MODE = 3, 4, 5
POSITION_MODES = (SINGLE_TURN_MODE, EXTENDED_MODE, CURRENT_POSITION_MODE)
HARDWARE_ERRORS = {
    0x01: "voltage out of range",
    0x04: "overheating",
    0x08: "encoder",
    0x10: "electrical shock",
    0x20: "overload",
}
VELOCITY_UNIT = 0.229 / 60 * tau  # [rad/s], of all velocities in the X series' tables
ACCELERATION_UNIT = 214.577 / 3600 * tau  # [rad/s²]
WATCHDOG_UNIT = 0.02  # [s]
RETURN_DELAY_UNIT = 2e-6  # [s]
FAST_READ_FIRMWARE = 45  # of the X series, from which fast reads are there
MAX_TURNS_COUNTS = 1_048_575  # of the extended position mode, either way
COUNTS_PER_TURN = 4096
DRIVE = COUNTS_PER_TURN / tau / 128 / 885  # of a motor, by radian of error and unit of the P gain: 885 units are all
GAIN_ENTRIES = ("position_p_gain", "position_i_gain", "position_d_gain")
SHAPE = "XH430-W350"  # the model whose addresses those of all that are played must be
PLAYED = (
    *("model_number", "firmware_version", "id", "baud_rate", "return_delay_time", "drive_mode", "operating_mode"),
    *(
        "homing_offset",
        "temperature_limit",
        "velocity_limit",
        "max_position_limit",
        "min_position_limit",
        "torque_enable",
    ),
    *("hardware_error_status", "bus_watchdog", "profile_acceleration", "profile_velocity", "goal_position"),
    *("present_velocity", "present_position", "present_input_voltage", "present_temperature"),
)


@dataclass(frozen=True)
class Model:
    """A servo model.

    Attributes:
        name: as chains name it.
        number: what the servo reports as its model.
        items: the control table.
        max_speed: of the horn without load [rad/s]; 0 where it is not known.
        motor: what its motor can; None where that is not known.
        current_unit: of currents [A]; None where the servo reports a load instead.
        counts_per_turn: of positions.
        newer: the firmware from which indirect entries are elsewhere, and the items then; None where they stay.
    """

    name: str
    number: int
    items: tuple[Item, ...]
    max_speed: float
    current_unit: float | None
    counts_per_turn: int = COUNTS_PER_TURN
    newer: tuple[int, tuple[Item, ...]] | None = None
    motor: Motor | None = None

    @cached_property
    def table(self) -> dict[str, Item]:
        """The items by name."""
        return {item.name: item for item in self.items}

    @cached_property
    def item_at(self) -> dict[int, Item]:
        """The item that holds each address."""
        return {address: item for item in self.items for address in range(item.address, item.address + item.size)}

    @cached_property
    def indirect_at(self) -> dict[int, Item]:
        """The entry that says what each address of indirect data stands for."""
        data = {item.address: item.name for item in self.items if item.name.startswith("indirect_data_")}
        return {address: self.table[name.replace("data", "address")] for address, name in data.items()}

    def with_firmware(self, version: int) -> Model:
        """Return the model as it is with this version of the firmware."""
        if self.newer is None or version < self.newer[0]:
            return self
        return replace(self, items=self.newer[1], newer=None)

    @property
    def indirect(self) -> tuple[int, int]:
        """The first indirect address entry, and the first byte of indirect data."""
        return self.table["indirect_address_1"].address, self.table["indirect_data_1"].address


def _items(table: Table, banks: list[dict[str, int]]) -> tuple[Item, ...]:
    """Return the items of a control table with these banks of indirect entries, by address."""
    entries = [item_of(name, entry, EEPROM_END) for name, entry in table.entries.items()]
    highest = max((bank["data"] + bank["count"] - 1 for bank in banks), default=0)
    number = 1
    for bank in banks:
        for k in range(bank["count"]):
            data = bank["data"] + k
            at = bank["addresses"] + 2 * k
            entries.append(Item(f"indirect_address_{number}", at, 2, True, data, EEPROM_END, highest, False))
            entries.append(Item(f"indirect_data_{number}", data, 1, True, 0, 0, 255, False))
            number += 1
    return tuple(sorted(entries, key=lambda item: item.address))


def model_of(table: Table) -> Model:
    """Return the model that a data file describes."""
    table.entries["model_number"] = table.entries["model_number"] | {"initial": table.number}
    newer = table.newer and (table.newer["firmware"], _items(table, table.newer["indirect"]))
    return Model(
        name=table.name,
        number=table.number,
        items=_items(table, table.indirect),
        max_speed=table.rpm / 60 * tau,
        current_unit=table.current_unit,
        counts_per_turn=int(table.counts_per_turn) or COUNTS_PER_TURN,
        newer=newer or None,
        motor=motor_of(table.motor, table.entries.get("position_p_gain", {}), DRIVE),
    )


def _misfit(model: Model, models: Mapping[str, Model]) -> str:
    """Return why a model of the user's does not go with those that there are; empty if it does."""
    taken = next((one for one in models.values() if one.number == model.number and one.name != model.name), None)
    return "" if taken is None else f"number {model.number} is the model {taken.name}'s"


def is_playable(model: Model) -> bool:
    """Return whether goals can be sent to a model.

    All that playing asks for is where the X series has it, and its speed is known.
    """
    shape = MODELS[SHAPE].table
    same = all(
        name in model.table
        and (model.table[name].address, model.table[name].size) == (shape[name].address, shape[name].size)
        for name in PLAYED
    )
    return same and model.max_speed > 0 and "indirect_address_1" in model.table


def torque_places() -> list[tuple[int, int]]:
    """Return the addresses and sizes of torque-enable that a broadcast may write.

    Those that are nothing else in any model.
    """
    places = dict.fromkeys((m.table["torque_enable"].address, m.table["torque_enable"].size) for m in MODELS.values())
    others = {
        address for model in MODELS.values() for address, item in model.item_at.items() if item.name != "torque_enable"
    }
    return sorted(place for place in places if not others.intersection(range(place[0], sum(place))))


MODELS, PROBLEMS = load_models(NAME, NEEDED, model_of, _misfit)
MODEL_NAMES: dict[int, str] = {model.number: model.name for model in MODELS.values()}
