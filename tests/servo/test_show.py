"""Shows of two robots: by one clock with a sound, and whatever stops them, through real pseudo-terminals."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
import wave
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from robik.errors import RobikError, ServoError
from robik.motions import Motion, save_motion
from robik.servo.chain import default_chain
from robik.servo.chain_file import save_chain
from robik.servo.outside import ask_to_stop
from robik.servo.simulator.server import POLL, SimulatorProcess
from robik.servo.status import PlaySettings
from robik.show import sound
from robik.show.command import Asked, show

from .conftest import COUNTS_PER_RAD, until
from .terminal import Terminal, running

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

NAMES = ("a", "b", "c")
SPEED = 0.5  # [rad/s] of the ramp, which tells the time by its value
START, RAMP = -1.0, 5.0  # [rad], [s]
END = START + SPEED * RAMP + 0.5 * SPEED * 0.4  # it ends in motion, and is slowed down within 0.4 s
FAST = ["--approach", "3"]
SETTINGS = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=2.5, silence=2.0)  # patient with a busy machine
RATE = 48_000


@dataclass
class Robot:
    """A simulated robot: where it is, and the goals that it took."""

    servos: SimulatorProcess
    record: Path

    def goals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return when goals came (K,) [s], and the first servo's (K,) [rad]."""
        self.servos.state()  # flushes the record
        rows = np.array([line.split(",") for line in self.record.read_text().splitlines()], dtype=float)
        rows = rows.reshape(-1, 3)
        rows = rows[rows[:, 1] == 1]
        return rows[:, 0], (rows[:, 2] - 2048) / COUNTS_PER_RAD

    @property
    def torque(self) -> set[float]:
        return {servo["torque_enable"] for servo in self.servos.state().values()}

    @property
    def stands(self) -> bool:
        return all(servo["velocity"] == 0 for servo in self.servos.state().values())

    @property
    def is_playing(self) -> bool:
        """Whether it is on the ramp, and has been for a while."""
        times, values = self.goals()
        return len(times) > 50 and values[-1] > START + 0.3 and values[-1] > values[-20] > values[-40]


class Stage:
    """Two robots, and a folder with a show for them."""

    def __init__(self, folder: Path, robots: dict[str, Robot]) -> None:
        self.folder, self.robots = folder, robots
        times = np.arange(0.0, RAMP + 1e-9, 1 / 60)
        self.save("ramp", times, START + SPEED * times)
        self.save("bow", times[:121], START + 0.2 * (1.0 - np.cos(np.pi * times[:121])))

    def save(self, name: str, times: np.ndarray, values: np.ndarray) -> None:
        motion = Motion(times=times, actuators=NAMES, values=values[:, None] * np.ones(3))
        save_motion(motion, self.folder / f"{name}.csv")

    def write(self, ports: dict[str, str] | None = None, acts: object = None, **entries: object) -> Path:
        both = {"ann": "ramp.csv", "bob": "ramp.csv"}
        robots = {
            name: {"servos": "it.servos.json", "port": (ports or {}).get(name, robot.servos.port)}
            for name, robot in self.robots.items()
        }
        data = {"format": "robik-show", "version": 1, "robots": robots, "acts": acts or [{"motions": both}], **entries}
        path = self.folder / "it.show.json"
        path.write_text(json.dumps(data))
        return path

    def until_playing(self) -> None:
        until(lambda: all(robot.is_playing for robot in self.robots.values()))


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[dict[str, Robot]]:
    """The robots' processes, which serve all tests."""
    folder = tmp_path_factory.mktemp("robots")
    save_chain(default_chain(NAMES), folder / "it.servos.json")
    with ExitStack() as opened:
        robots = {}
        for name in ("ann", "bob"):
            record = folder / f"{name}.goals.csv"
            servos = opened.enter_context(SimulatorProcess(folder / "it.servos.json", record=record))
            robots[name] = Robot(servos, record)
        yield robots


@pytest.fixture
def stage(served, tmp_path) -> Stage:
    """New servos on new ports: what a test before has started and killed reaches them no more."""
    for robot in served.values():
        robot.servos.unplug()
    time.sleep(2 * POLL)  # until nobody looks at the old ports
    for robot in served.values():
        robot.servos.plug()
        robot.servos.command("renew")
    save_chain(default_chain(NAMES), tmp_path / "it.servos.json")
    return Stage(tmp_path, served)


@pytest.fixture
def playing(stage) -> Iterator[Terminal]:
    """Both play in a terminal."""
    with running("show", stage.write(), *FAST) as terminal:
        stage.until_playing()
        yield terminal


