"""The port in a process of its own, judged by an independent chain: owners that stall and die, processes that hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion, save_motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.outside import holders
from robik.servo.port.status import PlaySettings, PlayState

from .conftest import DEADLINE, until
from .independent import IndependentChain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

CHECKOUT = Path(__file__).resolve().parents[2]
NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)))
TIMES = np.arange(0.0, 30.0, 1 / 60)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.5 * np.sin(2.0 * TIMES[:, None] + np.arange(4)))
PATIENCE = 1.0  # [s] that the owner may stall
SETTINGS = PlaySettings(approach_speed=3.0, heartbeat=PATIENCE, watchdog=1.0, silence=1.0, stop_time=0.6)
STALL = 0.15  # [s] of a busy machine that does not count as one
OWNER = """
import sys, time
from tests.servo.test_port_process import *
player = Player(CHAIN, sys.argv[1], SETTINGS, is_apart=True)
player.connect()
player.wait(PlayState.READY)
player.torque(True)
player.wait(PlayState.HOLDING)
player.play(MOTION, from_afar=True)
player.wait(PlayState.PLAYING)
print("playing", flush=True)
while True:
    player.heartbeat()
    time.sleep(0.02)
"""


@pytest.fixture
def servos():
    with IndependentChain(model=1000) as chain:
        yield chain


@pytest.fixture
def owner(servos):
    """A program of its own that plays, and beats."""
    with subprocess.Popen([sys.executable, "-c", OWNER, servos.port], cwd=CHECKOUT, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"playing\n"
            time.sleep(0.5)
            yield process
        finally:
            process.kill()


@pytest.fixture
def player(servos):
    made = Player(CHAIN, servos.port, SETTINGS, is_apart=True)
    yield made
    made.close()


@pytest.fixture
def patient(servos):
    """Whose owner may stall for long, as on a busy machine."""
    made = Player(CHAIN, servos.port, replace(SETTINGS, heartbeat=30.0), is_apart=True)
    yield made
    made.close()


def begin(player: Player) -> None:
    """Play, and let it go on for a while."""
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(MOTION, from_afar=True)
    player.wait(PlayState.PLAYING)
    idle(player, 0.5)


def idle(player: Player, seconds: float) -> None:
    """As Blender's main loop, for a while."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        player.heartbeat()
        time.sleep(0.02)


def host(servos: IndependentChain) -> int:
    """The id of the process that has the port."""
    until(lambda: holders(servos.port))
    return int(holders(servos.port)[0].file.stem)


def goals(servos: IndependentChain, after: float) -> tuple[np.ndarray, np.ndarray]:
    """When goals came (K,) [s] and where to (K, 4) [counts]."""
    packets = [packet for packet in servos.log.packets(after) if len(packet.goals) == 4]
    times = np.array([packet.time for packet in packets])
    return times, np.array([[packet.goals[id] for id in (1, 2, 3, 4)] for packet in packets])


