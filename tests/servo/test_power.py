"""Torque only as the user asks, and told as it is: judged by an independent chain."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion, save_motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState, ServoReading, torque_words

from .conftest import DEADLINE, until
from .independent import IndependentChain
from .terminal import CHECKOUT, playing

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)))
TIMES = np.arange(0.0, 60.0, 1 / 30)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.3 * np.sin(TIMES[:, None] + np.arange(4)))
PATIENT = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=2.5, silence=2.0)
ALL = {1, 2, 3, 4}
ACCESS_ERROR = 7
PER_RADIAN = 4096 / (2 * np.pi)


@pytest.fixture
def servos() -> Iterator[IndependentChain]:
    with IndependentChain(model=1000) as chain:
        yield chain


@pytest.fixture
def player(servos) -> Iterator[Player]:
    made = Player(CHAIN, servos.port, PATIENT)
    yield made
    made.close()


def hold(player: Player) -> None:
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)


def play(player: Player) -> None:
    hold(player)
    player.play(MOTION)
    player.wait(PlayState.PLAYING)
    time.sleep(0.3)


def robik(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "robik.cli", *map(str, arguments)]
    return subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def files(tmp_path) -> tuple[object, ...]:
    save_chain(CHAIN, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    return tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--approach", 3


# before anything moved


@pytest.mark.parametrize("powered", [ALL, set(), {1, 3}], ids=["all have torque", "none has", "some have"])
@pytest.mark.parametrize("wait", [0.1, 1.0, 2.0])
def test_an_interrupt_before_anything_moved_leaves_torque_as_it_was(servos, files, powered, wait):
    servos.line(latency=0.016)
    for id in powered:
        servos.change(id, torque_enable=1)
    with playing(*files, "--port", servos.port) as terminal:
        until(lambda: len(servos.log.packets()) > 3)  # it connects
        time.sleep(wait)
        terminal.process.send_signal(signal.SIGINT)
        code, printed = terminal.end()
    assert (code, servos.powered) == (1, powered), printed
    assert "stopped before anything moved" in printed
    assert servos.log.goals() == [] or all(
        abs(servos.state()[goal.id]["horn"] - goal.counts) <= 1 for goal in servos.log.goals()
    )
    assert not any(change.id in powered for change in servos.log.torque(on=False)), (
        "nobody who stood was let go, not for a moment"
    )


# a motion that is refused


def far(tmp_path: Path, chain: IndependentChain) -> list[object]:
    chain.place(None, 3300)
    return ["--approach", 0.5]


def no_folder(tmp_path: Path, chain: IndependentChain) -> list[object]:
    return ["--record", tmp_path / "missing" / "take.csv"]


def own_limits(tmp_path: Path, chain: IndependentChain) -> list[object]:
    chain.change(2, max_position_limit=2100)
    return []


def missing(tmp_path: Path, chain: IndependentChain) -> list[object]:
    chain.faults(4, deaf=True)
    return []


def startup_torque(tmp_path: Path, chain: IndependentChain) -> list[object]:
    chain.change(3, startup_configuration=1)
    return []


def torque_by_goal(tmp_path: Path, chain: IndependentChain) -> list[object]:
    chain.change(3, drive_mode=8)
    return []


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (far, "the robot stands far from the first frame"),
        (no_folder, "the telemetry cannot be recorded"),
        (own_limits, "servo 2 (motor_1) takes goals from"),
        (missing, "servo 4 (motor_3) does not answer"),
        (startup_torque, "servo 3 (motor_2) has Startup Torque On set"),
        (torque_by_goal, "servo 3 (motor_2) has Torque On by Goal Update set"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_motion_is_refused_before_torque_is_on(servos, files, tmp_path, why, words):
    more = why(tmp_path, servos)
    done = robik("play", *files, "--port", servos.port, *more)
    assert done.returncode == 2, done
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert servos.log.torque() == []
    assert servos.log.goals() == []


def test_a_servo_that_is_named_is_played_without(servos, tmp_path):
    servos.faults(4, deaf=True)
    save_chain(CHAIN, tmp_path / "c.servos.json")
    save_motion(
        Motion(times=np.array([0.0, 0.5]), actuators=NAMES, values=np.array([[0.0] * 4, [0.2] * 4])), tmp_path / "m.csv"
    )
    done = robik(
        "play", tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--port", servos.port, "--without", 4
    )
    assert done.returncode == 0, done
    assert "played without servo 4 (motor_3), as asked" in done.stderr
    assert {goal.id for goal in servos.log.goals()} == {1, 2, 3}


@pytest.mark.parametrize("ends", ["at its end", "by a fault"])
def test_torque_off_in_the_end_whatever_the_end_is(servos, tmp_path, ends):
    save_chain(CHAIN, tmp_path / "c.servos.json")
    seconds = 0.5 if ends == "at its end" else 30.0
    save_motion(
        Motion(times=np.array([0.0, seconds]), actuators=NAMES, values=np.array([[0.0] * 4, [0.2] * 4])),
        tmp_path / "m.csv",
    )
    with playing(
        tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--port", servos.port, "--torque", "off"
    ) as terminal:
        until(lambda: len(servos.log.goals()) > 20)
        if ends == "by a fault":
            servos.fail(2, 0x20)
        code, printed = terminal.end()
    assert code == (0 if ends == "at its end" else 2), printed
    assert "torque is off" in printed
    assert servos.powered == set()


# told as it is


def test_torque_on_that_fails_at_one_is_told_servo_by_servo(servos, player):
    servos.faults(3, refuse={"torque_enable": ACCESS_ERROR})
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    until(lambda: player.status.state is PlayState.FAULT)
    assert "servo 3 (motor_2) does not take 1 as torque enable" in player.status.message
    assert [one.torque for one in player.status.servos] == [True, True, False, True]
    assert not player.status.torque
    assert player.status.may_have_torque
    player.close()
    assert player.status.message == "port closed, torque is on in 3 of 4 (servo 1, 2, 4)"
    assert servos.powered == {1, 2, 4}


def test_in_a_fault_the_looks_go_on(servos, player):
    play(player)
    servos.fail(2, 0x20)
    until(lambda: player.status.state is PlayState.FAULT)
    servos.sense(1, celsius=61)
    servos.place(3, 2500)
    servos.faults(4, silent=True)
    until(lambda: player.status.servos[0].celsius == 61)
    until(lambda: player.status.servos[3].torque is None)
    assert [one.torque for one in player.status.servos[:3]] == [True, False, True]
    assert player.status.servos[3].error == "does not answer"
    assert isnan(player.status.servos[3].celsius)
    until(lambda: abs(player.status.present[2] - (2500 - 2048) / PER_RADIAN) < 0.01)
    assert "overload" in player.status.message, "it still says what happened"


@pytest.mark.parametrize(
    ("torque", "words"),
    [
        ([], "torque is not known"),
        ([None, None], "torque is not known"),
        ([True, True], "torque is on"),
        ([False, False], "torque is off"),
        ([True, False, True], "torque is on in 2 of 3 (servo 1, 3)"),
        ([True, None], "torque is on in 1 of 2 (servo 1), not known of servo 2"),
        ([False, None], "torque is on in 0 of 2, not known of servo 2"),
    ],
)
def test_words_for_torque(torque, words):
    assert (
        torque_words([ServoReading(k, "knee", on, 0.0, None, 30.0, 12.0, "") for k, on in enumerate(torque, start=1)])
        == words
    )


@pytest.mark.parametrize("known", [True, False], ids=["at its baud rate", "at any baud rate"])
def test_the_command_that_turns_the_torque_of_all_off(servos, known):
    servos.change(torque_enable=1)
    before = time.monotonic()
    done = robik("servos", "torque-off", "--port", servos.port, *(["--baud", 1_000_000] if known else []))
    assert done.returncode == 0, done
    assert servos.powered == set()
    assert re.findall(r"id +(\d+) .* torque is off", done.stdout) == ["1", "2", "3", "4"]
    first = servos.log.packets(before)[0]
    assert first.torque == {254: 0}, "the first thing that is said"


def test_the_command_tells_the_program_that_has_the_port(servos, files, tmp_path):
    save_motion(Motion(times=np.array([0.0, 600.0]), actuators=NAMES, values=np.zeros((2, 4))), tmp_path / "m.csv")
    with playing(*files, "--port", servos.port) as terminal:
        until(lambda: len(servos.log.goals()) > 200)
        again = robik("play", *files, "--port", servos.port)
        assert again.returncode == 2
        assert "another program uses it; robik servos stop ends what plays with RobIK" in again.stderr
        assert servos.powered == {1, 2, 3, 4}
        done = robik("servos", "torque-off", "--port", servos.port)
        code, _ = terminal.end()
    assert (done.returncode, code, servos.powered) == (0, 1, set())
    assert "emergency stop: torque is off" in done.stdout


def test_the_command_says_who_still_has_torque(servos):
    servos.change(torque_enable=1)
    servos.faults(2, refuse={"torque_enable": ACCESS_ERROR})
    servos.faults(3, silent=True)
    done = robik("servos", "torque-off", "--port", servos.port, "--baud", 1_000_000)
    assert done.returncode == 1
    assert re.search(r"id +2 .* torque is ON", done.stdout)
    assert servos.powered == {2}


# servos that restart


def test_prepare_clears_what_would_make_a_servo_run_after_a_restart(servos):
    servos.change(2, startup_configuration=1)
    servos.change(3, drive_mode=8)
    done = robik("servos", "prepare", "--port", servos.port, "--yes")
    assert done.returncode == 0, done
    assert "startup configuration 1 → 0" in done.stdout
    assert "drive mode 8 → 0" in done.stdout
    assert (servos.registers(2)["startup_configuration"], servos.registers(3)["drive_mode"]) == (0, 0)


@pytest.mark.parametrize("entry", ["startup_configuration", "drive_mode"])
def test_a_restarted_servo_gets_no_more_goals_and_never_runs(servos, entry):
    """Even where the setting that is refused at connecting is made behind the player's back."""
    player = Player(CHAIN, servos.port, replace(PATIENT, silence=0.15))
    play(player)
    servos.change(2, **{entry: 1 if entry == "startup_configuration" else 8})
    servos.mark()
    servos.reboot(2, seconds=0.1)
    until(lambda: player.status.state is PlayState.FAULT)
    assert "servo 2 (motor_1)" in player.status.message
    log = servos.log
    restarted = log.events(id=2, what="reboot")[0].time
    goals = [packet.time for packet in log.packets(restarted) if 2 in packet.goals]
    others = [packet.time for packet in log.packets(restarted) if 1 in packet.goals]
    noticed = max(goals, default=restarted)
    assert noticed - restarted <= 0.1 + 0.15, "until it was noticed, which its silence takes"
    assert others[-1] > noticed, "the others slowed down, as told"
    fastest = servos.fastest()[2]
    assert fastest <= CHAIN.servos[1].velocity_limit * PER_RADIAN * 1.05, fastest
    player.close()


@pytest.mark.parametrize("entry", ["bus_watchdog", "profile_velocity"])
def test_a_guard_that_somebody_else_took_away_is_noticed_at_the_next_look(servos, player, entry):
    play(player)
    at = time.monotonic()
    servos.change(3, **{entry: 0})
    until(lambda: player.status.state is PlayState.FAULT)
    assert "servo 3 (motor_2) lost its watchdog or its speed limit" in player.status.message
    last = [packet.time for packet in servos.log.packets(at) if 3 in packet.goals]
    assert len(last) <= 12, "goals until the next look"
    player.torque(True)
    player.wait(PlayState.HOLDING)
