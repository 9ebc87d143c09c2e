"""Messages of OSC 1.0 (Open Sound Control) over UDP, which sound and light desks, tablets and game controllers send."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ..errors import ServoError

BUNDLE = b"#bundle\0"
HEADER = len(BUNDLE) + 8  # of a bundle: its time follows, which is not waited for
NUMBERS = {"i": ">i", "f": ">f", "h": ">q", "d": ">d"}  # types of arguments, as `struct` has them
WITHOUT_BYTES = {"T": True, "F": False, "N": None, "I": None}
DEEPEST = 8  # bundles in bundles
LARGEST = 65_536  # bytes of a packet
MOST = 32  # packets that are read at a time
LOCAL = "127.0.0.1"


class OscError(Exception):
    """A packet that is no OSC; its text says why."""


@dataclass(frozen=True)
class Message:
    """A message.

    Attributes:
        address: such as `/robik/act`.
        arguments: numbers and texts.
    """

    address: str
    arguments: tuple[object, ...] = ()


def read_packet(packet: bytes, depth: int = 0) -> list[Message]:
    """Return the messages of a packet, in their order.

    Args:
        packet: Bytes of a message or a bundle.
        depth: Of the bundles around it.

    Returns:
        Messages.

    Raises:
        OscError: It is neither.
    """
    if not packet.startswith(BUNDLE):
        return [_message(packet)]
    if depth >= DEEPEST or len(packet) < HEADER:
        raise OscError("a bundle that is cut off, or too deep")
    found, at = [], HEADER
    while at < len(packet):
        (size,) = _unpacked(">i", packet, at)
        at += 4
        if size <= 0 or size % 4 or at + size > len(packet):
            raise OscError("a bundle that is cut off")
        found += read_packet(packet[at : at + size], depth + 1)
        at += size
    return found


def _message(packet: bytes) -> Message:
    address, at = _text(packet, 0)
    if not address.startswith("/"):
        raise OscError("an address must begin with /")
    if at == len(packet):  # of old senders
        return Message(address)
    types, at = _text(packet, at)
    if not types.startswith(","):
        raise OscError("the types of the arguments are missing")
    arguments: list[object] = []
    for one in types[1:]:
        if one in NUMBERS:
            arguments += _unpacked(NUMBERS[one], packet, at)
            at += struct.calcsize(NUMBERS[one])
        elif one == "s":
            text, at = _text(packet, at)
            arguments.append(text)
        elif one in WITHOUT_BYTES:
            arguments.append(WITHOUT_BYTES[one])
        else:
            raise OscError(f"arguments of type {one!r} are not known")
    return Message(address, tuple(arguments))


def _text(packet: bytes, at: int) -> tuple[str, int]:
    """Return a text that ends with a zero, and where it is over: at a multiple of four."""
    end = packet.find(b"\0", at)
    if end < 0:
        raise OscError("a text that does not end")
    try:
        return packet[at:end].decode(), min(len(packet), end + 4 - end % 4)
    except UnicodeDecodeError:
        raise OscError("a text that is not UTF-8") from None


def _unpacked(form: str, packet: bytes, at: int) -> tuple[Any, ...]:
    try:
        return struct.unpack_from(form, packet, at)
    except struct.error:
        raise OscError("a message that is cut off") from None


class Listener:
    """A UDP port that takes OSC messages.

    Args:
        port: its number, or `HOST:PORT`; by itself only this computer is heard.

    Attributes:
        address: where it listens, `HOST:PORT`.

    Raises:
        ServoError: it cannot listen there; says why.
    """

    def __init__(self, port: str) -> None:
        host, _, number = port.rpartition(":")
        if not number.isdecimal() or not 0 <= int(number) <= 65_535:
            raise ServoError(f"OSC needs a port such as 9000, or HOST:PORT for other computers, not {port!r}")
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
        """Close the port."""
        self._socket.close()

    def messages(self) -> list[Message | OscError]:
        """Return what has come since the last call, without waiting.

        Returns:
            Messages, and for each packet that is no OSC what is wrong with it.
        """
        found: list[Message | OscError] = []
        for _ in range(MOST):
            try:
                packet = self._socket.recv(LARGEST)
            except OSError:  # nothing there; or, on Windows, an answer of ours was refused
                break
            try:
                found += read_packet(packet)
            except OscError as error:
                found.append(error)
        return found
