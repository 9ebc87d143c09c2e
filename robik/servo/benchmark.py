"""How well goals keep their time on this machine, measured on the simulated chain in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robik.retarget.motion import Motion
from robik.servo.chain import default_chain, save_chain
from robik.servo.player import Player
from robik.servo.serving import SimulatorProcess
from robik.servo.status import PlaySettings, PlayState

PATIENT = 2.5  # [s] of watchdog and heartbeat: how late goals come is to be seen, even where that would stop them
MOTORS = tuple(f"motor_{k}" for k in range(12))


@dataclass(frozen=True)
class Figures:
    """Attributes:
    rate: of goals [Hz].
    sent, dropped: goals.
    looks: at all servos at once.
    bus_bytes, bus_ms: of one Sync Write, and its time on the wire.
    sent_p99_ms, sent_p999_ms, sent_worst_ms: how late goals left.
    arrived_p99_ms, arrived_p999_ms: how late they arrived, against the earliest; NaN after a drop, since goals carry no numbers.
    lag_growth_ms: by how much later the last tenth arrived than the first, in the median; NaN likewise.
    memory_growth_mb: of this process, from the start of playing to its end.
    cpu_share: of one core, this process.
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


def measure(rate: float = 100.0, seconds: float = 10.0, baud_rate: int = 1_000_000) -> Figures:
    """Streams to twelve servos.

    Raises:
        RobikError: as playing does.
    """
    chain = replace(default_chain(MOTORS), baud_rate=baud_rate)
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    motion = Motion(times, MOTORS, 0.5 * np.sin(times[:, None] + np.arange(12)) - 0.5 * np.sin(np.arange(12)))
    with TemporaryDirectory() as folder:
        save_chain(chain, Path(folder) / "bench.servos.json")
        with SimulatorProcess(Path(folder) / "bench.servos.json", record=Path(folder) / "goals.csv") as simulator:
            player = Player(chain, simulator.port, PlaySettings(rate=rate, watchdog=PATIENT, heartbeat=PATIENT))
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
            arrived = np.loadtxt(Path(folder) / "goals.csv", delimiter=",")[::12, 0][-status.sent :]
    offsets = arrived - np.arange(len(arrived)) / rate
    late = (offsets - offsets.min()) * 1e3 if status.dropped == 0 else np.array([np.nan])
    tenth = max(1, len(late) // 10)
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
    )


def _memory_mb() -> float:
    """What this process occupies; NaN where the system has no /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if status.is_file() else np.nan


if __name__ == "__main__":
    given = [*sys.argv[1:4], *("100", "10", "1000000")[len(sys.argv[1:4]) :]]  # RATE SECONDS BAUD
    for name, value in asdict(measure(float(given[0]), float(given[1]), int(given[2]))).items():
        print(f"{name:16} {value:.4g}")
