"""Control tables, from the e-Manual's pages of the models (address, size, access, initial value, range)."""

from __future__ import annotations

from typing import NamedTuple

EEPROM_END = 64  # addresses below keep their values without power, and are locked while torque is on
BAUD_RATES = (9_600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)
FULL_TURN = 4096  # [counts]
FARTHEST = 256 * FULL_TURN - 1  # [counts] in the modes with several turns
LARGEST = 2**31 - 1
# "Control Table Backup (0x20)" on the page of the protocol: what is kept besides the EEPROM
BACKED_UP = (
    "velocity_i_gain", "velocity_p_gain", "position_d_gain", "position_i_gain", "position_p_gain",
    "feedforward_2nd_gain", "feedforward_1st_gain", "profile_acceleration", "profile_velocity",
)  # fmt: skip


class Entry(NamedTuple):
    """One entry of a control table.

    Attributes:
        access: "RW" or "R".
        low, high: of what may be written; a negative low makes the entry signed.
    """

    name: str
    address: int
    size: int
    access: str
    initial: int
    low: int
    high: int

    @property
    def is_eeprom(self) -> bool:
        """Whether it keeps its value without power."""
        return self.address < EEPROM_END


class Model(NamedTuple):
    """A servo model.

    Attributes:
        number: in entry 0.
        rpm: of the horn without a load at the usual voltage.
        modes: operating modes that it has.
        newer: firmware from which there are startup configuration, backups, torque by a goal and fast reads.
        entries: by name.
        at: entry by each of its addresses.
    """

    number: int
    rpm: float
    modes: tuple[int, ...]
    newer: int
    entries: dict[str, Entry]
    at: dict[int, Entry]

    @property
    def full_speed(self) -> float:
        """Speed of the horn [counts/s]."""
        return self.rpm / 60 * FULL_TURN

    @property
    def effort(self) -> str:
        """The entry that shows how hard it pushes."""
        return "present_current" if "present_current" in self.entries else "present_load"


def is_backed_up(entry: Entry) -> bool:
    """Return whether a backup of the control table has this entry."""
    return entry.is_eeprom or entry.name in BACKED_UP or entry.name.startswith("indirect_address")


_COMMON = """
model_number 0 2 R 0 0 65535
model_information 2 4 R 0 0 2147483647
firmware_version 6 1 R 46 0 255
id 7 1 RW 1 0 252
baud_rate 8 1 RW 1 0 7
return_delay_time 9 1 RW 250 0 254
drive_mode 10 1 RW 0 0 13
operating_mode 11 1 RW 3 0 16
secondary_id 12 1 RW 255 0 255
protocol_type 13 1 RW 2 1 2
homing_offset 20 4 RW 0 -1044479 1044479
moving_threshold 24 4 RW 10 0 1023
temperature_limit 31 1 RW 80 0 100
max_voltage_limit 32 2 RW 160 95 160
min_voltage_limit 34 2 RW 95 95 160
pwm_limit 36 2 RW 885 0 885
velocity_limit 44 4 RW 130 0 1023
max_position_limit 48 4 RW 4095 0 4095
min_position_limit 52 4 RW 0 0 4095
startup_configuration 60 1 RW 0 0 3
shutdown 63 1 RW 52 0 63
torque_enable 64 1 RW 0 0 1
led 65 1 RW 0 0 1
status_return_level 68 1 RW 2 0 2
registered_instruction 69 1 R 0 0 1
hardware_error_status 70 1 R 0 0 255
velocity_i_gain 76 2 RW 1920 0 16383
velocity_p_gain 78 2 RW 100 0 16383
position_d_gain 80 2 RW 0 0 16383
position_i_gain 82 2 RW 0 0 16383
position_p_gain 84 2 RW 900 0 16383
feedforward_2nd_gain 88 2 RW 0 0 16383
feedforward_1st_gain 90 2 RW 0 0 16383
bus_watchdog 98 1 RW 0 -1 127
goal_pwm 100 2 RW 885 -885 885
goal_velocity 104 4 RW 0 -1023 1023
profile_acceleration 108 4 RW 0 0 32767
profile_velocity 112 4 RW 0 0 32767
goal_position 116 4 RW 0 -1048575 1048575
realtime_tick 120 2 R 0 0 32767
moving 122 1 R 0 0 1
moving_status 123 1 R 0 0 255
present_pwm 124 2 R 0 -32768 32767
present_velocity 128 4 R 0 -2147483648 2147483647
present_position 132 4 R 0 -2147483648 2147483647
velocity_trajectory 136 4 R 0 -2147483648 2147483647
position_trajectory 140 4 R 0 -2147483648 2147483647
present_input_voltage 144 2 R 120 0 65535
present_temperature 146 1 R 30 0 255
backup_ready 147 1 R 0 0 1
"""


def _entries(text: str) -> list[Entry]:
    rows = (line.split() for line in text.strip().splitlines())
    return [Entry(name, int(at), int(size), access, *map(int, values)) for name, at, size, access, *values in rows]


