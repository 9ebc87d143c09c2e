"""The simulated chain in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from ... import program
from ...errors import ServoError
from ..chain.chain import ServoChain
from ..chain.file import save_chain

START_TIMEOUT = 20.0  # [s] for the child to come up, on a busy machine


class SimulatorProcess:
    """A simulated chain in a process of its own, which ends with this one.

    It is behind a pseudo-terminal where the system has them, or `over_socket`. `record` is as for `Server`. A
    ServoError has its own words for why it did not start.

    Attributes:
        port: of the servos.
        imu_port: of the sensor beside the bus; empty where there is none, or where it is on the bus.
    """

    def __init__(self, servos: str | Path, record: str | Path | None = None, over_socket: bool = False) -> None:
        arguments = [str(servos), *(["--record", str(record)] if record else [])]
        arguments += ["--socket"] if over_socket or not hasattr(os, "openpty") else []
        self._process = subprocess.Popen(
            program.command("servo.simulator.server", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=program.environment(),
            start_new_session=True,  # Ctrl-C is for the player, which still needs the servos to stop on
        )
        timer = threading.Timer(START_TIMEOUT, self._process.kill)
        timer.start()
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()
        self.imu_port = self._process.stdout.readline().strip()
        timer.cancel()
        if not self.port:
            words = self._last_words()
            self.end()
            raise ServoError(f"the simulated chain did not start: {words}")

    @classmethod
    def of(cls, chain: ServoChain, record: str | Path | None = None) -> SimulatorProcess:
        """Return a running simulator of a chain in memory; `record` gets the goals that servos take."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "chain.servos.json"
            save_chain(chain, path)
            return cls(path, record)

    def command(self, line: str) -> Any:
        """Send the server a command that `Server.obey` lists, and return its reply.

        Raise ServoError if it cannot be done, or the server has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ServoError(f"the simulated chain has ended: {self._last_words()}")
        reply = json.loads(answer)
        if isinstance(reply, dict) and "error" in reply:
            raise ServoError(f"the simulated chain: {reply['error']}")
        return reply

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        words = self._process.stderr.read().strip().splitlines()
        return words[-1] if words else "it said nothing"

    def unplug(self) -> None:
        """Pull the adapter out."""
        self.command("unplug")

    def plug(self) -> None:
        """Put it in again; `port` is another one then."""
        self.port = self.command("plug")["port"]

    def hold(self) -> None:
        """Let the servos' time stand still until `renew`."""
        self.command("hold")

    def let_pass(self, seconds: float) -> None:
        """Let `seconds` pass of the servos' time, which is held."""
        self.command(f"pass {seconds!r}")

    def state(self) -> dict[int, dict[str, float]]:
        """Return the state of every servo by id, without a packet on the bus.

        Position [counts], velocity [counts/s], some entries of its table, and by the servos' clock when it last heard a
        packet and when it last moved [s].
        """
        return {int(id): entries for id, entries in self.command("state").items()}

    def kill(self) -> None:
        """End it at once, as if the cable were pulled."""
        self._process.kill()
        self.end()

    def end(self) -> None:
        """End it and wait until it is gone."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                _close(pipe)
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> SimulatorProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _close(pipe: IO[str]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # the process was gone before what was written to it
