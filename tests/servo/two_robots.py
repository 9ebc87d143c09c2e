"""Two simulated robots behind real pseudo-terminals, a folder with a show for them, and a sound device."""

from __future__ import annotations

import json
import time
import wave
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion, save_motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.port.status import PlaySettings
from robik.servo.simulator.process import SimulatorProcess
from robik.servo.simulator.server import POLL

from .conftest import COUNTS_PER_RAD, until
from .terminal import Terminal, running

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


@pytest.fixture(scope="module", name="served")
def serve_robots(tmp_path_factory) -> Iterator[dict[str, Robot]]:
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


@pytest.fixture(name="stage")
def new_stage(served, tmp_path) -> Stage:
    """New servos on new ports: what a test before has started and killed reaches them no more."""
    for robot in served.values():
        robot.servos.unplug()
    time.sleep(2 * POLL)  # until nobody looks at the old ports
    for robot in served.values():
        robot.servos.plug()
        robot.servos.command("renew")
    save_chain(default_chain(NAMES), tmp_path / "it.servos.json")
    return Stage(tmp_path, served)


@pytest.fixture(name="playing")
def play_in_terminal(stage) -> Iterator[Terminal]:
    """Both play in a terminal; a start that is refused, as where a busy machine made servos silent, is made again."""
    for is_last in (False, True):
        with running("show", stage.write(), *FAST) as terminal:
            until(lambda: terminal.process.poll() is not None or all(r.is_playing for r in stage.robots.values()))
            if terminal.process.poll() is None:
                yield terminal
                return
            code, printed = terminal.end()
            assert not is_last, f"it ended with {code}: {printed}"


def song(folder: Path, seconds: float) -> str:
    with wave.open(str(folder / "song.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.full(round(seconds * RATE), 1000, dtype="<i2").tobytes())
    return "song.wav"


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
