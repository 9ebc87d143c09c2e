"""What a player does beside playing from end to end: pauses, rounds, live following, care, telemetry, pairs and missing
servos."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands.dynamixel.models import VELOCITY_UNIT
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.recording import load_recording
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.simulator.process import SimulatorProcess

from .conftest import COUNTS_PER_RAD, DEADLINE, NAMES, PATIENT, open_player, standing, until

pytestmark = pytest.mark.real_time


@pytest.fixture
def player(chain, simulator):
    made = open_player(chain, simulator)
    yield made
    made.close()


def beat_for(player: Player, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        player.heartbeat()
        time.sleep(0.01)


# pauses, rounds, stretches


def test_pause_in_place_and_resume(player, simulator, goals, wave):
    player.play(wave(4.0))
    until(lambda: player.status.time > 0.3, player.heartbeat)
    player.pause()
    player.wait(PlayState.PAUSED)
    beat_for(player, 0.2)
    paused, stood = player.status, standing(simulator)
    beat_for(player, 0.4)
    assert standing(simulator) == stood
    assert player.status.time == paused.time
    assert 0.3 < paused.time < 4.0
    player.resume()
    assert "to the end" in player.wait(PlayState.HOLDING).message
    assert np.abs(goals()[1][-1] - (2048 + wave(4.0).values[-1] * COUNTS_PER_RAD)).max() <= 1


def test_a_pause_is_watched_too(player, simulator, wave):
    player.play(wave(3.0))
    player.wait(PlayState.PLAYING)
    player.pause()
    player.wait(PlayState.PAUSED)
    simulator.command("error 3 0x20")
    assert "servo 3 (motor_2) has a hardware error (overload)" in player.wait(PlayState.FAULT).message


def test_round_and_round_until_it_is_stopped(player, simulator):
    times = np.arange(31) / 60
    circle = Motion(times=times, actuators=NAMES, values=0.1 * np.sin(2 * np.pi * times / 0.5)[:, None] + np.zeros(12))
    player.play(circle, loop=True)
    until(lambda: player.status.time > 1.0, player.heartbeat)
    status = player.status
    assert status.state is PlayState.PLAYING
    assert 0.0 <= status.at <= status.duration == 0.5 < status.round == pytest.approx(0.5 + 1 / 60)
    assert status.at == pytest.approx(min(0.5, status.time % status.round))
    assert status.progress == status.at / 0.5
    player.stop()
    assert "stopped" in player.wait(PlayState.HOLDING).message


def test_a_stretch_at_half_the_speed(player, simulator, wave):
    motion = wave(4.0)
    player.play(motion, start=1.0, end=1.5, speed=0.5)
    assert player.status.duration == pytest.approx(1.0)
    assert "to the end" in player.wait(PlayState.HOLDING).message
    expected = [np.interp(1.5, motion.times, column) for column in motion.values.T]
    assert standing(simulator) == pytest.approx(2048 + np.array(expected) * COUNTS_PER_RAD, abs=1)
    with pytest.raises(ServoError, match="above its limit"):
        player.play(motion, speed=30.0)


# live


JUMP = st.none() | st.lists(st.floats(-9, 9) | st.just(float("nan")), min_size=12, max_size=12)


@settings(
    max_examples=2,  # more of them in test_in_time.py
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # an example takes seconds of real time
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(JUMP, st.floats(0.02, 0.15)), min_size=3, max_size=10), st.integers(0, 2**32))
def test_live_whatever_the_mouse_does(chain, simulator, goals, script, seed):
    """Jumps, scrubbing, NaN and lost wishes: no goal outside the limits, no step above the speed, no change above the
    acceleration."""
    simulator.command("renew")
    for id, counts in enumerate(np.random.default_rng(seed).integers(700, 3400, 12), start=1):
        simulator.command(f"place {id} {counts}")
    player = open_player(chain, simulator, approach_speed=0.5)
    skip = len(goals()[0])
    player.live()
    for wish, seconds in script:
        player.aim(None if wish is None else dict(zip(NAMES, wish, strict=True)))
        beat_for(player, seconds)
    player.stop()
    status = player.wait(PlayState.HOLDING)
    player.close()
    counts = goals()[1][skip:]
    assert (counts >= chain.count_limits[:, 0]).all()
    assert (counts <= chain.count_limits[:, 1]).all()
    steps = np.diff(counts, axis=0)
    speed = FAST_LIVE * chain.speed_limits * COUNTS_PER_RAD / 100
    assert (np.abs(steps) <= speed + 1).all()
    assert (
        np.abs(np.diff(steps, axis=0)).max(initial=0) <= 20.0 * COUNTS_PER_RAD / 100**2 + 2
    )  # rounding of three goals
    assert np.abs(steps[-1:]).max(initial=0) <= 1 + 20.0 * COUNTS_PER_RAD / 100**2
    assert (status.message, status.torque) == ("stopped, holding; play again to go on", True)


FAST_LIVE = PlaySettings().live_share


def test_live_catches_up_slowly_and_then_follows(chain, simulator, goals):
    simulator.command("place 1 2700")
    player = open_player(chain, simulator, approach_speed=0.5)
    skip = len(goals()[0])
    places = lambda: [servo["position"] for servo in simulator.state().values()]  # noqa: E731
    player.live()
    player.aim(dict.fromkeys(NAMES, 0.0))
    until(lambda: places()[0] < 2600, player.heartbeat)
    player.aim(dict.fromkeys(NAMES[1:], 0.5))  # those are there already; the first has no wish
    until(lambda: places()[1:] == pytest.approx([2048 + 0.5 * COUNTS_PER_RAD] * 11, abs=2), player.heartbeat)
    player.aim(None)
    beat_for(player, 0.3)
    stood = standing(simulator)
    beat_for(player, 0.3)
    assert player.status.state is PlayState.LIVE
    assert standing(simulator) == stood
    steps = np.abs(np.diff(goals()[1][skip:], axis=0))
    assert steps[:, 0].max() <= 0.5 * COUNTS_PER_RAD / 100 + 1
    player.stop()
    player.wait(PlayState.HOLDING)
    player.close()


def test_live_without_a_heartbeat(chain, simulator):
    player = open_player(chain, simulator, heartbeat=2.0, watchdog=1.0)
    player.live()
    player.aim(dict.fromkeys(NAMES, 1.0))
    until(lambda: player.status.state is PlayState.FAULT)
    assert "no heartbeat" in player.status.message
    stood = standing(simulator)
    time.sleep(0.2)
    assert standing(simulator) == stood


# care


def test_heat_slows_down_and_then_stops(player, simulator, wave):
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    simulator.command("sense 5 12.0 72")
    until(lambda: "servo 5 (motor_4) is at 72 °C, and turns itself off at 80" in player.status.strain, player.heartbeat)
    simulator.command("sense 5 12.0 78")
    message = player.wait(PlayState.FAULT).message
    assert "servo 5 (motor_4) is at 78 °C" in message
    assert "let it cool" in message
    standing(simulator)
    assert all(s["torque_enable"] == 1 for s in simulator.state().values())


def test_a_servo_that_is_held_fast_stops_all_before_it_overloads(player, simulator, wave):
    simulator.command("set 4 shutdown 0")
    player.play(wave(20.0))
    player.wait(PlayState.PLAYING)
    simulator.command("block 4")
    message = player.wait(PlayState.FAULT, timeout=DEADLINE).message
    assert "servo 4 (motor_3)" in message
    assert "is it blocked?" in message or "greatest load" in message or "overload" in message
    simulator.command("free 4")


def test_a_current_limit_below_the_servos_own(chain, simulator, wave):
    """1.5 % of the greatest load are 10 units of 648; 60 mA are 22. In mode 5 the servo holds to the limit itself, and
    cannot overload."""
    weak = replace(chain, servos=tuple(replace(s, current_limit=0.06) if s.id in (3, 4) else s for s in chain.servos))
    simulator.command("set 4 operating_mode 5")
    player = open_player(weak, simulator, feed_forward=True)  # so that it moves all the time
    simulator.command("load 3 -0.015")
    assert [simulator.state()[id]["goal_current"] for id in (3, 4)] == [648, 22]
    player.play(wave(60.0, amplitude=0.1, frequency=6.0))
    until(lambda: player.status.servos[2:] and player.status.servos[2].load > 0.3)
    assert player.status.servos[1].load < 0.1
    simulator.command("block 4")  # never so far behind that this alone would stop it
    message = player.wait(PlayState.FAULT).message
    assert re.match(r"servo 4 \(motor_3\) bears \d+ % of its greatest load; make the motion lighter", message), message


def test_reboot_is_the_way_on_after_an_overload(player, simulator, wave):
    simulator.command("error 2 0x20")
    assert (
        "servo 2 (motor_1) has a hardware error (overload); remove the cause, reboot it"
        in player.wait(PlayState.FAULT).message
    )
    player.torque(True)
    assert "remove the cause and reboot it" in player.wait(PlayState.FAULT).message
    player.reboot()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(wave(0.1))
    player.wait(PlayState.HOLDING)


def test_torque_goes_off_also_where_a_servo_was_unfit(chain, simulator):
    simulator.command("error 2 0x20")
    simulator.command("set 3 torque_enable 1")
    player = Player(chain, simulator.port, PATIENT)
    player.connect()
    player.wait(PlayState.FAULT)
    player.emergency_stop()
    until(lambda: player.status.state is PlayState.READY)
    assert not any(servo["torque_enable"] for servo in simulator.state().values())
    beat_for(player, 0.5)
    assert player.status.message == "emergency stop: torque is off; turn it on to go on"
    player.close()


# telemetry


def test_what_is_read_back_while_streaming(chain, simulator, goals, wave, tmp_path):
    """All servos between goals, as often as the machine lets it; how often that is says the benchmark."""
    player = open_player(
        chain, simulator, rate=25.0, record=str(tmp_path / "record.csv")
    )  # slow enough for any machine
    player.play(wave(3.0))
    status = player.wait(PlayState.HOLDING)
    player.close()
    assert status.looks > 0
    recording = load_recording(tmp_path / "record.csv")
    assert recording.names == NAMES
    seen = np.isfinite(recording.error)  # a look that a late machine cuts short has some of the servos
    assert seen.mean() > 0.8
    assert np.median(np.abs(recording.error[seen])) < 0.1
    assert (recording.celsius[seen] == 30).all()
    assert (recording.volts[seen] == 12.0).all()
    assert set(np.round(np.abs(recording.current[seen]) / 0.00269)) <= {0.0, 13.0}, (
        "nothing, or what friction draws while it moves"
    )
    assert np.isnan(recording.load).all()
    assert (np.diff(recording.times) > 0).all(), "without the way to the first frame"
    motion = wave(3.0)
    expected = np.column_stack([np.interp(recording.at, motion.times, column) for column in motion.values.T])
    assert np.abs(recording.goal - expected)[seen].max() < 2 / COUNTS_PER_RAD


def test_a_pause_is_recorded_in_its_time(simulator, chain, wave, tmp_path):
    player = open_player(chain, simulator, rate=25.0, record=str(tmp_path / "record.csv"))
    player.play(wave(1.0))
    player.wait(PlayState.PLAYING)
    player.pause()
    player.wait(PlayState.PAUSED)
    time.sleep(0.5)
    player.resume()
    player.wait(PlayState.HOLDING)
    player.close()
    recording = load_recording(tmp_path / "record.csv")
    assert (np.diff(recording.times) > 0).all()
    assert recording.times[-1] > recording.at[-1] + 0.4
    assert np.isfinite(recording.lag).all()


def test_a_servo_without_fast_reads_is_read_all_the_same(chain, simulator, wave):
    simulator.command("set 7 firmware_version 44")
    player = open_player(chain, simulator, rate=25.0)
    player.play(wave(1.0))
    status = player.wait(PlayState.HOLDING)
    player.close()
    assert status.looks > 0, "at all servos at once"


def test_models_without_indirect_addresses_in_common_are_looked_at_in_two_packets(wave):
    """XL330s have their indirect data elsewhere."""
    models = ("XH430-W210", "XL330-M288")
    chain = ServoChain(
        tuple(Servo(name, k + 1, models[k % 2], position_limits=(-2.5, 2.5)) for k, name in enumerate(NAMES))
    )
    with SimulatorProcess.of(chain) as simulator:
        player = open_player(chain, simulator)
        player.play(wave(1.0))
        status = player.wait(PlayState.HOLDING)
        assert "to the end" in status.message
        assert status.looks > 10
        assert {reading.celsius for reading in status.servos} == {30.0}
        assert status.servos[0].current is not None
        player.play(wave(5.0))
        player.wait(PlayState.PLAYING)
        simulator.command("reboot 6")
        message = player.wait(PlayState.FAULT).message
        assert "servo 6 (motor_5) lost its torque" in message or "servo 6 (motor_5) stopped answering" in message
        player.close()


def test_feed_forward_sends_each_goal_with_its_speed(chain, simulator, goals, wave):
    player = open_player(chain, simulator, feed_forward=True)
    player.play(wave(1.0))
    until(lambda: player.status.time > 0.3, player.heartbeat)
    units = [servo["profile_velocity"] for servo in simulator.state().values()]
    player.wait(PlayState.HOLDING)
    counts = goals()[1]
    player.close()
    assert 8 <= min(units) < max(units) < 5.24 / VELOCITY_UNIT  # how fast exactly: test_in_time.py
    assert np.abs(counts[-1] - (2048 + wave(1.0).values[-1] * COUNTS_PER_RAD)).max() <= 1
    assert standing(simulator) == pytest.approx(counts[-1].tolist(), abs=1)


# chains that are not one servo per actuator


def test_two_servos_turn_one_actuator_in_mirror(wave):
    pair = (
        Servo("knee", 1, position_limits=(-1, 1)),
        Servo("knee", 2, direction=-1, zero=2000, position_limits=(-1, 1)),
    )
    chain = ServoChain((*pair, Servo("hip", 3)))
    with SimulatorProcess.of(chain) as simulator:
        player = open_player(chain, simulator)
        player.play(
            Motion(times=np.array([0.0, 0.5]), actuators=("hip", "knee"), values=np.array([[0.0, 0.0], [0.2, 0.5]]))
        )
        player.wait(PlayState.HOLDING)
        half = 0.5 * COUNTS_PER_RAD
        assert standing(simulator) == pytest.approx([2048 + half, 2000 - half, 2048 + 0.2 * COUNTS_PER_RAD], abs=1)
        player.close()


def test_a_missing_servo_is_refused_unless_it_is_named(chain, simulator, wave):
    simulator.command("silent 6")
    player = Player(chain, simulator.port, PATIENT)
    player.connect()
    message = player.wait(PlayState.FAULT).message
    assert re.match(
        r"servo 6 \(motor_5\) does not answer on .+; check its power, its cable, its id, .+ 1000000 baud", message
    ), message
    assert "--without 6" in message
    player.close()
    player = Player(chain, simulator.port, replace(PATIENT, without=(6,)))
    player.connect()
    status = player.wait(PlayState.READY)
    assert status.message == "11 servos found, without servo 6 (motor_5), torque is off"
    assert status.missing == "played without servo 6 (motor_5), as asked"
    player.torque(True)
    assert player.wait(PlayState.HOLDING).missing == status.missing
    assert len(player.chain.servos) == 11
    assert player.preflight(wave(0.3)).warnings == ("motor_5 has no servo and is left out",)
    player.play(wave(0.3))
    assert "to the end" in player.wait(PlayState.HOLDING).message
    assert standing(simulator)[5] == 2048
    player.close()


@pytest.mark.parametrize(
    ("without", "words"), [((99,), "there is no servo 99"), (tuple(range(1, 13)), "nobody would be left")]
)
def test_servos_that_cannot_be_done_without(chain, simulator, without, words):
    player = Player(chain, simulator.port, replace(PATIENT, without=without))
    player.connect()
    assert words in player.wait(PlayState.FAULT).message
    player.close()


def test_one_of_a_pair_that_is_missing_and_none_that_answers():
    chain = ServoChain((Servo("knee", 1), Servo("knee", 2, direction=-1), Servo("hip", 3)))
    with SimulatorProcess.of(chain) as simulator:
        simulator.command("silent 2")
        player = open_player(chain, simulator, without=(2,))
        assert "without servo 2 (knee)" in player.status.missing
        player.play(
            Motion(times=np.array([0.0, 0.5]), actuators=("hip", "knee"), values=np.array([[0.0, 0.0], [0.2, 0.5]]))
        )
        player.wait(PlayState.HOLDING)
        state = simulator.state()
        assert state[1]["goal_position"] == pytest.approx(2048 + 0.5 * COUNTS_PER_RAD, abs=1)
        player.close()
        for id in (1, 3):
            simulator.command(f"silent {id}")
        player.connect()
        assert "none of the 3 servos answers" in player.wait(PlayState.FAULT).message


def test_a_servo_that_goes_missing_later_still_hears_that_torque_goes_off(chain, simulator):
    player = open_player(chain, simulator)
    simulator.command("set 6 status_return_level 0")  # it hears, but no longer answers
    until(lambda: player.status.state is PlayState.FAULT, player.heartbeat)
    player.torque(True)
    assert "servo 6 (motor_5)" in player.wait(PlayState.FAULT).message
    player.emergency_stop()
    until(lambda: "servo 6 (motor_5) did not confirm it; switch the power off" in player.status.message)
    assert [one.torque for one in player.status.servos] == [False] * 5 + [None] + [False] * 6
    assert not any(servo["torque_enable"] for servo in simulator.state().values())
    simulator.command("set 6 status_return_level 2")
    until(lambda: player.status.state is PlayState.READY)
    assert [one.torque for one in player.status.servos] == [False] * 12


@pytest.mark.parametrize("is_apart", [False, True], ids=["in a thread", "in a process"])
def test_simulated_servos_are_gone_with_their_port(chain, is_apart):
    """Their torque is not told as that of servos that are still there."""
    player = Player(chain, "sim", PATIENT, is_apart=is_apart)
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.close(DEADLINE)
    assert player.status.message == "port closed, the simulated servos are gone"
    assert not player.status.may_have_torque
