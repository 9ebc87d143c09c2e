"""Start of a simulated servo, and torque by a goal, judged by the vendor's SDK: bits that turn torque on by
themselves."""

from __future__ import annotations

import pytest
from dynamixel_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS, GroupSyncWrite

from robik.servo.brands.dynamixel.simulator.packet import encode

from .vendor_sdk import ACCESS, ALERT, AWAKE, INSTRUCTION, OK, RANGE, RESULT_FAIL, little, send_raw

DRIVE_MODE, STARTUP, TORQUE, LED, WATCHDOG, ACCELERATION, VELOCITY, GOAL, POSITION, READY = (
    10,
    60,
    64,
    65,
    98,
    108,
    112,
    116,
    132,
    147,
)
STORE, RESTORE = b"\x01CTRL", b"\x02CTRL"


def back_up(port, id, parameters=STORE):
    """The error of the answer to Control Table Backup, which the SDK has no function for."""
    (answer,) = send_raw(port, encode(id, 0x20, parameters))
    return answer.parameters[0]


def restart(sdk, port, simulator, id):
    assert sdk.reboot(port, id) == OK
    simulator.let_pass(AWAKE)


def test_startup_torque_on_holds_where_it_stands(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 3, STARTUP, 4) == (COMM_SUCCESS, RANGE)
    assert sdk.write1ByteTxRx(port, 3, STARTUP, 1) == OK
    simulator.command("place 3 1234")
    assert sdk.reboot(port, 3) == OK
    assert simulator.state()[3]["torque_enable"] == 0
    assert sdk.read1ByteTxRx(port, 3, TORQUE)[1] == COMM_RX_TIMEOUT
    simulator.let_pass(AWAKE)
    assert sdk.read1ByteTxRx(port, 3, TORQUE) == (1, *OK)
    assert sdk.read4ByteTxRx(port, 3, GOAL) == sdk.read4ByteTxRx(port, 3, POSITION) == (1234, *OK)
    assert sdk.write1ByteTxRx(port, 3, STARTUP, 0) == (COMM_SUCCESS, ACCESS)  # its torque is on
    simulator.let_pass(10.0)
    assert sdk.read4ByteTxRx(port, 3, POSITION) == (1234, *OK)


def test_without_the_bit_torque_stays_off(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 3, TORQUE, 1) == OK
    restart(sdk, port, simulator, 3)
    assert sdk.read1ByteTxRx(port, 3, TORQUE) == (0, *OK)


def test_a_reboot_in_mid_play_with_startup_torque_ends_in_a_jump_at_full_speed(sdk, port, simulator):
    """50 rev/min are 3413 counts/s; the profile of before is gone."""
    for address, size, value in ((STARTUP, 1, 1), (VELOCITY, 4, 10), (TORQUE, 1, 1)):
        assert sdk.writeTxRx(port, 3, address, size, little(value, size)) == OK
    simulator.command("reboot 3")
    simulator.let_pass(AWAKE)
    assert sdk.write4ByteTxRx(port, 3, GOAL, 4000) == OK
    simulator.let_pass(0.1)
    assert sdk.read4ByteTxRx(port, 3, POSITION) == (2048 + 341, *OK)


@pytest.mark.parametrize("bits", [0, 2, 3])
def test_ram_restore(sdk, port, simulator, bits):
    settings = ((84, 2, 555), (VELOCITY, 4, 66), (ACCELERATION, 4, 7), (168, 2, 132))
    for address, size, value in (*settings, (STARTUP, 1, bits), (LED, 1, 1), (WATCHDOG, 1, 50)):
        assert sdk.writeTxRx(port, 3, address, size, little(value, size)) == OK
    assert sdk.read1ByteTxRx(port, 3, READY) == (0, *OK)
    assert back_up(port, 3) == 0
    assert sdk.read1ByteTxRx(port, 3, READY) == (1, *OK)
    for address, size, _ in settings:
        assert sdk.writeTxRx(port, 3, address, size, little(64, size)) == OK
    restart(sdk, port, simulator, 3)
    values = [value for *_, value in settings] if bits & 2 else [900, 0, 0, 224]
    for (address, size, _), value in zip(settings, values, strict=True):
        assert sdk.readTxRx(port, 3, address, size) == (little(value, size), *OK)
    others = [sdk.read1ByteTxRx(port, 3, address)[0] for address in (LED, WATCHDOG, TORQUE, READY)]
    assert others == [0, 0, bits & 1, 1]


