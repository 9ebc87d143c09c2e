"""Every fault at every stage of playing, on an independent chain: what the servos did, how long until they stood, what
the user saw.

The port is in a process of its own, as in Blender. `python -m tests.servo.faults` runs them all and writes their part
of docs/safety-matrix.csv; `python -m tests.servo.faults 4` does so for those that befall one of four ports.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.play.player import Player
from robik.servo.port.outside import ask_to_stop, holders
from robik.servo.port.status import PlaySettings, PlayState
from tests.servo.machine import STANDS, Machine, Robot, Watcher, robot_on

SETTINGS = PlaySettings(stop_time=0.6, watchdog=0.4, heartbeat=1.0)
# for a machine that stalls now and then, which is another fault
PATIENT = replace(SETTINGS, watchdog=1.5, heartbeat=3.0, silence=1.2)
UNITS = {  # [counts/s], to which servos round their limit
    ("XH430-W350", "dynamixel"): 0.229 / 60 * 4096,
    ("STS3215", "feetech"): 1.0,
    ("AX-12A", "dynamixel1"): 0.111 * 6 * 1024 / 300,
}
LIMITS = {  # [counts/s], by brand
    brand: float(abs(chain.scale[0]) * chain.speed_limits[0]) + unit
    for (model, brand), unit in UNITS.items()
    for chain in [robot_on([""], model, brand).chain]
}
WATCHDOG_UNIT = 0.02  # [s]
BEAT = 0.02  # [s] between heartbeats, wishes and looks at the servos
PATIENCE = 1.0  # [s] beyond the heartbeat's that one waits for a fault to stop it, before pressing Stop
LONGEST = 60.0  # [s] until everything must be over
TRIES = 5  # to go on, on a machine that may stall while it does
ASLEEP = 0.6  # [s] longer than the watchdog waits
STAGES = ("connecting", "approaching", "playing", "live", "stopping")
WORKERS = 4
WAYS_ON = ("turn torque on", "connect again", "reboot")  # one of which each fault that stopped them names
AT_ONCE = 0.1  # [s] from pressing torque off to the last move: 0.05 until it is sent, and looks at horns
FTDI = 0.016  # [s] that such an adapter holds answers back by default

Act = Callable[[Machine], object]


def _nothing(_: Machine) -> None:
    """What is over by itself, or is no servo's fault."""


def _mended(machine: Machine) -> None:
    machine.struck.mend()
    machine.struck.line(latency=0.0, echo=False, noise=0.0, corrupt=0.0, loss=0.0)


def _restart(machine: Machine, **entries: int) -> None:
    machine.struck.change(machine.victim, **entries)
    machine.struck.reboot(machine.victim, seconds=0.2)


def _noise(machine: Machine, **line: float) -> None:
    machine.struck.line(**line)
    machine.struck.faults(misses=0.02)


