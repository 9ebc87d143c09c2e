"""Reachy Mini's daemon: a stand-in that is ours, and the maker's own where it can be had."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robik.gallery.entry import FOLDER
from robik.servo.chain import ServoChain
from robik.servo.chain_file import load_chain

CHECKOUT = Path(__file__).parents[3]
MAKERS = Path(
    os.environ.get("ROBIK_REACHY_DAEMON", CHECKOUT / ".cache" / "reachy-daemon" / "bin" / "reachy-mini-daemon")
)
STARTING = 60.0  # [s]


class StandIn:
    """Our daemon in a process of its own, on a TCP port that stays the same when it is started again."""

    def __init__(self) -> None:
        self.number = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, Path(__file__).with_name("daemon.py"), str(self.number)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.number = int(self.process.stdout.readline())

    @property
    def port(self) -> str:
        return f"reachy:127.0.0.1:{self.number}"

    def tell(self, command: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    @property
    def state(self) -> dict[str, Any]:
        return self.tell("state")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


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
