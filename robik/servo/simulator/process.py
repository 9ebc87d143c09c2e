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
from ..chain import ServoChain
from ..chain_file import save_chain

START_TIMEOUT = 20.0  # [s] for the child to come up, on a busy machine


class SimulatorProcess:
    """A simulated chain in a process of its own, which ends with this one.

    Args:
        servos: a `*.servos.json` file.
        record: see `Server`.
        over_socket: on a socket; else behind a pseudo-terminal where the system has them.

    Attributes:
        port: of the servos.
        imu_port: of the sensor beside the bus; empty where there is none, or where it is on the bus.

    Raises:
        ServoError: it did not start, with its own words for why.
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
        """Return a simulated chain, from memory.

        Args:
            chain: The chain of servos.
            record: File for the goals that servos take, or None.

        Returns:
            The simulator, which runs.
        """
        with TemporaryDirectory() as folder:
            path = Path(folder) / "chain.servos.json"
            save_chain(chain, path)
            return cls(path, record)

    def command(self, line: str) -> Any:
        """Let the server do something.

        Args:
            line: A command that `Server.obey` lists.

        Returns:
            Its reply.

        Raises:
            ServoError: It cannot be done, or the server has ended.
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
        """Let some of the servos' time pass, which is held.

        Args:
            seconds: How much [s].
        """
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