HANGS, KILLED = "Blender hangs", "Blender is killed"
HOST_KILLED, SUSPENDED, OUTSIDE = (
    "the process that plays is killed",
    "the computer is suspended",
    "somebody stops it from outside",
)
UNPLUGGED, LATE = "the adapter is unplugged", "answers are 16 ms late"
PRESSED = "torque off is pressed while answers are 16 ms late"
ENDED = "the process that plays is asked to end"
REFUSES = "a servo does not take torque"
VANISHES, OVERLOADED = "a servo vanishes", "a servo is overloaded"
OLD = {"firmware_version": 37}
TORQUE_BY_GOAL = 0x08  # a bit of the drive mode
FAULTS: dict[str, tuple[Act, Act]] = {  # what happens, and how its cause is removed
    "answers lose bytes, servos miss 2 % of packets": (lambda one: _noise(one, loss=0.05), _mended),
    "answers are corrupted, servos miss 2 % of packets": (lambda one: _noise(one, corrupt=0.05), _mended),
    "bytes of nobody before answers": (lambda one: one.struck.line(noise=0.1), _mended),
    LATE: (lambda one: one.struck.line(latency=FTDI), _mended),
    "answers are up to 50 ms late": (lambda one: one.struck.faults(jitter=0.05), _mended),
    "a servo answers with the id of another": (lambda one: one.struck.faults(one.victim, answer_id=3), _mended),
    VANISHES: (lambda one: one.struck.faults(one.victim, silent=True, deaf=True), _mended),
    "a servo's supply breaks down for a moment": (_restart, _nothing),
    "a servo that turns its torque on at startup restarts": (
        lambda one: _restart(one, startup_configuration=1),
        lambda one: one.struck.change(one.victim, startup_configuration=0),
    ),
    "a servo whose torque a goal turns on restarts": (
        lambda one: _restart(one, drive_mode=TORQUE_BY_GOAL),
        lambda one: one.struck.change(one.victim, drive_mode=0),
    ),
    REFUSES: (lambda one: one.struck.faults(one.victim, swallow=["torque_enable"]), _mended),
    OVERLOADED: (lambda one: one.struck.fail(one.victim, 0x20), _nothing),
    "a servo with old firmware takes its place": (
        lambda one: _restart(one, **OLD),
        lambda one: one.struck.change(one.victim, firmware_version=46),
    ),
    "another program clears a servo's watchdog": (lambda one: one.struck.change(one.victim, bus_watchdog=0), _nothing),
    "another program clears a servo's speed limit": (
        lambda one: one.struck.change(one.victim, profile_velocity=0),
        _nothing,
    ),
    PRESSED: (lambda one: one.struck.line(latency=FTDI), _mended),
    UNPLUGGED: (lambda one: one.struck.unplug(), lambda one: one.struck.plug()),
    HANGS: (_nothing, _nothing),
    KILLED: (_nothing, _nothing),
    HOST_KILLED: (lambda one: _signal(one, signal.SIGKILL), _nothing),
    ENDED: (lambda one: _signal(one, signal.SIGTERM), _nothing),
    SUSPENDED: (lambda one: threading.Thread(target=_suspend, args=(one,)).start(), _nothing),
    OUTSIDE: (lambda one: threading.Thread(target=_stop_outside, args=(one.struck.port,)).start(), _nothing),
}
SEVERAL = (LATE, VANISHES, OVERLOADED, UNPLUGGED, KILLED, OUTSIDE)  # that befall one of four ports, too


def _hosts(machine: Machine) -> list[int]:
    return [int(holder.file.stem) for holder in holders(machine.port)]


def _signal(machine: Machine, which: signal.Signals) -> None:
    for pid in _hosts(machine):
        with suppress(ProcessLookupError):
            os.kill(pid, which)


def _suspend(machine: Machine) -> None:
    pids = _hosts(machine)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(SETTINGS.watchdog + ASLEEP)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _stop_outside(port: str) -> None:
    with suppress(ServoError):  # where it was stopped already
        ask_to_stop(port)


def longest(fault: str, settings: PlaySettings) -> float:
    """Return the longest time [s] from a fault, or from Stop, to the last move."""
    if fault == HOST_KILLED:
        return settings.watchdog
    if fault == PRESSED:
        return AT_ONCE
    if fault in (KILLED, ENDED, OUTSIDE):
        return settings.stop_time + 0.4
    return PATIENCE + settings.heartbeat + settings.stop_time + 0.4


