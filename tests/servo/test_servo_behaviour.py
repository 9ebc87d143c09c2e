"""What a simulated servo does beyond answering, judged by the vendor's SDK: reboots, resets, ids, indirect addresses,
watchdog, motion."""

from __future__ import annotations

import time

import pytest
from dynamixel_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS

from robik.errors import ServoError

from .vendor_sdk import ACCESS, ALERT, AWAKE, LENGTH, LIMIT, OK, RANGE, RESULT_FAIL, little


def test_alert_bit_shutdown_and_reboot(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == OK
    simulator.command("error 9 0x20")
    assert sdk.read1ByteTxRx(port, 9, 70) == (0x20, COMM_SUCCESS, ALERT)
    assert sdk.read1ByteTxRx(port, 9, 64)[0] == 0
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == (COMM_SUCCESS, ALERT | RESULT_FAIL)
    assert sdk.reboot(port, 9) == OK
    assert sdk.ping(port, 9)[1] == COMM_RX_TIMEOUT  # it wakes up first
    simulator.let_pass(AWAKE)
    assert sdk.read1ByteTxRx(port, 9, 70) == (0, *OK)
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == OK


def test_reboot_keeps_the_eeprom_and_forgets_the_rest(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 1, 31, 60) == OK
    assert sdk.write1ByteTxRx(port, 1, 65, 1) == OK
    assert sdk.reboot(port, 1) == OK
    simulator.let_pass(AWAKE)
    assert sdk.read1ByteTxRx(port, 1, 31)[0] == 60
    assert sdk.read1ByteTxRx(port, 1, 65)[0] == 0


def test_factory_reset(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 8, 31, 60) == OK
    assert sdk.factoryReset(port, 0xFE, 0xFF)[0] == COMM_SUCCESS  # to all, of all: not done
    assert sdk.read1ByteTxRx(port, 8, 31)[0] == 60
    assert sdk.factoryReset(port, 8, 0x03) == (COMM_SUCCESS, RANGE)
    assert sdk.factoryReset(port, 8, 0x02) == OK
    simulator.let_pass(AWAKE)
    assert sdk.read1ByteTxRx(port, 8, 31)[0] == 80
    assert sdk.factoryReset(port, 8, 0x01)[0] == COMM_SUCCESS
    simulator.let_pass(AWAKE)
    assert sdk.ping(port, 8)[1] == COMM_RX_TIMEOUT  # at 57,600 baud again
    assert port.setBaudRate(57_600)
    assert sdk.ping(port, 8) == (1010, *OK)
    assert sdk.ping(port, 7)[1] == COMM_RX_TIMEOUT


def test_id_baud_rate_and_return_delay(sdk, port):
    assert sdk.write1ByteTxRx(port, 12, 7, 200) == OK
    assert sdk.ping(port, 200)[1] == COMM_SUCCESS
    assert sdk.write1ByteTxRx(port, 200, 9, 254) == OK
    started = time.monotonic()
    for _ in range(20):
        assert sdk.ping(port, 200)[1] == COMM_SUCCESS
    assert time.monotonic() - started > 20 * 254 * 2e-6
    assert sdk.write1ByteTxRx(port, 200, 8, 4) == OK
    assert sdk.ping(port, 200)[1] == COMM_RX_TIMEOUT
    assert port.setBaudRate(2_000_000)
    assert sdk.ping(port, 200)[1] == COMM_SUCCESS


def test_shadow_id_obeys_without_answering(sdk, port):
    for id in (1, 2):
        assert sdk.write1ByteTxRx(port, id, 12, 100) == OK
    assert sdk.write1ByteTxRx(port, 100, 65, 1)[0] == COMM_RX_TIMEOUT
    assert [sdk.read1ByteTxRx(port, id, 65)[0] for id in (1, 2, 3)] == [1, 1, 0]


def test_indirect_addresses(sdk, port):
    """Goal and profile velocity side by side through indirect data, both banks; the entries' own rules hold."""
    for bank, (address, data) in enumerate(((168, 224), (578, 634))):
        for k, target in enumerate((116, 117, 118, 119, 112, 113, 114, 115)):
            assert sdk.write2ByteTxRx(port, 10, address + 2 * k, target) == OK
        values = little(1500 + bank, 4) + little(44 + bank, 4)
        assert sdk.writeTxRx(port, 10, data, 8, values) == OK
        assert sdk.readTxRx(port, 10, data, 8)[0] == values
        assert sdk.read4ByteTxRx(port, 10, 116)[0] == 1500 + bank
        assert sdk.read4ByteTxRx(port, 10, 112)[0] == 44 + bank
    assert sdk.write4ByteTxRx(port, 10, 224, 9999) == (COMM_SUCCESS, LIMIT)
    assert sdk.write2ByteTxRx(port, 10, 224, 1) == (COMM_SUCCESS, LENGTH)
    assert sdk.write2ByteTxRx(port, 10, 168, 63) == (COMM_SUCCESS, RANGE)  # the EEPROM is not to be had this way
    assert sdk.write2ByteTxRx(port, 10, 168, 132) == OK
    assert sdk.write1ByteTxRx(port, 10, 224, 1) == (COMM_SUCCESS, ACCESS)


def test_clear_turns(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK
    simulator.command("place 1 10000")
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 10000
    assert sdk.clearMultiTurn(port, 1) == OK
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 10000 - 2 * 4096
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write4ByteTxRx(port, 1, 112, 5) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 8000) == OK
    assert sdk.clearMultiTurn(port, 1) == (COMM_SUCCESS, RESULT_FAIL)  # not while it moves


def test_watchdog_of_the_bus(sdk, port, simulator):
    """5 units are 100 ms; 20 units of speed are 312.7 counts/s."""
    assert sdk.write4ByteTxRx(port, 1, 112, 20) == OK
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write1ByteTxRx(port, 1, 98, 5) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 4000) == OK
    for _ in range(6):
        simulator.let_pass(0.1)
        sdk.ping(port, 12)  # any packet feeds it, whomever it is for
    assert sdk.read1ByteTxRx(port, 1, 98)[0] == 5
    simulator.let_pass(0.101)
    assert sdk.read1ByteTxRx(port, 1, 98)[0] == 255
    stood = sdk.read4ByteTxRx(port, 1, 132)[0]
    assert stood == round(2048 + 20 * 0.229 / 60 * 4096 * 0.7)
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == (COMM_SUCCESS, RANGE)
    simulator.let_pass(60.0)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == stood
    assert sdk.write1ByteTxRx(port, 1, 98, 0) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == OK


