"""Lateness and drops of streamed goals on this machine, measured on the simulated chain in a process of its own.

Beside it the walker may be baked without end: in a `process` of its own on another core, or in a `thread`, in this
process as in Blender.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from robik.bench.cases import BALANCED
from robik.bench.walking import walk_clip
from robik.motions import Motion
from robik.retargeting.retarget import retarget
from robik.robots import load
from robik.servo.bus.schedule import Schedule, take_precedence
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState, Status
from robik.servo.simulator.process import SimulatorProcess

PATIENT = 30.0  # [s] of what stops late goals: how late they come is to be seen
MOTORS = tuple(f"motor_{k}" for k in range(12))
PHASES = np.arange(len(MOTORS))
AMPLITUDE = 1.5  # [rad]
BESIDE = ("nothing", "process", "thread")
BARE_LONGEST = 60.0  # [s] that the bare clock runs


@dataclass(frozen=True)
class Figures:
    """Figures of a stream of goals.

    Attributes:
    rate: of goals [Hz].
    sent, dropped: goals.
    looks: at all servos at once.
    bus_bytes, bus_ms: of one Sync Write, and its time on the wire.
    sent_p99_ms, sent_p999_ms, sent_worst_ms: how late goals left.
    arrived_p99_ms, arrived_p999_ms: how late they arrived, against the earliest.
    lag_growth_ms: by how much later the last tenth arrived than the first, in the median.
    memory_growth_mb: of this process, from the start of playing to its end.
    cpu_share: of one core, this process.
    bare_seconds, bare_dropped, bare_p99_ms, bare_p999_ms, bare_worst_ms: the same of a clock that does nothing but
    sleep until
        its next deadline, afterwards in the same process: what the machine itself cannot do better.
    """

    rate: float
    sent: int
    dropped: int
    looks: int
    bus_bytes: int
    bus_ms: float
    sent_p99_ms: float
    sent_p999_ms: float
    sent_worst_ms: float
    arrived_p99_ms: float
    arrived_p999_ms: float
    lag_growth_ms: float
    memory_growth_mb: float
    cpu_share: float
    bare_seconds: float
    bare_dropped: int
    bare_p99_ms: float
    bare_p999_ms: float
    bare_worst_ms: float


def measure(rate: float = 100.0, seconds: float = 10.0, baud_rate: int = 1_000_000, beside: str = "nothing") -> Figures:
    """Stream goals to twelve servos at `rate` [Hz], then let a clock run bare; return the figures.

    Meanwhile nothing happens, or `beside` runs a bake in a "process" or a "thread". The bus has `baud_rate` [bit/s].
    """
    with _baking(beside):
        return _measure(rate, seconds, baud_rate)


class _Played(NamedTuple):
    """Results of playing."""

    status: Status
    share: float  # of a core
    memory: float  # growth [MB]
    record: np.ndarray  # (goals, servos, 2) time of arrival [s] and counts


def _play(chain: ServoChain, motion: Motion, rate: float, seconds: float) -> _Played:
    """Play a motion on simulated servos, and watch processor and memory."""
    with TemporaryDirectory() as folder:
        save_chain(chain, Path(folder) / "bench.servos.json")
        with SimulatorProcess(Path(folder) / "bench.servos.json", record=Path(folder) / "goals.csv") as simulator:
            player = Player(
                chain,
                simulator.port,
                PlaySettings(rate=rate, watchdog=FARTHEST_WATCHDOG, heartbeat=PATIENT, silence=PATIENT),
            )
            player.connect()
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            player.play(motion)
            player.wait(PlayState.PLAYING)
            busy, began, memory = time.process_time(), time.monotonic(), _memory_mb()
            status = player.wait(PlayState.HOLDING, timeout=seconds + 10.0)
            share = (time.process_time() - busy) / (time.monotonic() - began)
            memory = _memory_mb() - memory
            player.close()
            simulator.state()  # flushes the record
            record = np.loadtxt(Path(folder) / "goals.csv", delimiter=",", usecols=(0, 2))
    return _Played(status, share, memory, record.reshape(-1, len(MOTORS), 2)[-status.sent :])


def _measure(rate: float, seconds: float, baud_rate: int) -> Figures:
    chain = replace(default_chain(MOTORS), baud_rate=baud_rate)
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    values = AMPLITUDE * (np.sin(times[:, None] + PHASES) - np.sin(PHASES))
    motion = Motion(times=times, actuators=MOTORS, values=values)
    status, share, memory, record = _play(chain, motion, rate, seconds)
    late = 1e3 * arrival_lateness(record[:, 0, 0], chain.values(record[:, :, 1]), rate)
    tenth = max(1, len(late) // 10)
    bare_seconds = min(seconds, BARE_LONGEST)
    bare = _bare_clock(rate, bare_seconds)
    return Figures(
        rate=rate,
        sent=status.sent,
        dropped=status.dropped,
        looks=status.looks,
        bus_bytes=chain.goal_bytes,
        bus_ms=chain.goal_seconds * 1e3,
        sent_p99_ms=status.lateness_p99 * 1e3,
        sent_p999_ms=status.lateness_p999 * 1e3,
        sent_worst_ms=status.lateness_worst * 1e3,
        arrived_p99_ms=float(np.percentile(late, 99)),
        arrived_p999_ms=float(np.percentile(late, 99.9)),
        lag_growth_ms=float(np.median(late[-tenth:]) - np.median(late[:tenth])),
        memory_growth_mb=memory,
        cpu_share=share,
        bare_seconds=bare_seconds,
        bare_dropped=bare.dropped,
        bare_p99_ms=bare.lateness.percentile(99) * 1e3,
        bare_p999_ms=bare.lateness.percentile(99.9) * 1e3,
        bare_worst_ms=bare.lateness.worst * 1e3,
    )


def arrival_lateness(arrived: np.ndarray, goals: np.ndarray, rate: float) -> np.ndarray:
    """Return the lateness of goals' arrivals, against the earliest (K,) [s].

    Goals (K, 12) [rad] were sent at `rate` [Hz] and arrived at times (K,) [s]. Each tells its own time, whatever was
    dropped before it: its servos stand at AMPLITUDE (sin(t + φ) − sin φ), so sin t and cos t follow by least squares,
    and t but for whole turns, which `arrived` tells.
    """
    sine, cosine = np.linalg.lstsq(
        np.column_stack([np.cos(PHASES), np.sin(PHASES)]), (goals / AMPLITUDE + np.sin(PHASES)).T, rcond=None
    )[0]
    elapsed = arrived - arrived[0]
    late = np.angle(np.exp(1j * elapsed) / (cosine + 1j * sine))  # [s], as the motion turns by a radian a second
    numbers = np.rint((elapsed - late) * rate)
    offsets = elapsed - numbers / rate
    return offsets - offsets.min()


def _bare_clock(rate: float, seconds: float) -> Schedule:
    """Deadlines at a rate with nothing to do at them, in a thread like the player's."""
    schedule = Schedule(rate)

    def tick() -> None:
        take_precedence()
        schedule.start()
        while schedule.wait() < rate * seconds:
            schedule.done()

    thread = threading.Thread(target=tick)
    thread.start()
    thread.join()
    return schedule


