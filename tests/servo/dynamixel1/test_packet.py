"""Packets and tables, against the e-Manual's examples, the vendor's SDK, and tables typed in a second time."""

from __future__ import annotations

from math import pi, radians, tau

import pytest
from dynamixel_sdk import GroupSyncWrite, Protocol1PacketHandler

from robik.errors import ServoError
from robik.servo.brands.dynamixel1.models import BAUD_CODES, BAUD_RATES, MODELS, PROBLEMS, TABLE
from robik.servo.brands.dynamixel1.wire import Dynamixel1Wire
from robik.servo.brands.registry import brand_of
from robik.servo.brands.tables import own_folder, read_tables
from robik.servo.brands.wired.packet import Instruction, encode, sync_writes
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import read_chain
from robik.servo.chain.servo import Servo
from robik.servo.setup.setup import edited, turned_round

from .independent.table import BAUD_CODES as TYPED_CODES
from .independent.table import MODELS as TYPED

THEIR_NAMES = {  # of entries that are called otherwise in the independent table
    "model": "model_number", "firmware": "firmware_version", "return_delay": "return_delay_time",
    "cw_limit": "cw_angle_limit", "ccw_limit": "ccw_angle_limit", "max_temperature": "temperature_limit",
    "min_voltage": "min_voltage_limit", "max_voltage": "max_voltage_limit", "return_level": "status_return_level",
    "torque": "torque_enable", "goal": "goal_position", "speed": "moving_speed", "position": "present_position",
    "velocity": "present_speed", "load": "present_load", "voltage": "present_voltage",
    "temperature": "present_temperature", "waiting": "registered_instruction", "cw_margin": "cw_compliance_margin",
    "ccw_margin": "ccw_compliance_margin", "cw_slope": "cw_compliance_slope", "ccw_slope": "ccw_compliance_slope",
    "offset": "multi_turn_offset", "divider": "resolution_divider", "d": "d_gain", "i": "i_gain", "p": "p_gain",
    "tick": "realtime_tick", "acceleration": "goal_acceleration", "torque_mode": "torque_control_mode",
    "current": "consumed_current",
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


def test_packets_are_those_of_the_e_manual() -> None:
    assert encode(1, Instruction.PING).hex(" ") == "ff ff 01 02 01 fb"
    assert encode(1, Instruction.READ, bytes([43, 1])).hex(" ") == "ff ff 01 04 02 2b 01 cc"
    assert encode(0xFE, Instruction.WRITE, bytes([3, 1])).hex(" ") == "ff ff fe 04 03 03 01 f6"
    position, speed = TABLE["goal_position"], TABLE["moving_speed"]
    blocks = [position.encode(p) + speed.encode(s) for p, s in ((0x010, 0x150), (0x220, 0x360))]
    (packet,) = sync_writes(position.address, 4, blocks, [0, 1])
    assert packet.hex(" ") == "ff ff fe 0e 83 1e 04 00 10 00 50 01 01 20 02 60 03 67"


def test_packets_are_those_of_the_sdk() -> None:
    port, sdk = Recorder(), Protocol1PacketHandler()
    sdk.readTx(port, 7, 24, 20)
    assert port.sent == encode(7, Instruction.READ, bytes([24, 20]))
    port.is_using = False
    group = GroupSyncWrite(port, sdk, 30, 4)
    for id in (1, 9):
        group.addParam(id, [0, 2, 16, 0])
    group.txPacket()
    assert [port.sent] == list(sync_writes(30, 4, [bytes([0, 2, 16, 0])] * 2, [1, 9]))


def test_no_packet_is_longer_than_the_servos_buffer() -> None:
    ids = list(range(60))
    made = list(sync_writes(30, 4, [bytes(4)] * 60, ids, Dynamixel1Wire.longest))
    assert [len(one) for one in made] == [143, 143, 38]


@pytest.mark.parametrize("number", sorted(TYPED))
def test_a_models_table_is_the_one_typed_in_a_second_time(number: int) -> None:
    typed = TYPED[number]
    model = MODELS[typed.name]
    assert model.number == number
    names = {
        THEIR_NAMES.get(name, name) if number != 107 or name != "current" else "sensed_current"
        for name in typed.entries
    }
    assert set(model.table) == names
    for name, entry in typed.entries.items():
        item = model.table["sensed_current" if number == 107 and name == "current" else THEIR_NAMES.get(name, name)]
        assert (item.address, item.size, "RW" if item.writable else "R") == (entry.address, entry.size, entry.access)
        if name != "firmware":
            assert item.initial == entry.initial, name
        for value in (1, 1000, -1, -1000) if entry.sign else (0, 1):
            assert item.encode(value) == entry.put(value)
            assert item.decode(entry.put(value)) == value
    assert model.max_speed == pytest.approx(typed.rpm / 60 * tau)
    assert model.velocity_unit == pytest.approx(typed.unit / 60 * tau)
    assert model.counts_per_turn / 360 == pytest.approx(typed.counts_per_degree, rel=1e-5)
    sheet = brand_of("dynamixel1").models[typed.name]
    assert (sheet.centre, sheet.farthest) == (typed.turn[0] // 2, typed.turn[0] - 1)


def test_no_model_is_missing_and_rates_have_their_codes() -> None:
    assert not PROBLEMS
    tables, _ = read_tables(own_folder("dynamixel1"))
    assert {table.name for table in tables} == set(MODELS) == {one.name for one in TYPED.values()}
    assert set(brand_of("dynamixel1").playable) == set(MODELS)
    assert dict(zip(BAUD_RATES, BAUD_CODES, strict=True)) == TYPED_CODES
    for rate, code in TYPED_CODES.items():  # by the e-Manual's rule where there is one
        assert code >= 250 or 2_000_000 / (code + 1) == pytest.approx(rate, rel=0.03)


def test_a_chain_knows_three_hundred_degrees() -> None:
    one = default_chain(("a",), model="AX-12A", brand="dynamixel1").servos[0]
    assert (one.zero, one.velocity_limit) == (512, pytest.approx(59 / 60 * tau))
    assert one.position_limits == pytest.approx((radians(-150.0), radians(150.0 * 511 / 512)))
    assert one.velocity_units(radians(0.666)) == 1
    assert one.velocity_units(radians(0.667)) == 2
    assert one.zero + one.counts_per_unit * radians(150.0) == pytest.approx(1024)
    with pytest.raises(ServoError, match="are counts -102 to 1126, and an AX-12A counts from 0 to 1023"):
        Servo("a", 1, "AX-12A", brand="dynamixel1", zero=512, position_limits=(-pi, pi), velocity_limit=5.0)
    whole = ServoChain((one,))
    assert turned_round(whole, 1).count_limits.tolist() == [[1, 1024]]  # the servo's own limits keep goals below that
    data = {"format": "robik-servos", "version": 1, "brand": "dynamixel1", "servos": [{"actuator": "a", "id": 1}]}
    assert read_chain(data, "a file").servos[0].position_limits == one.position_limits


def test_a_servo_that_becomes_another_model_keeps_its_angles() -> None:
    chain = default_chain(("a", "b"), {"a": (-1.0, 1.0)})
    made = edited(chain, 1, brand="dynamixel1", model="AX-12A")
    assert [(one.brand, one.model, one.zero) for one in made.servos] == [("dynamixel1", "AX-12A", 512)] * 2
    assert made.servos[0].position_limits == (-1.0, 1.0)
    assert made.servos[1].position_limits == pytest.approx((radians(-150.0), radians(150.0 * 511 / 512)))
    quarter = edited(chain, 1, zero=2048 + 1024)
    assert edited(quarter, 1, brand="dynamixel1", model="MX-28").servos[0].zero == 3072
    assert edited(quarter, 1, brand="dynamixel1", model="AX-12A").servos[0].zero == 512 + 307
