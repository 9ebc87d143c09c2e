"""The vendor's SDK, used directly, is the judge of the simulated chain: every instruction, every entry, good and bad
packets."""

from __future__ import annotations

import random

import pytest
from dynamixel_sdk import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupBulkRead,
    GroupBulkWrite,
    GroupSyncRead,
    GroupSyncWrite,
)

from robik.servo.brands.dynamixel.brand import DYNAMIXEL
from robik.servo.brands.dynamixel.models import MODELS
from robik.servo.brands.dynamixel.simulator.packet import encode
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo

from .vendor_sdk import ACCESS, CRC, INSTRUCTION, LENGTH, LIMIT, OK, RANGE, little, send_raw


def test_ping_one_and_all(sdk, port):
    assert sdk.ping(port, 7) == (1010, *OK)
    assert sdk.ping(port, 77)[1] == COMM_RX_TIMEOUT
    found, result = sdk.broadcastPing(port)
    assert result == COMM_SUCCESS
    assert found == {id: [1010, 46] for id in range(1, 13)}


def test_every_entry_reads_as_from_the_factory(sdk, port, simulator):
    own = {
        "id": 3,
        "baud_rate": 3,
        "return_delay_time": 0,
        "goal_position": 2048,
        "present_position": 2048,
        "position_trajectory": 2048,
    }
    for item in MODELS["XH430-W210"].items:
        if item.name in ("realtime_tick", "moving_status"):
            continue
        data, result, error = sdk.readTxRx(port, 3, item.address, item.size)
        assert (result, error) == OK
        value = int.from_bytes(bytes(data), "little", signed=item.is_signed)
        assert value == own.get(item.name, item.initial), item.name


def test_every_access_right(sdk, port):
    """What is writable takes its own value back; what is not, and what is kept while torque is on, refuses."""
    table = [i for i in MODELS["XH430-W210"].items if i.name not in ("torque_enable", "baud_rate", "id")]
    for torque in (0, 1):
        assert sdk.write1ByteTxRx(port, 2, 64, torque) == OK
        for item in table:
            data = sdk.readTxRx(port, 2, item.address, item.size)[0]
            error = sdk.writeTxRx(port, 2, item.address, item.size, list(data))[1]
            refused = not item.writable or (torque and item.address < 64)
            assert error == (ACCESS if refused else 0), (item.name, torque)


@pytest.mark.parametrize("name", DYNAMIXEL.playable)
def test_every_models_factory_values_and_access_rights(name, sdk_of):
    """What is writable takes its own value back, the rest refuses, as does the EEPROM with torque on; what only reports
    is not judged by its value."""
    with sdk_of(ServoChain((Servo("one", 1, name),))) as (sdk, port):
        assert sdk.ping(port, 1) == (MODELS[name].number, *OK)
        for item in MODELS[name].items:
            data, result, error = sdk.readTxRx(port, 1, item.address, item.size)
            assert (result, error) == OK, item.name
            if item.name in ("torque_enable", "baud_rate", "id"):
                continue
            if item.writable and item.name != "return_delay_time":
                assert int.from_bytes(bytes(data), "little", signed=item.is_signed) == {"goal_position": 2048}.get(
                    item.name, item.initial
                )
            error = sdk.writeTxRx(port, 1, item.address, item.size, list(data))[1]
            assert error == (0 if item.writable else ACCESS), item.name
        assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
        for item in MODELS[name].items:
            if item.name == "torque_enable":
                continue
            data = sdk.readTxRx(port, 1, item.address, item.size)[0]
            error = sdk.writeTxRx(port, 1, item.address, item.size, list(data))[1]
            assert error == (0 if item.writable and item.address >= 64 else ACCESS), item.name


