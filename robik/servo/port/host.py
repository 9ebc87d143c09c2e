"""The process that has the port: it plays on while its owner stalls, and stops as planned when the owner is gone.

python -P program.py servo.port.host      # messages on standard input, answers on standard output: see `messages`
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import IO, Any, NamedTuple

import numpy as np

from ..bus.schedule import take_precedence
from ..chain.chain import ServoChain
from ..chain.file import read_chain
from .board import Board
from .messages import along_from, pack, settings_from, status_data, tilt_from, unpack
from .outside import STOP, TORQUE_OFF, Notice, held
from .status import PlayState, Status
from .stream import Wishes
from .thread import PortThread

GLANCE = 0.01  # [s] between looks at the status, the owner, and whoever asks for a stop from outside
TELL_EVERY = 0.1  # [s]: this often also where nothing is new, so that the owner knows that this process is alive
ENDINGS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")  # which end in a soft stop, as where the owner dies


class Host:
    """A port with its thread, and an owner at the other end of a pipe, who reads `answers`."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._board, self._wishes = Board(), Wishes(inf)
        self._thread: PortThread | None = None
        self._chain: ServoChain | None = None
        self._limits: list[list[int]] = []
        self._beat, self._patience = time.perf_counter(), inf
        self._known = 0  # number of the last message that the status knows of
        self._why = ""  # it was stopped, if the owner did not ask for it
        self._is_left = False
        self._is_over = threading.Event()

    def greet(self) -> None:
        """Tell the owner that messages are heard; leave if it has gone already."""
        try:
            self._answers.write(pack("ready"))
            self._answers.flush()
        except OSError:
            self.leave()

    # what the owner says

    def listen(self, lines: Iterable[bytes]) -> None:
        """Obey the owner's messages, a line each, until there are no more; then stop softly and leave."""
        take_precedence()
        try:
            for line in lines:
                message = unpack(line)
                getattr(self, f"_do_{message.pop('do')}")(**message)
        finally:
            self.leave()

    def leave(self) -> None:
        """Stop softly, close the port, leave torque as it is."""
        self._is_left = True
        self._wishes.stop.set()
        if self._thread is not None:
            self._thread.end(0.0)

    def _do_open(self, chain: dict[str, Any], port: str, settings: dict[str, Any], message: str) -> None:
        self._chain, how = read_chain(chain, "the chain"), settings_from(settings)
        self._patience = how.heartbeat
        self._board.status = Status(PlayState.CONNECTING, message)
        thread = PortThread(self._chain, port, how, self._board, self._on_connected, self._wishes)
        self._do_beat()
        thread.start(lambda: None)
        self._thread = thread  # from here on, this process ends with it

    def _on_connected(self, chain: ServoChain, limits: np.ndarray) -> None:
        self._chain, self._limits = chain, limits.tolist()

    def _do_ask(self, number: int, command: str, arguments: list[Any], published: dict[str, Any]) -> None:
        assert self._thread is not None
        assert self._chain is not None
        self._why = ""
        if command in ("play", "perform"):
            arguments[0] = along_from(arguments[0], self._chain)
            arguments[4:] = [tilt_from(one) for one in arguments[4:] if one is not None]
        if "state" in published:
            published["state"] = PlayState(published["state"])
        self._do_beat()
        self._thread.ask(command, *arguments, **published)
        self._known = number

    def _do_press(self) -> None:
        assert self._thread is not None
        self._thread.press_emergency()

    def _do_release(self) -> None:
        assert self._thread is not None
        self._thread.release_emergency()

    def _do_stop(self) -> None:
        self._wishes.stop.set()

    def _do_pace(self, pace: float) -> None:
        self._wishes.pace = pace

    def _do_look_every(self, seconds: float) -> None:
        self._wishes.look_every = seconds

    def _do_traced(self, id: int) -> None:
        self._wishes.traced = id

    def _do_wish(self, values: list[float] | None) -> None:
        self._wishes.wish.set(None if values is None else np.array(values))

    def _do_show(self, begin: float) -> None:
        self._wishes.show.set(begin)

    def _do_clear(self) -> None:
        self._wishes.clear()

    def _do_beat(self) -> None:
        self._beat = time.perf_counter()

    def _do_end(self) -> None:
        self.leave()

    # watching and telling

    def run(self) -> None:
        """Watch the owner, and whoever asks from outside, until the port is closed."""
        while self._thread is None and not self._is_left:
            time.sleep(GLANCE)
        if self._thread is None or self._chain is None:
            return
        teller = threading.Thread(target=self._tell, daemon=True)
        teller.start()
        ports = held(self._chain, self._thread.port)
        with Notice(ports, lambda: self._worded(self._board.status)) as notice:
            while self._thread.is_alive:
                self._watch(notice)
                time.sleep(GLANCE)
        self._is_over.set()
        teller.join(TELL_EVERY)

    def _watch(self, notice: Notice) -> None:
        status = self._board.status
        asked = notice.look()
        if asked == TORQUE_OFF and self._thread is not None:
            self._why = "asked for outside"
            self._thread.press_emergency()
        elif asked == STOP and status.state.is_moving:
            self._stop("asked for outside")
        silent = time.perf_counter() - self._beat
        if silent > self._patience and status.state.is_moving:
            self._stop(f"not heard of for {self._patience:g} s")

    def _stop(self, why: str) -> None:
        if not self._wishes.stop.is_set():
            self._why = why
            self._wishes.stop.set()

    def _worded(self, status: Status) -> Status:
        """Say why it was stopped where nobody at the owner's asked for it."""
        if not self._why or status.state not in (PlayState.STOPPING, PlayState.HOLDING, PlayState.READY):
            return status
        return replace(status, message=f"{self._why}: {status.message}")

    def _tell(self) -> None:
        """Send the status whenever it is another; an owner that does not read holds nothing else up."""
        take_precedence()
        told, last = -inf, None  # a line is made of what is new alone: this thread looks a hundred times a second
        while True:
            now, state = time.perf_counter(), self._state()
            if state != last or now - told > TELL_EVERY:
                try:
                    self._answers.write(_line(state))
                    self._answers.flush()
                except (OSError, ValueError):  # it is gone
                    return
                told, last = now, state
            if state.is_over:
                return
            time.sleep(GLANCE)

    def _state(self) -> _State:
        assert self._thread is not None
        assert self._chain is not None
        is_over = self._is_over.is_set()  # first: what is published before that is told, too
        known, presses, is_cutting = self._known, self._thread.emergency.presses, self._thread.is_cutting
        status = self._board.status
        return _State(known, presses, is_cutting, self._chain.ids, self._limits, self._worded(status), is_over)


class _State(NamedTuple):
    """Content of a message to the owner.

    Attributes:
        number: of its last message that this knows of.
        presses, is_cutting: of the emergency stop, as `PortThread` has them.
        ids, limits: of the servos that are there; lowest and highest counts.
        status: of the player.
        is_over: whether the port is closed, and nothing more comes.
    """

    number: int
    presses: int
    is_cutting: bool
    ids: tuple[int, ...]
    limits: list[list[int]]
    status: Status
    is_over: bool


def _line(state: _State) -> bytes:
    return pack("status", **state._asdict() | {"status": status_data(state.status)})


def main() -> int:
    """Serve an owner on standard input and output, and return the exit code.

    All threads have the precedence of the one that plays: one that waits for a core while it holds Python's lock
    would hold that one up.
    """
    take_precedence()
    host = Host(sys.stdout.buffer)
    host.greet()
    for name in ENDINGS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: host.leave())
    threading.Thread(target=host.listen, args=(sys.stdin.buffer,), daemon=True).start()
    host.run()
    return 0


if __name__ == "__main__":
    os._exit(main())  # at once, whatever its threads wait for
