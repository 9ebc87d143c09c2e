"""Packets and values, against the vendor's SDK, its documents, and tables typed in a second time."""

from __future__ import annotations

import random
from math import pi, tau

import pytest
from scservo_sdk import sms_sts

from robik.errors import ServoError
from robik.servo.brands.feetech.models import BAUD_RATES, MODELS, PROBLEMS, TABLE
from robik.servo.brands.registry import brand_of
from robik.servo.brands.tables import own_folder, read_tables
from robik.servo.brands.wired import packet
from robik.servo.brands.wired.packet import Packet, encode, packets, sync_writes
from robik.servo.chain.servo import Servo

from .independent.table import BAUD_RATES as TYPED_RATES
from .independent.table import ENTRIES, FASTEST

THEIR_NAMES = {  # of entries that are called otherwise in the independent table
    "end": "byte_order", "model": "model_number", "return_delay": "return_delay_time", "mode": "operating_mode",
    "min_angle": "min_position_limit", "max_angle": "max_position_limit", "max_temperature": "max_temperature_limit",
    "max_voltage": "max_voltage_limit", "min_voltage": "min_voltage_limit", "max_torque": "max_torque_limit",
    "phase": "phase_bits", "unloading": "unloading_condition", "led_alarm": "led_alarm_condition",
    "p": "p_coefficient", "d": "d_coefficient", "i": "i_coefficient", "start_force": "minimum_startup_force",
    "cw_dead": "cw_dead_zone", "ccw_dead": "ccw_dead_zone", "resolution": "angular_resolution",
    "offset": "homing_offset", "torque": "torque_enable", "acceleration": "goal_acceleration", "goal": "goal_position",
    "time": "goal_time", "speed": "goal_speed", "torque_limit": "goal_torque_limit", "lock": "eeprom_lock",
    "position": "present_position", "velocity": "present_speed", "load": "present_load", "voltage": "present_voltage",
    "temperature": "present_temperature", "waiting": "registered_write", "status": "error_status",
    "moving": "moving_status", "current": "present_current",
}  # fmt: skip


class Recorder:
    """A port for the SDK that keeps what it sends."""

    def __init__(self) -> None:
        self.is_using, self.sent = False, b""

    def clearPort(self) -> None:
        self.sent = b""

    def writePort(self, data: list[int]) -> int:
        self.sent = bytes(data)
        return len(data)

    def setPacketTimeout(self, length: int) -> None:
        return

    def readPort(self, length: int) -> bytes:
        return b""

    def isPacketTimeout(self) -> bool:
        return True


def test_packets_are_those_of_the_makers_table() -> None:
    assert encode(0xFE, 3, bytes([55, 0])).hex(" ").upper() == "FF FF FE 04 03 37 00 C3"
    assert encode(1, 3, bytes([5, 2])).hex(" ").upper() == "FF FF 01 04 03 05 02 F0"
    goal = bytes([0x32, 0xE8, 0x03, 0, 0, 0xE8, 0x03])
    assert encode(1, 3, bytes([0x29]) + goal).hex(" ").upper() == "FF FF 01 0A 03 29 32 E8 03 00 00 E8 03 C0"
    assert encode(1, 2, bytes([56, 2])).hex(" ").upper() == "FF FF 01 04 02 38 02 BE"


def test_packets_are_those_of_the_sdk() -> None:
    port = Recorder()
    sdk = sms_sts(port)
    sdk.ping(7)
    assert port.sent == encode(7, packet.Instruction.PING)
    sdk.readTx(7, 56, 2)
    assert port.sent == encode(7, packet.Instruction.READ, bytes([56, 2]))
    port.is_using = False
    sdk.syncReadTx(40, 26, [1, 2, 9], 3)
    assert port.sent == packet.sync_read(40, 26, [1, 2, 9])
    port.is_using = False
    for id, position in ((1, 2048), (9, 4095)):
        sdk.SyncWritePosEx(id, position, 500, 0)
    sdk.groupSyncWrite.txPacket()
    blocks = [
        bytes(1) + TABLE["goal_position"].encode(p) + bytes(2) + TABLE["goal_speed"].encode(500) for p in (2048, 4095)
    ]
    assert [port.sent] == list(sync_writes(41, 7, blocks, [1, 9]))


