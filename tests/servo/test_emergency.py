"""Emergency stop and soft stop, judged by an independent chain: what came over the wire, and when, by its clock."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion, save_motion
from robik.servo.bus.emergency import Emergency, EmergencyStopped
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.controls import Controls
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState

from .conftest import until
from .independent import IndependentChain
from .terminal import playing

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)))
TIMES = np.arange(0.0, 60.0, 1 / 30)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.3 * np.sin(TIMES[:, None] + np.arange(4)))
PATIENT = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=2.5, silence=2.0)
AT_MOST = 0.05  # [s] from the press to torque-off
UNSEEN = 0.1  # [s] of a stall of this process that tests/stalls.py does not see
ON_ITS_WAY = 0.02  # [s] in which a packet may still arrive that was sent before the press
PRESSES, HELD = 10, 2  # presses, and how many of them a busy machine may meet between a look at the latch and a write


@pytest.fixture
def servos() -> Iterator[IndependentChain]:
    with IndependentChain(model=1000) as chain:
        yield chain


@pytest.fixture(params=[False, True], ids=["thread", "process"])
def player(servos, request) -> Iterator[Player]:
    made = Player(CHAIN, servos.port, PATIENT, is_apart=request.param)
    yield made
    made.close()


def check_cut(servos: IndependentChain, pressed: float) -> bool:
    """Torque-off was the next packet after the press, on all servos, in time; and nothing turned torque on after it.

    Return whether a machine that was busy held up one packet more, which had been begun before the press.
    """
    time.sleep(0.3)
    log = servos.log
    later = [packet for packet in log.packets(pressed) if packet.torque or packet.arrived > pressed + ON_ITS_WAY]
    assert later, "nothing was sent"
    is_held = not later[0].torque
    cut = later[is_held]
    assert cut.torque == dict.fromkeys((1, 2, 3, 4), 0)
    assert cut.arrived - pressed <= AT_MOST + UNSEEN
    assert log.torque(cut.time, on=True) == []
    assert log.goals(cut.time) == []
    assert servos.powered == set()
    return is_held


def reach(player: Player, stage: str) -> None:
    """Bring a player to a stage and leave it there."""
    player.connect()
    if stage == "connecting":
        return
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    if stage == "turning torque on":
        return
    player.wait(PlayState.HOLDING)
    if stage == "live":
        player.live()
        player.aim(dict.fromkeys(NAMES, 0.5))
        player.wait(PlayState.LIVE)
    if stage in ("approaching", "playing", "stopping"):
        player.play(MOTION)
        player.wait(PlayState.APPROACHING if stage == "approaching" else PlayState.PLAYING)
    if stage == "stopping":
        player.stop()


@pytest.mark.parametrize(
    "stage", ["connecting", "turning torque on", "holding", "approaching", "playing", "live", "stopping"]
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_torque_off_is_the_next_packet_with_an_adapter_that_is_late(servos, player, stage, seed):
    """16 ms is what an FTDI adapter takes by default."""
    servos.line(latency=0.016)
    servos.change(torque_enable=1)
    reach(player, stage)
    time.sleep(random.Random(seed).uniform(0.0, 0.3))
    pressed = time.monotonic()
    player.emergency_stop()
    check_cut(servos, pressed)
    until(lambda: player.status.state is PlayState.READY)
    assert player.status.message == "emergency stop: torque is off; turn it on to go on"
    assert [servo.torque for servo in player.status.servos] == [False] * 4


def test_no_packet_goes_before_torque_off_but_where_the_machine_is_held(servos, player):
    """What `check_cut` lets pass once is no habit."""
    held = 0
    for _ in range(PRESSES):
        reach(player, "live")
        time.sleep(random.uniform(0.0, 0.1))
        pressed = time.monotonic()
        player.emergency_stop()
        held += check_cut(servos, pressed)
        until(lambda: player.status.state is PlayState.READY)
    assert held <= HELD


def test_torque_off_while_a_read_waits_for_a_silent_servo(servos, player):
    reach(player, "holding")
    servos.faults(3, silent=True)
    time.sleep(0.15)
    pressed = time.monotonic()
    player.emergency_stop()
    check_cut(servos, pressed)
    until(lambda: "servo 3 (motor_2) did not confirm it" in player.status.message)
    assert [servo.torque for servo in player.status.servos] == [False, False, None, False]


def test_commands_from_before_the_press_are_forgotten(servos, player):
    servos.line(latency=0.016)
    player.connect()
    player.wait(PlayState.READY)
    for _ in range(3):
        player.torque(True)
    pressed = time.monotonic()
    player.emergency_stop()
    until(lambda: player.status.state is PlayState.READY)
    time.sleep(1.0)
    check_cut(servos, pressed)
    player.torque(True)  # by the user's own word
    player.wait(PlayState.HOLDING)
    assert servos.powered == {1, 2, 3, 4}


def test_a_servo_that_missed_it_is_told_again(servos, player):
    """For as long as the emergency lasts, also if it got torque from elsewhere."""
    reach(player, "holding")
    player.emergency_stop()
    until(lambda: player.status.state is PlayState.READY)
    servos.faults(2, misses=0.9)
    servos.change(2, torque_enable=1)
    until(lambda: 2 not in servos.powered)


def test_the_port_is_opened_again_for_it(servos, player):
    reach(player, "holding")
    player.close()
    assert player.status.message == "port closed, torque is on"
    pressed = time.monotonic()
    player.emergency_stop()
    check_cut(servos, pressed)
    until(lambda: player.status.message == "port closed, torque is off")
    assert not player.is_open


def test_a_port_that_is_gone_is_said(servos, player):
    reach(player, "holding")
    servos.unplug()
    until(lambda: player.status.state is PlayState.FAULT)
    assert [servo.torque for servo in player.status.servos] == [None] * 4, "nobody can know"
    until(lambda: not player.is_open)
    player.emergency_stop()
    until(lambda: "torque could not be turned off" in player.status.message)
    assert "switch the power off" in player.status.message


def test_what_an_emergency_lets_through():
    emergency = Emergency()
    emergency.check(changes=True)
    emergency.press()
    for changes in (False, True):
        with pytest.raises(EmergencyStopped):
            emergency.check(changes)
    with emergency.serving():
        emergency.check(changes=True)
    emergency.check(changes=False)  # reads go on
    with pytest.raises(EmergencyStopped):
        emergency.check(changes=True)
    emergency.release()
    emergency.check(changes=True)
    emergency.press()
    with suppress(ServoError), emergency.serving():
        raise ServoError("a write that failed")
    assert emergency.is_pending


# keys and signals


@pytest.mark.parametrize(
    ("keys", "stops", "is_off"),
    [
        ([(0.0, "\x1b")], 1, False),
        ([(0.0, "\x1b"), (0.05, "\x1b")], 1, False),
        ([(0.5 + 0.03 * k, "\x1b") for k in range(200)], 1, False),
        ([(0.0, "\x1b"), *((1.8 + 0.03 * k, "\x1b") for k in range(200))], 1, False),
        ([(0.0, "\x1b"), (2.1, "\x1b")], 2, True),
        ([(0.0, "T")], 0, True),
        ([(0.0, "t")], 0, True),
        ([(0.0, " ")], 0, False),
    ],
    ids=["once", "twice at once", "held", "held, where keys repeat late", "twice", "T", "t", "space"],
)
def test_presses(keys, stops, is_off):
    now, coming = [0.0], list(keys)
    controls = Controls(lambda: coming.pop(0)[1] if coming and coming[0][0] <= now[0] else "", lambda: now[0])
    while coming:
        now[0] += 0.01
        controls.look()
    assert (controls.stops, controls.is_torque_off) == (stops, is_off)


@pytest.fixture
def files(tmp_path):
    save_chain(CHAIN, tmp_path / "c.servos.json")
    save_motion(MOTION, tmp_path / "m.csv")
    return tmp_path / "m.csv", "--servos", tmp_path / "c.servos.json", "--approach", 3, "--port"


def moving(servos: IndependentChain) -> None:
    until(lambda: len(servos.log.goals()) > 200)


STOPS: dict[str, Callable] = {
    "Ctrl-C": lambda terminal: terminal.process.send_signal(signal.SIGINT),
    "Ctrl-C twice at once": lambda terminal: [
        terminal.process.send_signal(signal.SIGINT) or time.sleep(0.02) for _ in range(2)
    ],
    "SIGTERM": lambda terminal: terminal.process.send_signal(signal.SIGTERM),
    "SIGHUP": lambda terminal: terminal.process.send_signal(signal.SIGHUP),
    "the terminal is closed": lambda terminal: terminal.hang_up(),
    "ESC": lambda terminal: terminal.press("\x1b"),
    "ESC is held": lambda terminal: terminal.hold("\x1b", 1.0),
    "ESC twice at once": lambda terminal: terminal.press("\x1b\x1b"),
}


@pytest.mark.parametrize("how", STOPS)
def test_stops_softly(servos, files, how):
    with playing(*files, servos.port) as terminal:
        moving(servos)
        STOPS[how](terminal)
        code, printed = terminal.end()
    assert code == 1, printed
    assert "stopped, holding; play again to go on" in printed
    assert servos.powered == {1, 2, 3, 4}
    assert servos.log.torque(on=False) == []
    assert all(servo["entries"]["bus_watchdog"] == 0 for servo in servos.state().values()), (
        "a soft stop, not the watchdog's"
    )


def test_a_key_of_its_own_turns_torque_off(servos, files):
    with playing(*files, servos.port) as terminal:
        moving(servos)
        terminal.press("t")
        code, printed = terminal.end()
    assert (code, servos.powered) == (1, set())
    assert "emergency stop: torque is off" in printed


def test_a_player_from_before_is_told_too(servos, player):
    """Where the port has not been let go of yet."""
    reach(player, "playing")
    second = Player(CHAIN, servos.port, PATIENT)
    second.connect(after=player)
    pressed = time.monotonic()
    second.emergency_stop()
    check_cut(servos, pressed)
    second.close()


def test_settings_do_not_change_it(servos):
    """At the slowest rate goals are 0.1 s apart."""
    player = Player(CHAIN, servos.port, replace(PATIENT, rate=10.0))
    reach(player, "playing")
    time.sleep(0.33)
    pressed = time.monotonic()
    player.emergency_stop()
    check_cut(servos, pressed)
    player.close()


@pytest.mark.parametrize(
    "key",
    ["\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[15~", "\x1b[8;24;80t", "\xe0t", "\xe0H", "\0T", "\0t", "\x1b[D\x1b[D"],
    ids=["up", "Ctrl-right", "F1", "F5", "a window's size", "Ctrl-right on Windows", "up there", "Shift-F1 there",
         "Alt there", "held"],
)  # fmt: skip
def test_a_key_without_a_letter_is_no_press(key):
    coming = [key]
    controls = Controls(lambda: coming.pop() if coming else "")
    controls.look()
    assert (controls.stops, controls.pauses, controls.is_torque_off) == (0, 0, False)
