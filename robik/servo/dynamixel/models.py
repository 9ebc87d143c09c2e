"""The servo models: each one's control table and constants, as data. Another model is another row.

Everything is the vendor's documentation of Protocol 2.0 devices: addresses, sizes, access, factory values and ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import tau

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


@dataclass(frozen=True)
class Item:
    """One entry of a control table.

    Attributes:
        name: as the code asks for it.
        address, size: [bytes].
        writable: False for what the servo only reports.
        initial: the factory value (EEPROM) or the value after power-up (RAM).
        low, high: what may be written; a negative `low` makes the item signed.
    """

    name: str
    address: int
    size: int
    writable: bool
    initial: int
    low: int
    high: int

    @property
    def is_eeprom(self) -> bool:
        """Whether it survives a reboot and is locked while torque is on."""
        return self.address < EEPROM_END

    @property
    def is_signed(self) -> bool:
        """Whether its bytes are two's complement."""
        return self.low < 0


@dataclass(frozen=True)
class Model:
    """A servo model.

    Attributes:
        name: as chains name it.
        number: what the servo reports as its model.
        items: the control table.
        counts_per_turn: of positions.
        max_speed: of the horn without load [rad/s].
        current_unit: of currents [A]; None where the servo reports a load instead.
    """

    name: str
    number: int
    items: tuple[Item, ...]
    max_speed: float
    current_unit: float | None
    counts_per_turn: int = 4096

    @cached_property
    def table(self) -> dict[str, Item]:
        """The items by name."""
        return {item.name: item for item in self.items}

    @cached_property
    def item_at(self) -> dict[int, Item]:
        """The item that holds each address."""
        return {address: item for item in self.items for address in range(item.address, item.address + item.size)}


U31 = 2**31 - 1
REPORTED = (0, -U31 - 1, U31)  # initial, low, high of what is only read

_Row = tuple[str, int, int, bool, int, int, int]


def _x_table(
    number: int,
    velocity_limit: int,
    volts: tuple[int, int, int],
    celsius: int,
    current_limit: int | None,
    acceleration: bool = False,
) -> tuple[_Row, ...]:
    """The table that the X and MX(2.0) series share.

    Args:
        number: of the model.
        velocity_limit: factory value.
        volts: lowest and highest that can be set, and the highest from the factory [0.1 V].
        celsius: factory limit.
        current_limit: factory value, also the highest; None for models without a current sensor.
        acceleration: whether there is an acceleration limit.
    """
    low_volt, high_volt, max_volt = volts
    rows: list[_Row] = [
        ("model_number", 0, 2, False, number, 0, 65535),
        ("model_information", 2, 4, False, 0, 0, U31),
        ("firmware_version", 6, 1, False, 46, 0, 255),
        ("id", 7, 1, True, 1, 0, 252),
        ("baud_rate", 8, 1, True, 1, 0, 7),
        ("return_delay_time", 9, 1, True, 250, 0, 254),
        ("drive_mode", 10, 1, True, 0, 0, 13),
        ("operating_mode", 11, 1, True, SINGLE_TURN_MODE, 0, 16),
        ("secondary_id", 12, 1, True, 255, 0, 255),
        ("protocol_type", 13, 1, True, 2, 1, 2),
        ("homing_offset", 20, 4, True, 0, -1_044_479, 1_044_479),
        ("moving_threshold", 24, 4, True, 10, 0, 1023),
        ("temperature_limit", 31, 1, True, celsius, 0, 100),
        ("max_voltage_limit", 32, 2, True, max_volt, low_volt, high_volt),
        ("min_voltage_limit", 34, 2, True, low_volt, low_volt, high_volt),
        ("pwm_limit", 36, 2, True, 885, 0, 885),
        ("velocity_limit", 44, 4, True, velocity_limit, 0, max(1023, velocity_limit)),
        ("max_position_limit", 48, 4, True, 4095, 0, 4095),
        ("min_position_limit", 52, 4, True, 0, 0, 4095),
        ("startup_configuration", 60, 1, True, 0, 0, 3),
        ("shutdown", 63, 1, True, 52, 0, 255),
        ("torque_enable", 64, 1, True, 0, 0, 1),
        ("led", 65, 1, True, 0, 0, 1),
        ("status_return_level", 68, 1, True, 2, 0, 2),
        ("registered_instruction", 69, 1, False, 0, 0, 1),
        ("hardware_error_status", 70, 1, False, 0, 0, 255),
        ("velocity_i_gain", 76, 2, True, 1920, 0, 16383),
        ("velocity_p_gain", 78, 2, True, 100, 0, 16383),
        ("position_d_gain", 80, 2, True, 0, 0, 16383),
        ("position_i_gain", 82, 2, True, 0, 0, 16383),
        ("position_p_gain", 84, 2, True, 900, 0, 16383),
        ("feedforward_2nd_gain", 88, 2, True, 0, 0, 16383),
        ("feedforward_1st_gain", 90, 2, True, 0, 0, 16383),
        ("bus_watchdog", 98, 1, True, 0, -1, 127),
        ("goal_pwm", 100, 2, True, 885, -885, 885),
        ("goal_velocity", 104, 4, True, 0, -32767, 32767),
        ("profile_acceleration", 108, 4, True, 0, 0, 32767),
        ("profile_velocity", 112, 4, True, 0, 0, 32767),
        ("goal_position", 116, 4, True, 0, -MAX_TURNS_COUNTS, MAX_TURNS_COUNTS),
        ("realtime_tick", 120, 2, False, 0, 0, 32767),
        ("moving", 122, 1, False, 0, 0, 1),
        ("moving_status", 123, 1, False, 0, 0, 255),
        ("present_pwm", 124, 2, False, *REPORTED),
        ("present_current" if current_limit else "present_load", 126, 2, False, *REPORTED),
        ("present_velocity", 128, 4, False, *REPORTED),
        ("present_position", 132, 4, False, *REPORTED),
        ("velocity_trajectory", 136, 4, False, *REPORTED),
        ("position_trajectory", 140, 4, False, *REPORTED),
        ("present_input_voltage", 144, 2, False, 120, 0, 65535),
        ("present_temperature", 146, 1, False, 30, 0, 255),
        ("backup_ready", 147, 1, False, 0, 0, 1),
    ]
    if current_limit:
        rows.append(("current_limit", 38, 2, True, current_limit, 0, current_limit))
        rows.append(("goal_current", 102, 2, True, current_limit, -current_limit, current_limit))
    if acceleration:
        rows.append(("acceleration_limit", 40, 4, True, 32767, 0, 32767))
    return tuple(rows)


