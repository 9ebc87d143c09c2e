"""Serial port for brands that make their packets themselves: bytes out at once, bytes in as they come."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...bus.emergency import Emergency
from ...bus.listener import Listener
from ...bus.serial_port import OPEN_ERRORS, PORT_ERRORS, READ_SLICE, gone, lower_latency, open_serial, unopened
from ...chain.chain import BITS_PER_BYTE


class Port:
    """An open serial port, whose methods raise EmergencyStopped when the stop is pressed, and PortGone when it is gone.

    Attributes:
        name: a device path, or a URL that pyserial opens.
        baud_rate: at which it is open [bit/s].
    """

    def __init__(self, name: str, baud_rate: int, emergency: Emergency) -> None:
        self.name, self.baud_rate, self._emergency = name, baud_rate, emergency
        self._is_open = False
        self._there = bytearray()
        self._listener: Listener | None = None  # of a port that is a file: neither a network's, nor on Windows
        self.open_at(baud_rate)

    def open_at(self, baud_rate: int) -> None:
        """Open the port, or open it again, at a baud rate [bit/s], unless it has that already.

        Raise ServoError if it cannot be opened.
        """
        if self._is_open and baud_rate == self.baud_rate:
            return
        self.close()
        try:
            self._serial = open_serial(self.name, baud_rate, self._emergency)
        except OPEN_ERRORS as error:
            raise unopened(self.name, error) from None
        self.baud_rate, self._is_open = baud_rate, True
        if isinstance(getattr(self._serial, "fd", None), int):
            self._listener = Listener(self._serial.fd)
        lower_latency(self._serial)
        self._there.clear()

    def close(self) -> None:
        """Close the port, if it is open."""
        if not self._is_open:
            return
        self._is_open = False
        if self._listener:
            self._listener.close()
            self._listener = None
        try:
            self._serial.close()
        except PORT_ERRORS:
            return  # it is gone already

    @property
    def seconds_per_byte(self) -> float:
        """Time of a byte on the wire [s]."""
        return BITS_PER_BYTE / self.baud_rate

    def write(self, data: bytes, changes: bool) -> None:
        """Send the bytes of a packet; one that `changes` a servo raises EmergencyStopped when the stop is pressed."""
        self._emergency.check(changes=changes)
        with self._in_use():
            written = self._write_some(data) if self._listener else 0
            if written < len(data):
                self._serial.write(data[written:])

    def _write_some(self, data: bytes) -> int:
        try:
            return os.write(self._serial.fd, data)
        except BlockingIOError:
            return 0

    def flush(self) -> None:
        """Wait until all is on the wire."""
        with self._in_use():
            self._serial.flush()

    def arrived(self) -> bytes:
        """Return all that has arrived since `clear`, at once."""
        self._emergency.check()
        with self._in_use():
            self._there += self._new()
        return bytes(self._there)

    def _new(self) -> bytes:
        if self._listener:
            return self._listener.take_all()
        new = bytearray()
        while waiting := self._serial.in_waiting:
            new += self._serial.read(waiting)
        return bytes(new)

    def wait(self) -> bytes:
        """Return what `arrived` returns, after waiting a little for something new."""
        self._emergency.check()
        with self._in_use():
            self._there += self._listener.take(4096, READ_SLICE) if self._listener else self._serial.read(1)
        return self.arrived()

    def clear(self) -> None:
        """Throw away what has arrived."""
        self.arrived()
        self._there.clear()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Use the port within this context, where a failure of it becomes `PortGone`."""
        try:
            yield
        except PORT_ERRORS as error:
            raise gone(self.name, error) from None
