"""Requests to a show that plays: by keys, and by OSC messages from a desk, a tablet or another program.

The messages are /robik/act with the name or the number of an act, or /robik/act/NAME, /robik/next, /robik/pause,
/robik/resume and /robik/stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..servo.play.controls import Controls
from .osc import Listener, Message, OscError

MOST_TOLD = 20  # kinds of messages that are no requests, of which the user is told


class Ask(Enum):
    """Kinds of requests; values are the last parts of their OSC addresses."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    NEXT = "next"
    ACT = "act"
    TOGGLE = ""  # space: pause, or go on


ADDRESSES = {f"/robik/{ask.value}": ask for ask in Ask if ask.value}
ACT = "/robik/act"


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes:
        ask: for what.
        act: its name or its number, from 1 on; empty but where an act is asked for.
    """

    ask: Ask
    act: str = ""


class Requests:
    """Requests from keys and from OSC, as they come; nobody is heard without a listener.

    `tell` is called with what the user should know.
    """

    def __init__(self, pressed: Controls, listener: Listener | None, tell: Callable[[str], None]) -> None:
        self._pressed, self._listener, self._tell = pressed, listener, tell
        self._stops = self._pauses = self._nexts = 0
        self._told: set[str] = set()

    def take(self) -> list[Request]:
        """Return what was asked for since the last call, once each; the keys must have been looked at."""
        found: dict[Ask, Request] = {}
        for key, ask in (("stops", Ask.STOP), ("pauses", Ask.TOGGLE), ("nexts", Ask.NEXT)):
            count = getattr(self._pressed, key)
            if count > getattr(self, f"_{key}"):
                setattr(self, f"_{key}", count)
                found[ask] = Request(ask)
        for message in self._listener.messages() if self._listener is not None else ():
            if isinstance(message, OscError):
                self._refuse(str(message))
            elif (request := self._request(message)) is not None:
                found[request.ask] = request
        return list(found.values())

    def _request(self, message: Message) -> Request | None:
        value = message.arguments[0] if message.arguments else None
        is_button = message.address != ACT
        if is_button and isinstance(value, int | float) and value == 0:
            return None  # it was let go: its message comes twice
        if message.address.startswith(f"{ACT}/"):
            return Request(Ask.ACT, message.address.removeprefix(f"{ACT}/"))
        if message.address not in ADDRESSES:
            self._refuse(f"{message.address} is not known; there are {', '.join(ADDRESSES)}")
            return None
        if is_button:
            return Request(ADDRESSES[message.address])
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, str | int) or isinstance(value, bool):
            self._refuse(f"{ACT} needs the name of an act, or its number")
            return None
        return Request(Ask.ACT, str(value))

    def _refuse(self, what: str) -> None:
        if what not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(what)
            self._tell(f"warning: OSC: {what}")
