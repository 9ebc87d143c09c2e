"""The serial port under the vendor's SDK."""

from __future__ import annotations

import os
import time

from ....extras import extra
from ...bus.emergency import Emergency
from ...bus.listener import Listener
from ...bus.serial_port import OPEN_ERRORS, PORT_ERRORS, READ_SLICE, gone, lower_latency, open_serial, unopened
from ..wired.patience import Patience

with extra("servo"):
    from dynamixel_sdk import PortHandler

INSTRUCTION = 7  # place in a packet
HARMLESS = (0x01, 0x02, 0x08, 0x82, 0x8A, 0x92)  # instructions: ping, reads, and reboot, which turns torque off


class SerialPort(PortHandler):
    """The SDK's port, made to wait and to stop.

    It waits for bytes instead of spinning, opens URLs too, takes any baud rate, gives up after a time of ours, and
    leaves every read and write when the emergency stop is pressed.
    """

    def __init__(self, name: str, emergency: Emergency, patience: Patience | None = None) -> None:
        super().__init__(name)
        self.is_open: bool = False
        self._emergency, self._patience = emergency, patience or Patience()
        self._kept: bytearray | None = None  # what has arrived while nobody waits for it
        self._listener: Listener | None = None  # of a port that is a file: neither a network's, nor on Windows

    def open_at(self, baud_rate: int) -> None:
        """Open it, or open it again, at a baud rate [bit/s]; raise ServoError if that fails."""
        try:
            self.setBaudRate(baud_rate)
        except OPEN_ERRORS as error:
            raise unopened(self.port_name, error) from None

    def close(self) -> None:
        """Close it, if it is open."""
        if self.is_open:
            try:
                self.closePort()
            except PORT_ERRORS:
                return  # it is gone already

    def flush(self) -> None:
        """Wait until all that was written is on the wire; raises PortGone."""
        try:
            self.ser.flush()
        except PORT_ERRORS as error:
            raise gone(self.port_name, error) from None

    def clear(self) -> None:
        """Throw away what has arrived, and what is kept."""
        self.drop()
        self.clearPort()

    def keep(self) -> None:
        """Keep what arrives from here on, whatever is sent meanwhile: see `arrived`."""
        self._kept = bytearray()

    def drop(self) -> None:
        """Keep nothing any more."""
        self._kept = None

    def arrived(self) -> bytes:
        """Return what has arrived since `keep`."""
        self._emergency.check()
        if self._kept is None:
            return b""
        if self._listener:
            self._kept += self._listener.take_all()
            return bytes(self._kept)
        while waiting := self.ser.in_waiting:
            self._kept += self.ser.read(waiting)
        return bytes(self._kept)

    def clearPort(self) -> None:
        """Throw away what waits to be read, as the SDK does before it sends; keep it where it is to be kept."""
        if self._kept is not None:
            self.arrived()
        elif self._listener:
            self._listener.take_all()
        else:
            super().clearPort()

    @property
    def seconds_per_byte(self) -> float:
        """Time of a byte on the wire [s]."""
        return self.tx_time_per_byte / 1000.0

    def readPort(self, length: int) -> bytes:
        """Read what has come, at most `length` bytes, after a short wait for the first.

        Raise EmergencyStopped when the stop is pressed.
        """
        self._emergency.check()
        return self._listener.take(length, READ_SLICE) if self._listener else super().readPort(length)

    def writePort(self, packet: list[int]) -> int:
        """Write a packet, and return the number of bytes written.

        Raise EmergencyStopped when the stop is pressed and the packet changes something.
        """
        self._emergency.check(changes=packet[INSTRUCTION] not in HARMLESS)
        if not self._listener:
            return super().writePort(packet)
        try:
            written = os.write(self.ser.fd, bytes(packet))
        except BlockingIOError:
            written = 0
        return written if written == len(packet) else written + super().writePort(packet[written:])

    def setBaudRate(self, baudrate: int) -> bool:
        """Open the port at a baud rate [bit/s], and return True.

        The SDK's own knows 4 M at most; the port itself says what it cannot.
        """
        self.baudrate = baudrate
        return self.setupPort(baudrate)

    def setupPort(self, cflag_baud: int) -> bool:
        """Open the port at the baud rate that was set, and return True."""
        if self.is_open:
            self.closePort()
        self.ser = open_serial(self.port_name, self.baudrate, self._emergency)
        self.is_open = True
        if isinstance(getattr(self.ser, "fd", None), int):
            self._listener = Listener(self.ser.fd)
        self.tx_time_per_byte = 10_000.0 / self.baudrate
        lower_latency(self.ser)
        return True

    def closePort(self) -> None:
        """Close the port, and listen no more."""
        self.is_open = False
        if self._listener:
            self._listener.close()
            self._listener = None
        self.ser.close()

    def getCurrentTime(self) -> float:
        """Return the time by the clock that the timeouts go by [ms]."""
        return time.perf_counter() * 1000.0

    def setPacketTimeout(self, packet_length: int) -> None:
        """Allow the time that `packet_length` bytes of an answer take, and the latency of `patience`."""
        self.setPacketTimeoutMillis(self.tx_time_per_byte * packet_length + self._patience.latency * 1000.0)
