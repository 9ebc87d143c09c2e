"""The pseudo-terminal of a chain, which can be unplugged."""

from __future__ import annotations

import contextlib
import os
import termios
import tty
from pathlib import Path
from tempfile import mkdtemp

SPEEDS = {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}


class Port:
    """A pseudo-terminal under a name that stays the same when it is unplugged and plugged in again.

    Attributes:
        name: path of what a computer opens.
        file: descriptor of the servos' end; None while it is unplugged.
    """

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="servos-"))
        self.name = str(self._folder / "port")
        self.file: int | None = None
        self._other = -1
        self.plug()

    def plug(self) -> None:
        """Appear, if it is not there."""
        if self.file is not None:
            return
        self.file, self._other = os.openpty()
        tty.setraw(self._other)
        os.set_blocking(self.file, False)
        os.symlink(os.ttyname(self._other), self.name)

    def unplug(self) -> None:
        """Vanish, as an adapter whose cable is pulled."""
        if self.file is not None:
            os.unlink(self.name)
            os.close(self.file)
            os.close(self._other)
            self.file = None

    def remove(self) -> None:
        """Leave nothing behind."""
        self.unplug()
        self._folder.rmdir()

    def read(self) -> bytes:
        """Return what has come."""
        if self.file is None:
            return b""
        with contextlib.suppress(BlockingIOError):
            return os.read(self.file, 65536)
        return b""

    def write(self, data: bytes) -> None:
        """Deliver bytes; those that nobody takes are lost, as in an adapter."""
        if self.file is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self.file, data)

    @property
    def baud_rate(self) -> int | None:
        """What the computer set; 0 where this system has no number for it, which no servo hears. None while
        unplugged."""
        return None if self.file is None else SPEEDS.get(termios.tcgetattr(self.file)[5], 0)
