"""The control table of the STS series, from Feetech's memory table of the STS3215 (V3.6): name, address, size, whether
it may be written, value at the start, and the bit that makes the rest negative."""

from __future__ import annotations

from typing import NamedTuple

BAUD_RATES = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)
FULL_TURN = 4096
RAM = 40  # the first address that is not kept without power
FASTEST = {777: 3400.0, 2825: 5132.0}  # [counts/s] without load, by model number


class Entry(NamedTuple):
    """One entry."""

    name: str
    address: int
    size: int
    access: str
    initial: int
    sign: int = 0  # bit; 0 for none

    def put(self, value: int) -> bytes:
        """Return a value as bytes, low byte first."""
        bits = -value + 2**self.sign if value < 0 else value
        return bytes(bits >> 8 * k & 0xFF for k in range(self.size))

    def take(self, data: bytes) -> int:
        """Return the value of bytes."""
        bits = sum(byte << 8 * k for k, byte in enumerate(data))
        return 2**self.sign - bits if self.sign and bits >= 2**self.sign else bits


_TEXT = """
firmware_major 0 1 R 3
firmware_minor 1 1 R 6
end 2 1 R 0
model 3 2 R 777
id 5 1 RW 1
baud_rate 6 1 RW 0
return_delay 7 1 RW 0
response_level 8 1 RW 1
min_angle 9 2 RW 0
max_angle 11 2 RW 4095
max_temperature 13 1 RW 70
max_voltage 14 1 RW 80
min_voltage 15 1 RW 40
max_torque 16 2 RW 1000
phase 18 1 RW 12
unloading 19 1 RW 44
led_alarm 20 1 RW 47
p 21 1 RW 32
d 22 1 RW 32
i 23 1 RW 0
start_force 24 2 RW 16
cw_dead 26 1 RW 1
ccw_dead 27 1 RW 1
protection_current 28 2 RW 500
resolution 30 1 RW 1
offset 31 2 RW 0 11
mode 33 1 RW 0
protective_torque 34 1 RW 20
protection_time 35 1 RW 200
overload_torque 36 1 RW 80
torque 40 1 RW 0
acceleration 41 1 RW 0
goal 42 2 RW 0 15
time 44 2 RW 0
speed 46 2 RW 0 15
torque_limit 48 2 RW 1000
lock 55 1 RW 0
position 56 2 R 0 15
velocity 58 2 R 0 15
load 60 2 R 0 10
voltage 62 1 R 74
temperature 63 1 R 30
waiting 64 1 R 0
status 65 1 R 0
moving 66 1 R 0
current 69 2 R 0 15
"""
_ROWS = [line.split() for line in _TEXT.split("\n") if line]
ENTRIES = {row[0]: Entry(row[0], int(row[1]), int(row[2]), row[3], *map(int, row[4:])) for row in _ROWS}
