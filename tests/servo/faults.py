"""Every fault at every stage of playing, on an independent chain: what the servos did, how long until they stood, what
the user saw.

The port is in a process of its own, as in Blender. `python -m tests.servo.faults` runs them all and writes
docs/safety.md.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain import default_chain
from robik.servo.outside import ask_to_stop, holders
from robik.servo.player import Player
from robik.servo.status import PlaySettings, PlayState
from tests.servo.independent import IndependentChain

NAMES = tuple(f"motor_{k}" for k in range(4))
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="XH430-W350")
SETTINGS = PlaySettings(stop_time=0.6, watchdog=0.4, heartbeat=1.0)
# for a machine that stalls now and then, which is another fault
PATIENT = replace(SETTINGS, watchdog=1.5, heartbeat=3.0, silence=1.2)
TIMES = np.arange(0.0, 20.0, 1 / 60)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.8 * np.sin(1.5 * TIMES[:, None] + 1.0 + np.arange(4)))
NEAR = 0.4  # [rad] from the first frame, where the approach is not what is looked at
COUNTS_PER_RAD = 4096 / (2 * np.pi)
LIMIT = float(CHAIN.speed_limits[0]) * COUNTS_PER_RAD + 0.229 / 60 * 4096  # [counts/s]; servos round to their unit
WATCHDOG_UNIT = 0.02  # [s]
BEAT = 0.02  # [s] between heartbeats, wishes and looks at the servos
PATIENCE = 1.0  # [s] beyond the heartbeat's that one waits for a fault to stop it, before pressing Stop
LONGEST = 60.0  # [s] until everything must be over
TRIES = 5  # to go on, on a machine that may stall while it does
STANDS, LOOKS = 0.3, 5  # [s] and looks without a move
ASLEEP = 0.6  # [s] longer than the watchdog waits
STAGES = ("connecting", "approaching", "playing", "live", "stopping")
WORKERS = 4
WAYS_ON = ("turn torque on", "connect again", "reboot")  # one of which each fault that stopped them names
FTDI = 0.016  # [s] that such an adapter holds answers back by default

Act = Callable[[IndependentChain], object]


def _nothing(_: IndependentChain) -> None:
    """What is over by itself, or is no servo's fault."""


def _mended(servos: IndependentChain) -> None:
    servos.mend()
    servos.line(latency=0.0, echo=False, noise=0.0, corrupt=0.0, loss=0.0)


def _restart(servos: IndependentChain, **entries: int) -> None:
    servos.change(2, **entries)
    servos.reboot(2, seconds=0.2)


def _noise(servos: IndependentChain, **line: float) -> None:
    servos.line(**line)
    servos.faults(misses=0.02)


HANGS, KILLED = "Blender hangs", "Blender is killed"
HOST_KILLED, SUSPENDED, OUTSIDE = (
    "the process that plays is killed",
    "the computer is suspended",
    "somebody stops it from outside",
)
UNPLUGGED = "the adapter is unplugged"
OLD = {"firmware_version": 37}
FAULTS: dict[str, tuple[Act, Act]] = {  # what happens, and how its cause is removed
    "answers lose bytes, servos miss 2 % of packets": (lambda one: _noise(one, loss=0.05), _mended),
    "answers are corrupted, servos miss 2 % of packets": (lambda one: _noise(one, corrupt=0.05), _mended),
    "bytes of nobody before answers": (lambda one: one.line(noise=0.1), _mended),
    "answers are 16 ms late": (lambda one: one.line(latency=FTDI), _mended),
    "answers are up to 50 ms late": (lambda one: one.faults(jitter=0.05), _mended),
    "a servo answers with the id of another": (lambda one: one.faults(2, answer_id=3), _mended),
    "a servo vanishes": (lambda one: one.faults(2, silent=True, deaf=True), _mended),
    "a servo's supply breaks down for a moment": (_restart, _nothing),
    "a servo that turns its torque on at startup restarts": (
        lambda one: _restart(one, startup_configuration=1),
        lambda one: one.change(2, startup_configuration=0),
    ),
    "a servo is overloaded": (lambda one: one.fail(2, 0x20), _nothing),
    "a servo with old firmware takes its place": (
        lambda one: _restart(one, **OLD),
        lambda one: one.change(2, firmware_version=46),
    ),
    "another program clears a servo's watchdog": (lambda one: one.change(2, bus_watchdog=0), _nothing),
    UNPLUGGED: (lambda one: one.unplug(), lambda one: one.plug()),
    HANGS: (_nothing, _nothing),
    KILLED: (_nothing, _nothing),
    HOST_KILLED: (lambda one: _signal(one, signal.SIGKILL), _nothing),
    SUSPENDED: (lambda one: threading.Thread(target=_suspend, args=(one,)).start(), _nothing),
    OUTSIDE: (lambda one: threading.Thread(target=_stop_outside, args=(one.port,)).start(), _nothing),
}


