"""Motion, watchdog and start of an independent servo, judged by the vendor's SDK and the manual's formulas."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from dynamixel_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS, GroupSyncWrite

from .conftest import until
from .independent_judge import OK, little, opened, restart

pytestmark = pytest.mark.real_time

RESULT_FAIL, INSTRUCTION, RANGE, LIMIT = 1, 2, 4, 6
ALERT = 0x80
DRIVE_MODE, MODE, STARTUP, TORQUE, LED, WATCHDOG = 10, 11, 60, 64, 65, 98
ACCELERATION, VELOCITY, GOAL, POSITION = 108, 112, 116, 132
VELOCITY_UNIT = 0.229 / 60 * 4096  # [counts/s]
ACCELERATION_UNIT = 214.577 / 3600 * 4096  # [counts/s²]
FULL_SPEED = 30 / 60 * 4096  # [counts/s] of an XH430-W350
BETWEEN = 0.004  # [s] between looks


# motion


def positions(servos, id, seconds, begins):
    """Times since a goal [s] and positions [counts] of a horn, by the chain's own clock."""
    found = []
    while (looked := servos.look(id))[0] < begins + seconds:
        found.append((looked[0] - begins, looked[1]))
        time.sleep(BETWEEN)
    return np.array(found)


def trapezoid(t, way, speed, rate):
    """Position after a time under speed and acceleration, from a stand to a stand."""
    rising = min(speed / rate, math.sqrt(way / rate))
    top = rate * rising
    lasts = way / top + rising
    t = np.clip(t, 0.0, lasts)
    up, down = rate * np.minimum(t, rising) ** 2 / 2, rate * np.maximum(0.0, t - (lasts - rising)) ** 2 / 2
    return up + top * np.maximum(0.0, t - rising) - down


@pytest.mark.parametrize(("speed", "rate", "way"), [(60, 20, 1500), (100, 5, 600), (30, 400, -900)])
def test_a_profile_is_a_trapezoid(servos, judge, speed, rate, way):
    for address, value in ((VELOCITY, speed), (ACCELERATION, rate)):
        assert judge.write(1, address, 4, value) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.write(1, GOAL, 4, 2048 + way) == OK
    seen = positions(servos, 1, 2.2, servos.log.goals()[-1].time)
    expected = trapezoid(seen[:, 0], abs(way), speed * VELOCITY_UNIT, rate * ACCELERATION_UNIT)
    assert np.abs(np.abs(seen[:, 1] - 2048) - expected).max() < 1e-6
    assert len(seen) > 100
    assert judge.read(1, POSITION, 4) == 2048 + way


@pytest.mark.parametrize(("speed", "rate"), [(0, FULL_SPEED), (50, 50 * VELOCITY_UNIT), (1000, FULL_SPEED)])
def test_without_acceleration_it_is_at_its_speed_at_once(servos, judge, speed, rate):
    """Which is its full speed without a profile."""
    assert judge.write(1, VELOCITY, 4, speed) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    servos.mark()
    assert judge.write(1, GOAL, 4, 3000) == OK
    seen = positions(servos, 1, 1.6, servos.log.goals()[-1].time)
    assert seen[:, 1] == pytest.approx(np.minimum(3000, 2048 + rate * seen[:, 0]))
    assert servos.fastest() == pytest.approx({1: rate, 2: 0, 3: 0, 4: 0})


def test_a_new_goal_takes_over_with_the_speed_that_it_has(servos, judge):
    for address, value in ((VELOCITY, 100), (ACCELERATION, 10)):
        assert judge.write(1, address, 4, value) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.write(1, GOAL, 4, 4000) == OK
    until(lambda: servos.look(1)[2] > 1000)
    assert judge.write(1, GOAL, 4, 2100) == OK
    begins = servos.log.goals()[-1].time
    times, places, speeds = np.transpose([servos.look(1) for _ in range(300)])
    assert speeds[0] > 500  # it cannot turn round at once
    assert np.all(np.abs(np.diff(speeds)) <= 10 * ACCELERATION_UNIT * np.diff(times) + 1e-6)
    assert np.all(np.abs(np.diff(places)) <= 100 * VELOCITY_UNIT * np.diff(times) + 1e-6)
    until(lambda: servos.look(1)[1:] == (2100, 0))
    assert servos.look(1)[0] - begins > 1.0


