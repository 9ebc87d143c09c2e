"""The player over a real pseudo-terminal, on a chain in another process."""

from __future__ import annotations

import itertools
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands.dynamixel.inquiry import read_all
from robik.servo.brands.dynamixel.models import VELOCITY_UNIT
from robik.servo.brands.dynamixel.wire import DynamixelWire
from robik.servo.brands.wired.inquiry import MOST, read_surely
from robik.servo.brands.wired.patience import LATENCY
from robik.servo.bus.bus import Bus
from robik.servo.bus.line import ServoSilent
from robik.servo.play.player import Player
from robik.servo.port.status import PlayState, Status
from robik.servo.simulator.process import SimulatorProcess

from .conftest import COUNTS_PER_RAD, DEADLINE, NAMES, PATIENT, standing, until

pytestmark = pytest.mark.real_time

STILL = (PlayState.HOLDING, PlayState.READY, PlayState.FAULT)


@pytest.fixture
def player(chain, simulator):
    made = Player(chain, simulator.port, PATIENT)
    yield made
    made.close()


def hold(player: Player) -> None:
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)


def run(player: Player, motion: Motion) -> Status:
    player.play(motion)
    return player.wait(*STILL)


def fault(player: Player) -> str:
    return player.wait(PlayState.FAULT, timeout=DEADLINE).message


def pose(values) -> Motion:
    return Motion(times=np.zeros(1), actuators=NAMES, values=np.reshape(values, (1, 12)))


# connecting


def test_connecting_reads_and_writes_nothing(player, simulator, goals):
    simulator.command("place 3 2500")
    before = {id: state | {"heard": 0} for id, state in simulator.state().items()}
    player.connect()
    status = player.wait(PlayState.READY)
    assert status.present[2] == pytest.approx((2500 - 2048) / COUNTS_PER_RAD)
    assert (status.hottest, status.lowest_volts) == (30.0, 12.0)
    with pytest.raises(ServoError, match="turn torque on first"):
        player.play(pose(np.zeros(12)))
    time.sleep(0.3)
    assert {id: state | {"heard": 0} for id, state in simulator.state().items()} == before
    assert len(goals()[0]) == 0


def test_a_port_that_does_not_exist(chain):
    player = Player(chain, "/dev/ttyNOWHERE")
    player.connect()
    assert "port /dev/ttyNOWHERE cannot be opened (no such file or directory)" in fault(player)
    assert not player.is_open


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("set 4 model_number 1060", ["servo 4 (motor_3) is XL430-W250, not XH430-W210"]),
        ("set 4 operating_mode 1", ["servo 4 (motor_3)", "operating mode 1", "3, 4 or 5"]),
        ("set 4 drive_mode 4", ["servo 4 (motor_3)", "drive mode"]),
        ("set 4 homing_offset 5", ["servo 4 (motor_3)", "homing offset of 5"]),
        ("set 4 firmware_version 37", ["servo 4 (motor_3)", "firmware 37"]),
        ("error 4 0x20", ["servo 4 (motor_3)", "overload", "reboot"]),
    ],
)
def test_what_keeps_a_servo_from_playing(player, simulator, command, words):
    simulator.command(command)
    player.connect()
    message = fault(player)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_the_wrong_baud_rate(chain, simulator):
    from dataclasses import replace

    player = Player(replace(chain, baud_rate=57_600), simulator.port)
    player.connect()
    assert "none of the 12 servos answers" in fault(player)


def test_a_port_is_not_shared(player, chain, simulator):
    hold(player)
    with pytest.raises(ServoError, match="cannot be opened"):
        Bus(chain, simulator.port)


def test_torque_comes_on_without_a_move(player, simulator, goals):
    """Even where a goal of yesterday is far away, the horn beyond a turn, or outside its limits."""
    simulator.command("set 2 goal_position 3000")
    simulator.command("place 5 6244")  # one turn and 2148
    simulator.command("place 7 4000")  # the limit is 3677
    hold(player)
    time.sleep(0.2)
    expected = [2048, 2048, 2048, 2048, 2148, 2048, 4000, 2048, 2048, 2048, 2048, 2048]
    assert [s["position"] for s in simulator.state().values()] == expected
    assert goals()[1][-1].tolist() == expected
    skip = len(goals()[0])
    run(player, pose(np.full(12, 0.1)))  # from outside its limits it comes inside
    counts = goals()[1][skip:]
    assert (np.diff(counts[:, 6]) <= 0).all()
    assert counts[-1, 6] == round(2048 + 0.1 * COUNTS_PER_RAD)


