"""The independent chain's faults, log and process, as the vendor's SDK sees them; and the player on it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from dynamixel_sdk import COMM_RX_CORRUPT, COMM_RX_TIMEOUT, COMM_SUCCESS, GroupSyncWrite

from robik.motions import Motion
from robik.servo.bus.serial_port import PORT_ERRORS
from robik.servo.chain.chain import default_chain
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState

from .conftest import DEADLINE, until
from .independent import ChainError, IndependentChain, wire
from .independent_judge import OK, Judge, little, restart

pytestmark = pytest.mark.real_time

RESULT_FAIL = 1
ALERT = 0x80
TORQUE, LED, ERROR, WATCHDOG = 64, 65, 70, 98
VELOCITY, GOAL, LOAD, POSITION, VOLTS, CELSIUS = 112, 116, 126, 132, 144, 146
FULL_SPEED = 30 / 60 * 4096  # [counts/s] of an XH430-W350
NAMES = ("a", "b", "c", "d")


# faults


def timed(judge, id):
    begins = time.monotonic()
    assert judge.read(id, LED, 1) == 0
    return time.monotonic() - begins


def test_answers_come_late(servos, judge):
    servos.faults(2, late=0.05)
    assert timed(judge, 2) > 0.05
    assert min(timed(judge, 1) for _ in range(20)) < 0.02
    servos.mend(2)
    assert min(timed(judge, 2) for _ in range(20)) < 0.02
    servos.faults(jitter=0.03)
    spread = [timed(judge, 3) for _ in range(30)]
    assert max(spread) - min(spread) > 0.01


def test_an_answer_that_is_too_late_comes_while_another_is_asked(servos, judge):
    servos.faults(2, late=0.4)
    assert judge.sdk.ping(judge.port, 2)[1] == COMM_RX_TIMEOUT
    servos.mend()
    assert min(timed(judge, 1) for _ in range(20)) < 0.02
    time.sleep(0.5)
    assert bytes(judge.port.readPort(100)) == wire.status(2, 0, bytes([1000 % 256, 1000 // 256, 46]))


def test_answers_come_late_a_number_of_times(servos, judge):
    servos.faults(1, late=0.08, answers=2)
    assert [timed(judge, 1) > 0.08 for _ in range(2)] == [True, True]
    assert min(timed(judge, 1) for _ in range(20)) < 0.02


def test_an_adapter_delivers_in_bursts(servos, judge):
    servos.line(latency=0.016)
    assert timed(judge, 1) > 0.016
    group = judge.group(LED, 1, (1, 2, 3, 4))
    times = []
    for _ in range(10):
        begins = time.monotonic()
        assert group.txRxPacket() == COMM_SUCCESS
        times.append(time.monotonic() - begins)
    assert min(times) > 0.016
    assert min(times) < 0.03  # not four times as long


def test_who_does_not_answer_may_obey(servos, judge):
    servos.faults(1, silent=True)
    servos.faults(2, deaf=True)
    for id in (1, 2):
        assert judge.write(id, LED, 1, 1)[0] == COMM_RX_TIMEOUT
    assert {id: servos.registers(id)["led"] for id in (1, 2)} == {1: 1, 2: 0}
    servos.mend()
    assert judge.write(2, LED, 1, 1) == OK


def test_answers_of_another_id_or_broken_ones(servos, judge):
    servos.faults(1, answer_id=2)
    assert judge.sdk.read1ByteTxRx(judge.port, 1, LED)[1] == COMM_RX_TIMEOUT
    servos.mend()
    servos.faults(1, wrong_crc=True)
    assert judge.sdk.read1ByteTxRx(judge.port, 1, LED)[1] == COMM_RX_CORRUPT
    group = judge.group(LED, 1, (1, 2))
    assert group.fastSyncRead() == COMM_RX_CORRUPT
    servos.mend()
    servos.faults(1, cut=4)
    assert judge.sdk.read1ByteTxRx(judge.port, 1, LED)[1] == COMM_RX_CORRUPT
    servos.mend()
    servos.faults(1, noise_before="ff fd 00 55", noise_after="aa ff")
    assert judge.read(1, LED, 1) == 0
    assert judge.read(1, LED, 1) == 0


def test_noise_echo_and_bytes_of_nobody(servos, judge):
    servos.line(echo=True)
    assert judge.read(1, LED, 1) == 0  # the SDK passes over what is no answer
    judge.port.clearPort()
    judge.port.writePort(wire.instruction(9, 0x01))
    time.sleep(0.05)
    assert bytes(judge.port.readPort(100)) == wire.instruction(9, 0x01)
    servos.line(echo=False, noise=1.0)
    assert judge.read(1, LED, 1) == 0
    servos.line(noise=0.0, corrupt=0.3, loss=0.2)
    results = [judge.sdk.read1ByteTxRx(judge.port, 1, LED)[1] for _ in range(40)]
    assert COMM_SUCCESS in results
    assert 5 < len([result for result in results if result != COMM_SUCCESS]) < 35
    servos.line(corrupt=0.0, loss=0.0)
    judge.port.clearPort()
    servos.babble(b"hello")
    time.sleep(0.05)
    assert bytes(judge.port.readPort(100)) == b"hello"


def test_a_write_that_is_refused_or_swallowed(servos, judge):
    servos.faults(1, refuse={"torque_enable": RESULT_FAIL}, swallow=["led"])
    assert judge.write(1, TORQUE, 1, 1) == (COMM_SUCCESS, RESULT_FAIL)
    assert judge.write(1, LED, 1, 1) == OK
    sync = GroupSyncWrite(judge.port, judge.sdk, TORQUE, 1)
    for id in (1, 2):
        sync.addParam(id, [1])
    assert sync.txPacket() == COMM_SUCCESS
    assert (judge.read(1, TORQUE, 1), judge.read(1, LED, 1), judge.read(2, TORQUE, 1)) == (0, 0, 1)
    assert servos.powered == {2}


def test_some_packets_are_not_heard(servos, judge):
    servos.faults(1, misses=0.5)
    judge.port.setPacketTimeoutMillis(50)
    heard = [judge.sdk.ping(judge.port, 1)[1] == COMM_SUCCESS for _ in range(30)]
    assert 5 < sum(heard) < 25


def test_power_comes_and_goes(servos, judge):
    assert judge.write(1, TORQUE, 1, 1) == OK
    servos.power_off(1)
    assert judge.sdk.ping(judge.port, 1)[1] == COMM_RX_TIMEOUT
    assert servos.powered == set()
    assert servos.log.torque(on=False)[0].why == "power"
    servos.power_on(1)
    until(lambda: servos.log.events(id=1, what="started"))
    assert judge.read(1, TORQUE, 1) == 0


@pytest.mark.parametrize(("bits", "off"), [(0x20, True), (0x04, True), (0x01, False)])
def test_a_hardware_error(servos, judge, bits, off):
    assert judge.write(1, TORQUE, 1, 1) == OK
    servos.fail(1, bits)
    assert judge.sdk.read1ByteTxRx(judge.port, 1, ERROR) == (bits, COMM_SUCCESS, ALERT)
    assert (servos.powered == set()) is off
    assert judge.write(1, TORQUE, 1, 1) == (COMM_SUCCESS, ALERT | (RESULT_FAIL if off else 0))
    assert [change.why for change in servos.log.torque(on=False)] == (["shutdown"] if off else [])
    group = judge.group(ERROR, 1, (1, 2))
    assert group.fastSyncRead() == COMM_SUCCESS
    assert [group.getData(id, ERROR, 1) for id in (1, 2)] == [bits, 0]
    restart(servos, judge)
    assert judge.sdk.read1ByteTxRx(judge.port, 1, ERROR) == (0, *OK)
    assert judge.write(1, TORQUE, 1, 1) == OK


def test_heat_supply_and_load(servos, judge):
    assert judge.write(1, TORQUE, 1, 1) == OK
    servos.sense(1, celsius=55, volts=11.1, load=123)
    assert [judge.read(1, *entry) for entry in ((CELSIUS, 1), (VOLTS, 2), (LOAD, 2), (ERROR, 1))] == [55, 111, 123, 0]
    servos.sense(1, celsius=81)
    assert (judge.read(1, ERROR, 1), servos.powered) == (0x04, set())
    servos.sense(2, volts=7.0)
    assert judge.read(2, ERROR, 1) == 0x01


def test_somebody_else_changes_entries(servos, judge):
    assert judge.write(1, WATCHDOG, 1, 100) == OK
    assert judge.write(1, VELOCITY, 4, 100) == OK
    servos.change(1, bus_watchdog=0, profile_velocity=0)
    assert (judge.read(1, WATCHDOG, 1), judge.read(1, VELOCITY, 4)) == (0, 0)
    servos.change((1, 2), torque_enable=1)
    assert [(change.id, change.why) for change in servos.log.torque()] == [(1, "test"), (2, "test")]


def test_a_horn_that_is_held_pushes_and_catches_up(servos, judge):
    for address, size, value in ((VELOCITY, 4, 20), (TORQUE, 1, 1)):
        assert judge.write(1, address, size, value) == OK
    servos.hold(1)
    assert judge.write(1, GOAL, 4, 2300) == OK
    time.sleep(0.05)
    assert (judge.read(1, POSITION, 4), judge.read(1, LOAD, 2)) == (2048, 648)
    servos.mark()
    servos.release(1)
    until(lambda: servos.look(1)[1] == 2300)
    assert servos.fastest()[1] == pytest.approx(FULL_SPEED)
    servos.hold(1)
    assert judge.write(1, GOAL, 4, 2000) == OK
    assert judge.write(1, TORQUE, 1, 0) == OK
    servos.release(1)
    time.sleep(0.05)
    assert (judge.read(1, POSITION, 4), judge.read(1, LOAD, 2)) == (2300, 0)


def test_the_port_vanishes_and_comes_back(servos, judge):
    servos.unplug()
    assert not os.path.exists(servos.port)
    with pytest.raises(PORT_ERRORS, match="Input/output error"):
        judge.sdk.ping(judge.port, 1)
    servos.plug()
    again = Judge(servos.port)
    assert again.read(1, LED, 1) == 0
    again.port.closePort()


def test_what_is_to_happen_later(servos):
    begins = time.monotonic()
    servos.reboot(2, after=0.3, seconds=0.1)
    servos.change(1, after=0.2, torque_enable=1)
    until(lambda: servos.log.events(id=2, what="started"))
    assert [event.time - begins for event in servos.log.events(id=2)] == pytest.approx([0.3, 0.4], abs=0.1)
    assert servos.log.torque()[0].time - begins == pytest.approx(0.2, abs=0.1)
    assert servos.log.torque()[0].time - begins >= 0.2


def test_commands_that_mean_nothing(servos):
    for command in (
        lambda: servos.faults(1, lat=0.1),
        lambda: servos.reboot(9),
        lambda: servos.change(1, no_such_entry=1),
        lambda: servos.sense(1, humidity=1),
    ):
        with pytest.raises(ChainError, match=r"lat|9|no_such_entry|humidity"):
            command()
    servos.mend()


# its log, its clock, its end


def test_the_log_has_every_packet_with_its_time_on_the_wire(servos, judge):
    before = time.monotonic()
    assert judge.write(2, TORQUE, 1, 1) == OK
    between = time.monotonic()
    sync = GroupSyncWrite(judge.port, judge.sdk, GOAL, 4)
    for id in (1, 2):
        sync.addParam(id, little(2000 + id, 4))
    assert sync.txPacket() == COMM_SUCCESS
    until(lambda: len(servos.log.goals()) == 2)
    first, second = servos.log.packets(after=before)
    assert before < first.arrived < first.time < between < second.arrived < second.time
    assert second.time - second.arrived == pytest.approx(24 * 10 / 1e6)  # 14 + 5 × 2 bytes at 1 Mbaud
    assert (first.id, first.instruction, first.torque, first.goals) == (2, 0x03, {2: 1}, {})
    assert (second.id, second.instruction, second.torque, second.goals) == (0xFE, 0x83, {}, {1: 2001, 2: 2002})
    assert servos.log.next_packet(between) == second
    assert servos.log.next_packet(second.time) is None
    assert servos.log.goals() == [(second.time, 1, 2001), (second.time, 2, 2002)]
    assert servos.log.goals(after=second.time) == servos.log.torque(after=first.time) == []


def test_a_long_log_does_not_hold_the_servos_up(servos, judge):
    sync = GroupSyncWrite(judge.port, judge.sdk, GOAL, 4)
    for id in (1, 2, 3, 4):
        sync.addParam(id, little(2000 + id, 4))
    for _ in range(2000):
        assert sync.txPacket() == COMM_SUCCESS
        time.sleep(0.0005)
    until(lambda: len(servos.log.goals()) == 8000)
    assert min(timed(judge, 1) for _ in range(10)) < 0.01


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_process_that_opened_it(how):
    code = "import time; from tests.servo.independent import IndependentChain; chain = IndependentChain()"
    code = f"{code}; print(chain.pid, chain.port, flush=True); time.sleep(60)"
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)
    pid, port = parent.stdout.readline().split()
    parent.send_signal(how)
    parent.wait()
    parent.stdout.close()
    until(lambda: not is_alive(int(pid)))
    assert not os.path.lexists(port)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_chain_that_has_died_says_so():
    with IndependentChain() as servos:
        os.kill(servos.pid, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(ChainError, match="has ended"):
                servos.mark()


def test_it_is_a_program_of_its_own():
    script = Path(__file__).parent / "independent" / "chain.py"
    command = [sys.executable, str(script), "--ids", "5", "6", "--models", "6=1060", "--positions", "5=1000"]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = program.stdout.readline().split('"')[3]
    judge = Judge(port)
    assert [judge.sdk.ping(judge.port, id) for id in (5, 6)] == [(1000, *OK), (1060, *OK)]
    assert judge.read(5, POSITION, 4) == 1000
    judge.port.closePort()
    program.communicate("")
    assert program.returncode == 0
    assert not os.path.lexists(port)


def test_it_shares_no_code_with_what_it_judges():
    for path in (Path(__file__).parent / "independent").glob("*.py"):
        lines = [line.strip() for line in path.read_text().splitlines()]
        imports = [line for line in lines if line.startswith(("import ", "from "))]
        assert imports
        assert not [
            line for line in imports if any(name in line for name in ("robik", "dynamixel", "serial", "..", "tests"))
        ]


# playing


def test_the_player_plays_on_it():
    robot = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), model="XH430-W350", robot="test")
    times = np.arange(0.0, 2.5, 1 / 60)
    moving = np.maximum(times - 1.0, 0.0)  # a second to look at how fast the approach was
    motion = Motion(times=times, actuators=NAMES, values=0.4 * np.sin(2 * moving[:, None] + np.arange(4)))
    with IndependentChain(ids=robot.ids) as servos:
        player = Player(robot, servos.port, PlaySettings(approach_speed=1.5, heartbeat=30.0, watchdog=2.0, silence=2.0))
        try:
            player.connect()
            player.wait(PlayState.READY)
            assert servos.log.torque() == []
            player.torque(True)
            player.wait(PlayState.HOLDING)
            assert {change.id for change in servos.log.torque(on=True)} == set(robot.ids) == servos.powered
            servos.mark()
            player.play(motion)
            player.wait(PlayState.PLAYING)
            assert 0.7 * 1.5 < max(servos.fastest().values()) * math.tau / 4096 < 1.05 * 1.5
            player.wait(PlayState.HOLDING, timeout=DEADLINE)
            until(lambda: not any(servo["velocity"] for servo in servos.state().values()))
            horns = [servo["horn"] for servo in servos.state().values()]
            assert horns == pytest.approx(2048 + motion.values[-1] * 4096 / math.tau, abs=1.5)
            assert {goal.id for goal in servos.log.goals()} == set(robot.ids)
        finally:
            player.close()