def _hosts(servos: IndependentChain) -> list[int]:
    return [int(holder.file.stem) for holder in holders(servos.port)]


def _signal(servos: IndependentChain, which: signal.Signals) -> None:
    for pid in _hosts(servos):
        with suppress(ProcessLookupError):
            os.kill(pid, which)


def _suspend(servos: IndependentChain) -> None:
    pids = _hosts(servos)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(SETTINGS.watchdog + ASLEEP)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _stop_outside(port: str) -> None:
    with suppress(ServoError):  # where it was stopped already
        ask_to_stop(port)


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
        assert self.outlasted <= settings.watchdog + WATCHDOG_UNIT, where
        assert self.saw, where
        assert (
            self.stage == "connecting" or not self.saw.startswith("fault") or any(way in self.saw for way in WAYS_ON)
        ), where
        assert self.fastest <= LIMIT * 1.02, where

    def check_times(self, settings: PlaySettings) -> None:
        """What must be so on a machine that does not stall."""
        where = f"{self.fault} × {self.stage}: {self}"
        if self.fault == HOST_KILLED:
            assert self.seconds <= settings.watchdog, where
        elif self.fault in (KILLED, OUTSIDE):
            assert self.seconds <= settings.stop_time + 0.4, where
        else:
            assert self.seconds <= PATIENCE + settings.heartbeat + settings.stop_time + 0.4, where

    def is_well(self, settings: PlaySettings) -> bool:
        """Return whether all that must be so is so."""
        try:
            self.check(settings)
            self.check_times(settings)
        except AssertionError:
            return False
        return True


class Watcher:
    """Looks at the servos beside the bus, and at when they last moved, by their own clock."""

    def __init__(self, servos: IndependentChain) -> None:
        self._servos = servos
        self.fastest, self.moved, self._still = 0.0, time.monotonic(), 0
        self._seen: list[tuple[float, bool]] = []
        self._horns: dict[int, float] = {}
        servos.mark()
        self.look()

    def look(self) -> None:
        """Now."""
        state = self._servos.state()
        horns = {id: one["horn"] for id, one in state.items()}
        now = max(one["time"] for one in state.values())
        is_moving = horns != self._horns
        self._horns = horns
        self.torque = sum(bool(one["torque"]) for one in state.values())
        self.fastest = max(self.fastest, *(one["fastest"] for one in state.values()))
        self._seen.append((now, any(one["velocity"] for one in state.values())))
        if is_moving and now > self.moved:
            self.moved, self._still = now, 0
        self._still += 1

    @property
    def stands(self) -> bool:
        """Whether nothing has moved for a while."""
        return time.monotonic() - self.moved > STANDS and self._still > LOOKS

    @property
    def outlasted(self) -> float:
        """How long any of them moved on without a packet [s]."""
        packets = [packet.time for packet in self._servos.log.packets()]
        moving = [now for now, is_moving in self._seen if is_moving]
        since = [now - packets[bisect_right(packets, now) - 1] for now in moving if packets and packets[0] <= now]
        return max(since, default=0.0)


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


def place(servos: IndependentChain, stage: str) -> None:
    """Puts the horns where the stage begins soon."""
    start = MOTION.values[0] if stage != "live" else np.zeros(4)
    away = 0.1 if stage in ("playing", "stopping") else NEAR if stage == "approaching" else 0.0
    for k, counts in enumerate(CHAIN.counts(start - away).tolist()):
        servos.place(k + 1, counts)


def run(fault: str, stage: str, settings: PlaySettings) -> Cell:
    """One cell."""
    with IndependentChain(model=1000) as servos:
        place(servos, stage)
        if fault == KILLED:
            return _run_killed(servos, stage, settings)
        player = Player(CHAIN, servos.port, settings, is_apart=True)
        try:
            return _run(servos, Owner(player), fault, stage, settings)
        finally:
            player.close()


