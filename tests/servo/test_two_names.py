"""A port that has several names: stops, torque-off and refusals by any of them, judged by an independent chain."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion, save_motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.chain.port_name import device_of
from robik.servo.play.player import Player
from robik.servo.port.outside import holders
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup.setup import edited
from robik.servo.teach.teleoperation import check_ports
from robik.show.program import read_program
from robik.show.show_file import load_show

from .conftest import until
from .independent import IndependentChain
from .terminal import playing

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")

NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)))
TIMES = np.arange(0.0, 60.0, 1 / 30)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.3 * np.sin(TIMES[:, None] + np.arange(4)))
CHECKOUT = Path(__file__).resolve().parents[2]
SETTLED = 0.1  # [s] in which a goal may still arrive that was on its way


@pytest.fixture
def servos():
    with IndependentChain(model=1000) as chain:
        yield chain


@pytest.fixture
def names(servos, tmp_path) -> dict[str, str]:
    """Names of its port, as udev makes them: the device, a link to it, a link to the link, and a relative one."""
    device = os.path.realpath(servos.port)
    folder = tmp_path / "by-id"
    folder.mkdir()
    (folder / "usb-FTDI").symlink_to(device)
    (folder / "by-alias").symlink_to(folder / "usb-FTDI")
    relative = os.path.relpath(folder / "usb-FTDI", CHECKOUT)
    return {"device": device, "link": str(folder / "usb-FTDI"), "twice": str(folder / "by-alias"), "near": relative}


@pytest.fixture
def files(tmp_path):
    save_chain(CHAIN, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    return tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--approach", 3, "--port"


def robik(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "robik.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("played", "asked"), [("link", "device"), ("device", "link"), ("twice", "link"), ("near", "device")]
)
def test_torque_off_reaches_a_robot_that_moves_by_any_name(servos, files, names, played, asked):
    with playing(*files, names[played]) as terminal:
        until(lambda: len(servos.log.goals()) > 200)
        done = robik("servos", "torque-off", "--port", names[asked])
        told = time.monotonic()
        assert done.returncode == 0, done
        assert servos.powered == set()
        code, printed = terminal.end()
    assert "emergency stop: torque is off" in printed
    assert code == 1
    assert servos.log.goals(told + SETTLED) == []


@pytest.mark.real_time
@pytest.mark.parametrize(("played", "asked"), [("link", "device"), ("device", "link")])
def test_a_soft_stop_reaches_it_by_any_name(servos, files, names, played, asked):
    with playing(*files, names[played]) as terminal:
        until(lambda: len(servos.log.goals()) > 200)
        done = robik("servos", "stop", "--port", names[asked])
        code, printed = terminal.end()
    assert (done.returncode, code) == (0, 1), done
    assert "stopped, holding" in printed
    assert servos.powered == {1, 2, 3, 4}


@pytest.mark.real_time
def test_the_process_of_a_player_is_found_by_any_name(servos, names):
    player = Player(CHAIN, names["link"], replace(PlaySettings(), heartbeat=30.0), is_apart=True)
    player.connect()
    player.wait(PlayState.READY)
    until(lambda: holders(names["link"]))
    found = {which: len(holders(name)) for which, name in names.items()}
    player.close()
    assert found == dict.fromkeys(names, 1)
    assert holders("/dev/null") == []


@pytest.mark.real_time
def test_servos_that_name_the_port_that_is_played_on_share_it(servos, names):
    """By another name for it; and those that name another port by two names share that one."""
    ports = ["", names["device"], names["link"], names["twice"]]
    apart = replace(CHAIN, servos=tuple(replace(s, port=p) for s, p in zip(CHAIN.servos, ports, strict=True)))
    player = Player(apart, names["link"], PlaySettings())
    player.connect()
    assert player.wait(PlayState.READY).message == "4 servos found, torque is off"
    player.close()


def test_a_leader_and_a_follower_may_not_share_a_port_by_two_names(names):
    leader, follower = Player(CHAIN, names["link"]), Player(CHAIN, names["device"])
    with pytest.raises(ServoError, match="both on"):
        check_ports(leader, follower)
    check_ports(leader, Player(CHAIN, "/dev/null"))


def test_robots_of_a_show_may_not_share_a_port_by_two_names(names, tmp_path, files):
    robots = {name: {"servos": "c.servos.json", "port": names[name]} for name in ("link", "device")}
    show = {
        "format": "robik-show",
        "version": 1,
        "robots": robots,
        "acts": [{"motions": dict.fromkeys(robots, "m.csv")}],
    }
    path = tmp_path / "s.show.json"
    path.write_text(json.dumps(show))
    problems = read_program(load_show(path), PlaySettings()).problems
    assert any("link and device are both on" in one for one in problems), problems


def test_another_brand_is_that_of_all_servos_on_the_port_by_whatever_name(names):
    named = [names["device"], names["link"], "/dev/null", "/dev/null"]
    chain = replace(CHAIN, servos=tuple(replace(s, port=p) for s, p in zip(CHAIN.servos, named, strict=True)))
    brands = [one.brand for one in edited(chain, 1, brand="feetech", model="STS3215").servos]
    assert brands == ["feetech", "feetech", "dynamixel", "dynamixel"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("sim", "sim", True),
        ("sim", "/dev/null", False),
        ("/dev/null", "/dev/../dev/null", True),
        ("/dev/null", "/dev/zero", False),
        ("/dev/null", "spy:///dev/null?file=log.txt", True),
        ("/dev/null", "alt:///dev/null?class=VTIMESerial", True),
        ("socket://localhost:7000", "socket://127.0.0.1:7000", True),
        ("socket://robot:7000", "socket://ROBOT:7000?logging=debug", True),
        ("socket://robot:7000", "socket://robot:7001", False),
        ("reachy:", "reachy:localhost:8000", True),
        ("reachy:10.0.0.7", "reachy:", False),
        ("/dev/not-there", "/dev/./not-there", True),
        ("/dev/not-there", "/dev/nor-there", False),
    ],
)
def test_what_is_one_device(one, other, same):
    assert (device_of(one) == device_of(other)) is same


@pytest.mark.parametrize(("one", "other"), [("COM3", "com3"), ("COM12", r"\\.\COM12"), ("COM12", r"\\?\com12")])
def test_what_is_one_device_on_windows(one, other):
    assert device_of(one, "win32") == device_of(other, "win32") != device_of("COM1", "win32")


def test_what_is_one_device_on_macos():
    """The two devices of a port: for calls out, and for calls in."""
    assert device_of("/dev/cu.usb-1", "darwin") == device_of("/dev/tty.usb-1", "darwin")