@contextmanager
def _baking(where: str) -> Iterator[None]:
    """Let the walker walk and be baked, again and again, until this is over."""
    if where == "process":
        baker = subprocess.Popen(
            [sys.executable, "-c", "from experiments.streaming import bake_until; bake_until(None)"], cwd=CHECKOUT
        )
        try:
            yield
        finally:
            baker.kill()
            baker.wait()
        return
    ended = threading.Event()
    thread = threading.Thread(target=bake_until, args=(ended,))
    if where == "thread":
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if where == "thread":
            thread.join()


def bake_until(ended: threading.Event | None) -> None:
    """Bake a walk at 1200 frames a second over and over."""
    walker = load("walker")
    clip = walk_clip(walker, 1200.0, balanced=True)
    while ended is None or not ended.is_set():
        retarget(walker, clip, BALANCED)


def _memory_mb() -> float:
    """Return the memory that this process occupies; NaN where the system has no /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if status.is_file() else np.nan


def run(rate: float = 100.0, seconds: float = 10.0, baud: int = 1_000_000, beside: str = "nothing") -> Found:
    """Stream; the arguments are those of `measure`."""
    if beside not in BESIDE:
        raise SystemExit(f"streaming: --beside is one of {', '.join(BESIDE)}, not {beside}")
    tell(f"streaming: {seconds:g} s, then a bare clock for at most {BARE_LONGEST:g} s")
    return asdict(measure(rate, seconds, baud, beside))


def show(found: Found) -> None:
    """Print a line per figure."""
    for name, value in found.items():
        print(f"{name:16} {value:.4g}")


EXPERIMENT = Experiment(
    run=run,
    show=show,
    parameters={
        "rate": (100.0, 500.0),
        "seconds": (10.0, 60.0),
        "baud": (1_000_000, 4_000_000),
        "beside": ("nothing", "nothing"),
    },
)
