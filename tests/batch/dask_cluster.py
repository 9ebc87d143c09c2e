"""Dask cluster of processes of this machine, behind a slow link, whose parts can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_connection, create_server, socket

from robik import program

CHECKOUT = Path(__file__).resolve().parents[2]
CHUNK = 1 << 16
LONGEST = 60.0  # s that a cluster takes to start


@dataclass
class Cluster:
    """Processes of a cluster.

    Attributes:
        folder: of their files.
        port: of the scheduler.
        link: the port that workers and clients are given.
        scheduler: its process.
        workers: their processes.
    """

    folder: Path
    port: int
    link: int
    scheduler: subprocess.Popen | None = None
    workers: list[subprocess.Popen] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.link}"

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            try:
                create_connection(("127.0.0.1", self.port), 1.0).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the scheduler does not start")

    def start_worker(self, threads: int = 1) -> subprocess.Popen:
        """One process, which ends with its scheduler."""
        more = ("--nthreads", str(threads), "--no-nanny", "--no-dashboard", "--death-timeout", "60")
        worker = self._start("worker", self.address, "--local-directory", str(self.folder), *more)
        self.workers.append(worker)
        return worker

    def _start(self, kind: str, *words: str) -> subprocess.Popen:
        said = (self.folder / f"{kind}-{time.monotonic_ns()}.log").open("w")
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words],
            cwd=CHECKOUT,
            env=program.environment() | {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "0"},
            stdout=said,
            stderr=subprocess.STDOUT,
        )

    def end(self) -> None:
        for process in filter(None, (self.scheduler, *self.workers)):
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int, delay: float = 0.0) -> Iterator[Cluster]:
    """A scheduler and workers; what goes between it and others takes `delay` seconds longer."""
    folder.mkdir(exist_ok=True)
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with create_server(("127.0.0.1", 0)) as link:
        threading.Thread(target=_relay, args=(link, port, delay), daemon=True).start()
        made = Cluster(folder, port, link.getsockname()[1])
        try:
            made.start_scheduler()
            for _ in range(workers):
                made.start_worker()
            yield made
        finally:
            made.end()


def _relay(link: socket, port: int, delay: float) -> None:
    """Bring what comes to one port to another, both ways."""
    while True:
        try:
            near, _ = link.accept()
        except OSError:
            return
        try:
            far = create_connection(("127.0.0.1", port), 5.0)
            far.settimeout(None)
        except OSError:
            near.close()
            continue
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_carry, args=(one, other, delay), daemon=True).start()


def _carry(source: socket, target: socket, delay: float) -> None:
    try:
        while data := source.recv(CHUNK):
            time.sleep(delay)
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        end.close()


def rows_on_disk(folder: Path) -> list[str]:
    """Names of what is done."""
    return sorted(json.loads(file.read_text())["row"]["file"] for file in (folder / ".robik-batch").rglob("*.json"))