# playing


def test_the_approach_from_random_starts(player, simulator, goals):
    """How fast it is, is tested where time is exact: test_in_time.py."""
    rng = np.random.default_rng(5)
    hold(player)
    for _ in range(3):
        player.torque(False)
        player.wait(PlayState.READY)
        starts = rng.integers(600, 3500, 12)
        for id, counts in enumerate(starts, start=1):
            simulator.command(f"place {id} {counts}")
        player.torque(True)
        player.wait(PlayState.HOLDING)
        skip = len(goals()[0])
        target = rng.uniform(-1.5, 1.5, 12)
        player.play(pose(target))
        until(lambda: player.status.sent > 5, player.heartbeat)
        assert max(s["profile_velocity"] for s in simulator.state().values()) == int(
            np.ceil(PATIENT.approach_speed / VELOCITY_UNIT)
        )
        assert "to the end" in player.wait(*STILL).message
        counts = goals()[1][skip:]
        assert np.abs(counts[0] - starts).max() <= 1
        assert np.abs(counts[-1] - (2048 + target * COUNTS_PER_RAD)).max() <= 0.5 + 1e-9
        assert max(s["profile_velocity"] for s in simulator.state().values()) <= 5.24 / VELOCITY_UNIT + 1


def test_every_goal_arrives_in_order_or_is_counted(player, simulator, goals, wave):
    """What arrives is the motion at its own times, to the count, however many goals a busy machine drops on the way."""
    motion = wave(4.0)
    hold(player)
    status = run(player, motion)
    assert status.sent + status.dropped == 401
    assert status.progress == 1.0
    counts = goals()[1][-status.sent :]
    moments = np.arange(401) / 100
    expected = 2048 + COUNTS_PER_RAD * np.column_stack(
        [np.interp(moments, motion.times, column) for column in motion.values.T]
    )
    numbers = [int(np.abs(expected - row).max(axis=1).argmin()) for row in counts]
    assert np.abs(counts - expected[numbers]).max() <= 0.5 + 1e-6
    assert (np.diff(numbers) > 0).all()
    assert numbers[-1] == 400


def test_soft_stop_holds_and_plays_again(player, simulator, goals, wave):
    """How it slows down is tested where time is exact: test_in_time.py."""
    motion = wave(20.0)
    hold(player)
    player.play(motion)
    until(lambda: player.status.time > 0.5, player.heartbeat)
    player.stop()
    status = player.wait(PlayState.HOLDING)
    assert (status.message, status.torque) == ("stopped, holding; play again to go on", True)
    assert status.progress < 0.9
    counts = goals()[1]
    assert standing(simulator) == counts[-1].tolist()
    time.sleep(0.3)
    state = simulator.state()
    assert all(s["velocity"] == 0 and s["torque_enable"] == 1 and s["bus_watchdog"] == 0 for s in state.values())
    assert [s["position"] for s in state.values()] == counts[-1].tolist()
    assert "to the end" in run(player, pose(np.zeros(12))).message


def test_emergency_stop_turns_torque_off(player, simulator, wave):
    hold(player)
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    player.emergency_stop()
    until(lambda: not any(s["torque_enable"] for s in simulator.state().values()))
    status = player.wait(PlayState.READY)
    assert "emergency" in status.message
    assert not status.torque


def test_torque_off_at_the_end_as_asked(chain, simulator, wave):
    player = Player(chain, simulator.port, replace(PATIENT, torque_after=False))
    hold(player)
    assert "torque is off" in run(player, wave(0.2)).message
    player.close()
    assert all(s["torque_enable"] == 0 for s in simulator.state().values())
    assert player.status.state is PlayState.CLOSED


def test_no_heartbeat_and_the_watchdog_stops_the_servos(chain, simulator, wave):
    player = Player(chain, simulator.port, replace(PATIENT, heartbeat=5.0, watchdog=2.0))
    hold(player)
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    until(lambda: all(s["bus_watchdog"] == -1 for s in simulator.state().values()))
    until(lambda: player.status.state is PlayState.FAULT)
    assert "no heartbeat for 5 s: 12 of 12 servos were stopped by their watchdog" in player.status.message
    stood = standing(simulator)
    time.sleep(0.2)
    assert standing(simulator) == stood
    player.torque(True)
    player.wait(PlayState.HOLDING)
    assert standing(simulator) == pytest.approx(stood, abs=1)
    assert "to the end" in run(player, wave(0.2)).message