def test_a_profile_by_time(servos, judge):
    assert judge.write(1, DRIVE_MODE, 1, 0x04) == OK
    for address, value in ((VELOCITY, 1000), (ACCELERATION, 250)):
        assert judge.write(1, address, 4, value) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.write(1, GOAL, 4, 3548) == OK
    seen = positions(servos, 1, 1.2, servos.log.goals()[-1].time)
    assert seen[:, 1] - 2048 == pytest.approx(trapezoid(seen[:, 0], 1500, 2000, 8000), abs=1e-6)


def test_limits_hold_in_one_turn_only(servos, judge):
    for address, value in ((48, 3000), (52, 1000)):
        assert judge.write(1, address, 4, value) == OK
    for goal, error in ((3001, LIMIT), (999, LIMIT), (3000, 0), (1000, 0)):
        assert judge.write(1, GOAL, 4, goal) == (COMM_SUCCESS, error)
    assert [goal.counts for goal in servos.log.goals()] == [3000, 1000]
    for mode in (4, 5):
        assert judge.write(1, MODE, 1, mode) == OK
        assert judge.write(1, GOAL, 4, -90_000) == OK
        assert judge.write(1, GOAL, 4, 1_048_576) == (COMM_SUCCESS, LIMIT)


def test_several_turns(servos, judge):
    assert judge.write(1, MODE, 1, 4) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.write(1, GOAL, 4, 6000) == OK
    until(lambda: servos.look(1)[1] == 6000)
    assert judge.read(1, POSITION, 4) == 6000
    assert judge.send(1, 0x10, b"\x01DXL\x22") == 0
    assert judge.read(1, POSITION, 4) == 6000 - 4096


def test_one_turn_is_what_torque_comes_on_in(servos, judge):
    servos.place(1, 5000)
    assert judge.read(1, POSITION, 4) == 5000
    assert judge.write(1, GOAL, 4, 904) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.read(1, POSITION, 4) == 904


@pytest.mark.parametrize(
    ("mode", "offset", "seen"), [(3, 1024, 3072), (3, 1025, 2048), (4, 5000, 7048), (4, -5000, -2952)]
)
def test_a_homing_offset_counts_in_one_turn_up_to_a_quarter(servos, judge, mode, offset, seen):
    assert judge.write(1, MODE, 1, mode) == OK
    assert judge.write(1, 20, 4, offset) == OK
    assert judge.read(1, POSITION, 4) == seen
    assert judge.write(1, GOAL, 4, seen + 100) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    until(lambda: servos.look(1)[1] == 2148)
    assert judge.read(1, POSITION, 4) == seen + 100


@pytest.mark.parametrize(("mode", "seen"), [(3, 3096), (4, -1000)])
def test_reverse_counts_the_other_way(servos, judge, mode, seen):
    assert judge.write(1, MODE, 1, mode) == OK
    servos.place(1, 1000)
    assert judge.write(1, DRIVE_MODE, 1, 1) == OK
    assert judge.read(1, POSITION, 4) == judge.read(1, GOAL, 4) == seen


def test_another_mode_begins_without_a_profile(judge):
    assert judge.write(1, VELOCITY, 4, 50) == OK
    assert judge.write(1, 102, 2, 100) == OK
    assert judge.write(1, MODE, 1, 5) == OK
    assert (judge.read(1, VELOCITY, 4), judge.read(1, 102, 2), judge.read(1, GOAL, 4)) == (0, 648, 2048)


def test_without_torque_nothing_moves_and_with_it_the_old_goal_counts(servos, judge):
    assert judge.write(1, GOAL, 4, 2500) == OK
    time.sleep(0.1)
    assert servos.look(1)[1] == 2048
    assert judge.write(1, TORQUE, 1, 1) == OK
    until(lambda: servos.look(1)[1] == 2500)
    assert judge.write(1, GOAL, 4, 4000) == OK
    assert judge.write(1, TORQUE, 1, 0) == OK
    stands = servos.look(1)[1]
    time.sleep(0.1)
    assert servos.look(1)[1:] == (stands, 0)
    assert [change[1:] for change in servos.log.torque()] == [(1, True, "write"), (1, False, "write")]


# watchdog


