"""The control tables of Protocol 1.0, from the e-Manual: name, address, size, whether it may be written, value at
the start, and the bit that makes the rest clockwise."""

from __future__ import annotations

from typing import NamedTuple

from tests.servo.feetech.independent.table import Entry

RAM = 24  # the first address that is not kept without power
BAUD_CODES = {
    1_000_000: 1, 500_000: 3, 400_000: 4, 250_000: 7, 200_000: 9, 115_200: 16, 57_600: 34, 19_200: 103, 9_600: 207,
    2_250_000: 250, 2_500_000: 251, 3_000_000: 252,
}  # fmt: skip
BAUD_RATES = {code: rate for rate, code in BAUD_CODES.items()}

_COMMON = """
model 0 2 R 0
firmware 2 1 R 0
id 3 1 RW 1
baud_rate 4 1 RW 1
return_delay 5 1 RW 250
cw_limit 6 2 RW 0
ccw_limit 8 2 RW 1023
max_temperature 11 1 RW 70
min_voltage 12 1 RW 60
max_voltage 13 1 RW 140
max_torque 14 2 RW 1023
return_level 16 1 RW 2
alarm_led 17 1 RW 36
shutdown 18 1 RW 36
torque 24 1 RW 0
led 25 1 RW 0
goal 30 2 RW 0
speed 32 2 RW 0
torque_limit 34 2 RW 1023
position 36 2 R 0
velocity 38 2 R 0 10
load 40 2 R 0 10
voltage 42 1 R 111
temperature 43 1 R 30
waiting 44 1 R 0
moving 46 1 R 0
lock 47 1 RW 0
punch 48 2 RW 32
"""
_COMPLIANCE = """
cw_margin 26 1 RW 1
ccw_margin 27 1 RW 1
cw_slope 28 1 RW 32
ccw_slope 29 1 RW 32
"""
_GAINS = """
offset 20 2 RW 0
divider 22 1 RW 1
d 26 1 RW 0
i 27 1 RW 0
p 28 1 RW 32
tick 50 2 R 0
acceleration 73 1 RW 0
"""
_TORQUE = """
current 68 2 RW 2048
torque_mode 70 1 RW 0
goal_torque 71 2 RW 0
"""
_DRIVE = """
drive_mode 10 1 RW 0
"""
_SENSED = """
current 56 2 R 512
"""


class Model(NamedTuple):
    """A servo model.

    Attributes:
        number: that it reports.
        name: as ROBOTIS calls it.
        entries: of its control table, by name.
        turn: counts of its turn, and the degrees that they are.
        rpm: without load.
        unit: of its speeds [rev/min].
    """

    number: int
    name: str
    entries: dict[str, Entry]
    turn: tuple[int, float]
    rpm: float
    unit: float

    @property
    def counts_per_degree(self) -> float:
        """Counts of a degree."""
        return self.turn[0] / self.turn[1]


def _entries(text: str, **initial: int) -> dict[str, Entry]:
    rows = [line.split() for line in text.split("\n") if line]
    made = {row[0]: Entry(row[0], int(row[1]), int(row[2]), row[3], *map(int, row[4:])) for row in rows}
    for name, value in initial.items():
        made[name] = made[name]._replace(initial=value)
    return made


_AX, _EX = (1024, 300.0), (4096, 250.92)
_RX = {"baud_rate": 34, "max_temperature": 80, "max_voltage": 190, "voltage": 148}
_MX = {"baud_rate": 34, "ccw_limit": 4095, "max_temperature": 80, "max_voltage": 160, "voltage": 120, "punch": 0}
_ROWS = (
    (12, "AX-12A", _COMMON + _COMPLIANCE, {}, _AX, 59.0, 0.111),
    (18, "AX-18A", _COMMON + _COMPLIANCE, {"max_temperature": 75, "max_torque": 983}, _AX, 97.0, 0.111),
    (300, "AX-12W", _COMMON + _COMPLIANCE, dict.fromkeys(("cw_margin", "ccw_margin"), 4)
     | dict.fromkeys(("cw_slope", "ccw_slope"), 64), _AX, 54.0, 0.111),
    (24, "RX-24F", _COMMON + _COMPLIANCE, _RX, _AX, 126.0, 0.111),
    (28, "RX-28", _COMMON + _COMPLIANCE, _RX, _AX, 85.0, 0.111),
    (64, "RX-64", _COMMON + _COMPLIANCE, _RX, _AX, 64.0, 0.111),
    (107, "EX-106+", _COMMON + _COMPLIANCE + _DRIVE + _SENSED,
     _RX | {"ccw_limit": 4095, "max_voltage": 240, "punch": 0}, _EX, 91.0, 0.111),
    (360, "MX-12W", _COMMON + _GAINS, _MX | {"baud_rate": 1, "d": 8, "p": 8, "punch": 32}, (4096, 360.0), 470.0, 0.916),
    (29, "MX-28", _COMMON + _GAINS, _MX, (4096, 360.0), 55.0, 0.114),
    (310, "MX-64", _COMMON + _GAINS + _TORQUE, _MX | {"max_voltage": 240}, (4096, 360.0), 63.0, 0.114),
    (320, "MX-106", _COMMON + _GAINS + _TORQUE + _DRIVE, _MX, (4096, 360.0), 45.0, 0.114),
)  # fmt: skip
MODELS = {
    number: Model(number, name, _entries(text, model=number, **initial), *figures)
    for number, name, text, initial, *figures in _ROWS
}
