"""Packets and control tables of the independent chain, judged by the vendor's SDK."""

from __future__ import annotations

import random
import time

import pytest
from dynamixel_sdk import COMM_RX_CORRUPT, COMM_RX_TIMEOUT, COMM_SUCCESS, GroupBulkRead, GroupBulkWrite, GroupSyncWrite

from robik.servo.brands.dynamixel.models import MODEL_NAMES
from robik.servo.brands.dynamixel.models import MODELS as OUR_MODELS

from .independent import wire
from .independent_judge import OK, little, opened

pytestmark = pytest.mark.real_time

RESULT_FAIL, INSTRUCTION, RANGE, LENGTH, LIMIT, ACCESS = 1, 2, 4, 5, 6, 7
DRIVE_MODE, MODE, STARTUP, SHUTDOWN, TORQUE, LED = 10, 11, 60, 63, 64, 65
VELOCITY, GOAL, LOAD, POSITION, VOLTS = 112, 116, 126, 132, 144


# packets


def test_packets_are_those_of_the_manual():
    """The examples of the page "DYNAMIXEL Protocol 2.0"."""
    assert wire.instruction(1, 0x01).hex(" ") == "ff ff fd 00 01 03 00 01 19 4e"
    assert wire.status(1, 0, bytes([0x06, 0x04, 0x26])).hex(" ") == "ff ff fd 00 01 07 00 55 00 06 04 26 65 5d"
    assert wire.instruction(1, 0x10, b"\x01DXL\x22")[-2:].hex(" ") == "b1 dc"
    assert wire.instruction(1, 0x20, b"\x01CTRL")[-2:].hex(" ") == "16 f5"
    goals = bytes.fromhex("74 00 04 00 01 96 00 00 00 02 aa 00 00 00")
    assert wire.instruction(0xFE, 0x83, goals)[-2:].hex(" ") == "82 87"
    blocks = [(0, 3, bytes([0xA6, 0, 0, 0])), (0, 7, bytes([0x1F, 8, 0, 0])), (0, 4, bytes([0xFF, 3, 0, 0]))]
    assert wire.fast_status(blocks, 24).hex(" ") == (
        "ff ff fd 00 fe 19 00 55 00 03 a6 00 00 00 84 08 00 07 1f 08 00 00 16 ca 00 04 ff 03 00 00 d1 9e"
    )


def test_packets_are_found_in_any_stream():
    """In pieces of any size, between noise, behind broken ones, and with a header inside."""
    chance = random.Random(1)
    inside = b"\xff\xff\xfd\x00\xff\xff\xfd\xff\xff\xfd"
    data = [chance.randbytes(chance.randrange(9)) + inside for _ in range(50)]
    packets = [wire.Instruction(chance.randrange(253), 3, parameters) for parameters in data]
    broken = bytearray(wire.instruction(9, 3, bytes(8)))
    broken[9] ^= 1
    stream = b"".join(b"\xff\xfd\x00" + bytes(broken) + wire.instruction(*packet) for packet in packets)
    decoder, found = wire.Decoder(), []
    while stream:
        piece, stream = stream[: (size := chance.randint(1, 40))], stream[size:]
        found += [packet for packet, _ in decoder.feed(piece)]
    assert found == packets
    assert decoder.rejected == 50


def test_ping_one_and_all(judge):
    assert judge.sdk.ping(judge.port, 3) == (1000, *OK)
    assert judge.sdk.ping(judge.port, 77)[1] == COMM_RX_TIMEOUT
    assert judge.sdk.broadcastPing(judge.port) == ({id: [1000, 46] for id in (1, 2, 3, 4)}, COMM_SUCCESS)


def test_read_write_and_reg_write(judge):
    assert judge.write(2, LED, 1, 1) == OK
    assert judge.read(2, LED, 1) == 1
    assert judge.sdk.regWriteTxRx(judge.port, 2, LED, 1, [0]) == OK
    assert (judge.read(2, LED, 1), judge.read(2, 69, 1)) == (1, 1)
    assert judge.send(2, 0x05) == 0
    assert (judge.read(2, LED, 1), judge.read(2, 69, 1)) == (0, 0)
    assert judge.send(2, 0x05) == INSTRUCTION  # nothing waits
    assert judge.sdk.regWriteTxRx(judge.port, 2, LED, 1, [2]) == (COMM_SUCCESS, RANGE)


