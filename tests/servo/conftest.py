"""A chain of twelve servos, simulated in a process of its own behind a real pseudo-terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robik.retarget.motion import Motion
from robik.servo.chain import ServoChain, default_chain, save_chain
from robik.servo.serving import SimulatorProcess

NAMES = tuple(f"motor_{k}" for k in range(12))
COUNTS_PER_RAD = 4096 / (2 * np.pi)  # written out here, so that the chain's own conversion is not its judge


@pytest.fixture
def chain() -> ServoChain:
    return default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), model="XH430-W210", robot="test")


@pytest.fixture
def simulator(chain: ServoChain, tmp_path: Path) -> Iterator[SimulatorProcess]:
    if not hasattr(os, "openpty"):
        pytest.skip("this system has no pseudo-terminals")
    save_chain(chain, tmp_path / "test.servos.json")
    with SimulatorProcess(tmp_path / "test.servos.json", record=tmp_path / "goals.csv") as process:
        yield process


@pytest.fixture
def goals(tmp_path: Path, simulator: SimulatorProcess):
    """Reads what arrived: times (K,) [s] and counts (K, 12), after checking that goals come as whole rows in the order of ids."""

    def read() -> tuple[np.ndarray, np.ndarray]:
        simulator.state()  # flushes the record
        lines = (tmp_path / "goals.csv").read_text().splitlines()
        rows = np.array([line.split(",") for line in lines], dtype=float).reshape(-1, 3)
        assert len(rows) % 12 == 0
        assert (rows[:, 1].reshape(-1, 12) == np.arange(1, 13)).all()
        return rows[::12, 0], rows[:, 2].reshape(-1, 12).astype(int)

    return read


@pytest.fixture
def wave():
    """A motion of all motors of so many seconds, which starts away from the rest pose."""

    def make(seconds: float, amplitude: float = 0.8, frequency: float = 1.5) -> Motion:
        times = np.arange(0.0, seconds + 1e-9, 1 / 60)
        return Motion(times, NAMES, amplitude * np.sin(frequency * times[:, None] + np.arange(12)))

    return make