def test_the_forms_that_do_not_wait_for_an_answer(sdk, port):
    """The servo answers all the same."""
    for sent in (
        lambda: sdk.write1ByteTxOnly(port, 3, 65, 1),
        lambda: sdk.write2ByteTxOnly(port, 3, 84, 321),
        lambda: sdk.write4ByteTxOnly(port, 3, 116, 2222),
    ):
        assert sent() == COMM_SUCCESS
        port.rest()
    assert sdk.read1ByteTxRx(port, 3, 65) == (1, *OK)
    assert sdk.read2ByteTxRx(port, 3, 84) == (321, *OK)
    assert sdk.read4ByteTx(port, 3, 116) == COMM_SUCCESS
    assert sdk.read4ByteRx(port, 3) == (2222, *OK)
    assert sdk.regWriteTxOnly(port, 3, 65, 1, [0]) == COMM_SUCCESS
    port.rest()
    assert sdk.action(port, 0xFE) == COMM_SUCCESS
    assert sdk.read1ByteTxRx(port, 3, 65) == (0, *OK)


def test_addresses_without_an_entry_and_parts_of_entries(sdk, port):
    for address, size in ((14, 1), (66, 2), (147, 4), (1000, 1)):
        assert sdk.readTxRx(port, 1, address, size)[1:] == (COMM_SUCCESS, ACCESS)
    assert sdk.write2ByteTxRx(port, 1, 116, 100) == (COMM_SUCCESS, LENGTH)
    assert sdk.write2ByteTxRx(port, 1, 117, 100) == (COMM_SUCCESS, LENGTH)
    assert sdk.write1ByteTxRx(port, 1, 67, 1) == (COMM_SUCCESS, ACCESS)
    assert sdk.readTxRx(port, 1, 133, 1) == ([8], *OK)  # a part may be read
    assert sdk.writeTxRx(port, 1, 108, 12, little(10, 4) + little(20, 4) + little(2100, 4)) == OK  # a run of entries
    assert sdk.readTxRx(port, 1, 108, 12)[0] == little(10, 4) + little(20, 4) + little(2100, 4)


def test_ranges_and_limits(sdk, port):
    assert sdk.write1ByteTxRx(port, 1, 64, 2) == (COMM_SUCCESS, RANGE)
    assert sdk.write1ByteTxRx(port, 1, 31, 101) == (COMM_SUCCESS, RANGE)
    assert sdk.write4ByteTxRx(port, 1, 48, 3000) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 3001) == (COMM_SUCCESS, LIMIT)
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == OK
    assert sdk.write4ByteTxRx(port, 1, 104, 361) == (COMM_SUCCESS, LIMIT)
    assert sdk.write2ByteTxRx(port, 1, 102, 649) == (COMM_SUCCESS, RANGE)
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK  # over several turns there are no limits
    assert sdk.write4ByteTxRx(port, 1, 116, 2**32 - 90_000) == OK


def test_stuffed_values_arrive(sdk, port):
    """FF FF FD inside a value is a header if nobody takes care of it."""
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK
    value = 0xFFFDFFFF - 2**32  # bytes FF FF FD FF
    assert sdk.write4ByteTxRx(port, 1, 116, value & 0xFFFFFFFF) == OK
    data, result, error = sdk.readTxRx(port, 1, 116, 4)
    assert (data, result, error) == ([0xFF, 0xFF, 0xFD, 0xFF], *OK)


def test_reg_write_and_action(sdk, port):
    assert send_raw(port, encode(4, 0x05, b""))[0].parameters[0] == INSTRUCTION  # nothing registered
    assert sdk.regWriteTxRx(port, 4, 65, 1, [1]) == OK
    assert sdk.read1ByteTxRx(port, 4, 65) == (0, *OK)
    assert sdk.read1ByteTxRx(port, 4, 69) == (1, *OK)
    assert sdk.action(port, 4) == COMM_SUCCESS
    port.rest()  # the SDK does not read the answer to this one
    assert sdk.read1ByteTxRx(port, 4, 65) == (1, *OK)
    assert sdk.read1ByteTxRx(port, 4, 69) == (0, *OK)
    assert sdk.regWriteTxRx(port, 4, 65, 1, [2]) == (COMM_SUCCESS, RANGE)