@pytest.mark.parametrize("fast", [False, True])
def test_sync_and_bulk(judge, fast):
    sync, bulk = GroupSyncWrite(judge.port, judge.sdk, GOAL, 4), GroupBulkWrite(judge.port, judge.sdk)
    for id in (1, 2, 3, 4):
        sync.addParam(id, little(1000 + id, 4))
    assert sync.txPacket() == COMM_SUCCESS
    bulk.addParam(2, LED, 1, [1])
    bulk.addParam(3, VELOCITY, 4, little(77, 4))
    assert bulk.txPacket() == COMM_SUCCESS
    group = judge.group(GOAL, 4, (1, 2, 3, 4))
    assert (group.fastSyncRead() if fast else group.txRxPacket()) == COMM_SUCCESS
    assert [group.getData(id, GOAL, 4) for id in (1, 2, 3, 4)] == [1001, 1002, 1003, 1004]
    several = GroupBulkRead(judge.port, judge.sdk)
    several.addParam(2, LED, 1)
    several.addParam(3, VELOCITY, 4)
    several.addParam(1, VOLTS, 2)
    assert (several.fastBulkRead() if fast else several.txRxPacket()) == COMM_SUCCESS
    assert [several.getData(*what) for what in ((2, LED, 1), (3, VELOCITY, 4), (1, VOLTS, 2))] == [1, 77, 120]


def test_one_that_is_missing_leaves_those_behind_it_silent(servos, judge):
    servos.power_off(3)
    group = judge.group(GOAL, 4, (1, 2, 3, 4))
    assert group.txRxPacket() == COMM_RX_TIMEOUT
    assert [bool(group.data_dict[id]) for id in (1, 2, 3, 4)] == [True, True, False, False]
    assert group.fastSyncRead() == COMM_RX_CORRUPT


def test_values_that_look_like_a_header(judge):
    assert judge.write(1, MODE, 1, 4) == OK
    value = int.from_bytes(b"\xff\xff\xfd\xff", "little", signed=True)
    assert judge.write(1, GOAL, 4, value) == OK
    assert judge.read(1, GOAL, 4) == value


def test_errors(judge):
    assert judge.write(1, TORQUE, 1, 2) == (COMM_SUCCESS, RANGE)
    assert judge.write(1, MODE, 1, 2) == (COMM_SUCCESS, RANGE)
    assert judge.write(1, GOAL, 2, 100) == (COMM_SUCCESS, LENGTH)
    assert judge.write(1, POSITION, 4, 100) == (COMM_SUCCESS, ACCESS)
    assert judge.write(1, 14, 1, 1) == (COMM_SUCCESS, ACCESS)
    assert judge.write(1, 102, 2, 649) == (COMM_SUCCESS, LIMIT)
    assert judge.sdk.readTxRx(judge.port, 1, 1000, 2)[1:] == (COMM_SUCCESS, ACCESS)
    assert judge.send(1, 0x77) == INSTRUCTION
    assert judge.send(1, 0x02, b"\x01") == LENGTH
    assert judge.send(1, 0x10, b"\x01") == RANGE
    assert judge.sdk.factoryReset(judge.port, 1, 0x02) == (COMM_SUCCESS, RESULT_FAIL)
    assert judge.read(1, 9, 1) == 0  # nothing was reset


def test_a_wrong_checksum_is_met_with_silence(servos, judge):
    judge.port.writePort(wire.instruction(1, 0x03, bytes([LED, 0, 1]))[:-1] + b"\x00")
    time.sleep(0.05)
    assert judge.port.getBytesAvailable() == 0
    assert judge.read(1, LED, 1) == 0
    assert [event.id for event in servos.log.events(what="wrong checksum")] == [0]


def test_the_eeprom_is_locked_while_torque_is_on(judge):
    assert judge.write(1, TORQUE, 1, 1) == OK
    for address, size, value in ((DRIVE_MODE, 1, 0), (48, 4, 4000), (STARTUP, 1, 1), (SHUTDOWN, 1, 52)):
        assert judge.write(1, address, size, value) == (COMM_SUCCESS, ACCESS)
        assert judge.write(2, address, size, value) == OK
    assert judge.write(1, LED, 1, 1) == OK


