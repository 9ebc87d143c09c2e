"""Every fault at every stage of playing, on a simulated chain: what the servos did, how long until they stood, what the
user saw.

`python -m tests.servo.faults` runs them all and writes docs/safety.md.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain import default_chain, save_chain
from robik.servo.dynamixel.models import WATCHDOG_UNIT
from robik.servo.dynamixel.simulator.server import SimulatorProcess
from robik.servo.player import Player
from robik.servo.status import PlaySettings, PlayState

NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="XH430-W210")
SETTINGS = PlaySettings(stop_time=0.6, watchdog=0.2, heartbeat=0.5)
PATIENT = replace(
    SETTINGS, watchdog=1.5, heartbeat=3.0, silence=1.2
)  # for a machine that stalls now and then, which is another fault
TIMES = np.arange(0.0, 20.0, 1 / 60)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.8 * np.sin(1.5 * TIMES[:, None] + 1.0 + np.arange(4)))
NEAR = 0.4  # [rad] from the first frame, where the approach is not what is looked at
LIMIT = 360 * 0.229 / 60 * 4096  # [counts/s] of the chain's speed
BEAT = 0.015  # [s] between heartbeats, wishes and looks at the simulated servos
PATIENCE = 1.0  # [s] beyond the heartbeat's that one waits for a fault to stop it, before pressing Stop
LONGEST = 60.0  # [s] until everything must be over
TRIES = 5  # to go on, on a machine that may stall while it does
STANDS, LOOKS = 0.3, 5  # [s] and looks without a move
STAGES = ("connecting", "approaching", "playing", "live", "stopping")
WORKERS = 3
WAYS_ON = (
    "turn torque on",
    "connect again",
    "reboot",
)  # one of which the message of every fault that stopped them names

MENDS: dict[str, str] = {"silent 2": "answer 2", "set 2 firmware_version 37": "set 2 firmware_version 46"}
NOISES = (("drop", 0.002), ("corrupt", 0.002), ("duplicate", 0.002), ("late", 0.05))  # up to eight bytes at a time
MENDS |= {f"noise {kind} {amount}": f"noise {kind} 0" for kind, amount in NOISES}
FAULTS: dict[str, tuple[str, ...]] = {
    "bytes dropped, 1 %": ("noise drop 0.002",),
    "bytes corrupted, 1 %": ("noise corrupt 0.002",),
    "bytes duplicated, 1 %": ("noise duplicate 0.002",),
    "answers up to 50 ms late": ("noise late 0.05",),
    "a servo vanishes": ("silent 2",),
    "a servo's supply breaks down for a moment": ("reboot 2",),
    "a servo is overloaded": ("error 2 0x20",),
    "a servo with old firmware takes its place": ("reboot 2", "set 2 firmware_version 37"),
    "the adapter is unplugged": ("unplug",),
    "Blender hangs": (),
    "the computer's process is killed": (),
}
HANGS, KILLED = "Blender hangs", "the computer's process is killed"


@dataclass(frozen=True)
class Cell:
    """What came of a fault at a stage.

    Attributes:
        fault, stage: which.
        went_on: whether it played on until Stop was pressed.
        seconds: from the fault (or, where it went on, from Stop) to the last move of any servo, by the servos' own
            clock.
        outlasted: by the servos' own clock, how long any of them moved on without a packet [s]; at most the watchdog's
            time.
        fastest: of any servo, ever [counts/s].
        moved_later: whether anything moved after that, unattended.
        torque: how many servos are powered then.
        saw: the player's state and message.
        mended: what it took to hold again; empty if it could not be had without starting anew.
    """

    fault: str
    stage: str
    went_on: bool
    seconds: float
    outlasted: float
    fastest: float
    moved_later: bool
    torque: int
    saw: str
    mended: str

    def check(self, settings: PlaySettings) -> None:
        """What must be so in every cell, however busy the machine is."""
        where = f"{self.fault} × {self.stage}: {self}"
        assert not self.moved_later, where
        assert self.mended, where
        assert self.outlasted <= WATCHDOG_UNIT * ceil(settings.watchdog / WATCHDOG_UNIT) + 1e-6, where
        assert self.saw, where
        assert (
            self.stage == "connecting" or not self.saw.startswith("fault") or any(way in self.saw for way in WAYS_ON)
        ), where
        assert self.fastest <= LIMIT * 1.02, where

    def check_times(self, settings: PlaySettings) -> None:
        """What must be so on a machine that does not stall."""
        where = f"{self.fault} × {self.stage}: {self}"
        if self.fault == KILLED:
            assert self.seconds <= settings.watchdog, where
        elif self.fault == HANGS:
            assert self.seconds <= settings.heartbeat + settings.watchdog + 0.2, where
        else:
            assert self.seconds <= PATIENCE + settings.heartbeat + settings.stop_time + 0.3, where


class Watcher:
    """Looks at the simulated servos beside the bus, and at when they last moved."""

    def __init__(self, simulator: SimulatorProcess) -> None:
        self._simulator = simulator
        self.fastest, self.moved, self.outlasted, self._still = 0.0, time.monotonic(), 0.0, 0
        self.look()

    def look(self) -> None:
        """Now."""
        state = self._simulator.state()
        self.torque = sum(int(s["torque_enable"]) for s in state.values())
        speeds = np.abs([s["velocity"] for s in state.values()])
        self.fastest = max(self.fastest, float(speeds.max()))
        moved = max(s["moved"] for s in state.values())
        if moved > self.moved:
            self.moved, self._still = moved, 0
        self._still += 1
        self.outlasted = max(self.outlasted, *(s["moved"] - s["heard"] for s in state.values()))

    @property
    def stands(self) -> bool:
        """Whether nothing has moved for a while."""
        return time.monotonic() - self.moved > STANDS and self._still > LOOKS


class Owner:
    """What Blender's main loop does: beats, and says where the robot should be."""

    def __init__(self, player: Player) -> None:
        self.player, self.hangs, self._began = player, False, time.monotonic()

    def turn(self) -> None:
        """Once round."""
        if self.hangs:
            return
        self.player.heartbeat()
        t = time.monotonic() - self._began
        self.player.aim({name: 0.8 * np.sin(3.0 * t + k) for k, name in enumerate(NAMES)})

    def until(self, *states: PlayState, seconds: float = LONGEST) -> None:
        """Turns until the player is there."""
        ends = time.monotonic() + seconds
        while self.player.status.state not in states:
            assert time.monotonic() < ends, f"hangs: {self.player.status}"
            self.turn()
            time.sleep(BEAT)

    def idle(self, seconds: float) -> None:
        """Turns for a while."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.turn()
            time.sleep(BEAT)


def reach(owner: Owner, stage: str) -> None:
    """Brings a player to a stage."""
    player = owner.player
    player.connect()
    if stage == "connecting":
        return
    owner.until(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    owner.until(PlayState.HOLDING)
    if stage == "live":
        player.live()
        owner.idle(1.0)
        return
    player.play(MOTION)
    owner.until(PlayState.APPROACHING)
    if stage == "approaching":
        owner.idle(0.3)
        return
    owner.until(PlayState.PLAYING)
    owner.idle(0.3)
    if stage == "stopping":
        player.stop()
        owner.idle(0.1)


def place(simulator: SimulatorProcess, stage: str) -> None:
    """Puts the horns where the stage begins soon."""
    start = MOTION.values[0] if stage != "live" else np.zeros(4)
    away = 0.1 if stage in ("playing", "stopping") else NEAR if stage == "approaching" else 0.0
    for k, counts in enumerate(CHAIN.counts(start - away)):
        simulator.command(f"place {k + 1} {counts}")


def run(simulator: SimulatorProcess, fault: str, stage: str, settings: PlaySettings) -> Cell:
    """One cell."""
    simulator.command("renew")
    simulator.plug()
    place(simulator, stage)
    if fault == KILLED:
        return _run_killed(simulator, stage, settings)
    player = Player(CHAIN, simulator.port, settings)
    owner, watcher = Owner(player), Watcher(simulator)
    early = stage == "connecting" and fault != HANGS
    try:
        if early:
            _happen(simulator, fault)
        reach(owner, stage)
        if not early:
            _happen(simulator, fault)
        owner.hangs = fault == HANGS
        happened, went_on = time.monotonic(), False
        watcher.moved = happened
        while not watcher.stands or player.status.state.is_moving or player.status.state is PlayState.CONNECTING:
            assert time.monotonic() - happened < LONGEST, f"{fault} × {stage} hangs: {player.status}"
            is_patient = went_on or stage == "stopping" or time.monotonic() - happened <= PATIENCE + settings.heartbeat
            if player.status.state.is_moving and not is_patient:
                went_on, happened = True, time.monotonic()
                player.stop()
            owner.turn()
            watcher.look()
            time.sleep(BEAT)
        seconds, status = watcher.moved - happened, player.status
        stood, torque = watcher.moved, watcher.torque
        ends = time.monotonic() + STANDS
        while time.monotonic() < ends:
            watcher.look()
        saw = f"{status.state.value}: {status.message}"
        mended = _mend(simulator, fault, owner)
        later = watcher.moved > stood
        return Cell(
            fault, stage, went_on, max(0.0, seconds), watcher.outlasted, watcher.fastest, later, torque, saw, mended
        )
    finally:
        player.close()


def _happen(simulator: SimulatorProcess, fault: str) -> None:
    for command in FAULTS[fault]:
        simulator.command(command)


def _mend(simulator: SimulatorProcess, fault: str, owner: Owner) -> str:
    """Removes the cause, and does what a user would to go on."""
    player, steps = owner.player, []
    for command in FAULTS[fault]:
        if command in MENDS:
            simulator.command(MENDS[command])
    owner.hangs = False
    if fault == "the adapter is unplugged":
        simulator.plug()
        player.port = simulator.port
    deadline = time.monotonic() + LONGEST
    if player.status.state is PlayState.FAULT and "is gone" in player.status.message:
        while player.is_open and time.monotonic() < deadline:
            time.sleep(BEAT)
    try:
        if not player.is_open:
            player.connect()
            steps.append("Connect")
            player.wait(PlayState.READY, PlayState.HOLDING, PlayState.FAULT)
        if "hardware error" in player.status.message:
            steps.append("Reboot")
            if not player.is_open:
                return ""
            player.reboot()
            player.wait(PlayState.READY, PlayState.HOLDING)
        if player.status.state is not PlayState.HOLDING:
            steps.append("Torque On")
        _go_on(player)
    except ServoError as error:
        raise AssertionError(f"{fault}: after {steps}: {error}") from None
    return ", ".join([*steps, "Play"])


def _go_on(player: Player) -> None:
    """Turns torque on if need be, and plays; again where the machine stalled until a watchdog bit."""
    for attempt in range(TRIES):
        try:
            if player.status.state is not PlayState.HOLDING:
                player.torque(True)
            player.wait(PlayState.HOLDING)
            player.play(_stay(player))
            player.wait(PlayState.HOLDING)
        except ServoError as error:
            if "watchdog" not in str(error) or attempt == TRIES - 1:
                raise
        else:
            return


def _stay(player: Player) -> Motion:
    """A little motion from where the robot is."""
    here = np.clip(np.array(player.status.present), -1.9, 1.9)
    return Motion(times=np.array([0.0, 0.1]), actuators=NAMES, values=np.array([here, here * 0.98]))


def _run_killed(simulator: SimulatorProcess, stage: str, settings: PlaySettings) -> Cell:
    """The host in a process of its own, killed without a word."""
    command = [
        sys.executable,
        "-m",
        "tests.servo.faults",
        "host",
        simulator.port,
        stage,
        str(settings.watchdog),
        str(settings.heartbeat),
    ]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as host:
        assert host.stdout is not None
        assert host.stdout.readline().strip() == stage
        watcher = Watcher(simulator)
        host.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        host.wait()
    watcher.moved = killed
    while not watcher.stands:
        assert time.monotonic() - killed < LONGEST
        watcher.look()
        time.sleep(BEAT / 3)
    seconds, torque, stood = watcher.moved - killed, watcher.torque, watcher.moved
    ends = time.monotonic() + STANDS
    while time.monotonic() < ends:
        watcher.look()
    player = Player(CHAIN, simulator.port, settings)
    try:
        mended = _mend(simulator, KILLED, Owner(player))
    finally:
        player.close()
    later = watcher.moved > stood
    return Cell(
        KILLED,
        stage,
        False,
        max(0.0, seconds),
        watcher.outlasted,
        watcher.fastest,
        later,
        torque,
        "nothing any more",
        mended,
    )


def host(port: str, stage: str, watchdog: str, heartbeat: str) -> None:
    """The process that is killed."""
    owner = Owner(Player(CHAIN, port, replace(SETTINGS, watchdog=float(watchdog), heartbeat=float(heartbeat))))
    reach(owner, stage)
    print(stage, flush=True)
    owner.idle(30.0)


@contextmanager
def chains(count: int) -> Iterator[list[SimulatorProcess]]:
    """Simulated chains, each in a process of its own."""
    with TemporaryDirectory() as folder:
        save_chain(CHAIN, Path(folder) / "faults.servos.json")
        simulators = [SimulatorProcess(Path(folder) / "faults.servos.json") for _ in range(count)]
        try:
            yield simulators
        finally:
            for simulator in simulators:
                simulator.end()


def run_all(
    cells: list[tuple[str, str]], settings: PlaySettings, said: Callable[[str], None] = lambda _: None
) -> list[Cell]:
    """Cells, some at a time, in the order asked for."""
    with chains(WORKERS) as simulators, ThreadPoolExecutor(WORKERS) as pool:
        free, lock = list(simulators), threading.Lock()

        def one(cell: tuple[str, str]) -> Cell:
            with lock:
                simulator = free.pop()
            try:
                found = run(simulator, *cell, settings)
            except Exception as error:
                found = Cell(*cell, False, LONGEST, 0.0, 0.0, True, 0, f"{error!r}", "")
            finally:
                with lock:
                    free.append(simulator)
            said(f"{found.fault} × {found.stage}: {found.seconds:.2f} s, {found.saw}")
            return found

        return list(pool.map(one, cells))


ALL = [(fault, stage) for fault in FAULTS for stage in STAGES]

if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        for cell in run_all([(FAULT, sys.argv[3]) for FAULT in FAULTS if sys.argv[2] in FAULT], SETTINGS, print):
            print(cell)
    elif sys.argv[1:2] == ["host"]:
        host(*sys.argv[2:6])
    else:
        from tests.servo.safety_page import write_page

        found = run_all(ALL, SETTINGS, lambda line: print(line, flush=True))
        for cell in found:
            cell.check(SETTINGS)
            cell.check_times(SETTINGS)
        write_page(found)
    os._exit(0)
