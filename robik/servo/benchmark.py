"""How well goals keep their time on this machine, measured on the simulated chain in a process of its own."""

from __future__ import annotations

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

MOTORS = tuple(f"motor_{k}" for k in range(12))


@dataclass(frozen=True)
class Figures:
    """Attributes:
    rate: of goals [Hz].
    sent, dropped: goals.
    bus_bytes, bus_ms: of one Sync Write, and its time on the wire.
    sent_p99_ms, sent_worst_ms: how late goals left.
    arrived_p99_ms, arrived_p999_ms: how late they arrived, against the earliest; NaN after a drop, since goals carry no numbers.
    cpu_share: of one core, this process.
    """

    rate: float
    sent: int
    dropped: int
    bus_bytes: int
    bus_ms: float
    sent_p99_ms: float
    sent_worst_ms: float
    arrived_p99_ms: float
    arrived_p999_ms: float
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
            player = Player(chain, simulator.port, PlaySettings(rate=rate))
            player.connect()
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            player.play(motion)
            player.wait(PlayState.PLAYING)
            busy, began = time.process_time(), time.monotonic()
            status = player.wait(PlayState.HOLDING, timeout=seconds + 10.0)
            share = (time.process_time() - busy) / (time.monotonic() - began)
            player.close()
            simulator.state()  # flushes the record
            arrived = np.loadtxt(Path(folder) / "goals.csv", delimiter=",")[::12, 0][-status.sent :]
    offsets = arrived - np.arange(len(arrived)) / rate
    late = (offsets - offsets.min()) * 1e3 if status.dropped == 0 else np.array([np.nan])
    return Figures(
        rate=rate,
        sent=status.sent,
        dropped=status.dropped,
        bus_bytes=chain.goal_bytes,
        bus_ms=chain.goal_seconds * 1e3,
        sent_p99_ms=status.lateness_p99 * 1e3,
        sent_worst_ms=status.lateness_worst * 1e3,
        arrived_p99_ms=float(np.percentile(late, 99)),
        arrived_p999_ms=float(np.percentile(late, 99.9)),
        cpu_share=share,
    )


if __name__ == "__main__":
    given = [*sys.argv[1:4], *("100", "10", "1000000")[len(sys.argv[1:4]) :]]  # RATE SECONDS BAUD
    for name, value in asdict(measure(float(given[0]), float(given[1]), int(given[2]))).items():
        print(f"{name:16} {value:.4g}")