def test_many_servos_take_several_packets() -> None:
    ids = list(range(80))
    made = list(sync_writes(42, 6, [bytes(6)] * 80, ids))
    assert [len(one) for one in made] == [246, 246, 92]
    said = [p.parameters[2::7] for data in made for p, _ in packets(data)]
    assert b"".join(said) == bytes(ids)


def test_packets_are_found_in_any_noise() -> None:
    chance = random.Random(3)
    wanted = [
        Packet(chance.randrange(253), chance.randrange(64), chance.randbytes(chance.randrange(40))) for _ in range(300)
    ]
    data = b"".join(
        b"\xff" * chance.randrange(3) + encode(*one) + bytes([0, 1])[: chance.randrange(3)] for one in wanted
    )
    assert [found for found, _ in packets(data)] == wanted
    broken = bytearray(encode(5, 0, b"abc"))
    broken[6] ^= 4
    assert list(packets(bytes(broken))) == []


@pytest.mark.parametrize(("entry", "bit"), [("present_position", 15), ("homing_offset", 11), ("present_load", 10)])
def test_signs_are_a_bit_and_a_magnitude(entry: str, bit: int) -> None:
    sdk, item = sms_sts(Recorder()), TABLE[entry]
    for value in (0, 1, -1, 777, -777, 2**bit - 1 if bit < 15 else 32766):
        raw = int.from_bytes(item.encode(value), "little")
        assert sdk.scs_tohost(raw, bit) == value == item.decode(raw.to_bytes(2, "little"))
    assert item.encode(-5) == (5 | 1 << bit).to_bytes(2, "little")


def test_tables_are_those_typed_in_again() -> None:
    assert PROBLEMS == []
    for name, typed in ENTRIES.items():
        item = TABLE[THEIR_NAMES.get(name, name)]
        kept = (item.address, item.size, item.writable, item.initial if name != "model" else 777, item.sign_bit or 0)
        assert kept == (typed.address, typed.size, typed.access == "RW", typed.initial, typed.sign), name
    assert set(TABLE) == {THEIR_NAMES.get(name, name) for name in ENTRIES} | {
        "speed_p_coefficient", "speed_i_coefficient", "over_current_protection_time"
    }  # fmt: skip
    assert BAUD_RATES == TYPED_RATES


def test_models() -> None:
    numbers = {"STS3215": 777, "STS3250": 2825, "STS3036": 521, "SM8512BL": 11272}
    assert {name: model.number for name, model in MODELS.items()} == numbers
    brand = brand_of("feetech")
    assert set(brand.playable) == {"STS3215", "STS3250"}
    for name in brand.playable:
        assert MODELS[name].max_speed == pytest.approx(FASTEST[numbers[name]] / 4096 * tau, rel=0.005)
    tables, _ = read_tables(own_folder("feetech"))
    assert sorted(table.name for table in tables) == sorted(MODELS)
    assert not brand.has_watchdog


def test_a_chain_stays_within_the_turn_that_a_servo_knows() -> None:
    one = Servo("a", 1, "STS3215", brand="feetech", position_limits=(-pi / 2, pi / 2), velocity_limit=5.0)
    assert one.velocity_units(5.0) == 3260
    with pytest.raises(ServoError, match="are counts 2876 to 4924, and an STS3215 counts from 0 to 4095"):
        Servo("a", 1, "STS3215", brand="feetech", zero=3900, position_limits=(-pi / 2, pi / 2))
    with pytest.raises(ServoError, match="unknown model 'XH430-W350'; the models are STS3215, STS3250"):
        Servo("a", 1, "XH430-W350", brand="feetech")
