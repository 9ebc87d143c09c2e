"""Teleoperation: an arm of one brand follows an arm of another, both independent chains, the hand included."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from robik.cli import main
from robik.errors import ServoError
from robik.motions import load_motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.status import PlayState
from robik.servo.teach.teleoperation import Teleoperation

from .conftest import PATIENT, until
from .feetech.independent import FeetechChain
from .independent import IndependentChain
from .terminal import Terminal, running

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

COUNT = 2 * np.pi / 4096  # [rad]
NAMES = ("pan", "lift", "grip")
FASTEST = 0.6 * 3.0 / COUNT  # [counts/s]: the share of the speed limit that is live


@dataclass
class Arms:
    """The leader, of Feetech, with its lift turned round; the follower, of Dynamixel, which has a wrist beside."""

    leader: IndependentChain
    follower: IndependentChain
    files: tuple[Path, Path, Path]

    def command(self, *more: object) -> tuple[object, ...]:
        leader, follower, output = self.files
        there = ("--leader", leader, "--leader-port", self.leader.port)
        return ("teleoperate", "--servos", follower, "--port", self.follower.port, *there, "-o", output, *more)

    def horn(self, id: int) -> float:
        """Where a horn of the follower is, from its middle [counts]."""
        return self.follower.look(id)[1] - 2048

    def sweep(self, seconds: float = 3.0) -> None:
        """A hand moves pan to and fro and lift away, in steps of 20 ms; it has done so when this returns."""
        begins = time.monotonic()
        while (at := time.monotonic() - begins) < seconds:
            self.leader.place(1, 2048 + 250 * np.sin(2.0 * at))
            self.leader.place(2, 2048 - 80 * at)
            time.sleep(0.02)

    def is_still(self) -> bool:
        return all(self.follower.look(id)[2] == 0.0 for id in (1, 2, 3, 4))


@pytest.fixture
def arms(tmp_path: Path) -> Iterator[Arms]:
    common = {"model": "STS3215", "brand": "feetech", "position_limits": (-2.0, 2.0)}
    leads = [Servo(name, k + 1, direction=1 - 2 * (name == "lift"), **common) for k, name in enumerate(NAMES)]
    save_chain(ServoChain(tuple(leads)), tmp_path / "leader.servos.json")
    names = (*NAMES, "wrist")
    save_chain(default_chain(names, dict.fromkeys(names, (-2.0, 2.0))), tmp_path / "follower.servos.json")
    files = (tmp_path / "leader.servos.json", tmp_path / "follower.servos.json", tmp_path / "led.csv")
    with FeetechChain(ids=(1, 2, 3)) as leader, IndependentChain(positions={4: 2100}) as follower_servos:
        yield Arms(leader, follower_servos, files)


@contextmanager
def following(arms: Arms, *more: object) -> Iterator[Terminal]:
    """The command, once the follower follows."""
    with running(*arms.command(*more)) as terminal:
        until(lambda: arms.follower.powered == {1, 2, 3, 4})
        arms.leader.place(3, 2048 + 40)
        until(lambda: abs(arms.horn(3) - 40) < 2)
        yield terminal


def stays(arms: Arms) -> bool:
    """Whether the follower stands, and goes on standing while the hand moves the leader."""
    until(arms.is_still)
    before = [arms.horn(id) for id in (1, 2, 3, 4)]
    arms.sweep(0.6)
    return before == [arms.horn(id) for id in (1, 2, 3, 4)]


def leader_was_only_read(arms: Arms) -> bool:
    return {packet.instruction for packet in arms.leader.log.packets()} <= {1, 2, 0x82}


def test_the_follower_does_what_the_hand_does(arms: Arms) -> None:
    with following(arms) as terminal:
        arms.follower.mark()
        arms.sweep(3.0)
        at = 3.0
        led = {id: arms.leader.look(id)[1] - 2048 for id in (1, 2, 3)}
        there = pytest.approx([led[1], -led[2], 40, 52], abs=1.5)
        until(lambda: [arms.horn(id) for id in (1, 2, 3, 4)] == there)
        assert led[2] == pytest.approx(-80 * at, abs=4)
        assert max(arms.follower.fastest().values()) < 1.1 * FASTEST
        terminal.press("\x1b")
        code, printed = terminal.end()
    assert code == 0, printed
    assert "stopped, holding" in printed
    assert "the leader has no wrist" in printed
    assert arms.follower.powered == {1, 2, 3, 4}
    assert leader_was_only_read(arms)
    motion = load_motion(arms.files[2])
    assert motion.actuators == (*NAMES, "wrist")
    assert np.abs(motion.values[:, 0]).max() == pytest.approx(250 * COUNT, rel=0.03)
    assert motion.values[-1, 1] == pytest.approx(240 * COUNT, abs=0.02)
    assert np.ptp(motion.values[:, 3]) < 1e-9


@pytest.mark.parametrize("ending", ["ESC", "SIGINT", "SIGTERM", "hang up", "servos stop", "servos stop, the leader's"])
def test_it_stops_softly_and_holds(ending: str, arms: Arms) -> None:
    with following(arms) as terminal:
        arms.sweep(0.7)
        act: dict[str, Callable[[], object]] = {
            "ESC": lambda: terminal.press("\x1b"),
            "SIGINT": lambda: terminal.process.send_signal(signal.SIGINT),
            "SIGTERM": lambda: terminal.process.send_signal(signal.SIGTERM),
            "hang up": terminal.hang_up,
            "servos stop": lambda: main(["servos", "stop", "--port", arms.follower.port]),
            "servos stop, the leader's": lambda: main(["servos", "stop", "--port", arms.leader.port]),
        }
        act[ending]()
        code, printed = terminal.end()
    assert code == 0, printed
    assert arms.follower.powered == {1, 2, 3, 4}
    assert stays(arms)
    assert arms.files[2].exists()


def test_t_turns_torque_off_and_kill_leaves_it_to_the_watchdog(arms: Arms) -> None:
    with following(arms) as terminal:
        arms.sweep(0.5)
        terminal.press("t")
        until(lambda: arms.follower.powered == set())
        code, printed = terminal.end()
    assert code == 1, printed
    assert "torque is off" in printed
    for id in (1, 2, 3):
        arms.leader.place(id, 2048)
        arms.follower.place(id, 2048)
    with following(arms) as terminal:
        arms.sweep(0.5)
        terminal.process.kill()
        killed = time.monotonic()
        terminal.end()
        time.sleep(max(0.0, killed + 0.5 - time.monotonic()))  # the watchdog waits for 0.2 s
    assert arms.follower.powered == {1, 2, 3, 4}
    assert stays(arms)


@pytest.mark.parametrize("fault", ["leader unplugged", "leader's servo silent", "follower unplugged"])
def test_a_robot_that_is_gone_ends_it(fault: str, arms: Arms) -> None:
    with following(arms) as terminal:
        arms.sweep(0.7)
        {
            "leader unplugged": arms.leader.unplug,
            "leader's servo silent": lambda: arms.leader.faults(1, silent=True),
            "follower unplugged": arms.follower.unplug,
        }[fault]()
        code, printed = terminal.end()
    assert code == 2, printed
    assert ("the leader is gone" in printed) == (fault != "follower unplugged")
    assert ("is gone" if "unplugged" in fault else "servo 1 (pan)") in printed
    assert arms.follower.powered == {1, 2, 3, 4}
    assert stays(arms)
    assert arms.files[2].exists()


def test_a_leader_that_is_silent_for_a_moment_is_waited_for_and_space_pauses(arms: Arms) -> None:
    with following(arms) as terminal:
        terminal.press(" ")
        time.sleep(0.5)
        assert stays(arms)
        arms.leader.place(1, 2048 + 60)
        arms.leader.place(2, 2048)
        terminal.press(" ")
        until(lambda: abs(arms.horn(1) - 60) < 2)
        arms.follower.mark()
        arms.leader.place(1, 2048 - 400)  # a jump, as of a hand that slips
        until(lambda: abs(arms.horn(1) + 400) < 2)
        assert arms.follower.fastest()[1] < 1.1 * FASTEST
        terminal.press("\x1b")
        assert terminal.end()[0] == 0


def refused(arms: Arms, *more: object) -> str:
    with running(*arms.command(*more)) as terminal:
        code, printed = terminal.end()
    assert code == 2, printed
    assert arms.follower.powered == set()
    assert not arms.files[2].exists()
    return printed


def test_what_is_refused_before_anything_moves(arms: Arms) -> None:
    arms.leader.place(1, 2048 + 900)
    assert "the leader is far from where the follower stands, pan by 1.38" in refused(arms)
    arms.leader.place(1, 2048)
    arms.leader.change([1, 2, 3], torque=1)
    assert "the leader's torque is on, so that no hand can move it" in refused(arms)
    assert "both on" in refused(arms, "--leader-port", arms.follower.port)
    assert "no actuator in common" in refused(arms, "--leader", other(arms))
    assert "the motion cannot be recorded" in refused(arms, "-o", arms.files[2].parent / "none" / "led.csv")
    assert not arms.follower.log.goals()


def other(arms: Arms) -> Path:
    path = arms.files[0].with_name("other.servos.json")
    save_chain(ServoChain((Servo("elbow", 1, "STS3215", position_limits=(-2.0, 2.0), brand="feetech"),)), path)
    return path


def test_soften_goes_slowly_to_a_leader_far_away(arms: Arms) -> None:
    arms.leader.place(1, 2048 + 900)
    arms.follower.mark()
    with running(*arms.command("--soften")) as terminal:
        until(lambda: abs(arms.horn(1) - 900) < 3)
        assert arms.follower.fastest()[1] < 1.1 * FASTEST
        goals = [goal for goal in arms.follower.log.goals(id=1) if 2048 + 100 < goal.counts < 2048 + 600]
        speed = (goals[-1].counts - goals[0].counts) / (goals[-1].time - goals[0].time)
        assert speed < 1.05 * 0.5 / COUNT  # as any approach, until it has almost caught up
        terminal.press("\x1b")
        code, printed = terminal.end()
    assert code == 0, printed
    assert "led.csv was not written: nothing was moved" in printed  # by the hand


def test_a_leader_without_news_is_not_followed(arms: Arms) -> None:
    leader = Player(load_chain(arms.files[0]), arms.leader.port, PATIENT)
    follower = Player(load_chain(arms.files[1]), arms.follower.port, PATIENT)
    for player in (leader, follower):
        player.connect()
        player.wait(PlayState.READY)
    follower.torque(True)
    follower.wait(PlayState.HOLDING)
    pair = Teleoperation(leader, follower)
    pair.check()
    pair.begin()
    arms.leader.place(1, 2048 + 60)
    until(lambda: abs(arms.horn(1) - 60) < 2, pair.step)
    arms.leader.faults(silent=True)  # its player waits for 2 s; nobody follows for so long
    until(lambda: not pair.step())
    arms.leader.place(1, 2048 - 200)
    assert arms.horn(1) == pytest.approx(60, abs=2)
    leader.close()
    with pytest.raises(ServoError, match="the leader is gone"):
        until(lambda: False, pair.step)
    assert follower.wait(PlayState.HOLDING).torque
