"""Serial ports: opening one as a bus of servos wants it, and what went wrong in the user's words."""

from __future__ import annotations

import socket
import time
from math import inf

from ...errors import ServoError
from ...extras import extra
from .emergency import SLICE, Emergency
from .line import PortGone

with extra("servo"):
    import serial

WRITE_TIMEOUT = 1.0  # [s]: a port that takes no bytes for so long is gone; less can be a computer that stalls
READ_SLICE = 0.002  # [s] of waiting for bytes at a time
LOCKED = "exclusively lock"  # in pyserial's words where another program has the port for itself

try:
    import termios

    PORT_ERRORS: tuple[type[Exception], ...] = (OSError, termios.error)  # pyserial's errors are OSErrors
except ImportError:  # Windows
    PORT_ERRORS = (OSError,)
OPEN_ERRORS = PORT_ERRORS + (ValueError,)  # noqa: RUF005  (a starred tuple has no type)


def open_serial(name: str, baud_rate: int, emergency: Emergency) -> serial.SerialBase:
    """Open a port for this program alone, with as little delay as the system allows and nothing waiting to be read.

    The name is a device path, or a URL that pyserial opens, such as `socket://host:port`. Raise one of
    `OPEN_ERRORS`, which `reason` puts in words.
    """
    opened = _opened(name, baud_rate, emergency)
    over_network = getattr(opened, "_socket", None)
    if over_network is not None:  # else a request waits for the acknowledgement of the goals
        over_network.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.reset_input_buffer()
    return opened


def _opened(name: str, baud_rate: int, emergency: Emergency) -> serial.SerialBase:
    alone = None if "://" in name else True  # two programs on one bus would talk over each other
    while True:
        try:
            return serial.serial_for_url(
                name, baudrate=baud_rate, timeout=READ_SLICE, write_timeout=WRITE_TIMEOUT, exclusive=alone
            )
        except OSError as error:
            if LOCKED not in str(error) or emergency.passes_at == inf:
                raise
        if time.perf_counter() < emergency.passes_at:
            time.sleep(SLICE)
        else:
            alone, emergency.has_passed = None, True


def lower_latency(opened: serial.SerialBase) -> None:
    """Let an adapter pass answers on at once: USB adapters hold them back for 16 ms, and only Linux lets us say so."""
    if not hasattr(opened, "set_low_latency_mode"):
        return
    try:
        opened.set_low_latency_mode(True)
    except OPEN_ERRORS:
        return  # no USB adapter


def reason(error: Exception) -> str:
    """Return why a port failed, in a few words."""
    text = str(error.args[1] if len(error.args) == 2 else error)
    if "returned no data" in text:  # pyserial's guess at why there is nothing to read
        return "unplugged"
    if LOCKED in text:
        return "another program uses it; robik servos stop ends what plays with RobIK"
    # pyserial nests: "[Errno 2] could not open port X: [Errno 2] No such file or directory: 'X'"
    return text.rsplit("] ", 1)[-1].split(": '")[0].strip(" .").lower() or type(error).__name__


def unopened(name: str, error: Exception) -> ServoError:
    """Return the error that a port cannot be opened, which says what to do."""
    return ServoError(f"port {name} cannot be opened ({reason(error)}); {ports_there()}")


def gone(name: str, error: Exception) -> PortGone:
    """Return the error that an open port fails, which says what to do."""
    return PortGone(f"port {name} is gone ({reason(error)}); check the adapter and its cable, then connect again")


def devices() -> list[str]:
    """Return the names of the serial ports that there are."""
    from serial.tools import list_ports

    return sorted(port.device for port in list_ports.comports())


def ports_there() -> str:
    """Return which ports there are, in words."""
    there = devices()
    known = f"there are {', '.join(there)}" if there else "there is no serial port"
    return f"{known}; the port 'sim' is the simulated chain"
