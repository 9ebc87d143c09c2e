"""Reachy Mini's daemon: a stand-in that is ours, and the maker's own where it can be had."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from robik.gallery.entry import FOLDER
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.file import load_chain

from .stand_in import StandIn

CHECKOUT = Path(__file__).parents[3]
MAKERS = Path(
    os.environ.get("ROBIK_REACHY_DAEMON", CHECKOUT / ".cache" / "reachy-daemon" / "bin" / "reachy-mini-daemon")
)
STARTING = 60.0  # [s]


@pytest.fixture
def daemon() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    if made.process.poll() is None:
        made.signal(signal.SIGCONT) if hasattr(signal, "SIGCONT") else None
        made.end()


@pytest.fixture
def chain() -> ServoChain:
    """As the gallery has it: servos of the robot's own bus."""
    return load_chain(FOLDER / "reachy_mini.servos.json")


@pytest.fixture(scope="session")
def makers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the maker's daemon with its mockup of the robot."""
    if not MAKERS.is_file():
        pytest.skip(f"needs Reachy Mini's daemon in {MAKERS}; make reachy-daemon brings it")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    options = ["--mockup-sim", "--no-media", "--no-wake-up-on-start", "--no-goto-sleep-on-stop"]
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [MAKERS, *options, "--fastapi-port", str(number)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HOME": str(home), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        ends = time.monotonic() + STARTING
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{number}/api/motors/status", timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "the maker's daemon does not start"
                assert time.monotonic() < ends, "the maker's daemon does not answer"
                time.sleep(0.2)
        yield f"reachy:127.0.0.1:{number}"
    finally:
        process.terminate()
        process.wait(20)