@pytest.mark.parametrize(("level", "reads", "writes"), [(0, False, False), (1, True, False), (2, True, True)])
def test_status_return_level(servos, judge, level, reads, writes):
    servos.change(1, status_return_level=level)
    assert judge.sdk.ping(judge.port, 1) == (1000, *OK)
    assert (judge.sdk.read1ByteTxRx(judge.port, 1, LED)[1] == COMM_SUCCESS) is reads
    assert (judge.write(1, LED, 1, 1)[0] == COMM_SUCCESS) is writes
    assert servos.registers(1)["led"] == 1


def test_a_second_id_and_a_broadcast_are_obeyed_in_silence(servos, judge):
    assert judge.write(2, 12, 1, 50) == OK
    for id, value, obey in ((50, 1, {2}), (wire.BROADCAST, 1, {1, 2, 3, 4})):
        judge.port.writePort(wire.instruction(id, wire.WRITE, bytes([LED, 0, value])))
        assert judge.read(3, 7, 1) == 3  # the next answer is to this
        assert {id for id, state in servos.state().items() if state["entries"]["led"]} == obey


def test_answers_wait_for_the_return_delay(servos, judge):
    def fastest():
        times = []
        for _ in range(50):
            begins = time.monotonic()
            assert judge.read(1, LED, 1) == 0
            times.append(time.monotonic() - begins)
        return min(times)

    at_once = fastest()
    assert judge.write(1, 9, 1, 250) == OK  # 500 µs
    assert 0.0003 < fastest() - at_once < 0.001


def test_a_packet_to_another_id_or_at_another_rate_is_not_heard(servos, judge):
    servos.change(2, baud_rate=2)
    assert judge.write(2, LED, 1, 1)[0] == COMM_RX_TIMEOUT
    assert judge.port.setBaudRate(115_200)
    assert judge.write(2, LED, 1, 1) == OK
    assert judge.write(1, LED, 1, 1)[0] == COMM_RX_TIMEOUT
    assert {id: servos.registers(id)["led"] for id in (1, 2, 3)} == {1: 0, 2: 1, 3: 0}


@pytest.mark.parametrize("number", [1000, 1010, 1020, 1060, 1200])
def test_control_tables_agree_with_ours(number):
    """Both are written from the same manual."""
    own = {"id", "baud_rate", "return_delay_time", "goal_position", "present_position", "position_trajectory"}
    moving = {"realtime_tick", "moving_status"}
    ours = OUR_MODELS[MODEL_NAMES[number]]
    with opened(1, model=number) as (_, judge):
        assert judge.sdk.ping(judge.port, 1) == (number, *OK)
        for item in ours.items:
            data, result, error = judge.sdk.readTxRx(judge.port, 1, item.address, item.size)
            assert (result, error) == OK, item.name
            value = int.from_bytes(bytes(data), "little", signed=item.is_signed)
            if item.name not in own | moving:
                assert value == item.initial, item.name
            if item.name not in ("torque_enable", "baud_rate"):
                result, error = judge.sdk.writeTxRx(judge.port, 1, item.address, item.size, list(data))
                assert (result, error) == (COMM_SUCCESS, 0 if item.writable else ACCESS), item.name


@pytest.mark.parametrize(("model", "address", "data"), [(1000, 168, 224), (1000, 578, 634), (1200, 168, 208)])
def test_indirect_entries(model, address, data):
    with opened(1, model=model) as (_, judge):
        for k in range(4):
            assert judge.write(1, address + 2 * k, 2, GOAL + k) == OK
        assert judge.write(1, data, 4, 1234) == OK
        assert judge.read(1, GOAL, 4) == judge.read(1, data, 4) == 1234


def test_a_model_without_a_current_sensor():
    with opened(1, 2, models={2: 1060}) as (servos, judge):
        for id, goal_current in ((1, 0), (2, ACCESS)):
            assert judge.write(id, 102, 2, 100) == (COMM_SUCCESS, goal_current)
        assert judge.write(2, MODE, 1, 5) == (COMM_SUCCESS, RANGE)
        assert judge.write(2, TORQUE, 1, 1) == OK
        servos.sense(2, load=-300)
        assert judge.read(2, LOAD, 2) == -300