def test_a_restored_profile_limits_the_first_goal(sdk, port, simulator):
    """10 units are 156 counts/s."""
    assert sdk.write1ByteTxRx(port, 3, STARTUP, 3) == OK
    assert sdk.write4ByteTxRx(port, 3, VELOCITY, 10) == OK
    assert back_up(port, 3) == 0
    restart(sdk, port, simulator, 3)
    assert sdk.write4ByteTxRx(port, 3, GOAL, 4000) == OK
    simulator.let_pass(1.0)
    assert sdk.read4ByteTxRx(port, 3, POSITION) == (2048 + 156, *OK)


def test_without_a_backup_ram_restore_does_nothing(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 3, STARTUP, 2) == OK
    assert sdk.write4ByteTxRx(port, 3, VELOCITY, 10) == OK
    restart(sdk, port, simulator, 3)
    assert sdk.read4ByteTxRx(port, 3, VELOCITY) == (0, *OK)


def test_a_backup_needs_torque_off_and_firmware_that_knows_it(sdk, port, simulator):
    assert back_up(port, 3, RESTORE) == RESULT_FAIL  # there is none
    assert back_up(port, 3, b"\x07CTRL") == RANGE
    assert sdk.write1ByteTxRx(port, 3, TORQUE, 1) == OK
    assert back_up(port, 3) == RESULT_FAIL
    simulator.command("set 4 firmware_version 44")
    assert back_up(port, 4) == INSTRUCTION


def test_the_eeprom_comes_back_from_the_backup(sdk, port, simulator):
    assert sdk.write4ByteTxRx(port, 3, 48, 3000) == OK
    assert back_up(port, 3) == 0
    assert sdk.write4ByteTxRx(port, 3, 48, 2000) == OK
    assert back_up(port, 3, RESTORE) == 0
    simulator.let_pass(AWAKE)
    assert sdk.read4ByteTxRx(port, 3, 48) == (3000, *OK)


def test_torque_on_by_goal_update(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 3, DRIVE_MODE, 0x08) == OK
    sync = GroupSyncWrite(port, sdk, GOAL, 4)
    for id in (3, 4):
        sync.addParam(id, little(2200, 4))
    assert sync.txPacket() == COMM_SUCCESS
    assert [sdk.read1ByteTxRx(port, id, TORQUE)[0] for id in (3, 4)] == [1, 0]
    simulator.let_pass(1.0)
    assert [sdk.read4ByteTxRx(port, id, POSITION)[0] for id in (3, 4)] == [2200, 2048]
    for address, size in ((104, 4), (102, 2), (100, 2)):
        assert sdk.write1ByteTxRx(port, 3, TORQUE, 0) == OK
        assert sdk.writeTxRx(port, 3, address, size, little(10, size)) == OK
        assert sdk.read1ByteTxRx(port, 3, TORQUE) == (1, *OK)


@pytest.mark.parametrize(("mode", "address", "size", "value"), [(1, 104, 4, 50), (16, 100, 2, 400), (0, 102, 2, 300)])
def test_torque_by_a_goal_of_another_mode_turns_it(sdk, port, simulator, mode, address, size, value):
    assert sdk.write1ByteTxRx(port, 3, DRIVE_MODE, 0x08) == OK
    assert sdk.write1ByteTxRx(port, 3, 11, mode) == OK
    assert sdk.writeTxRx(port, 3, address, size, little(value, size)) == OK
    simulator.let_pass(0.5)
    assert sdk.read1ByteTxRx(port, 3, TORQUE) == (1, *OK)
    assert simulator.state()[3]["position"] > 2148


def test_no_goal_turns_torque_on_after_a_shutdown_or_by_older_firmware(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 3, DRIVE_MODE, 0x08) == OK
    simulator.command("error 3 0x20")
    assert sdk.write4ByteTxRx(port, 3, GOAL, 2200) == (COMM_SUCCESS, ALERT)
    assert sdk.read1ByteTxRx(port, 3, TORQUE)[0] == 0
    for entry, value in ((DRIVE_MODE, 0x08), (STARTUP, 1)):
        assert sdk.write1ByteTxRx(port, 4, entry, value) == OK
    simulator.command("set 4 firmware_version 44")
    assert sdk.write4ByteTxRx(port, 4, GOAL, 2200) == OK
    assert sdk.read1ByteTxRx(port, 4, TORQUE) == (0, *OK)
    restart(sdk, port, simulator, 4)
    assert sdk.read1ByteTxRx(port, 4, TORQUE) == (0, *OK)