@dataclass(frozen=True)
class Cell:
    """What came of a fault at a stage.

    Attributes:
        fault, stage, ports: which, and how many ports there were.
        went_on: whether it played on until Stop was pressed.
        seconds: from the fault (or, where it went on, from Stop) to the last move of any servo, by the servos' own
            clock.
        outlasted: by the servos' own clock, how long any of them moved on without a packet [s]; at most the watchdog's
            time.
        fastest: of any servo, ever [counts/s].
        moved_later: whether anything moved after that, unattended.
        torque: how many servos are powered then.
        saw: the player's state and message.
        mended: what it took to hold again; empty if it could not be had without starting again.
        brand: of the servos.
    """

    fault: str
    stage: str
    ports: int
    went_on: bool
    seconds: float
    outlasted: float
    fastest: float
    moved_later: bool
    torque: int
    saw: str
    mended: str
    brand: str = "dynamixel"

    def check(self, settings: PlaySettings) -> None:
        """What must be so in every cell, however busy the machine is."""
        where = f"{self.fault} × {self.stage} × {self.ports}: {self}"
        assert not self.moved_later, where
        assert self.mended, where
        assert self.outlasted <= settings.watchdog + WATCHDOG_UNIT, where
        assert self.saw, where
        assert (
            self.stage == "connecting" or not self.saw.startswith("fault") or any(way in self.saw for way in WAYS_ON)
        ), where
        assert self.fastest <= LIMITS[self.brand] * 1.02, where

    def check_times(self, settings: PlaySettings) -> None:
        """What must be so on a machine that does not stall."""
        where = f"{self.fault} × {self.stage} × {self.ports}: {self}"
        assert self.fault != PRESSED or self.torque == 0, where
        assert self.seconds <= longest(self.fault, settings), where

    def is_well(self, settings: PlaySettings) -> bool:
        """Return whether all that must be so is so."""
        try:
            self.check(settings)
            self.check_times(settings)
        except AssertionError:
            return False
        return True


class Owner:
    """What Blender's main loop does: beats, and says where the robot should be."""

    def __init__(self, player: Player, robot: Robot) -> None:
        self.player, self.robot, self.hangs, self._began = player, robot, False, time.monotonic()

    def turn(self) -> None:
        """Once round."""
        if self.hangs:
            return
        self.player.heartbeat()
        t = time.monotonic() - self._began
        self.player.aim({name: 0.8 * np.sin(3.0 * t + k) for k, name in enumerate(self.robot.names)})

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
    player.play(owner.robot.motion)
    owner.until(PlayState.APPROACHING)
    if stage == "approaching":
        owner.idle(0.3)
        return
    owner.until(PlayState.PLAYING)
    owner.idle(0.3)
    if stage == "stopping":
        player.stop()
        owner.idle(0.1)


def run(
    fault: str,
    stage: str,
    settings: PlaySettings,
    ports: int = 1,
    kind: type[Machine] = Machine,
    faults: dict[str, tuple[Act, Act]] = FAULTS,
) -> Cell:
    """One cell."""
    with kind(ports) as machine:
        machine.place(stage)
        if fault == KILLED:
            return _run_killed(machine, stage, settings)
        player = Player(machine.robot.chain, machine.port, settings, is_apart=True)
        try:
            return _run(machine, Owner(player, machine.robot), fault, stage, settings, faults)
        finally:
            player.close()


def _run(
    machine: Machine, owner: Owner, fault: str, stage: str, settings: PlaySettings, faults: dict[str, tuple[Act, Act]]
) -> Cell:
    player, watcher, happen = owner.player, Watcher(machine), faults[fault][0]
    early = stage == "connecting" and fault not in (HANGS, HOST_KILLED, ENDED, SUSPENDED, OUTSIDE, PRESSED)
    if early:
        happen(machine)
    reach(owner, stage)
    if stage == "connecting" and not early and fault != HANGS:
        owner.until(PlayState.READY)
    if fault == REFUSES and stage == "connecting":
        owner.until(PlayState.READY)
        player.torque(True)
        owner.until(PlayState.FAULT, PlayState.HOLDING)
    watcher.look()
    before = time.monotonic()
    if not early:
        happen(machine)
    if fault == PRESSED:
        player.emergency_stop()
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
    saw, ports = machine.named(f"{status.state.value}: {status.message}"), len(machine.chains)
    mended = _mend(machine, fault, owner, faults)
    end = (max(0.0, seconds), outlasted, fastest, later, torque, saw, mended, machine.brand)
    return Cell(fault, stage, ports, went_on, *end)


def _mend(machine: Machine, fault: str, owner: Owner, faults: dict[str, tuple[Act, Act]] = FAULTS) -> str:
    """Removes the cause, and does what a user would to go on."""
    player, steps = owner.player, []
    faults[fault][1](machine)
    owner.hangs = False
    deadline = time.monotonic() + LONGEST
    is_gone = fault == ENDED or "is gone" in player.status.message or "has ended" in player.status.message
    while is_gone and player.is_open and time.monotonic() < deadline:
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
    return Motion(times=np.array([0.0, 0.1]), actuators=player.chain.actuators, values=np.array([here, here * 0.98]))