# faults


def test_the_other_end_dies(chain, wave):
    simulator = SimulatorProcess.of(chain)
    player = Player(chain, simulator.port, PATIENT)
    hold(player)
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    simulator.kill()
    message = fault(player)
    assert "is gone" in message
    assert "watchdog within 2.54 s" in message
    until(lambda: not player.is_open)


def test_a_servo_falls_silent(player, simulator, wave):
    hold(player)
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    simulator.command("silent 6")
    message = fault(player)
    assert "servo 6 (motor_5) stopped answering" in message
    assert "the others stopped and hold" in message
    until(lambda: simulator.state()[6]["bus_watchdog"] == -1)  # it heard nothing either
    until(lambda: all(s["velocity"] == 0 for s in simulator.state().values()))
    state = simulator.state()
    assert all(s["torque_enable"] == 1 for s in state.values())
    assert player.is_open
    simulator.command("answer 6")
    player.torque(True)
    player.wait(PlayState.HOLDING)


def test_a_hardware_error(player, simulator, wave):
    hold(player)
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    simulator.command("error 2 0x04")
    assert "servo 2 (motor_1) has a hardware error (overheating)" in fault(player)
    until(lambda: all(s["velocity"] == 0 for s in simulator.state().values()))


def test_a_blocked_servo_never_gets_to_the_first_frame(player, simulator):
    simulator.command("set 9 shutdown 0")
    simulator.command("block 9")
    hold(player)
    player.play(pose(np.full(12, 0.3)))
    message = fault(player)
    assert "servo 9 (motor_8)" in message
    assert "blocked" in message or "overload" in message


def test_the_servos_own_limits_are_respected(player, simulator):
    simulator.command("set 3 max_position_limit 2100")
    hold(player)
    with pytest.raises(ServoError, match=r"servo 3 \(motor_2\) takes goals from 419 to 2100 counts only"):
        player.play(pose(np.full(12, 0.3)))
    assert player.status.state is PlayState.HOLDING


def test_a_motion_that_must_not_be_played(player):
    hold(player)
    with pytest.raises(ServoError, match=r"motor_0: 2.6 .*above its limit 2.5"):
        player.play(pose(np.full(12, 2.6)))
    assert player.status.state is PlayState.HOLDING


def test_late_answers_are_not_taken_for_others(chain, simulator, monkeypatch):
    """An answer that comes after its time must not become the answer to the next question."""
    # far beyond what makes them late here, whatever this machine does meanwhile
    monkeypatch.setattr("robik.servo.brands.wired.reading.LATE", 0.5)
    with closing(DynamixelWire(chain.servos, simulator.port, 1_000_000, silence=0.0)) as wire:
        assert [wire.ping(id) for id in chain.ids] == [1010] * 12
        simulator.command("place 3 1234")
        simulator.command("noise late 0.02")
        wire.patience.latency, wire.port.readPort = 0.0, lambda _: b""  # nobody looks until the time is over
        with pytest.raises(ServoSilent):
            wire.read_block(chain.servos[2], 132, 4)
        wire.patience.latency = LATENCY
        del wire.port.readPort
        simulator.command("noise late 0")
        assert wire.read(chain.servos[2], "torque_enable") == 0
        assert wire.read_each("present_position").tolist() == [1234 if k == 2 else 2048 for k in range(12)]


@pytest.mark.parametrize("changes", [MOST - 1, MOST])
def test_settings_are_read_until_a_servo_says_the_same_twice(chain, simulator, changes):
    servo, reads = chain.servos[2], itertools.count()

    def read():
        simulator.command(f"set 3 max_position_limit {4000 - min(next(reads), changes)}")
        return read_all(wire, servo)

    with closing(DynamixelWire(chain.servos, simulator.port, 1_000_000)) as wire:
        if changes < MOST:
            assert read_surely(wire, servo, read).high == 4000 - changes
        else:
            with pytest.raises(ServoError, match=r"servo 3 \(motor_2\) says something else every time"):
                read_surely(wire, servo, read)


def test_the_simulated_port_is_started_and_ended_by_the_player(chain, wave):
    player = Player(chain, "sim", PATIENT)
    hold(player)
    process = player.simulator
    assert process is not None
    assert "to the end" in run(player, wave(0.3)).message
    player.close()
    assert process._process.poll() is not None
