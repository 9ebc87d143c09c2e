"""Bytes that arrive at a serial port, taken in by a thread of their own: whoever sends goals waits for none.

On Linux any look at what has arrived (`read`, `select`, the count of bytes that wait, throwing them away) waits for a
worker of the kernel that passes it on. That worker has no precedence: on a busy machine it is late by 0.1 s.
"""

from __future__ import annotations

import errno
import os
import select
import threading

from .schedule import take_precedence

PIECE = 4096  # bytes that are taken in at a time


class Listener:
    """Bytes that arrive at an open file, given by a descriptor that does not block.

    It neither opens nor closes it.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._news = threading.Condition()
        self._bytes = bytearray()
        self._error: OSError | None = None
        self._wakes, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._listen, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        os.write(self._wake, b".")
        self._thread.join()
        os.close(self._wake)
        os.close(self._wakes)

    def take(self, count: int, seconds: float) -> bytes:
        """Return at most `count` bytes as soon as there are any, or none after `seconds`.

        Raise OSError if the port is gone.
        """
        with self._news:
            if not self._bytes:
                self._news.wait_for(lambda: self._bytes or self._error, seconds)
            return self._taken(count)

    def take_all(self) -> bytes:
        """Return what has arrived, at once; raise OSError if the port is gone."""
        with self._news:
            return self._taken(len(self._bytes))

    def _taken(self, count: int) -> bytes:
        if self._error and not self._bytes:
            raise self._error
        taken = bytes(self._bytes[:count])
        del self._bytes[:count]
        return taken

    def _listen(self) -> None:
        take_precedence()  # what it has is waited for
        while True:
            try:
                ready = select.select([self._file, self._wakes], [], [])[0]
                if self._wakes in ready:
                    return
                data = os.read(self._file, PIECE)
                if not data:  # a device that is gone is always ready, and has nothing
                    raise OSError(errno.EIO, "unplugged")
            except BlockingIOError:
                continue
            except OSError as error:
                self._fail(error)
                return
            with self._news:
                self._bytes += data
                self._news.notify_all()

    def _fail(self, error: OSError) -> None:
        with self._news:
            self._error = error
            self._news.notify_all()