def test_the_watchdog_stops_it_and_only_0_clears_it(servos, judge):
    assert judge.write(1, VELOCITY, 4, 20) == OK
    assert judge.write(1, TORQUE, 1, 1) == OK
    assert judge.write(1, WATCHDOG, 1, 10) == OK
    assert judge.write(1, GOAL, 4, 4000) == OK
    heard = servos.log.all_packets[-1].time
    until(lambda: servos.log.events(what="watchdog"))
    tripped = servos.log.events(what="watchdog")[0]
    assert (tripped.id, tripped.time) == (1, pytest.approx(heard + 0.2))
    assert servos.look(1)[1:] == pytest.approx((2048 + 0.2 * 20 * VELOCITY_UNIT, 0.0), abs=0.01)
    assert (judge.read(1, WATCHDOG, 1), judge.read(1, VELOCITY, 4), judge.read(1, TORQUE, 1)) == (-1, 0, 1)
    for address, size, value in ((GOAL, 4, 3000), (104, 4, 10), (102, 2, 10), (100, 2, 10), (WATCHDOG, 1, 5)):
        assert judge.write(1, address, size, value) == (COMM_SUCCESS, RANGE)
    taken = len(servos.log.goals())
    assert judge.write(1, WATCHDOG, 1, 0) == OK
    assert judge.write(1, GOAL, 4, 2100) == OK
    assert len(servos.log.goals()) == taken + 1
    until(lambda: servos.look(1)[1] == 2100)


def test_any_packet_feeds_the_watchdog_and_without_torque_it_sleeps(servos, judge):
    assert judge.write(1, WATCHDOG, 1, 25) == OK
    time.sleep(0.7)
    assert judge.read(1, WATCHDOG, 1) == 25
    assert judge.write(1, TORQUE, 1, 1) == OK
    for _ in range(10):
        time.sleep(0.1)
        assert judge.read(2, LED, 1) == 0  # not even for this servo
    gaps = np.diff([packet.time for packet in servos.log.all_packets[2:]])
    assert bool(servos.log.events(what="watchdog")) == bool(gaps.max() > 0.5)  # a machine that stalls trips it


# starting


def test_a_reboot_takes_half_a_second_and_the_ram(servos, judge):
    for address, size, value in ((STARTUP, 1, 0), (VELOCITY, 4, 50), (WATCHDOG, 1, 100), (TORQUE, 1, 1), (LED, 1, 1)):
        assert judge.write(1, address, size, value) == OK
    restart(servos, judge)
    gone, back = servos.log.events(id=1, what="reboot")[0].time, servos.log.events(id=1, what="started")[0].time
    assert back - gone == pytest.approx(0.5)
    assert [judge.read(1, *entry) for entry in ((VELOCITY, 4), (WATCHDOG, 1), (TORQUE, 1), (LED, 1))] == [0, 0, 0, 0]
    assert judge.read(1, 9, 1) == 0  # the EEPROM stays
    assert [(change.on, change.why) for change in servos.log.torque()] == [(True, "write"), (False, "reboot")]


def test_it_is_deaf_while_it_starts(servos, judge):
    servos.reboot(1, seconds=1.0)
    assert judge.sdk.ping(judge.port, 1)[1] == COMM_RX_TIMEOUT
    assert judge.sdk.ping(judge.port, 2) == (1000, *OK)
    until(lambda: not servos.state()[1]["deaf"])
    assert judge.sdk.ping(judge.port, 1) == (1000, *OK)


def test_startup_torque_on(servos, judge):
    assert judge.write(1, STARTUP, 1, 4) == (COMM_SUCCESS, RANGE)
    assert judge.write(1, STARTUP, 1, 1) == OK
    servos.place(1, 1234)
    restart(servos, judge)
    assert (judge.read(1, TORQUE, 1), judge.read(1, GOAL, 4), judge.read(1, POSITION, 4)) == (1, 1234, 1234)
    assert [(change.on, change.why) for change in servos.log.torque(id=1)] == [(True, "startup")]
    assert servos.log.torque()[0].time == servos.log.events(what="started")[0].time
    assert servos.powered == {1}


def test_a_servo_that_comes_back_with_torque_jumps_at_full_speed(servos, judge):
    """What a player must not let happen: goals go on, and there is no profile any more."""
    for address, size, value in ((STARTUP, 1, 1), (VELOCITY, 4, 10), (TORQUE, 1, 1)):
        assert judge.write(1, address, size, value) == OK
    servos.reboot(1)
    until(lambda: servos.log.events(what="started"))
    servos.mark()
    assert judge.write(1, GOAL, 4, 3000) == OK
    until(lambda: servos.look(1)[1] == 3000)
    assert servos.fastest()[1] == pytest.approx(FULL_SPEED)


