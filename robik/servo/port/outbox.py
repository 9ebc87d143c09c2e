"""Messages on their way to a process that may hang: whoever sends them never waits."""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress
from itertools import count
from typing import IO

ATOMIC: int = getattr(select, "PIPE_BUF", 0)  # bytes that a pipe takes at once if it takes any; not known on Windows


class Outbox:
    """Messages in the order in which they were sent.

    Those that go into the pipe at once do so from the sender's own thread, which Python's lock may keep others from.
    The rest waits for a thread. Of messages that say how things are now, only the newest waits.
    """

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._waiting: dict[str | int, bytes] = {}
        self._numbers = count()
        self._pipe: IO[bytes] | None = None
        self._is_over = self._is_writing = False

    def open(self, pipe: IO[bytes], first: bytes) -> None:
        """Begin to write, with a message that comes before those that have been sent already."""
        with self._news:
            self._pipe, self._waiting = pipe, {next(self._numbers): first, **self._waiting}
        threading.Thread(target=self._run, name="outbox", daemon=True).start()

    def send(self, line: bytes, topic: str = "") -> None:
        """Send a message."""
        key = topic or next(self._numbers)
        with self._news:
            self._waiting.pop(key, None)
            if self._is_over:
                return
            if not (self._waiting or self._is_writing) and self._takes(len(line)):
                self._write(line)
                return
            self._waiting[key] = line
            self._news.notify()

    def close(self, pipe: IO[bytes]) -> None:
        """Forget what waits and close the pipe, also where the process never was spoken to."""
        with self._news:
            self._is_over = True
            self._waiting.clear()
            self._news.notify()
        if self._pipe is None:
            _close(pipe)

    def _takes(self, size: int) -> bool:
        """Return whether the pipe takes so many bytes now."""
        if self._pipe is None or size > ATOMIC:
            return False
        asked = select.poll()
        asked.register(self._pipe, select.POLLOUT)
        return bool(asked.poll(0))

    def _write(self, line: bytes) -> None:
        assert self._pipe is not None
        with suppress(OSError):  # it has ended, which whoever listens to it tells
            while line:
                line = line[os.write(self._pipe.fileno(), line) :]

    def _run(self) -> None:
        """Write what waits, a message at a time; a process that hangs holds this thread up, and nobody else."""
        assert self._pipe is not None
        while (line := self._next()) is not None:
            self._write(line)
        _close(self._pipe)

    def _next(self) -> bytes | None:
        """Wait for a message; None once it is over."""
        with self._news:
            self._is_writing = False
            self._news.wait_for(lambda: self._waiting or self._is_over)
            if self._is_over:
                return None
            self._is_writing = True
            return self._waiting.pop(next(iter(self._waiting)))


def _close(pipe: IO[bytes]) -> None:
    with suppress(OSError):
        pipe.close()