def _run_killed(machine: Machine, stage: str, settings: PlaySettings) -> Cell:
    """The owner in a process of its own, killed without a word."""
    how = [str(settings.watchdog), str(settings.heartbeat)]
    ports = [one.port for one in machine.chains]
    command = [sys.executable, "-m", "tests.servo.faults", "owner", stage, *how, machine.model, machine.brand, *ports]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().strip() == stage
        watcher = Watcher(machine)
        killed = time.monotonic()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    watcher.moved = killed
    while not watcher.stands or holders(machine.port):
        assert time.monotonic() - killed < LONGEST
        watcher.look()
        time.sleep(BEAT)
    seconds, torque, stood = watcher.moved - killed, watcher.torque, watcher.moved
    ends = time.monotonic() + STANDS
    while time.monotonic() < ends:
        watcher.look()
        time.sleep(BEAT)
    outlasted, fastest, later = watcher.outlasted, watcher.fastest, watcher.moved > stood
    player = Player(machine.robot.chain, machine.port, settings, is_apart=True)
    try:
        mended = _mend(machine, KILLED, Owner(player, machine.robot))
    finally:
        player.close()
    end = (outlasted, fastest, later, torque, "nothing any more", mended, machine.brand)
    return Cell(KILLED, stage, len(ports), False, max(0.0, seconds), *end)


def own(stage: str, watchdog: str, heartbeat: str, model: str, brand: str, *ports: str) -> None:
    """The process that is killed."""
    settings = replace(SETTINGS, watchdog=float(watchdog), heartbeat=float(heartbeat))
    robot = robot_on(ports, model, brand)
    owner = Owner(Player(robot.chain, ports[0], settings, is_apart=True), robot)
    reach(owner, stage)
    print(stage, flush=True)
    owner.idle(30.0)


def run_all(
    cells: list[tuple[str, str, int]],
    settings: PlaySettings,
    said: Callable[[str], None] = lambda _: None,
    kind: type[Machine] = Machine,
    faults: dict[str, tuple[Act, Act]] = FAULTS,
) -> list[Cell]:
    """Cells, some at a time, in the order asked for."""

    def one(cell: tuple[str, str, int]) -> Cell:
        fault, stage, ports = cell
        try:
            found = run(fault, stage, settings, ports, kind, faults)
        except Exception as error:
            found = Cell(*cell, False, LONGEST, 0.0, 0.0, True, 0, f"{error!r}", "")
        said(f"{cell}: {found}")
        return found

    with ThreadPoolExecutor(WORKERS // max(cell[2] for cell in cells) or 1) as pool:
        return list(pool.map(one, cells))


ALL = {1: [(fault, stage, 1) for fault in FAULTS for stage in STAGES]}
ALL[4] = [(fault, stage, 4) for fault in SEVERAL for stage in STAGES]


def run_well(
    cells: list[tuple[str, str, int]], kind: type[Machine] = Machine, faults: dict[str, tuple[Act, Act]] = FAULTS
) -> list[Cell]:
    """Run cells until all is as it must be: a machine that stalls is another fault."""
    found: dict[tuple[str, str, int], Cell] = {}
    for _ in range(TRIES):
        left = [cell for cell in cells if cell not in found or not found[cell].is_well(SETTINGS)]
        if left:
            again = run_all(left, SETTINGS, lambda line: print(line, flush=True), kind, faults)
            found |= dict(zip(left, again, strict=True))
    for cell in found.values():
        cell.check(SETTINGS)
        cell.check_times(SETTINGS)
    return list(found.values())


def main(ports: int) -> None:
    """Run all cells of robots with so many ports, and write them into docs/safety-matrix.csv."""
    from tests.servo.safety_matrix import SERVOS, write_cells

    write_cells(run_well(ALL[ports]), SERVOS[ports == 4])


if __name__ == "__main__":
    if sys.argv[1:2] == ["owner"]:
        own(*sys.argv[2:])
    else:
        main(int((sys.argv[1:] or ["1"])[0]))
    os._exit(0)
