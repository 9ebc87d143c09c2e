"""Motions that a hand makes: as curves and poses, and recorded from an independent chain by a program of its own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion, load_motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import save_chain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.status import PlayState, Status
from robik.servo.teach.teaching import HandRecording, between_poses

from .conftest import PATIENT, until
from .independent import IndependentChain
from .terminal import running

COUNT = 2 * np.pi / 4096  # [rad]
PAIR = default_chain(("a", "b"))
needs_terminals = pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
WRITES = {3, 4, 5, 6, 8, 16, 131, 147}  # instructions of Protocol 2.0 that change a servo


def recorded(
    way: Callable[[float], np.ndarray], seconds: float, chain: ServoChain = PAIR, tremble: float = 0.0
) -> HandRecording:
    """What servos with whole counts say of a way, at times that are not quite regular."""
    chance = np.random.default_rng(5)
    made, now = HandRecording(chain), 100.0
    while now < 100.0 + seconds:
        shaken = way(now - 100.0) + chance.normal(0.0, tremble, len(chain.servos))
        made.take(Status(present=tuple(COUNT * np.round(shaken / COUNT)), seen=now))
        now += 0.02 + abs(chance.normal(0.0, 0.004))
    return made


def wave(at: float) -> np.ndarray:
    return np.array([0.5 * np.sin(3.0 * at), 0.3 * np.sin(5.0 * at)])


STOPS = np.array([[0.0, 0.0], [0.5, 0.2], [0.1, -0.4], [0.6, 0.6]])


def stations(at: float) -> np.ndarray:
    """A second each: there for 0.5 s, on the way for 0.5 s."""
    k = min(int(at), 3)
    share = np.clip(2.0 * (at - k) - 1.0, 0.0, 1.0)
    return STOPS[k] + (STOPS[min(k + 1, 3)] - STOPS[k]) * share**2 * (3.0 - 2.0 * share)


def test_counts_and_uneven_times_become_a_smooth_curve() -> None:
    motion = recorded(wave, 8.0).motion()
    there = np.array([wave(at) for at in motion.times])
    assert motion.actuators == ("a", "b")
    assert np.abs(motion.values - there)[5:-5].max() < 1.2 * COUNT
    counts = COUNT * np.round(there / COUNT)
    noise = [np.diff(values - there, 2, axis=0).std() * 50.0**2 for values in (motion.values, counts)]
    assert noise[0] < 0.3 * noise[1]  # of the accelerations


def test_stillness_before_and_after_is_left_out_and_held_poses_stand() -> None:
    def late(at: float) -> np.ndarray:
        return stations(np.clip(at - 3.0, 0.0, 3.0))

    motion = recorded(late, 12.0, tremble=0.001).motion()
    assert motion.times[0] == 0.0
    assert 2.5 < motion.times[-1] < 3.2  # from the first leaving, at 3.5 s, to 6 s
    assert np.abs(motion.values[0] - STOPS[0]).max() < COUNT
    assert np.abs(motion.values[-1] - STOPS[3]).max() < COUNT
    still = (np.abs(np.diff(motion.values, axis=0)) < 1e-12).all(axis=1)
    assert still.sum() / 50.0 > 2 * 0.25  # both stops on the way, but for what is smoothed into their ends


def test_poses_are_those_that_were_held() -> None:
    recording = recorded(stations, 4.2, tremble=0.001)
    poses = recording.poses()
    assert np.abs(poses.values - STOPS).max() < COUNT
    assert poses.begins == pytest.approx([0.0, 1.0, 2.0, 3.0], abs=0.08)
    assert poses.ends[:3] == pytest.approx([0.5, 1.5, 2.5], abs=0.08)
    motion = between_poses(poses, recording.actuators)
    for begin, end, pose in zip(poses.begins, poses.ends, poses.values, strict=True):
        held = (motion.times >= begin) & (motion.times <= end)
        assert motion.values[held] == pytest.approx(np.tile(pose, (held.sum(), 1)), abs=1e-12)
    assert np.abs(np.diff(motion.values, axis=0)).max() * 50.0 < 1.9 * 1.0 / 0.4  # no jump: quintic over 0.4 s or more


def test_a_slow_motion_is_no_row_of_poses() -> None:
    def creep(at: float) -> np.ndarray:
        return np.array([0.035 * at, 0.0])  # 2° a second

    recording = recorded(creep, 10.0)
    motion = recording.motion()
    speed = np.diff(motion.values[:, 0])[10:-10] * 50.0
    assert np.abs(speed - 0.035).max() < 0.02
    with pytest.raises(ServoError, match=r"held still for 0\.4 s at least twice"):
        recording.poses()


def test_a_silence_is_said() -> None:
    made = recorded(wave, 4.0)
    assert made.silence == ""
    made.add(104.5, np.array([0.1, 0.2]))
    assert made.silence.startswith(f"nothing was heard of the servos for {np.diff(made._times).max():.2f} s, 4.0 s")


def test_what_is_no_recording() -> None:
    with pytest.raises(ServoError, match="nothing was moved"):
        recorded(lambda _: np.array([0.1, 0.2]), 2.0, tremble=0.0003).motion()
    with pytest.raises(ServoError, match=r"at least 0\.1 s"):
        HandRecording(PAIR).motion()
    made = HandRecording(PAIR)
    assert made.take(Status(present=(0.1, 0.2), seen=5.0))
    for present, seen in (((0.3, 0.4), 5.0), ((0.3, 0.4), 4.0), ((0.3, np.nan), 6.0), ((0.3,), 6.0), ((), 0.0)):
        assert not made.take(Status(present=present, seen=seen))
    assert made.seconds == 0.0


def test_of_two_servos_on_a_motor_the_first_speaks() -> None:
    chain = ServoChain((Servo("a", 1), Servo("b", 2), Servo("a", 3, direction=-1)))
    motion = recorded(lambda at: np.array([np.sin(at), 0.2, 5.0]), 3.0, chain).motion()
    assert motion.actuators == ("a", "b")
    assert motion.values.max() < 1.1


# on a chain


@pytest.fixture
def servos() -> Iterator[IndependentChain]:
    with IndependentChain(ids=(1, 2, 3)) as chain:
        yield chain


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    save_chain(default_chain(("a", "b", "c")), tmp_path / "c.servos.json")
    return tmp_path / "c.servos.json", tmp_path / "hand.csv"


def hand(servos: IndependentChain, seconds: float = 4.0) -> float:
    """Servo 1 goes to and fro and 3 slowly away, in steps of 10 ms; returns when it begins [s]."""
    begins = time.monotonic() + 0.5
    for k in range(int(100 * seconds)):
        at = k / 100
        servos.place(1, 2048 + 300 * np.sin(2.0 * at), after=max(0.0, begins + at - time.monotonic()))
        servos.place(3, 2048 - 100 * at, after=max(0.0, begins + at - time.monotonic()))
    return begins


def recording(servos: IndependentChain, files: tuple[Path, Path], *more: object) -> tuple[object, ...]:
    return ("servos", "record", "--port", servos.port, "--servos", files[0], "-o", files[1], *more)


def nothing_was_written(servos: IndependentChain) -> bool:
    return not [packet for packet in servos.log.packets() if packet.instruction in WRITES]


@needs_terminals
@pytest.mark.real_time
def test_a_player_looks_closely_only_where_it_is_asked_to(servos: IndependentChain) -> None:
    player = Player(default_chain(("a", "b", "c")), servos.port, PATIENT, is_apart=True)
    player.connect()
    player.wait(PlayState.READY)

    def usual() -> float:
        """The usual time between two looks [s]."""
        seen, ends = [player.status.seen], time.monotonic() + 1.5
        while time.monotonic() < ends:
            if player.status.seen > seen[-1]:
                seen.append(player.status.seen)
            time.sleep(0.001)
        return float(np.median(np.diff(seen)))

    before = usual()
    assert before >= 0.05
    player.watch(True)
    until(lambda: usual() < before - 0.02)
    player.watch(False)
    until(lambda: usual() >= 0.05)
    player.close()


@needs_terminals
@pytest.mark.real_time
@pytest.mark.parametrize("ending", ["ESC", "SIGINT", "SIGTERM", "hang up", "unplug"])
def test_a_hand_is_recorded_until_the_end_whatever_it_is(
    ending: str, servos: IndependentChain, files: tuple[Path, Path]
) -> None:
    with running(*recording(servos, files)) as terminal:
        until(lambda: servos.log.packets())
        time.sleep(1.5)
        begins = hand(servos)
        time.sleep(2.0)
        if ending == "SIGTERM":  # and the computer is busy with something else for half a second
            terminal.process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            terminal.process.send_signal(signal.SIGCONT)
        time.sleep(4.0)
        act: dict[str, Callable[[], object]] = {
            "ESC": lambda: terminal.press("\x1b"),
            "SIGINT": lambda: terminal.process.send_signal(signal.SIGINT),
            "SIGTERM": lambda: terminal.process.send_signal(signal.SIGTERM),
            "hang up": terminal.hang_up,
            "unplug": servos.unplug,
        }
        act[ending]()
        code, printed = terminal.end()
    assert code == (2 if ending == "unplug" else 0), printed
    assert ("is gone" in printed and "is kept" in printed) == (ending == "unplug")
    assert servos.powered == set()
    assert nothing_was_written(servos)
    gaps = silences(servos, begins)
    assert "nothing was heard" in printed or (ending != "SIGTERM" and all(end - start < 0.25 for start, end in gaps))
    check_hand(load_motion(files[1]), gaps)


def silences(servos: IndependentChain, begins: float) -> list[tuple[float, float]]:
    """When the servos were not asked for 0.1 s, seconds after the hand began."""
    asked = np.array([packet.arrived for packet in servos.log.packets()]) - begins
    late = np.flatnonzero((np.diff(asked) > 0.1) & (asked[1:] > 0.0) & (asked[:-1] < 4.0))
    return [(float(asked[k]), float(asked[k + 1])) for k in late]


def check_hand(motion: Motion, gaps: list[tuple[float, float]]) -> None:
    """Compare with what the hand did; of a gap, in which a machine stood still, nobody knows it."""
    assert motion.actuators == ("a", "b", "c")
    first = int(np.argmax(np.abs(motion.values[:, 2]) > 0.03))  # 20 counts, 0.2 s after the hand began
    at = motion.times - motion.times[first] + 0.2
    there = (at > 0.2) & (at < 3.8)
    for begins, ends in gaps:
        there &= (at < begins - 0.15) | (at > ends + 0.15)
    assert there.sum() > 120
    assert np.abs(motion.values[there, 0] - COUNT * 300 * np.sin(2.0 * at[there])).max() < 0.04  # 0.04 s at its fastest
    assert np.abs(motion.values[there, 2] + COUNT * 100 * at[there]).max() < 0.02
    assert np.abs(motion.values[:, 1]).max() < COUNT


@needs_terminals
@pytest.mark.real_time
def test_killed_while_it_records_nothing_has_moved(servos: IndependentChain, files: tuple[Path, Path]) -> None:
    with running(*recording(servos, files)) as terminal:
        until(lambda: len(servos.log.packets()) > 50)
        terminal.process.kill()
        terminal.end()
    assert servos.powered == set()
    assert nothing_was_written(servos)
    assert not files[1].exists()


@needs_terminals
@pytest.mark.real_time
def test_t_lets_go_of_a_robot_that_holds_and_an_earlier_take_stays(
    servos: IndependentChain, files: tuple[Path, Path]
) -> None:
    files[1].write_text("an earlier take")
    servos.change([1, 2, 3], torque_enable=1)
    with running(*recording(servos, files)) as terminal:
        until(lambda: len(servos.log.packets()) > 300)  # it has connected
        terminal.press("t")
        until(lambda: servos.powered == set())
        hand(servos, 1.0)
        time.sleep(2.5)
        terminal.press("\x1b")
        code, printed = terminal.end()
    assert code == 0, printed
    assert "torque is on, so that no hand can move the robot" in printed
    assert files[1].read_text() == "an earlier take"
    assert load_motion(files[1].with_stem("hand-2")).values[:, 0].max() > 0.3


@needs_terminals
@pytest.mark.real_time
def test_poses_by_the_shell_and_what_is_refused(servos: IndependentChain, files: tuple[Path, Path]) -> None:
    with running(*recording(servos, files, "--poses")) as terminal:
        until(lambda: len(servos.log.packets()) > 20)
        for k, counts in enumerate((2048, 2300, 1900)):
            servos.place(2, counts, after=1.2 * k + 0.1)
        time.sleep(4.5)
        terminal.press("\x1b")
        code, printed = terminal.end()
    assert code == 0, printed
    values = load_motion(files[1]).values[:, 1]
    assert [values[0], values.max(), values[-1]] == pytest.approx([0.0, 252 * COUNT, -148 * COUNT], abs=COUNT)
    before = len(servos.log.packets())
    with running(*recording(servos, files)) as terminal:
        until(lambda: len(servos.log.packets()) > before + 100)
        time.sleep(1.5)
        terminal.press("\x1b")
        code, printed = terminal.end()
    assert (code, "nothing was moved while it was recorded" in printed) == (2, True), printed
    assert_refused(servos, files[0], files[1].parent / "none" / "m.csv", "the motion cannot be recorded to")


def assert_refused(servos: IndependentChain, chain: Path, output: Path, why: str) -> None:
    packets = len(servos.log.packets())
    with running("servos", "record", "--port", servos.port, "--servos", chain, "-o", output) as terminal:
        code, printed = terminal.end()
    assert code == 2
    assert why in printed
    assert len(servos.log.packets()) == packets  # before the port is opened
