"""Nineteen servos on four ports, each an independent chain: they play by one clock, and what stops one stops all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.bus.bus import Bus
from robik.servo.bus.connecting import find
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup.setup import zeroed

from .conftest import until
from .independent import IndependentChain

pytestmark = pytest.mark.real_time

IDS = (range(1, 6), range(6, 11), range(11, 16), range(16, 20))
NAMES = tuple(f"motor_{id}" for ids in IDS for id in ids)
PATIENT = PlaySettings(rate=50.0, approach_speed=3.0, heartbeat=30.0, watchdog=1.0, silence=0.5)


@pytest.fixture
def chains() -> Iterator[list[IndependentChain]]:
    if not hasattr(os, "openpty"):
        pytest.skip("this system has no pseudo-terminals")
    with ExitStack() as opened:
        yield [opened.enter_context(IndependentChain(ids=tuple(ids))) for ids in IDS]


@pytest.fixture
def robot(chains: list[IndependentChain]) -> ServoChain:
    """Neighbours of the chain are on different ports; the first port is the player's."""
    of = {id: "" if chain is chains[0] else chain.port for chain, ids in zip(chains, IDS, strict=True) for id in ids}
    order = sorted(of, key=lambda id: (id % 5, id))
    servos = [Servo(f"motor_{id}", id, position_limits=(-2.0, 2.0), velocity_limit=3.0, port=of[id]) for id in order]
    return ServoChain(tuple(servos))


@pytest.fixture
def player(robot: ServoChain, chains: list[IndependentChain]) -> Player:
    """It holds."""
    made = Player(robot, chains[0].port, PATIENT)
    made.connect()
    made.wait(PlayState.READY)
    made.torque(True)
    made.wait(PlayState.HOLDING)
    return made


def wave(seconds: float) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    return Motion(times=times, actuators=NAMES, values=0.3 * np.sin(times[:, None] * 1.5) * np.ones(len(NAMES)))


def powered(chains: list[IndependentChain]) -> set[int]:
    return set().union(*(chain.powered for chain in chains))


def test_all_play_by_one_clock(player: Player, robot: ServoChain, chains: list[IndependentChain]) -> None:
    assert powered(chains) == set(range(1, 20))
    player.play(wave(2.0))
    assert "to the end" in player.wait(PlayState.HOLDING).message
    player.close()
    sent = {id: chain.log.goals(id=id) for chain, ids in zip(chains, IDS, strict=True) for id in ids}
    assert len({len(goals) for goals in sent.values()}) == 1
    rows = np.array([[goal.counts for goal in sent[id]] for id in range(1, 20)])
    assert (rows == rows[0]).all()  # every servo, whatever its port, got every goal
    assert rows.max() > 2048 + 100
    assert set(np.round([chain.look(min(ids))[1] for chain, ids in zip(chains, IDS, strict=True)])) == {rows[0, -1]}


def test_a_servo_that_fails_stops_all_ports_softly(player: Player, chains: list[IndependentChain]) -> None:
    player.play(wave(60.0))
    player.wait(PlayState.PLAYING)
    until(lambda: player.status.time > 0.5, player.heartbeat)
    chains[2].fail(12, 0x20)
    until(lambda: player.status.state is PlayState.FAULT, player.heartbeat)
    assert "servo 12 (motor_12) has a hardware error (overload); the others stopped and hold" in player.status.message
    player.close()
    assert powered(chains) == set(range(1, 20)) - {12}
    assert [chain.log.events(what="watchdog") for chain in chains] == [[]] * 4


def test_the_emergency_stop_cuts_every_port_before_any_is_asked(player: Player, chains: list[IndependentChain]) -> None:
    player.play(wave(60.0))
    player.wait(PlayState.PLAYING)
    chains[1].faults(late=0.3)  # whoever waited for an answer of this port would tell the others late
    player.emergency_stop()
    until(lambda: player.status.state in (PlayState.READY, PlayState.FAULT), player.heartbeat)
    assert powered(chains) == set()
    player.close()
    cuts = [min(p.arrived for p in chain.log.packets() if 0 in p.torque.values()) for chain in chains]
    assert max(cuts) - min(cuts) < 0.15


def test_a_port_that_is_pulled_out_stops_all_and_the_others_can_be_cut(
    player: Player, chains: list[IndependentChain]
) -> None:
    player.play(wave(60.0))
    player.wait(PlayState.PLAYING)
    chains[3].unplug()
    until(lambda: player.status.state is PlayState.FAULT, player.heartbeat)
    assert "the servos stop by their watchdog within 1 s and hold" in player.status.message
    until(lambda: not player.is_open)
    until(lambda: all(chain.log.events(what="watchdog") for chain in chains[:3]))
    player.emergency_stop()
    until(lambda: "torque could not be turned off" in player.status.message)
    assert chains[3].port in player.status.message
    assert powered(chains[:3]) == set()


def test_a_port_that_is_not_there_is_named_and_nothing_is_left_open(
    robot: ServoChain, chains: list[IndependentChain]
) -> None:
    chains[2].unplug()
    for _ in range(2):  # a port that had been left open would be in use
        with pytest.raises(ServoError, match=f"port {chains[2].port} cannot be opened"):
            Bus(robot, chains[0].port)


def test_playing_without_all_servos_of_a_port(robot: ServoChain, chains: list[IndependentChain]) -> None:
    bus = Bus(robot, chains[0].port)
    found = find(bus, without=IDS[3])
    assert len(found) == len(bus.chain.servos) == 15
    assert bus.positions().tolist() == [2048] * 15
    bus.close()


def test_a_file_with_ports_and_zeros_of_all(robot: ServoChain, chains: list[IndependentChain], tmp_path) -> None:
    save_chain(robot, tmp_path / "robot.servos.json")
    assert load_chain(tmp_path / "robot.servos.json") == robot
    assert robot.ports == tuple(chain.port for chain in chains[1:])
    assert (robot.on_one_port().ports, len(robot.on_one_port().parts), len(robot.parts)) == ((), 1, 4)
    for chain, ids in zip(chains, IDS, strict=True):
        for id in ids:
            chain.place(id, 2000 + id)
    made = zeroed(robot, chains[0].port)
    assert {servo.id: servo.zero for servo in made.servos} == {id: 2000 + id for id in range(1, 20)}


def test_a_robot_with_ports_plays_on_the_simulated_one(robot: ServoChain) -> None:
    player = Player(robot, "sim", PATIENT)
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(wave(0.3))
    assert "to the end" in player.wait(PlayState.HOLDING).message
    player.close()
