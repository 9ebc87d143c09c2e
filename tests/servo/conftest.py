"""A chain of twelve servos, simulated in a process of its own behind a real pseudo-terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState
from robik.servo.simulator.process import SimulatorProcess

from .independent_judge import judge, judged, servos  # noqa: F401  (fixtures)
from .vendor_sdk import port, sdk, sdk_of, wire  # noqa: F401  (fixtures)

NAMES = tuple(f"motor_{k}" for k in range(12))
COUNTS_PER_RAD = 4096 / (2 * np.pi)  # written out here, so that the chain's own conversion is not its judge


CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), model="XH430-W210", robot="test")


# A machine that stalls is no fault of theirs: tests that are about lost heartbeats, watchdogs and silence choose their
# own times.
PATIENT = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=FARTHEST_WATCHDOG, silence=2.0)
DEADLINE = 60.0  # [s] for what must happen some time


def until(condition: Callable[[], object], meanwhile: Callable[[], object] = lambda: None) -> None:
    """Waits for a condition, and does something over and over meanwhile."""
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends, "it never came"
        meanwhile()
        time.sleep(0.01)


def standing(simulator: SimulatorProcess) -> list[float]:
    """Where the servos stand [counts], once they have come to their goals."""
    until(
        lambda: all(
            s["velocity"] == 0 and abs(s["position"] - s["goal_position"]) < 1 for s in simulator.state().values()
        )
    )
    return [servo["position"] for servo in simulator.state().values()]


def open_player(chain: ServoChain, simulator: SimulatorProcess, **settings: object) -> Player:
    """A player that holds, patient but for these settings."""
    player = Player(chain, simulator.port, replace(PATIENT, **settings))  # type: ignore[arg-type]
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    return player


@pytest.fixture(autouse=True)
def all_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No player of a test that failed keeps the port from the next one."""
    opened: list[Player] = []
    connect = Player.connect

    def remembered(player: Player, after: Player | None = None) -> None:
        opened.append(player)
        connect(player, after)

    monkeypatch.setattr(Player, "connect", remembered)
    yield
    for player in opened:
        player.close()


@pytest.fixture
def chain() -> ServoChain:
    return CHAIN


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[tuple[SimulatorProcess, Path]]:
    if not hasattr(os, "openpty"):
        pytest.skip("this system has no pseudo-terminals")
    folder = tmp_path_factory.mktemp("simulator")
    save_chain(CHAIN, folder / "test.servos.json")
    with SimulatorProcess(folder / "test.servos.json", record=folder / "goals.csv") as process:
        yield process, folder / "goals.csv"


@pytest.fixture
def simulator(served) -> SimulatorProcess:
    """New servos for each test, in one process for all of them."""
    process, _ = served
    process.command("renew")
    return process


@pytest.fixture
def goals(served, simulator):
    """Reads what arrived: times (K,) [s] and counts (K, 12), after checking that goals come as whole rows in the order
    of ids."""

    def read() -> tuple[np.ndarray, np.ndarray]:
        simulator.state()  # flushes the record
        lines = served[1].read_text().splitlines()
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
        return Motion(
            times=times, actuators=NAMES, values=amplitude * np.sin(frequency * times[:, None] + np.arange(12))
        )

    return make
