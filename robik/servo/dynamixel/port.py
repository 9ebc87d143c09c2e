"""The serial port under the vendor's SDK."""

from __future__ import annotations

import os
import socket
import time

from ...extras import extra
from ..emergency import Emergency
from ..listener import Listener

with extra("servo"):
    import serial
    from dynamixel_sdk import PortHandler

LATENCY = 0.034  # [s] that an answer may take beyond its bytes: the SDK's own allowance
WRITE_TIMEOUT = 1.0  # [s]: a port that takes no bytes for so long is gone; less can be a computer that stalls
READ_SLICE = 0.002  # [s] of waiting for bytes at a time
INSTRUCTION = 7  # place in a packet
HARMLESS = (0x01, 0x02, 0x08, 0x82, 0x8A, 0x92)  # instructions: ping, reads, and reboot, which turns torque off

try:
    import termios

    PORT_ERRORS: tuple[type[Exception], ...] = (OSError, termios.error)  # pyserial's errors are OSErrors
except ImportError:  # Windows
    PORT_ERRORS = (OSError,)
OPEN_ERRORS = PORT_ERRORS + (ValueError,)  # noqa: RUF005  (a starred tuple has no type)


class SerialPort(PortHandler):
    """The SDK's port, made to wait and to stop.

    It waits for bytes instead of spinning, opens URLs too, takes any baud rate, gives up after a time of ours, and
    leaves every read and write when the emergency stop is pressed.
    """

    def __init__(self, name: str, emergency: Emergency) -> None:
        super().__init__(name)
        self.is_open: bool = False
        self.latency = LATENCY
        self._emergency = emergency
        self._kept: bytearray | None = None  # what has arrived while nobody waits for it
        self._listener: Listener | None = None  # of a port that is a file: neither a network's, nor on Windows

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
        """Read what has come, at most `length` bytes; waits for at least one until the time is over.

        Args:
            length: Number of bytes, at most.

        Returns:
            The bytes.

        Raises:
            EmergencyStopped: The stop is pressed.
        """
        self._emergency.check()
        return self._listener.take(length, READ_SLICE) if self._listener else super().readPort(length)

    def writePort(self, packet: list[int]) -> int:
        """Write a packet.

        Raises EmergencyStop where the stop is pressed and the packet changes something.

        Args:
            packet: Its bytes.

        Returns:
            Number of bytes written.

        Raises:
            EmergencyStopped: The stop is pressed and the packet changes something.
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
        """Open the port at a baud rate.

        The SDK's own knows 4 M at most; the port itself says what it cannot.

        Args:
            baudrate: Rate [bit/s].

        Returns:
            True where that worked.
        """
        self.baudrate = baudrate
        return self.setupPort(baudrate)

    def setupPort(self, cflag_baud: int) -> bool:
        """Open the port at a baud rate.

        Args:
            cflag_baud: Rate [bit/s].

        Returns:
            True where that worked.
        """
        if self.is_open:
            self.closePort()
        alone = None if "://" in self.port_name else True  # two programs on one bus would talk over each other
        self.ser = serial.serial_for_url(
            self.port_name, baudrate=self.baudrate, timeout=READ_SLICE, write_timeout=WRITE_TIMEOUT, exclusive=alone
        )
        if (
            over_network := getattr(self.ser, "_socket", None)
        ) is not None:  # else a request waits for the acknowledgement of the goals
            over_network.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_open = True
        self.ser.reset_input_buffer()
        if isinstance(getattr(self.ser, "fd", None), int):
            self._listener = Listener(self.ser.fd)
        self.tx_time_per_byte = 10_000.0 / self.baudrate
        self._lower_latency()
        return True

    def closePort(self) -> None:
        """Close the port, and listen no more."""
        self.is_open = False
        if self._listener:
            self._listener.close()
            self._listener = None
        self.ser.close()

    def _lower_latency(self) -> None:
        """USB adapters hold answers back for 16 ms unless told otherwise, which only Linux lets us do."""
        if not hasattr(self.ser, "set_low_latency_mode"):
            return
        try:
            self.ser.set_low_latency_mode(True)
        except OPEN_ERRORS:
            return  # no USB adapter

    def getCurrentTime(self) -> float:
        """Return the time by the clock that the timeouts go by [ms]."""
        return time.perf_counter() * 1000.0

    def setPacketTimeout(self, packet_length: int) -> None:
        """Allow the time that a packet of this length takes, and the latency.

        Args:
            packet_length: Length of the answer [bytes].
        """
        self.setPacketTimeoutMillis(self.tx_time_per_byte * packet_length + self.latency * 1000.0)


def reason(error: Exception) -> str:
    """Return why a port failed, in a few words.

    Args:
        error: The error of the port.

    Returns:
        The words.
    """
    text = str(error.args[1] if len(error.args) == 2 else error)
    if "returned no data" in text:  # pyserial's guess at why there is nothing to read
        return "unplugged"
    if "exclusively lock" in text:
        return "another program uses it; robik servos stop ends what plays with RobIK"
    # pyserial nests: "[Errno 2] could not open port X: [Errno 2] No such file or directory: 'X'"
    return text.rsplit("] ", 1)[-1].split(": '")[0].strip(" .").lower() or type(error).__name__


def ports_there() -> str:
    """Return which ports there are, in words."""
    from serial.tools import list_ports

    there = sorted(port.device for port in list_ports.comports())
    known = f"there are {', '.join(there)}" if there else "there is no serial port"
    return f"{known}; the port 'sim' is the simulated chain"
