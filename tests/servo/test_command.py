"""What the command line does, in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from robik.errors import RobikError, ServoError
from robik.motions import Motion, save_motion
from robik.servo.bus.bus import Bus
from robik.servo.bus.connecting import find
from robik.servo.chain.chain import default_chain
from robik.servo.chain.export import export
from robik.servo.chain.file import save_chain
from robik.servo.play.command import play
from robik.servo.play.controls import RELEASED

from .conftest import DEADLINE, until

pytestmark = pytest.mark.real_time

NAMES = ("a", "b", "c")
PATIENT = {"heartbeat": 30.0, "watchdog": 2.5, "silence": 2.0}  # a machine that stalls is no fault of theirs


@pytest.fixture
def files(tmp_path):
    chain = default_chain(NAMES)
    save_chain(chain, tmp_path / "c.servos.json")
    times = np.arange(0, 60, 1 / 30)
    save_motion(
        Motion(times=times, actuators=NAMES, values=0.2 * np.sin(times[:, None] + np.arange(3))), tmp_path / "m.csv"
    )
    return tmp_path / "m.csv", tmp_path / "c.servos.json"


def start(code: str, *arguments: object) -> subprocess.Popen:
    command = [
        sys.executable,
        "-c",
        f"import sys; from robik.servo.play.command import *; a = sys.argv[1:]; {code}",
        *map(str, arguments),
    ]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )


def test_play_on_the_simulated_chain(files, tmp_path, capsys):
    short = tmp_path / "short.csv"
    save_motion(Motion(times=np.array([0.0, 0.5]), actuators=NAMES, values=np.array([[0.0] * 3, [0.2] * 3])), short)
    assert play(short, files[1], "sim", approach_speed=2.0, **PATIENT) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "3 servos found, torque is off"
    played = re.match(r"played to the end, holding \((\d+) goals at 100 Hz, (\d+) dropped, ", printed[1])
    assert played
    assert sum(map(int, played.groups())) == 51, (
        "each goal is sent or counted as dropped, which a busy machine may force"
    )


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_ctrl_c_stops_softly_and_a_second_one_later_turns_torque_off(files, tmp_path):
    record = tmp_path / "goals.csv"
    simulator = start("simulate(*a)", files[1], record)
    port = simulator.stdout.readline().strip()
    assert port.startswith("/dev/")
    try:
        for presses, stop_time, message in (
            (1, 0.4, "stopped, holding; play again to go on"),
            (2, 60.0, "emergency stop: torque is off; turn it on to go on"),
        ):
            how = {"approach_speed": 3.0, "stop_time": stop_time} | PATIENT
            player = start(f"sys.exit(play(*a, **{how}))", *files, port)
            assert "3 servos" in player.stdout.readline()
            for _ in range(presses):
                size = record.stat().st_size
                until(lambda size=size: record.stat().st_size > size + 10_000)  # it moves, and is watched
                time.sleep(RELEASED)
                player.send_signal(signal.SIGINT)
            out, errors = player.communicate(timeout=DEADLINE)
            assert (player.returncode, errors) == (1, "")
            assert message in out
        bus = Bus(default_chain(NAMES), port)
        assert [found.torque for found in find(bus)] == [False] * 3
        bus.close()
    finally:
        simulator.send_signal(signal.SIGINT)
        assert simulator.wait(DEADLINE) == 0


def test_errors_before_anything_is_opened(files, tmp_path):
    motion, chain = files
    with pytest.raises(RobikError, match=r"nothing\.csv"):
        play(tmp_path / "nothing.csv", chain, "sim")
    with pytest.raises(RobikError, match=r"nothing\.servos\.json"):
        play(motion, tmp_path / "nothing.servos.json", "sim")
    with pytest.raises(ServoError, match="rate of playing must be positive"):
        play(motion, chain, "sim", rate=0)
    with pytest.raises(ServoError, match="rate must be from 10 to 1000 Hz, not 5000"):
        play(motion, chain, "sim", rate=5000)
    with pytest.raises(ServoError, match="port /dev/ttyNOWHERE cannot be opened"):
        play(motion, chain, "/dev/ttyNOWHERE")
    fast = tmp_path / "fast.csv"
    save_motion(Motion(times=np.array([0.0, 0.01]), actuators=NAMES, values=np.array([[0.0] * 3, [1.0] * 3])), fast)
    with pytest.raises(ServoError, match=r"a: jumps by 1 at 0\.010 s"):
        play(fast, chain, "sim")


def test_export(files, tmp_path):
    export(files[0], tmp_path / "m.h", servos=files[1])
    assert "m_counts[1800][3]" in (tmp_path / "m.h").read_text()