def test_motion_under_a_profile(sdk, port, simulator):
    """30 units are 6.87 rev/min, 469 counts/s: after 0.4 s it is half way, and it gets to its goal."""
    assert sdk.write4ByteTxRx(port, 1, 112, 30) == OK
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 2400) == OK
    simulator.let_pass(0.4)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == round(2048 + 30 * 0.229 / 60 * 4096 * 0.4)
    assert sdk.read1ByteTxRx(port, 1, 122)[0] == 1
    assert sdk.read4ByteTxRx(port, 1, 128)[0] == 30
    simulator.let_pass(0.5)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 2400
    assert sdk.read1ByteTxRx(port, 1, 122)[0] == 0


def test_current_by_load(sdk, port, simulator):
    """The greatest torque is 648 units of current; friction takes 13 of them."""

    def current():
        value = sdk.read2ByteTxRx(port, 1, 126)[0]
        return value - 65536 if value > 32767 else value

    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write4ByteTxRx(port, 1, 112, 30) == OK
    simulator.let_pass(1.0)
    assert current() == 0
    simulator.command("load 1 0.25")
    simulator.let_pass(1.0)
    assert (current(), sdk.read4ByteTxRx(port, 1, 132)[0]) == (-162, 2048)
    assert sdk.write4ByteTxRx(port, 1, 116, 2400) == OK
    simulator.let_pass(0.4)
    assert current() == 13 - 162
    simulator.command("load 1 1.2")
    simulator.let_pass(0.9)
    assert current() == -648
    assert sdk.read4ByteTxRx(port, 1, 132)[0] > 2400
    simulator.let_pass(0.2)
    assert sdk.read1ByteTxRx(port, 1, 70) == (0x20, COMM_SUCCESS, ALERT)
    assert (current(), sdk.read1ByteTxRx(port, 1, 64)[0]) == (0, 0)
    fell = sdk.read4ByteTxRx(port, 1, 132)[0]
    simulator.let_pass(1.0)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] > fell + 2048


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("load 1 heavy", "a load is a share of the greatest torque, from -2 to 2"),
        ("load 1 nan", "a load is a share of the greatest torque, from -2 to 2"),
        ("load 1 -30", "a load is a share of the greatest torque, from -2 to 2"),
        ("load 99 0.5", "there is no servo 99"),
        ("load 1", "unknown command 'load 1'"),
        ("load one 0.5", "unknown command 'load one 0.5'"),
    ],
)
def test_a_load_that_cannot_be(simulator, line, why):
    with pytest.raises(ServoError, match=why):
        simulator.command(line)
