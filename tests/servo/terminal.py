"""A command that moves servos in a terminal of its own, for tests that press keys, send signals, and close the
terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .conftest import DEADLINE

CHECKOUT = Path(__file__).resolve().parents[2]


class Terminal:
    """A running command, with the terminal that it believes to be its user's."""

    def __init__(self, arguments: list[str]) -> None:
        self._user, its = pty.openpty()
        command = [sys.executable, "-m", "robik.cli", *arguments]
        streams = {"stdin": its, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, cwd=CHECKOUT, text=True, start_new_session=True, **streams)
        os.close(its)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._user, keys.encode())

    def hold(self, key: str, seconds: float) -> None:
        """Hold a key, which repeats."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.press(key)
            time.sleep(0.03)

    def hang_up(self) -> None:
        """Close the terminal: the system tells its programs by SIGHUP, and reading from it fails."""
        os.close(self._user)
        self._user = -1
        self.process.send_signal(signal.SIGHUP)

    def end(self) -> tuple[int, str]:
        """Wait for the end; returns the exit code and everything that was printed."""
        printed, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, printed

    def close(self) -> None:
        """Let go of the terminal; kill what still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        if self._user >= 0:
            with suppress(OSError):
                os.close(self._user)


@contextmanager
def playing(*arguments: object) -> Iterator[Terminal]:
    """`robik play` with these arguments, killed at the end if it still runs."""
    with running("play", *arguments) as terminal:
        yield terminal


@contextmanager
def running(*arguments: object) -> Iterator[Terminal]:
    """A command with its arguments, killed at the end if it still runs."""
    terminal = Terminal([str(argument) for argument in arguments])
    try:
        yield terminal
    finally:
        terminal.close()
