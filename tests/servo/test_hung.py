"""Programs that hang with a port: torque goes off beside them, and nobody who speaks to them hangs with them.

Judged by an independent chain.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion, save_motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.outside import holders
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.simulator.process import SimulatorProcess

from .conftest import until
from .feetech.independent import FeetechChain
from .independent import IndependentChain
from .terminal import Terminal, playing

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

CHECKOUT = Path(__file__).resolve().parents[2]
NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)))
TIMES = np.arange(0.0, 60.0, 1 / 30)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.3 * np.sin(TIMES[:, None] + np.arange(4)))
STALE = 3.5  # [s] after which a program that hangs was taken for one that has left
BESIDE = 0.3  # [s] that a program gets to answer
STARTING = 10.0  # [s] at most that the command takes to start, on a busy machine
WAITS = 0.2  # [s] that a call of an interface may take, on a busy machine
HOLDER = """
import fcntl, os, sys, time
port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
fcntl.flock(port, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""  # as pyserial holds a port for itself


@pytest.fixture
def servos() -> Iterator[IndependentChain]:
    with IndependentChain(model=1000) as chain:
        yield chain


@pytest.fixture
def files(tmp_path):
    save_chain(CHAIN, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    return tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--approach", 3, "--port"


@pytest.fixture
def stranger(servos) -> Iterator[int]:
    """A program of somebody else's that has the port for itself, and does nothing."""
    command = [sys.executable, "-c", HOLDER, servos.port]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.kill()


def robik(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "robik.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)


def hang(terminal: Terminal) -> int:
    """Let a program hang; returns its process."""
    terminal.process.send_signal(signal.SIGSTOP)
    return terminal.process.pid


@pytest.mark.parametrize("since", [0.0, STALE], ids=["just now", "for long"])
def test_torque_off_goes_out_beside_a_player_that_hangs(servos, files, since):
    with playing(*files, servos.port) as terminal:
        until(lambda: len(servos.log.goals()) > 200)
        pid = hang(terminal)
        time.sleep(since)
        asked = time.monotonic()
        done = robik("servos", "torque-off", "--port", os.path.realpath(servos.port))
        assert servos.powered == set(), done
        assert servos.log.torque(asked, on=False)[0].time - asked < STARTING + BESIDE
        assert done.returncode == 0, done
        assert f"process {pid} (" in done.stdout
        assert "does not react; torque-off went out beside it" in done.stdout
        assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [["id", str(k)] for k in (1, 2, 3, 4)]
        assert all(line.endswith("torque is off") for line in done.stdout.splitlines()[1:])
        terminal.process.send_signal(signal.SIGCONT)
        woken = time.monotonic()
        terminal.end()
    assert servos.powered == set(), "and it stays off where the player wakes"
    assert servos.log.goals(woken) == []


@pytest.mark.parametrize("options", [["--torque-off"], []], ids=["torque off", "softly"])
def test_a_stop_of_a_player_that_hangs_names_it(servos, files, options):
    with playing(*files, servos.port) as terminal:
        until(lambda: len(servos.log.goals()) > 200)
        pid = hang(terminal)
        time.sleep(STALE)
        done = robik("servos", "stop", *options)
    assert f"process {pid} (" in done.stdout + done.stderr
    if options:
        assert (done.returncode, servos.powered) == (0, set()), done
    else:
        assert done.returncode == 2, done
        assert f"robik servos torque-off --port {servos.port}" in done.stderr
        assert "Traceback" not in done.stderr


def test_torque_off_beside_a_process_of_a_player_that_hangs_while_its_owner_lives(servos):
    player = Player(CHAIN, servos.port, replace(PlaySettings(), heartbeat=30.0), is_apart=True)
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    until(lambda: holders(servos.port))
    pid = int(holders(servos.port)[0].file.stem)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(STALE)
        done = robik("servos", "torque-off", "--port", servos.port)
        assert (done.returncode, servos.powered) == (0, set()), done
        assert f"process {pid} (" in done.stdout
    finally:
        os.kill(pid, signal.SIGCONT)
    player.close()


def test_torque_off_beside_a_player_that_hangs_knows_its_brand(tmp_path):
    chain = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="STS3215", brand="feetech")
    save_chain(chain, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    with FeetechChain() as servos:
        with playing(tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--port", servos.port) as terminal:
            until(lambda: servos.powered == {1, 2, 3, 4})
            hang(terminal)
            time.sleep(STALE)
            done = robik("servos", "torque-off", "--port", servos.port)
        assert (done.returncode, servos.powered) == (0, set()), done


def test_a_robot_on_several_ports_that_hangs_loses_its_torque_on_all_of_them(tmp_path):
    with IndependentChain(ids=(1, 2), model=1000) as first, IndependentChain(ids=(3, 4), model=1000) as second:
        placed = [replace(one, port=second.port if one.id > 2 else "") for one in CHAIN.servos]
        save_chain(replace(CHAIN, servos=tuple(placed)), tmp_path / "c.servos.json")
        save_motion(MOTION, tmp_path / "m.csv")
        arguments = (tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--port", first.port)
        with playing(*arguments) as terminal:
            until(lambda: (first.powered, second.powered) == ({1, 2}, {3, 4}))
            hang(terminal)
            done = robik("servos", "torque-off", "--port", second.port)
        assert (done.returncode, first.powered, second.powered) == (0, set(), set()), done
        assert done.stdout.count("torque-off went out beside it") == 2


def test_torque_off_goes_out_beside_any_lock(servos, stranger):
    servos.change(torque_enable=1)
    asked = time.monotonic()
    done = robik("servos", "torque-off", "--port", servos.port, "--baud", 1_000_000)
    assert (done.returncode, servos.powered) == (0, set()), done
    assert BESIDE < servos.log.torque(asked, on=False)[0].time - asked < STARTING + BESIDE
    assert f"process {stranger} (" in done.stdout
    assert "torque-off went out beside it" in done.stdout


def test_nothing_but_torque_off_goes_out_beside_a_lock(servos, stranger, files):
    before = time.monotonic()
    for command in (["servos", "scan", "--port", servos.port], ["play", *files, servos.port]):
        done = robik(*command)
        assert done.returncode == 2, done
        assert "another program uses it" in done.stderr
    assert servos.log.packets(before) == []


@pytest.mark.parametrize("is_apart", [False, True], ids=["thread", "process"])
def test_the_emergency_stop_of_a_player_goes_out_beside_a_lock(servos, stranger, is_apart):
    """Its port was closed, and another program has taken it since."""
    servos.change(torque_enable=1)
    player = Player(CHAIN, servos.port, PlaySettings(), is_apart=is_apart)
    pressed = time.monotonic()
    player.emergency_stop()
    until(lambda: servos.powered == set())
    assert servos.log.torque(pressed, on=False)[0].time - pressed < BESIDE + 1.0
    until(lambda: "port closed, torque is off" in player.status.message)
    assert f"process {stranger} (" in player.status.message
    assert not player.is_open
    player.connect()
    until(lambda: player.status.state is PlayState.FAULT)
    assert "another program uses it" in player.status.message, "it does not play beside it"


def test_the_emergency_stop_of_a_player_tells_who_has_the_port(tmp_path):
    """Servos whose goals turn torque on would get it back from a player that does not know."""
    chain = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="STS3215", brand="feetech")
    save_chain(chain, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    with FeetechChain() as servos:
        arguments = (tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--approach", 3)
        with playing(*arguments, "--port", servos.port) as terminal:
            until(lambda: len(servos.log.goals()) > 200)
            player = Player(chain, os.path.realpath(servos.port), PlaySettings())
            player.emergency_stop()
            until(lambda: not player.is_open)
            code, printed = terminal.end()
        assert (code, servos.powered) == (1, set()), printed
        assert "emergency stop: torque is off" in printed
        assert "port closed, torque is off" in player.status.message


def test_the_simulated_servos_too(tmp_path, files):
    """The chain that RobIK brings."""
    with SimulatorProcess(files[2]) as simulator, playing(*files, simulator.port) as terminal:
        until(lambda: all(one["torque_enable"] for one in simulator.state().values()))
        hang(terminal)
        time.sleep(STALE)
        done = robik("servos", "torque-off", "--port", simulator.port)
        assert done.returncode == 0, done
        assert not any(one["torque_enable"] for one in simulator.state().values())


# the pipe to the process that has the port


def test_an_owner_whose_process_hangs_does_not_hang_with_it():
    """Live at 250 Hz with 24 motors fills a pipe in a quarter of a second."""
    names = tuple(f"motor_{k}" for k in range(24))
    chain = default_chain(names, dict.fromkeys(names, (-2.0, 2.0)), baud_rate=4_000_000)
    with IndependentChain(ids=tuple(range(1, 25)), model=1000, baud=4_000_000) as servos:
        player = Player(chain, servos.port, replace(PlaySettings(), heartbeat=30.0, rate=50.0), is_apart=True)
        player.connect()
        player.wait(PlayState.READY)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.live()
        player.wait(PlayState.LIVE)
        longest, is_over, random = [0.0], threading.Event(), np.random.default_rng(1)

        def follow() -> None:
            began = time.monotonic()
            while time.monotonic() - began < 3.0:
                wishes = dict(zip(names, random.normal(size=24), strict=True))
                for call in (player.heartbeat, partial(player.aim, wishes)):
                    called = time.monotonic()
                    call()
                    longest[0] = max(longest[0], time.monotonic() - called)
                time.sleep(0.004)
            pressed = time.monotonic()
            player.emergency_stop()
            longest[0] = max(longest[0], time.monotonic() - pressed)
            is_over.set()

        until(lambda: holders(servos.port))
        pid = int(holders(servos.port)[0].file.stem)
        os.kill(pid, signal.SIGSTOP)
        hung = time.monotonic()
        try:
            threading.Thread(target=follow, daemon=True).start()
            assert is_over.wait(10.0), "the interface hangs"
            assert longest[0] < WAITS
            until(lambda: servos.powered == set())
            assert servos.log.torque(hung, on=False)[0].time - hung < 3.0 + BESIDE + 1.0
        finally:
            if not is_over.is_set():
                os.kill(pid, signal.SIGKILL)
        until(lambda: not player.is_open)
