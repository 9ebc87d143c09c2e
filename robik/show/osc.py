"""Messages of OSC 1.0 (Open Sound Control) over UDP, which sound and light desks, tablets and game controllers send."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from ..errors import ServoError
from ..extras import extra

BUNDLE = b"#bundle\0"
HEADER = len(BUNDLE) + 8  # of a bundle: its time follows, which is not waited for
SIZE = 4  # bytes of the size before each part of a bundle
TYPES = set(
    "ihfdsbrmtTFN[]"
)  # of arguments that python-osc reads; others it would leave out, with a line in the terminal
DEEPEST = 8  # bundles in bundles
LARGEST = 8192  # bytes of a packet; python-osc takes the square of the size in time
MOST = 32  # packets that are read at a time
LOCAL = "127.0.0.1"


class OscError(Exception):
    """A packet that is no OSC; its text says why."""


@dataclass(frozen=True)
class Message:
    """A message.

    Attributes:
        address: such as `/robik/act`.
        arguments: numbers, texts and what else OSC knows.
    """

    address: str
    arguments: tuple[object, ...] = ()


def read_packet(packet: bytes) -> list[Message]:
    """Return the messages of a packet, a message or a bundle, in their order; else raise OscError."""
    if len(packet) > LARGEST:
        raise OscError(f"a packet of more than {LARGEST} bytes")
    return [_message(one) for one in _unbundled(packet)]


def _unbundled(packet: bytes, depth: int = 0) -> Iterator[bytes]:
    """Yield the bytes of each message. Not python-osc's work: a negative size keeps it (1.10.2) busy for ever."""
    if not packet.startswith(BUNDLE):
        yield packet
        return
    if depth >= DEEPEST or len(packet) < HEADER:
        raise OscError("a bundle that is cut off, or too deep")
    at = HEADER
    while at < len(packet):
        size = int.from_bytes(packet[at : at + SIZE], signed=True)
        at += SIZE
        if size <= 0 or at + size > len(packet):
            raise OscError("a bundle that is cut off")
        yield from _unbundled(packet[at : at + size], depth + 1)
        at += size


def _message(packet: bytes) -> Message:
    from pythonosc import osc_message
    from pythonosc.parsing import osc_types

    if not packet.startswith(b"/"):
        raise OscError("an address must begin with /")
    try:
        _, at = osc_types.get_string(packet, 0)
        types = osc_types.get_string(packet, at)[0] if at < len(packet) else ""
        plain = types.replace("I", "N")  # an impulse has no bytes either, and python-osc does not know it
        if unknown := sorted(set(plain[1:]) - TYPES):
            raise OscError(f"arguments of type {unknown[0]!r} are not known")
        read = osc_message.OscMessage(packet[:at] + plain.encode() + packet[at + len(types.encode()) :])
    except (osc_types.ParseError, osc_message.ParseError):
        raise OscError("a message that is cut off") from None
    except UnicodeDecodeError:
        raise OscError("a text that is not UTF-8") from None
    return Message(read.address, tuple(read.params))


class Listener:
    """A UDP port that takes OSC messages, by its number or `HOST:PORT`; by itself only this computer is heard.

    Raise ServoError if it cannot listen there, MissingExtraError if the package that reads OSC is not installed.

    Attributes:
        address: where it listens, `HOST:PORT`.
    """

    def __init__(self, port: str) -> None:
        host, _, number = port.rpartition(":")
        if not number.isdecimal() or not 0 <= int(number) <= 65_535:
            raise ServoError(f"OSC needs a port such as 9000, or HOST:PORT for other computers, not {port!r}")
        with extra("osc"):
            import pythonosc.osc_message  # noqa: F401  before anything moves
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind((host or LOCAL, int(number)))
        except OSError as error:
            self._socket.close()
            raise ServoError(f"OSC cannot listen on {host or LOCAL}:{number} ({error.strerror})") from None
        self.address = "{}:{}".format(*self._socket.getsockname())

    def __enter__(self) -> Listener:
        """Listen."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the port."""
        self._socket.close()

    def messages(self) -> list[Message | OscError]:
        """Return what has come since the last call, without waiting; for a packet that is no OSC, the error."""
        found: list[Message | OscError] = []
        for _ in range(MOST):
            try:
                packet = self._socket.recv(LARGEST + 1)
            except OSError:  # nothing there; or, on Windows, an answer of ours was refused
                break
            try:
                found += read_packet(packet)
            except OscError as error:
                found.append(error)
        return found