def song(folder: Path, seconds: float) -> str:
    with wave.open(str(folder / "song.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.full(round(seconds * RATE), 1000, dtype="<i2").tobytes())
    return "song.wav"


# one clock


class Heard:
    """miniaudio's null device, a real one without a speaker, and what it asked for."""

    def __init__(self, rate: int = RATE) -> None:
        miniaudio = pytest.importorskip("miniaudio")
        self._device = miniaudio.PlaybackDevice(
            nchannels=2, sample_rate=rate, buffersize_msec=40, callback_periods=3, backends=[miniaudio.Backend.NULL]
        )
        self.backend = "Null, with a log"
        self.asked: list[tuple[float, int]] = []  # when [s], and how many frames it had been given
        self.first: int | None = None  # frame that was no silence

    def start(self, frames) -> None:
        def logged():
            wanted, given = (yield b""), 0
            while True:
                content = frames.send(wanted)
                self.asked.append((time.perf_counter(), given))
                if self.first is None and any(content):
                    self.first = given + int(np.argmax(np.frombuffer(content, "<i2")[::2] != 0))
                given += wanted
                wanted = yield content

        log = logged()
        next(log)
        self._device.start(log)

    def close(self) -> None:
        self._device.close()

    def begin(self) -> float:
        """When the sound began by the device's clock, as of its last 3 s [s]; the robots are to be there then."""
        assert self.first is not None, "there was no sound"
        late = [when - given / RATE for when, given in self.asked if when > self.asked[-1][0] - 3.0]
        return min(late) + self.first / RATE + 2 * 0.04


def test_two_robots_and_a_sound_by_the_clock_of_the_device(stage, monkeypatch, capsys) -> None:
    device = Heard()
    monkeypatch.setattr(sound, "default_device", lambda: device)
    acts = [{"start": 1.0, "motions": {"ann": "ramp.csv", "bob": "ramp.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 10.0)), Asked(), SETTINGS) == 0
    begin, away = device.begin(), {}
    for name, robot in stage.robots.items():
        times, values = robot.goals()
        after = (times > begin + 1.5) & (times < begin + RAMP + 0.8)
        away[name] = times[after] - begin - 1.0 - (values[after] - START) / SPEED
        assert len(away[name]) > 300
        assert abs(np.median(away[name])) < 0.01
        assert robot.torque == {1.0}
    assert abs(np.median(away["ann"]) - np.median(away["bob"])) < 0.005
    printed = capsys.readouterr().out
    assert len(re.findall(r"(ann|bob): played to the end, holding .* ms off the show's clock at worst", printed)) == 2
    assert times[-1] - begin == pytest.approx(10.0, abs=0.3)  # they stand until the sound is over


def test_without_a_sound_device_one_sentence_and_the_computers_clock(stage, monkeypatch, capfd) -> None:
    miniaudio = pytest.importorskip("miniaudio")
    device = miniaudio.PlaybackDevice
    nowhere = [miniaudio.Backend.WASAPI if sys.platform != "win32" else miniaudio.Backend.ALSA]
    monkeypatch.setattr(miniaudio, "PlaybackDevice", lambda **how: device(**how, backends=nowhere))
    acts = [{"motions": {"ann": "bow.csv", "bob": "bow.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 1.0)), Asked(), SETTINGS) == 0
    warned = capfd.readouterr().err.splitlines()
    assert len(warned) == 1
    assert re.match(
        r"warning: there is no sound device \(.*\); the show plays without sound, by this computer", warned[0]
    )


def test_without_the_package_one_sentence_and_all_of_the_motions(stage, monkeypatch, capfd) -> None:
    monkeypatch.setitem(sys.modules, "miniaudio", None)
    acts = [{"motions": {"ann": "bow.csv"}}, {"motions": {"ann": "bow.csv", "bob": "bow.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 1.0)), Asked(), SETTINGS) == 0
    warned = capfd.readouterr().err
    assert warned.count("warning") == 1
    assert "needs the extra 'sound': pip install 'robik[sound]'; the show plays without sound" in warned
    starts = []
    for robot in stage.robots.values():
        times, values = robot.goals()
        there = int(np.argmin(values))
        assert values[there:].max() == pytest.approx(START + 0.4, abs=2e-3)
        starts.append(times[there + int(np.argmax(values[there:] > START + 0.2))])
    assert starts[1] - starts[0] == pytest.approx(2.0, abs=0.2)  # bob waits for the second act


# stops


def test_a_pause_stands_and_goes_on_together(stage, playing) -> None:
    playing.press(" ")
    until(lambda: all(np.ptp(robot.goals()[1][-30:]) == 0.0 for robot in stage.robots.values()))
    paused = [robot.goals()[1][-1] for robot in stage.robots.values()]
    assert max(paused) < END - 0.5
    assert abs(paused[0] - paused[1]) < 0.05 * SPEED
    time.sleep(3.0)
    assert [robot.goals()[1][-1] for robot in stage.robots.values()] == paused
    playing.press(" ")
    until(lambda: all(robot.goals()[1][-1] > at + 0.2 for robot, at in zip(stage.robots.values(), paused, strict=True)))
    code, printed = playing.end()
    assert code == 0, printed
    worst = [float(found) for found in re.findall(r"([\d.]+) ms off the show's clock at worst", printed)]
    assert len(worst) == 2
    assert max(worst) < 200.0, "what the pause took does not count"
    starts = []
    for robot, at in zip(stage.robots.values(), paused, strict=True):
        times, values = robot.goals()
        assert values[-1] == pytest.approx(END, abs=0.01)
        assert np.abs(np.diff(values)).max() < 0.1 * SPEED
        starts.append(times[np.argmax(values > at + 0.2)])
    assert abs(starts[0] - starts[1]) < 0.05


BOTH = {"ann": "ramp.csv", "bob": "ramp.csv"}
BOW = {"ann": "bow.csv", "bob": "bow.csv"}


@pytest.mark.parametrize("by", ["key", "message"])
def test_another_act_is_begun_from_a_stand_and_the_show_goes_on_from_there(stage, by) -> None:
    acts = [{"motions": BOTH}, {"name": "bow", "motions": BOW}, {"name": "last", "motions": {"ann": "bow.csv"}}]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
        desk.bind(("127.0.0.1", 0))
        port = desk.getsockname()[1]  # free for a moment
    with running("show", stage.write(acts=acts), *FAST, "--osc", port) as terminal:
        stage.until_playing()
        if by == "key":
            terminal.press("n")
        else:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
                for packet in (
                    b"\0\1",
                    b"/robik/act\0\0,s\0\0who\0",
                    b"/robik/no\0\0\0",
                    b"/robik/next\0,f\0\0\0\0\0\0",
                ):
                    desk.sendto(packet, ("127.0.0.1", port))
                time.sleep(0.5)
                assert all(robot.is_playing for robot in stage.robots.values())
                desk.sendto(b"/robik/act\0\0,s\0\0bow\0", ("127.0.0.1", port))
        code, printed = terminal.end()
    assert code == 0, printed
    bows = {}
    for name, robot in stage.robots.items():
        values = robot.goals()[1]
        assert values.max() < END - 0.3
        assert np.abs(np.diff(values)).max() < 3.0 * 0.05
        below = values < START + 0.2
        bows[name] = int((np.diff(below.astype(int)) == 1).sum()) - 2  # it came to the start, back there, and from bows
        assert values[-1] == pytest.approx(START, abs=0.01)
        assert robot.torque == {1.0}
    assert bows == {"ann": 2, "bob": 1}
    if by == "message":
        assert "warning: there is no act 'who'; there are 1, bow, last" in printed
        assert "warning: OSC: /robik/no is not known; there are /robik/stop, /robik/pause" in printed
        assert printed.count("warning: OSC") == 2


@pytest.mark.parametrize(("press", "torque"), [("escape", {1.0}), ("signal", {1.0}), ("torque off", {0.0})])
def test_one_stop_for_all(stage, playing, press, torque) -> None:
    if press == "signal":
        playing.process.send_signal(signal.SIGINT)
    else:
        playing.press("\x1b" if press == "escape" else "t")
    code, printed = playing.end()
    assert code == 1, printed
    said = "stopped, holding" if torque == {1.0} else "emergency stop: torque is off"
    assert len(re.findall(f"(ann|bob): {said}", printed)) == 2
    for robot in stage.robots.values():
        assert robot.torque == torque
        assert robot.goals()[1][-1] < END - 0.1
        until(lambda robot=robot: robot.stands)


def test_a_stop_from_another_program_by_one_robots_port_stops_both(stage, playing) -> None:
    ask_to_stop(stage.robots["bob"].servos.port)
    code, printed = playing.end()
    assert code == 1, printed
    for robot in stage.robots.values():
        assert robot.torque == {1.0}
        assert robot.goals()[1][-1] < END - 0.1


def test_a_show_that_is_killed_leaves_both_standing(stage, playing) -> None:
    playing.process.kill()
    playing.process.wait()
    for robot in stage.robots.values():
        until(lambda robot=robot: robot.stands)
        assert robot.torque == {1.0}
        assert robot.goals()[1][-1] < END - 0.1


@pytest.mark.parametrize(
    ("fault", "others"),
    [
        ("unplugged", "go on"),
        ("overload", "stop"),
        pytest.param("unplugged", "stop", marks=pytest.mark.long),
        pytest.param("overload", "go on", marks=pytest.mark.long),
    ],
)
def test_where_one_robot_fails_the_others_do_as_the_file_says(stage, others, fault) -> None:
    with running("show", stage.write(others=others), *FAST) as terminal:
        stage.until_playing()
        if fault == "unplugged":
            stage.robots["bob"].servos.unplug()
        else:
            stage.robots["bob"].servos.command("error 2 0x20")
        code, printed = terminal.end()
    why = (
        "bob: .*(the port is gone|stop by their watchdog)"
        if fault == "unplugged"
        else "bob: servo 2 .b. has a hardware error"
    )
    assert re.search(why, printed), printed
    assert code == 2
    ann, bob = stage.robots.values()
    assert ann.torque == {1.0}
    if others == "go on":
        assert "the others go on" in printed
        assert "ann: played to the end, holding" in printed
        assert ann.goals()[1][-1] == pytest.approx(END, abs=2e-3)
    else:
        assert "ann: stopped, holding" in printed
        assert ann.goals()[1][-1] < END - 0.1
    until(lambda: ann.stands and bob.stands)


# before anything moves


def untouched(stage: Stage) -> bool:
    return all(robot.torque == {0.0} and not len(robot.goals()[0]) for robot in stage.robots.values())


def test_a_robot_that_is_not_there_keeps_all_from_moving(stage) -> None:
    path = stage.write(ports={"bob": "/dev/ttyNOWHERE"})
    with pytest.raises(ServoError, match="bob: port /dev/ttyNOWHERE cannot be opened"):
        show(path, Asked(), SETTINGS)
    assert untouched(stage)


def test_a_motion_that_one_robot_cannot_do_keeps_all_from_moving(stage) -> None:
    times = np.array([0.0, 0.5, 0.6, 1.0])
    stage.save("jump", times, np.array([0.0, 0.0, 1.5, 1.5]))
    path = stage.write(acts=[{"motions": {"ann": "ramp.csv", "bob": "jump.csv"}}])
    with pytest.raises(ServoError, match=r"bob: a: .* per second at .* is above its limit"):
        show(path, Asked(), SETTINGS)
    assert untouched(stage)


def test_a_robot_far_from_its_first_frame_keeps_all_from_moving(stage) -> None:
    with pytest.raises(
        ServoError, match=r"ann: .*the robot stands far from the first frame.*torque is as it was found|ann: .*far from"
    ):
        show(stage.write(), Asked(), PlaySettings(approach_speed=0.1))
    assert untouched(stage)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"acts": [{"motions": {"ann": "no.csv", "bob": "ramp.csv"}}]}, r"ann: .*no\.csv"),
        ({"sound": "no.wav"}, r"no\.wav: there is no such sound file"),
        ({"ports": {"ann": "/dev/x", "bob": "/dev/x"}}, "ann and bob are both on /dev/x"),
    ],
)
def test_files_and_ports_that_are_wrong(stage, change, sentence) -> None:
    with pytest.raises(RobikError, match=sentence):
        show(stage.write(**change), Asked(), SETTINGS)
    assert untouched(stage)


def test_a_check_prints_the_timeline_and_opens_no_port(stage, capsys) -> None:
    acts = [{"motions": {"ann": "bow.csv"}}, {"start": 4.0, "motions": {"bob": {"motion": "bow.csv", "repeat": 2}}}]
    path = stage.write(ports={"ann": "/dev/x", "bob": "/dev/y"}, acts=acts, others="go on")
    assert show(path, Asked(is_check=True), SETTINGS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["ann: 3 servos on /dev/x", "bob: 3 servos on /dev/y"]
    assert lines[2] == "    0.00 to     2.00 s  act 1: ann bow.csv"
    assert lines[3] == "    4.00 to     8.00 s  act 2: bob bow.csv × 2"
    assert lines[4] == "8.00 s in all; if a robot fails, the others go on"


def test_torque_is_off_in_the_end_where_that_is_asked(stage) -> None:
    acts = [{"motions": {"ann": "bow.csv"}}, {"motions": {"bob": "bow.csv"}}]
    with running("show", stage.write(acts=acts), *FAST, "--torque", "off") as terminal:
        until(lambda: len(stage.robots["bob"].goals()[0]) > 500)
        assert stage.robots["ann"].torque == {1.0}  # it has played its part, and stands until the end
        code, printed = terminal.end()
    assert code == 0, printed
    assert all(robot.torque == {0.0} for robot in stage.robots.values())
