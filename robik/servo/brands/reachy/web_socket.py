"""A WebSocket that never waits: what has arrived is taken in, what cannot be sent yet is kept."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from websockets.client import ClientProtocol
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from .address import Address

OPENING = 2.0  # [s] that the other end gets to accept
PIECE = 65_536  # bytes that are taken in at a time


class WebSocket:
    """An open WebSocket to a server's endpoint. One thread at a time uses it.

    `pause` waits for a time [s], or raises when it must not go on. Raise OSError if there is no such server, or it
    refuses; its methods do if it is closed.
    """

    def __init__(self, address: Address, path: str, pause: Callable[[float], None] = time.sleep) -> None:
        host = f"[{address.host}]" if ":" in address.host else address.host
        self._protocol = ClientProtocol(parse_uri(f"ws://{host}:{address.port}{path}"))
        self._unsent = bytearray()
        self._parts: list[bytes] = []
        self._texts: list[str] = []
        self._is_accepted = False
        self._socket = socket.create_connection(address, OPENING)
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._protocol.send_request(self._protocol.connect())
            self._shake_hands(pause)
        except BaseException:
            self._socket.close()
            raise

    def _shake_hands(self, pause: Callable[[float], None]) -> None:
        until = time.perf_counter() + OPENING
        while not self._is_accepted:
            self.pump()
            if time.perf_counter() > until:
                raise TimeoutError("it does not answer")
            pause(0.002)

    @property
    def is_clogged(self) -> bool:
        """Return whether what was sent earlier still waits here: the other end does not read."""
        return bool(self._unsent)

    def close(self) -> None:
        """Close it."""
        try:
            self._protocol.send_close()
            self._flush()
        except (OSError, WebSocketException):
            pass  # the other end is gone, or never was there
        self._socket.close()

    def send(self, text: str) -> None:
        """Send a text, or keep it for the next `pump` where the other end does not read."""
        try:
            self._protocol.send_text(text.encode())
        except WebSocketException as error:
            raise ConnectionError(str(error)) from None
        self._flush()

    def pump(self) -> list[str]:
        """Send what is left, answer pings, and return the texts that have arrived, in order."""
        is_open = True
        while is_open and (data := self._received()) is not None:
            self._protocol.receive_data(data)  # nothing where the other end has closed
            is_open = bool(data)
        for event in self._protocol.events_received():
            self._take(event)
        if self._protocol.handshake_exc is not None:
            raise ConnectionError(f"it is no daemon: {self._protocol.handshake_exc}")
        self._flush()
        if not is_open or (self._is_accepted and self._protocol.state is not State.OPEN):
            raise ConnectionError("it closed the connection")
        texts, self._texts = self._texts, []
        return texts

    def _received(self) -> bytes | None:
        try:
            return self._socket.recv(PIECE)
        except BlockingIOError:
            return None

    def _take(self, event: object) -> None:
        if isinstance(event, Response):
            self._is_accepted = self._protocol.handshake_exc is None
        elif isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.CONT):
            self._parts.append(bytes(event.data))
            if event.fin:
                self._texts.append(b"".join(self._parts).decode(errors="replace"))
                self._parts.clear()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            self._unsent += data
        while self._unsent:
            try:
                del self._unsent[: self._socket.send(self._unsent)]
            except BlockingIOError:
                return
