"""Reachy Mini's daemon as a port: what is sent, and what happens when it, or we, stall, die, or others meddle."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands.reachy.address import parse_address
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup.command import scan, torque_off
from robik.servo.setup.setup import Dragging, open_workshop, zeroed

from ..conftest import until
from .stand_in import StandIn

pytestmark = pytest.mark.real_time

SETTINGS = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=0.2, silence=1.0)

UP = np.array([0.0, 0.63, -0.63, 0.63, -0.63, 0.63, -0.63, 0.0, 0.0])  # of the daemon's motors [rad]
SIGNS = np.array([1.0] * 7 + [-1.0] * 2)  # of the daemon's antennas against the robot's files
TURN = np.array([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.8, -0.8])


def motion(chain: ServoChain, speed: float = 2.0, seconds: float = 20.0) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 0.02)
    values = SIGNS * (UP + TURN * np.sin(speed * times)[:, None])
    return Motion(times=times, actuators=chain.actuators, values=values)


def holding(chain: ServoChain, daemon: StandIn, is_apart: bool = False, **settings: object) -> Player:
    player = Player(chain, daemon.port, replace(SETTINGS, **settings), is_apart=is_apart)  # type: ignore[arg-type]
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    return player


def playing(chain: ServoChain, daemon: StandIn, is_apart: bool = False, **settings: object) -> Player:
    player = holding(chain, daemon, is_apart, **settings)
    player.play(motion(chain), from_afar=True)
    player.wait(PlayState.PLAYING)
    time.sleep(0.2)
    return player


def fault(player: Player) -> str:
    return player.wait(PlayState.FAULT).message


def test_a_motion_arrives_at_limited_speed_and_torque_is_what_is_read_back(chain: ServoChain, daemon: StandIn) -> None:
    ready = Player(chain, daemon.port, replace(SETTINGS, approach_speed=0.5))
    ready.connect()
    assert ready.wait(PlayState.READY).message == "9 servos found, torque is off"
    asleep = SIGNS * np.array(daemon.state["at"])
    assert np.array(ready.status.present) == pytest.approx(asleep, abs=1e-5)
    ready.torque(True)
    assert ready.wait(PlayState.HOLDING).message == "holding, torque is on"
    assert daemon.state["mode"] == "enabled"
    assert SIGNS * np.array(daemon.state["at"]) == pytest.approx(asleep, abs=1e-5)  # it holds where it was
    with pytest.raises(ServoError, match="stands far from the first frame"):
        ready.play(motion(chain))
    ready.close()
    player = holding(chain, daemon)
    daemon.tell("forget")
    player.play(motion(chain, seconds=0.5), from_afar=True)
    player.wait(PlayState.PLAYING)
    assert 0.0 < daemon.state["largest_step"] <= 3.0 * 0.05 + 1e-9  # the approach, with some lateness
    assert player.wait(PlayState.HOLDING).message.startswith("played to the end")
    last = UP + TURN * np.sin(1.0)
    until(lambda: np.abs(np.array(daemon.state["at"]) - last).max() < 1e-5)
    player.torque(False)
    assert player.wait(PlayState.READY).message == "torque is off"
    assert daemon.state["mode"] == "disabled"
    player.close()
    assert player.wait(PlayState.CLOSED).message == "port closed, torque is off"


def test_a_zero_of_ones_own_is_kept_in_the_daemons_angles(chain: ServoChain, daemon: StandIn) -> None:
    there = chain.as_at(daemon.port)
    moved = replace(chain, servos=(replace(chain.servos[0], zero=2148, direction=-1), *chain.servos[1:]))
    value = np.array([0.3, *[0.0] * 8])
    wire = 100 / 4096 * 2 * np.pi - 0.3  # the angle of a servo that counts 2048 in the middle
    counts = moved.as_at(daemon.port).counts(value)[0] - there.counts(np.zeros(9))[0]
    assert counts / 2**20 * 2 * np.pi == pytest.approx(wire, abs=1e-5)


def test_a_part_of_the_motors_leaves_the_others_where_they_are(chain: ServoChain, daemon: StandIn) -> None:
    some = replace(chain, servos=(chain.servos[0], chain.servos[8]))
    player = holding(some, daemon)
    before = daemon.state["at"]
    player.play(
        Motion(times=np.arange(10) * 0.02, actuators=some.actuators, values=np.full((10, 2), 0.3)), from_afar=True
    )
    player.wait(PlayState.HOLDING)
    until(lambda: abs(daemon.state["at"][8] + 0.3) < 1e-4)
    assert daemon.state["at"] == pytest.approx([0.3, *before[1:8], -0.3], abs=1e-4)
    player.close()


def test_emergency_stop_ends_torque_and_the_daemons_own_move(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon)
    daemon.tell("forget")
    pressed = time.monotonic()
    player.emergency_stop()
    until(lambda: daemon.state["mode"] == "disabled")
    assert daemon.state["moved"] - pressed < 0.3
    assert player.wait(PlayState.READY).message.startswith("emergency stop: torque is off")
    assert daemon.state["said"][:2] == ["set_motor_mode", "stop_move"]
    goals = daemon.state["goals"]
    time.sleep(0.1)
    assert daemon.state["goals"] == goals
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.close()
    closed = Player(chain, daemon.port, SETTINGS)  # also where the port is closed
    closed.emergency_stop()
    until(lambda: daemon.state["mode"] == "disabled")
    assert closed.wait(PlayState.CLOSED).message == "port closed, torque is off"


def test_a_daemon_that_does_not_obey_is_told_of(chain: ServoChain, daemon: StandIn) -> None:
    player = holding(chain, daemon)
    daemon.tell("stubborn")
    player.emergency_stop()
    assert "did not confirm it; switch the power off" in fault(player)
    assert player.status.torque


@pytest.mark.parametrize("is_before", [True, False], ids=["connecting", "playing"])
def test_a_move_of_the_daemons_own_is_not_fought(chain: ServoChain, daemon: StandIn, is_before: bool) -> None:
    if is_before:
        daemon.tell("begin dance")
        player = Player(chain, daemon.port, SETTINGS)
        player.connect()
        assert "plays a move of its own; wait for its end, or stop it there" in fault(player)
    else:
        player = playing(chain, daemon)
        daemon.tell("begin dance")
        assert "does not get its goals: the daemon plays a move of its own" in fault(player)
        goals = daemon.state["goals"]
        time.sleep(0.1)
        assert daemon.state["goals"] == goals
    daemon.tell("end dance")
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(motion(chain, seconds=0.2), from_afar=True)
    player.wait(PlayState.HOLDING)
    player.close()


def test_torque_that_somebody_else_turns_off_is_noticed(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon)
    daemon.tell("mode disabled")
    assert "lost its torque" in fault(player)
    assert not player.status.torque
    daemon.tell("mode gravity_compensation")
    player.torque(True)
    assert "lets the head float (gravity compensation); turn torque off, then on again" in fault(player)
    player.torque(False)
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot suspend a process")
def test_a_daemon_that_stalls_gets_no_goals_meanwhile(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon)
    daemon.tell("forget")
    daemon.signal(signal.SIGSTOP)
    time.sleep(0.3)  # less than its silence may last
    daemon.signal(signal.SIGCONT)
    time.sleep(0.3)
    assert player.status.state is PlayState.PLAYING
    # what waited for it, 0.1 s of goals, and what comes then: near where the motors are
    assert daemon.state["largest_step"] <= 1.6 * (0.3 + 0.1)
    daemon.signal(signal.SIGSTOP)
    said = fault(player)
    daemon.signal(signal.SIGCONT)
    assert re.search(r"the daemon on reachy:127.0.0.1:\d+ says nothing any more; see to it, then connect again", said)
    assert said.endswith("the servos go to their last goal, a step away, and hold")
    time.sleep(0.3)
    first = daemon.state["at"]
    time.sleep(0.1)
    assert daemon.state["at"] == first
    again = playing(chain, daemon)
    again.close()


def test_a_daemon_that_is_killed_and_comes_back(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon)
    daemon.end()
    assert re.search(r"the daemon on reachy:\S+ is gone \(.*\); start it, then connect again", fault(player))
    player.connect()
    said = fault(player)
    assert re.search(r"port reachy:\S+ cannot be opened \(connection refused\); start Reachy Mini's daemon", said)
    daemon.start()
    again = playing(chain, daemon)
    again.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills as on POSIX")
def test_motors_stand_at_once_when_what_plays_is_killed(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon, is_apart=True)
    process = player._thread._process  # type: ignore[attr-defined]
    process.kill()
    killed = time.monotonic()
    assert "the process that plays has ended (-9); the servos go to their last goal, a step away" in fault(player)
    time.sleep(0.3)
    state = daemon.state
    assert state["moved"] - killed < 0.2
    assert state["mode"] == "enabled"  # nobody turns it off: it holds
    player.emergency_stop()
    until(lambda: daemon.state["mode"] == "disabled")
    player.close()


def test_an_owner_that_is_gone_ends_in_a_planned_stand(chain: ServoChain, daemon: StandIn) -> None:
    player = playing(chain, daemon, is_apart=True, heartbeat=0.3)
    until(lambda: player.status.state is PlayState.HOLDING)  # nobody beats meanwhile
    assert "not heard of for 0.3 s" in player.status.message
    player.close()


def test_pings_are_answered_while_nothing_plays(chain: ServoChain, daemon: StandIn) -> None:
    player = holding(chain, daemon)
    daemon.tell("forget")
    daemon.tell("ping")
    until(lambda: "pong hi" in daemon.state["said"])
    player.close()


def test_motors_are_listed_and_their_torque_cut_from_the_shell(
    chain: ServoChain, daemon: StandIn, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    scan(daemon.port)
    said = capsys.readouterr().out
    assert "id  10  Reachy Mini   yaw_body\n" in said
    assert said.endswith("id  18  Reachy Mini   left_antenna\n9 servos found\n")
    daemon.tell("mode enabled")
    assert torque_off(daemon.port) == 0
    assert "id  11  Reachy Mini   stewart_1  torque is off" in capsys.readouterr().out
    assert daemon.state["mode"] == "disabled"
    with pytest.raises(ServoError, match="knows its motors: ids, baud rates and zeros are changed on the robot's own"):
        zeroed(chain, daemon.port)
    workshop = open_workshop(daemon.port)
    assert workshop.advice(workshop.scan(), 57_600) == []
    with pytest.raises(ServoError, match="knows its motors"):
        workshop.set_id(workshop.scan()[0], 3)
    with pytest.raises(ServoError, match="knows which motor is which; none has to be found by hand"):
        Dragging(workshop, workshop.scan())
    workshop.close()
    save_chain(chain.as_at(daemon.port), tmp_path / "there.servos.json")
    assert load_chain(tmp_path / "there.servos.json") == chain.as_at(daemon.port)


def test_who_is_no_reachy_mini_is_refused(daemon: StandIn) -> None:
    other = ServoChain((replace(load_walker().servos[0], id=1),))
    player = Player(other, daemon.port, SETTINGS)
    player.connect()
    assert "Reachy Mini has motors from 10 to 18, not 1" in fault(player)


def load_walker() -> ServoChain:
    from robik import robots

    path = robots.servos_path("walker")
    assert path is not None
    return load_chain(path)


def test_something_else_on_that_port_is_no_daemon(chain: ServoChain) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            for _ in range(2):
                end, _ = listener.accept()
                end.recv(1 << 16)  # closed with something unread, the connection would be reset
                end.sendall(b"220 mail.example.org ESMTP\r\n")
                end.close()

        threading.Thread(target=hang_up, daemon=True).start()
        player = Player(chain, f"reachy:127.0.0.1:{listener.getsockname()[1]}", SETTINGS)
        player.connect()
        assert "cannot be opened (it is no daemon" in fault(player)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("reachy:", ("localhost", 8000)),
        ("reachy:localhost:8123", ("localhost", 8123)),
        ("reachy:reachy-mini.local", ("reachy-mini.local", 8000)),
        ("reachy::9000", ("localhost", 9000)),
        ("reachy:[::1]:8000", ("::1", 8000)),
    ],
)
def test_addresses(name: str, address: tuple[str, int]) -> None:
    assert parse_address(name) == address


@pytest.mark.parametrize(
    "name", ["reachy:a:b", "reachy:localhost:0", "reachy:localhost:99999", "reachy://host", "reachy:a b"]
)
def test_no_addresses(name: str) -> None:
    with pytest.raises(ServoError, match=r"is no address of a daemon; reachy:localhost:8000 would be one"):
        parse_address(name)