def _indirect(banks: tuple[tuple[int, int, int], ...]) -> tuple[_Row, ...]:
    """Indirect addresses and data: per bank the first address entry, the first data byte and how many."""
    rows: list[_Row] = []
    highest = max(data + count - 1 for _, data, count in banks)
    k = 1
    for addresses, data, count in banks:
        for i in range(count):
            rows.append((f"indirect_address_{k}", addresses + 2 * i, 2, True, data + i, EEPROM_END, highest))
            rows.append((f"indirect_data_{k}", data + i, 1, True, 0, 0, 255))
            k += 1
    return tuple(rows)


_TWO_BANKS = _indirect(((168, 224, 28), (578, 634, 28)))


_ONE_BANK = _indirect(((168, 208, 20),))


_PORTS: tuple[_Row, ...] = (
    *((f"external_port_mode_{k}", 55 + k, 1, True, 3, 0, 3) for k in (1, 2, 3)),
    *((f"external_port_data_{k}", 150 + 2 * k, 2, True, 0, 0, 4095) for k in (1, 2, 3)),
)
_LITTLE: tuple[_Row, ...] = (("pwm_slope", 62, 1, True, 140, 1, 255), *_ONE_BANK)


def _model(name: str, rpm: float, current_unit: float | None, rows: tuple[_Row, ...], **initial: int) -> Model:
    """A model from its speed without load at nominal voltage [rev/min], its table, and factory values of its own."""
    items = [replace(item, initial=initial.get(item.name, item.initial)) for item in (Item(*row) for row in rows)]
    number = next(item.initial for item in items if item.name == "model_number")
    return Model(name, number, tuple(sorted(items, key=lambda item: item.address)), rpm / 60 * tau, current_unit)


_12V = (95, 160, 160)
_ROWS = (
    _model("XH430-W350", 30, 2.69e-3, _x_table(1000, 130, _12V, 80, 648) + _TWO_BANKS),
    _model("XH430-W210", 50, 2.69e-3, _x_table(1010, 360, _12V, 80, 648, True) + _TWO_BANKS),
    _model("XM430-W350", 46, 2.69e-3, _x_table(1020, 350, _12V, 80, 1193, True) + _TWO_BANKS, position_p_gain=800),
    _model("XM540-W270", 30, 2.69e-3, _x_table(1120, 128, _12V, 80, 2047) + _PORTS + _TWO_BANKS, position_p_gain=800),
    _model(
        "XL430-W250", 61, None, _x_table(1060, 265, (60, 140, 140), 72, None) + _TWO_BANKS,
        velocity_i_gain=1000, position_d_gain=4000, position_p_gain=640,
    ),
    _model(
        "XL330-M288", 103, 1e-3, _x_table(1200, 445, (31, 70, 70), 70, 1750) + _LITTLE,
        min_voltage_limit=35, shutdown=53, velocity_i_gain=1600, velocity_p_gain=180, position_p_gain=400,
        present_input_voltage=50,
    ),
    _model(
        "XC330-T288", 73, 1e-3, _x_table(1220, 320, (55, 140, 140), 70, 910) + _LITTLE,
        pwm_slope=255, velocity_i_gain=1200, velocity_p_gain=40,
    ),
    _model("MX-28(2.0)", 55, None, _x_table(30, 380, _12V, 80, None, True) + _TWO_BANKS, position_p_gain=850),
    _model("MX-64(2.0)", 63, 3.36e-3, _x_table(311, 435, _12V, 80, 1941, True) + _TWO_BANKS, position_p_gain=850),
    _model("MX-106(2.0)", 45, 3.36e-3, _x_table(321, 360, _12V, 80, 2047, True) + _TWO_BANKS, position_p_gain=850),
)  # fmt: skip

MODELS: dict[str, Model] = {model.name: model for model in _ROWS}
MODEL_NAMES: dict[int, str] = {model.number: model.name for model in _ROWS}


def describe_hardware_error(bits: int) -> str:
    """The error bits of a servo in words."""
    words = [word for bit, word in HARDWARE_ERRORS.items() if bits & bit]
    return ", ".join(words) if words else f"unknown (0x{bits:02x})"


def watchdog_units(seconds: float) -> int:
    """Return a time of the bus watchdog in its unit; 0 for none."""
    return 0 if seconds == 0 else min(127, max(1, round(seconds / WATCHDOG_UNIT)))


def as_bytes(value: int, size: int) -> bytes:
    """A number as the table holds it, two's complement where it is negative."""
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