def test_sync_and_bulk_write_then_read(sdk, port):
    sync = GroupSyncWrite(port, sdk, 116, 4)
    for id in range(1, 13):
        assert sync.addParam(id, little(1000 + id, 4))
    assert sync.txPacket() == COMM_SUCCESS
    bulk = GroupBulkWrite(port, sdk)
    assert bulk.addParam(2, 65, 1, [1])
    assert bulk.addParam(3, 112, 4, little(77, 4))
    assert bulk.txPacket() == COMM_SUCCESS
    for fast in (False, True):
        read = GroupSyncRead(port, sdk, 116, 4)
        for id in range(1, 13):
            read.addParam(id)
        assert (read.fastSyncRead() if fast else read.txRxPacket()) == COMM_SUCCESS
        assert [read.getData(id, 116, 4) for id in range(1, 13)] == [1000 + id for id in range(1, 13)]
        several = GroupBulkRead(port, sdk)
        several.addParam(2, 65, 1)
        several.addParam(3, 112, 4)
        several.addParam(1, 144, 2)
        assert (several.fastBulkRead() if fast else several.txRxPacket()) == COMM_SUCCESS
        assert (several.getData(2, 65, 1), several.getData(3, 112, 4), several.getData(1, 144, 2)) == (1, 77, 120)


def test_a_missing_servo_in_a_group_read(sdk, port, simulator):
    simulator.command("silent 5")
    read = GroupSyncRead(port, sdk, 132, 4)
    for id in range(1, 13):
        read.addParam(id)
    assert read.txRxPacket() == COMM_RX_TIMEOUT
    assert read.fastSyncRead() in (COMM_RX_TIMEOUT, COMM_RX_CORRUPT)
    simulator.command("answer 5")
    assert read.txRxPacket() == COMM_SUCCESS


def test_older_firmware_knows_no_fast_reads(sdk, port, simulator):
    simulator.command("set 5 firmware_version 44")
    read, several = GroupSyncRead(port, sdk, 132, 4), GroupBulkRead(port, sdk)
    for id in (4, 5):
        read.addParam(id)
        several.addParam(id, 132, 4)
    for group, fast in ((read, read.fastSyncRead), (several, several.fastBulkRead)):
        assert fast() in (COMM_RX_TIMEOUT, COMM_RX_CORRUPT)
        assert group.txRxPacket() == COMM_SUCCESS
        assert group.getData(5, 132, 4) == 2048


def test_status_return_level(sdk, port):
    for level, reads, writes in ((0, False, False), (1, True, False), (2, True, True)):
        sdk.write1ByteTxOnly(port, 6, 68, level)
        port.rest()
        assert sdk.ping(port, 6)[1] == COMM_SUCCESS
        assert (sdk.read1ByteTxRx(port, 6, 7)[1] == COMM_SUCCESS) is reads
        assert (sdk.write1ByteTxRx(port, 6, 65, 0)[0] == COMM_SUCCESS) is writes


def test_bad_packets(sdk, port, simulator):
    broken = bytearray(encode(1, 0x03, bytes([65, 0, 1])))
    broken[-1] ^= 0x01
    assert [(p.id, p.parameters[0]) for p in send_raw(port, bytes(broken))] == [(1, CRC)]
    assert sdk.read1ByteTxRx(port, 1, 65) == (0, *OK)
    assert send_raw(port, encode(1, 0x77, b""))[0].parameters[0] == INSTRUCTION
    assert send_raw(port, encode(1, 0x02, b"\x00"))[0].parameters[0] == LENGTH
    assert send_raw(port, encode(1, 0x02, bytes([0, 0, 0, 0])))[0].parameters[0] == LENGTH
    for group in (0x82, 0x83, 0x8A, 0x92, 0x93, 0x9A):
        assert send_raw(port, encode(0xFE, group, b"\x01")) == []
        assert send_raw(port, encode(3, group, bytes(12))) == []
    send_raw(port, random.Random(3).randbytes(500))
    simulator.let_pass(0.006)  # what they take for the rest of a packet never comes
    assert sdk.ping(port, 1) == (1010, *OK)