@pytest.mark.parametrize("bits", [0, 2, 3])
def test_ram_restore(servos, judge, bits):
    entries = ((84, 2, 555), (VELOCITY, 4, 66), (ACCELERATION, 4, 7), (168, 2, 132))
    for address, size, value in (*entries, (STARTUP, 1, bits), (LED, 1, 1), (WATCHDOG, 1, 50)):
        assert judge.write(1, address, size, value) == OK
    assert judge.read(1, 147, 1) == 0
    assert judge.send(1, 0x20, b"\x01CTRL") == 0
    assert judge.read(1, 147, 1) == 1
    for address, size, _ in entries:
        assert judge.write(1, address, size, 64) == OK
    restart(servos, judge)
    found = [judge.read(1, address, size) for address, size, _ in entries]
    assert found == ([555, 66, 7, 132] if bits & 2 else [900, 0, 0, 224])
    assert [judge.read(1, *entry) for entry in ((LED, 1), (WATCHDOG, 1), (TORQUE, 1), (147, 1))] == [0, 0, bits & 1, 1]


def test_ram_restore_needs_a_backup_which_needs_torque_off(servos, judge):
    for address, size, value in ((STARTUP, 1, 2), (VELOCITY, 4, 66), (TORQUE, 1, 1)):
        assert judge.write(1, address, size, value) == OK
    assert judge.send(1, 0x20, b"\x01CTRL") == RESULT_FAIL
    assert judge.send(1, 0x20, b"\x07CTRL") == RANGE
    restart(servos, judge)
    assert (judge.read(1, VELOCITY, 4), judge.read(1, 147, 1)) == (0, 0)
    assert judge.send(1, 0x20, b"\x02CTRL") == RESULT_FAIL  # there is none


def test_the_eeprom_comes_back_from_the_backup(servos, judge):
    assert judge.write(1, 48, 4, 3000) == OK
    assert judge.send(1, 0x20, b"\x01CTRL") == 0
    assert judge.write(1, 48, 4, 2000) == OK
    assert judge.send(1, 0x20, b"\x02CTRL") == 0
    until(lambda: servos.log.events(id=1, what="started"))
    assert judge.read(1, 48, 4) == 3000


def test_torque_on_by_goal_update(servos, judge):
    for id, bit in ((1, 0x08), (2, 0)):
        assert judge.write(id, DRIVE_MODE, 1, bit) == OK
    sync = GroupSyncWrite(judge.port, judge.sdk, GOAL, 4)
    for id in (1, 2):
        sync.addParam(id, little(2200, 4))
    assert sync.txPacket() == COMM_SUCCESS
    until(lambda: servos.look(1)[1] == 2200)
    assert servos.powered == {1}
    assert [(change.id, change.on, change.why) for change in servos.log.torque()] == [(1, True, "goal update")]
    assert (judge.read(1, TORQUE, 1), judge.read(2, TORQUE, 1), judge.read(2, POSITION, 4)) == (1, 0, 2048)
    for address, size in ((104, 4), (102, 2), (100, 2)):
        assert judge.write(1, TORQUE, 1, 0) == OK
        assert judge.write(1, address, size, 10) == OK
        assert judge.read(1, TORQUE, 1) == 1


@pytest.mark.parametrize(("model", "firmware", "known"), [(1000, 44, 0), (1000, 45, 1), (1200, 45, 0), (1200, 46, 1)])
def test_older_firmware_knows_none_of_this(model, firmware, known):
    with opened(1, model=model, firmware=firmware) as (servos, judge):
        for address, value in ((STARTUP, 3), (DRIVE_MODE, 0x08)):
            assert judge.write(1, address, 1, value) == OK
        assert judge.write(1, VELOCITY, 4, 50) == OK
        assert judge.send(1, 0x20, b"\x01CTRL") == (0 if known else INSTRUCTION)
        assert judge.write(1, GOAL, 4, 2100) == OK
        assert judge.read(1, TORQUE, 1) == known
        restart(servos, judge)
        assert (judge.read(1, TORQUE, 1), judge.read(1, VELOCITY, 4)) == (known, 50 * known)
        group = judge.group(GOAL, 4, (1,))
        assert (group.fastSyncRead() == COMM_SUCCESS) is bool(known)


def test_a_goal_turns_no_torque_on_after_a_shutdown(servos, judge):
    assert judge.write(1, DRIVE_MODE, 1, 0x08) == OK
    servos.fail(1, 0x20)
    assert judge.write(1, GOAL, 4, 2200) == (COMM_SUCCESS, ALERT)
    assert servos.powered == set()