def _indirect(first: int, addresses: int, data: int, count: int, highest: int) -> list[Entry]:
    """Return a bank of indirect addresses and data, from the number of its first one."""
    entries = []
    for k in range(count):
        address = Entry(f"indirect_address_{first + k}", addresses + 2 * k, 2, "RW", data + k, EEPROM_END, highest)
        entries += [address, Entry(f"indirect_data_{first + k}", data + k, 1, "RW", 0, 0, 255)]
    return entries


_X430 = _indirect(1, 168, 224, 28, 661) + _indirect(29, 578, 634, 28, 661)
_X330 = [*_indirect(1, 168, 208, 20, 227), Entry("pwm_slope", 62, 1, "RW", 140, 1, 255)]
_NEWER_X330 = [*_indirect(1, 168, 224, 28, 251), Entry("pwm_slope", 62, 1, "RW", 140, 1, 255)]  # from firmware 53
_P_AFTER_X = 448  # by which the P series' RAM area is behind that of the X series
NEWER_XL330 = 531_200  # asks for an XL330-M288 with the newer firmware's table
ALL_MODES, WITHOUT_CURRENT = (0, 1, 3, 4, 5, 16), (1, 3, 4, 16)


def _model(number: int, rpm: float, current: int | None, indirect: list[Entry], changes: str) -> Model:
    """Return a model: the common table, its own entries, and the rows in which it differs."""
    entries = {entry.name: entry for entry in [*_entries(_COMMON), *indirect]}
    entries["model_number"] = entries["model_number"]._replace(initial=number)
    if current is None:
        entries["present_load"] = Entry("present_load", 126, 2, "R", 0, -1000, 1000)
    else:
        entries["current_limit"] = Entry("current_limit", 38, 2, "RW", current, 0, current)
        entries["goal_current"] = Entry("goal_current", 102, 2, "RW", current, -current, current)
        entries["present_current"] = Entry("present_current", 126, 2, "R", 0, -32768, 32767)
    for changed in _entries(changes):
        entries[changed.name] = changed
    by_address = {entry.address + k: entry for entry in entries.values() for k in range(entry.size)}
    modes, newer = WITHOUT_CURRENT if current is None else ALL_MODES, 46 if indirect in (_X330, _NEWER_X330) else 45
    return Model(number, rpm, modes, newer, entries, by_address)


def _p_model(number: int, rpm: float, current: int) -> Model:
    """Return a model of the P series: its RAM area begins at 512."""
    own = _model(number, rpm, current, [], "")
    entries = {
        name: entry if entry.is_eeprom else entry._replace(address=entry.address + _P_AFTER_X)
        for name, entry in own.entries.items()
        if name not in ("led", "backup_ready")
    }
    by_address = {entry.address + k: entry for entry in entries.values() for k in range(entry.size)}
    return own._replace(entries=entries, at=by_address)


_XL330_M288 = """baud_rate 8 1 RW 1 0 6
            protocol_type 13 1 RW 2 2 22
            temperature_limit 31 1 RW 70 0 100
            max_voltage_limit 32 2 RW 70 31 70
            min_voltage_limit 34 2 RW 35 31 70
            velocity_limit 44 4 RW 445 0 2047
            goal_velocity 104 4 RW 0 -2047 2047
            shutdown 63 1 RW 53 0 63
            velocity_i_gain 76 2 RW 1600 0 16383
            velocity_p_gain 78 2 RW 180 0 16383
            position_p_gain 84 2 RW 400 0 16383
            present_input_voltage 144 2 R 50 0 65535"""


_ROWS = (
    _model(1000, 30, 648, _X430, ""),  # XH430-W350
    _model(1010, 50, 648, _X430, "velocity_limit 44 4 RW 210 0 1023"),  # XH430-W210
    _model(
        1020, 46, 1193, _X430, """velocity_limit 44 4 RW 200 0 1023
            position_p_gain 84 2 RW 800 0 16383""",
    ),  # XM430-W350
    _model(
        1060, 61, None, _X430, """temperature_limit 31 1 RW 72 0 100
            max_voltage_limit 32 2 RW 140 60 140
            min_voltage_limit 34 2 RW 60 60 140
            velocity_limit 44 4 RW 265 0 1023
            velocity_i_gain 76 2 RW 1000 0 16383
            position_d_gain 80 2 RW 4000 0 16383
            position_p_gain 84 2 RW 640 0 16383""",
    ),  # XL430-W250
    _model(1200, 103, 1750, _X330, _XL330_M288),  # XL330-M288
    _p_model(2000, 29, 4500),  # PH42-020-S300
)  # fmt: skip
MODELS: dict[int, Model] = {model.number: model for model in _ROWS}
MODELS[NEWER_XL330] = _model(1200, 103, 1750, _NEWER_X330, _XL330_M288)