def check_soft_stop(servos: IndependentChain, after: float) -> float:
    """They slowed down evenly and hold, by no watchdog; returns when the last goal came."""
    time.sleep(0.3)
    times, counts = goals(servos, after)
    speeds = np.abs(np.diff(counts, axis=0)).max(axis=1) / np.diff(times)
    assert np.median(speeds[-5:]) < 0.25 * speeds[: len(speeds) // 2].max(), "they slow down"
    assert servos.log.events(what="watchdog") == []
    assert servos.powered == {1, 2, 3, 4}
    assert all(servo["velocity"] == 0 for servo in servos.state().values())
    assert all(servos.registers(id)["bus_watchdog"] == 0 for id in (1, 2, 3, 4))
    return float(times[-1])


def test_the_show_goes_on_while_the_owner_stalls(servos, player):
    begin(player)
    stalled = time.monotonic()
    time.sleep(0.8 * PATIENCE)
    idle(player, 0.3)
    assert player.status.state is PlayState.PLAYING
    times, counts = goals(servos, stalled)
    assert np.diff(times).max() < STALL
    assert len(times) >= 0.9 * 100 * (0.8 * PATIENCE + 0.3)
    assert np.abs(np.diff(counts, axis=0)).max() <= 0.5 * 2.0 * 4096 / (2 * np.pi) * STALL


def test_a_longer_stall_ends_in_a_planned_stop_from_which_play_goes_on(servos, player):
    begin(player)
    stalled = time.monotonic()
    time.sleep(PATIENCE + SETTINGS.stop_time + 0.5)
    assert PATIENCE - 0.1 < check_soft_stop(servos, stalled) - stalled < PATIENCE + SETTINGS.stop_time + STALL
    status = player.wait(PlayState.HOLDING)
    assert status.message == "not heard of for 1 s: stopped, holding; play again to go on"
    assert status.stopped_at > 0.5
    before = goals(servos, stalled)[1][-1]
    again = time.monotonic()
    player.play(MOTION)
    player.wait(PlayState.PLAYING)
    idle(player, 0.3)
    assert player.status.time > status.stopped_at
    counts = goals(servos, again)[1]
    assert np.abs(counts[:10] - before).max() <= 3, "from where it stopped"


def test_an_owner_that_is_killed_leaves_servos_that_stop_softly(servos, owner):
    killed = time.monotonic()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    until(lambda: not holders(servos.port))
    check_soft_stop(servos, killed - 0.3)
    stopping = len(goals(servos, killed)[0]) / SETTINGS.rate  # [s] of goals: where the machine stalls, time slows
    assert 0.5 * SETTINGS.stop_time < stopping < SETTINGS.stop_time + STALL
    player = Player(CHAIN, servos.port, SETTINGS)
    player.connect()
    assert player.wait(PlayState.HOLDING).torque, "the port is free, and they hold"
    player.close()


@pytest.mark.parametrize("who", ["the process", "the machine"])
def test_who_was_suspended_wakes_to_a_robot_that_stands(servos, owner, who):
    asleep = [host(servos), *([owner.pid] if who == "the machine" else [])]
    try:
        for pid in asleep:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(SETTINGS.watchdog + 1.0)
        woken = time.monotonic()
    finally:
        for pid in asleep:
            os.kill(pid, signal.SIGCONT)
    until(lambda: "this computer stood still for" in holders(servos.port)[0].state)
    time.sleep(0.5)
    assert servos.log.goals(woken) == [], "no servo takes a goal"
    assert len(goals(servos, woken)[0]) <= 1, "and none is sent but what was being written as it fell asleep"
    assert all(servo["velocity"] == 0 for servo in servos.state().values())
    assert servos.powered == {1, 2, 3, 4}


def test_a_process_that_dies_is_told_of_and_torque_can_still_be_cut(servos, patient):
    begin(patient)
    os.kill(host(servos), signal.SIGKILL)
    until(lambda: patient.status.state is PlayState.FAULT)
    assert (
        "the process that plays has ended (-9); the servos stop by their watchdog within 1 s" in patient.status.message
    )
    assert [servo.torque for servo in patient.status.servos] == [None] * 4
    until(lambda: not patient.is_open)
    until(lambda: len(servos.log.events(what="watchdog")) == 4)
    pressed = time.monotonic()
    patient.emergency_stop()
    until(lambda: servos.powered == set())
    assert servos.log.torque(pressed, on=False)[0].time - pressed < 0.5
    until(lambda: patient.status.message == "port closed, torque is off")
    patient.connect()
    assert "4 servos found" in patient.wait(PlayState.READY).message


def test_torque_off_where_the_process_hangs(servos, patient):
    begin(patient)
    os.kill(host(servos), signal.SIGSTOP)
    time.sleep(0.5)
    pressed = time.monotonic()
    patient.emergency_stop()
    until(lambda: servos.powered == set())
    assert servos.log.torque(pressed, on=False)[0].time - pressed < 1.0
    until(lambda: not patient.is_open)


def robik(*arguments: str, meanwhile: Player | None = None) -> tuple[int, str, str]:
    """Run the command, while a player's owner goes on; return the exit code, and what was printed."""
    command = [sys.executable, "-m", "robik.cli", *arguments]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until(lambda: running.poll() is not None, meanwhile.heartbeat if meanwhile else lambda: None)
        return running.returncode, *running.communicate()


def test_a_stop_from_outside(servos, patient):
    begin(patient)
    asked = time.monotonic()
    code, printed, wrong = robik("servos", "stop", "--port", servos.port, meanwhile=patient)
    assert code == 0, wrong
    words = "holding: asked for outside: stopped, holding; play again to go on"
    assert printed.strip() == f"{servos.port}: {words}"
    check_soft_stop(servos, asked)
    patient.play(MOTION)
    patient.wait(PlayState.PLAYING)
    code, printed, wrong = robik("servos", "stop", "--port", servos.port, "--torque-off", meanwhile=patient)
    assert code == 0, wrong
    assert "emergency stop: torque is off" in printed
    assert servos.powered == set()


def test_a_stop_from_outside_of_what_nobody_plays():
    code, _, wrong = robik("servos", "stop", "--port", "/dev/nothing")
    assert code != 0
    assert "no program of this user that plays with RobIK holds the port /dev/nothing" in wrong
    assert "Traceback" not in wrong


def test_a_stop_from_outside_of_the_command_line(servos, tmp_path):
    save_motion(MOTION, tmp_path / "a.csv")
    save_chain(CHAIN, tmp_path / "a.servos.json")
    command = [sys.executable, "-m", "robik.cli", "play", "a.csv", "--servos", "a.servos.json", "--soften"]
    command += ["--port", servos.port]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes) as playing:
        until(lambda: len(servos.log.goals()) > 1000)
        code, _, wrong = robik("servos", "stop", "--port", servos.port)
        printed, _ = playing.communicate(timeout=DEADLINE)
    assert code == 0, wrong
    assert playing.returncode == 1
    assert "stopped, holding; play again to go on" in printed
    assert "goes on from there" in printed
    assert servos.powered == {1, 2, 3, 4}


def test_the_process_has_what_it_needs_without_the_add_on(servos):
    """As in Blender, where the library is a part of the add-on and has another name: its folder is imported alone."""
    code = """
import importlib.util, pathlib, sys, types
root = pathlib.Path("robik").resolve()
package = types.ModuleType("bl_ext"); package.__path__ = [str(root.parent)]; sys.modules["bl_ext"] = package
from bl_ext.robik.servo.play.player import Player
from bl_ext.robik.servo.chain.chain import default_chain
from bl_ext.robik.servo.port.status import PlayState
player = Player(default_chain(("a", "b", "c", "d")), sys.argv[1], is_apart=True)
player.connect()
print(player.wait(PlayState.READY).message, "robik" in sys.modules)
player.close()
"""
    done = subprocess.run([sys.executable, "-c", code, servos.port], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.stdout == "4 servos found, torque is off False\n", done.stderr


def test_a_chain_on_several_ports_is_simulated_on_one():
    apart = replace(CHAIN, servos=tuple(replace(one, port=f"/dev/none-{one.id % 2}") for one in CHAIN.servos))
    player = Player(apart, "sim", replace(SETTINGS, heartbeat=30.0), is_apart=True)
    try:
        player.connect()
        assert player.wait(PlayState.READY, timeout=DEADLINE).message == "4 servos found, torque is off"
        assert len(player.simulator.state()) == 4
    finally:
        player.close(DEADLINE)
    assert (player.is_open, player.simulator) == (False, None)