def _run(servos: IndependentChain, owner: Owner, fault: str, stage: str, settings: PlaySettings) -> Cell:
    player, watcher, happen = owner.player, Watcher(servos), FAULTS[fault][0]
    early = stage == "connecting" and fault not in (HANGS, HOST_KILLED, SUSPENDED, OUTSIDE)
    if early:
        happen(servos)
    reach(owner, stage)
    if stage == "connecting" and not early and fault != HANGS:
        owner.until(PlayState.READY)
    watcher.look()
    before = time.monotonic()
    if not early:
        happen(servos)
    owner.hangs = fault == HANGS
    happened, went_on = before, False
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
        time.sleep(BEAT)
    outlasted, fastest, later = watcher.outlasted, watcher.fastest, watcher.moved > stood
    saw = f"{status.state.value}: {status.message}"
    mended = _mend(servos, fault, owner)
    return Cell(fault, stage, went_on, max(0.0, seconds), outlasted, fastest, later, torque, saw, mended)


def _mend(servos: IndependentChain, fault: str, owner: Owner) -> str:
    """Removes the cause, and does what a user would to go on."""
    player, steps = owner.player, []
    FAULTS[fault][1](servos)
    owner.hangs = False
    deadline = time.monotonic() + LONGEST
    is_gone = "is gone" in player.status.message or "has ended" in player.status.message
    while player.status.state is PlayState.FAULT and is_gone and player.is_open and time.monotonic() < deadline:
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


def _run_killed(servos: IndependentChain, stage: str, settings: PlaySettings) -> Cell:
    """The owner in a process of its own, killed without a word."""
    how = [str(settings.watchdog), str(settings.heartbeat)]
    command = [sys.executable, "-m", "tests.servo.faults", "owner", servos.port, stage, *how]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().strip() == stage
        watcher = Watcher(servos)
        killed = time.monotonic()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    watcher.moved = killed
    while not watcher.stands or holders(servos.port):
        assert time.monotonic() - killed < LONGEST
        watcher.look()
        time.sleep(BEAT)
    seconds, torque, stood = watcher.moved - killed, watcher.torque, watcher.moved
    ends = time.monotonic() + STANDS
    while time.monotonic() < ends:
        watcher.look()
        time.sleep(BEAT)
    outlasted, fastest, later = watcher.outlasted, watcher.fastest, watcher.moved > stood
    player = Player(CHAIN, servos.port, settings, is_apart=True)
    try:
        mended = _mend(servos, KILLED, Owner(player))
    finally:
        player.close()
    return Cell(KILLED, stage, False, max(0.0, seconds), outlasted, fastest, later, torque, "nothing any more", mended)


def own(port: str, stage: str, watchdog: str, heartbeat: str) -> None:
    """The process that is killed."""
    settings = replace(SETTINGS, watchdog=float(watchdog), heartbeat=float(heartbeat))
    owner = Owner(Player(CHAIN, port, settings, is_apart=True))
    reach(owner, stage)
    print(stage, flush=True)
    owner.idle(30.0)


def run_all(
    cells: list[tuple[str, str]], settings: PlaySettings, said: Callable[[str], None] = lambda _: None
) -> list[Cell]:
    """Cells, some at a time, in the order asked for."""

    def one(cell: tuple[str, str]) -> Cell:
        try:
            found = run(*cell, settings)
        except Exception as error:
            found = Cell(*cell, False, LONGEST, 0.0, 0.0, True, 0, f"{error!r}", "")
        said(f"{cell}: {found}")
        return found

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, cells))


ALL = [(fault, stage) for fault in FAULTS for stage in STAGES]

if __name__ == "__main__":
    if sys.argv[1:2] == ["owner"]:
        own(*sys.argv[2:6])
    else:
        from tests.servo.safety_page import write_page

        found = {}
        for _ in range(TRIES):  # a machine that stalls is another fault
            left = [cell for cell in ALL if cell not in found or not found[cell].is_well(SETTINGS)]
            again = run_all(left, SETTINGS, lambda line: print(line, flush=True))
            found |= dict(zip(left, again, strict=True))
        for cell in found.values():
            cell.check(SETTINGS)
            cell.check_times(SETTINGS)
        write_page(list(found.values()))
    os._exit(0)
