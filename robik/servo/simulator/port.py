"""Ports of a simulated chain: a pseudo-terminal, or a TCP socket where there is none.

And what spoils bytes on the way.
"""

from __future__ import annotations

import os
import random
import select
import socket
import sys
import threading
import time
from contextlib import suppress

from ...errors import ServoError

UNNAMED, TCGETS2 = 0o10000, 0x802C542A  # Linux: the speed of a rate without a name, and the request that tells the rate
LEAST, MOST = 1, 8  # bytes that one disturbance takes with it


class PseudoTerminal:
    """The servos' end of a serial line. Whoever opens `name` is at the other end.

    One thread may read and write while another plugs and unplugs. Raise ServoError where the system has none
    (Windows).
    """

    def __init__(self) -> None:
        if not hasattr(os, "openpty"):
            raise ServoError(
                "this system has no pseudo-terminals; serve the simulated chain on a socket instead (--socket)"
            )
        import termios

        self._rates = {
            getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()
        }
        self._plugging = threading.Lock()
        self._near: int | None = None
        self.plug()

    @property
    def is_plugged(self) -> bool:
        """Return whether anyone can open it."""
        return self._near is not None

    def plug(self) -> None:
        """Put the adapter in; `name` is another one than before, as it often is."""
        import tty

        with self._plugging:
            if self._near is None:
                self._near, self._far = os.openpty()  # far stays open, so that the line outlives whoever connects
                os.set_blocking(self._near, False)
                tty.setraw(self._far)
                self.name = os.ttyname(self._far)

    def unplug(self) -> None:
        """Pull the adapter out: whoever has it open meets an error."""
        with self._plugging:
            if self._near is not None:
                os.close(self._near)
                os.close(self._far)
            self._near = None

    def read(self, timeout: float) -> bytes:
        """Return what has arrived within the timeout [s]; nothing if nothing has."""
        if not _is_ready(self._near, timeout):
            return b""
        with self._plugging:  # it may have been pulled out since
            return os.read(self._near, 4096) if self._near is not None and _is_ready(self._near, 0.0) else b""

    def write(self, data: bytes) -> None:
        """Send, if it is plugged in. What nobody reads is lost once the line is full."""
        with self._plugging, suppress(BlockingIOError):
            if self._near is not None:
                os.write(self._near, data)

    @property
    def baud_rate(self) -> int | None:
        """At which the other end has set the line; None where the system does not say."""
        import termios

        with self._plugging:
            if self._near is None:
                return None
            speed = termios.tcgetattr(self._far)[5]
            return _unnamed_rate(self._far) if speed == UNNAMED else self._rates.get(speed)


def _is_ready(end: int | socket.socket | None, timeout: float) -> bool:
    """Return whether there is something to read within the timeout [s]; not where the end is closed meanwhile."""
    if end is None:
        time.sleep(timeout)
        return False
    try:
        return bool(select.select([end], [], [], timeout)[0])
    except (OSError, ValueError):  # a number that is closed, an object that is
        return False


def _unnamed_rate(line: int) -> int | None:
    """Return the baud rate of a line [bit/s], where termios has no name for it."""
    import fcntl

    try:
        settings = fcntl.ioctl(line, TCGETS2, bytes(44))  # a struct termios2, the speed out being its last number
    except OSError:
        return None
    return int.from_bytes(settings[-4:], sys.byteorder)


class Socket:
    """The same over TCP on this machine, for one client after another; `name` is what pyserial opens."""

    baud_rate = None

    def __init__(self) -> None:
        self._client: socket.socket | None = None
        self._listener: socket.socket | None = None
        self._plugging = threading.Lock()
        self.plug()

    @property
    def is_plugged(self) -> bool:
        """Return whether anyone can connect."""
        return self._listener is not None

    def plug(self) -> None:
        """Listen; `name` says where."""
        with self._plugging:
            if self._listener is None:
                self._listener = socket.create_server(("127.0.0.1", 0))
                self._listener.setblocking(False)
                self.name = f"socket://127.0.0.1:{self._listener.getsockname()[1]}"

    def unplug(self) -> None:
        """Hang up, and listen no more."""
        with self._plugging:
            for end in (self._client, self._listener):
                if end is not None:
                    end.close()
            self._client = self._listener = None

    def read(self, timeout: float) -> bytes:
        """Return what has arrived within the timeout [s]; nothing if nothing has."""
        if not _is_ready(self._client or self._listener, timeout):
            return b""
        with self._plugging:  # it may have been pulled out since
            if self._client is not None:
                return self._received(self._client) if _is_ready(self._client, 0.0) else b""
            if self._listener is not None:
                with suppress(OSError):  # whoever knocked has left
                    self._client, _ = self._listener.accept()
                    self._client.setblocking(True)
                    self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return b""

    def _received(self, client: socket.socket) -> bytes:
        try:
            data = client.recv(4096)
        except ConnectionError:
            data = b""
        if not data:
            client.close()
            self._client = None
        return data

    def write(self, data: bytes) -> None:
        """Send, if anyone is there."""
        if (client := self._client) is None:
            return
        try:
            client.sendall(data)
        except OSError:  # whoever asked has left, or it has been pulled out
            client.close()
            with self._plugging:
                self._client = None if self._client is client else self._client


class Noise:
    """Disturbances on the wire, the same ones for the same seed.

    Attributes:
        drop, corrupt, duplicate: how likely a byte is where one begins, 0 to 1; it then takes up to eight bytes with
            it.
        late: by how much answers come late, at most [s].
    """

    def __init__(self, seed: int = 0) -> None:
        self.drop = self.corrupt = self.duplicate = self.late = 0.0
        self._random = random.Random(seed)

    @property
    def delay(self) -> float:
        """By how much the next answer is late [s]."""
        return self._random.uniform(0.5, 1.0) * self.late if self.late else 0.0

    def spoil(self, data: bytes) -> bytes:
        """Return those bytes that arrive, changed or not."""
        if not (self.drop or self.corrupt or self.duplicate):
            return data
        spoilt, k = bytearray(), 0
        while k < len(data):
            some = data[k : k + self._random.randint(LEAST, MOST)]
            if self._random.random() < self.drop:
                k += len(some)
            elif self._random.random() < self.corrupt:
                spoilt += bytes(byte ^ self._random.randint(1, 255) for byte in some)
                k += len(some)
            elif self._random.random() < self.duplicate:
                spoilt += some + some
                k += len(some)
            else:
                spoilt.append(data[k])
                k += 1
        return bytes(spoilt)
