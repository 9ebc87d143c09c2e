"""Controls of a program that plays in a terminal: keys, and signals that ask it to end."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ESCAPE, PAUSE, TORQUE_OFF, NEXT = "\x1b", " ", "t", "n"
SEQUENCE = re.compile("\x1b[\\[O][0-9;?]*[ -/]*[@-~]|[\0\xe0].", re.DOTALL)  # of an arrow or a function key; Windows'
RELEASED = (
    2.0  # [s] without a press, after which the next is another: a key that is held repeats sooner on every system
)
ENDINGS = (
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGBREAK",
)  # Ctrl-C; asked to end; the terminal is closed; Ctrl-Break on Windows


class Controls:
    """Presses so far. A key that is held, or hit again within `RELEASED`, is one press.

    `keys` returns the keys since the last call, those without a letter as the sequences that terminals make of
    them.

    Attributes:
        stops: presses of ESC and signals that ask for the end.
        pauses: presses of space.
        nexts: presses of N.
        is_torque_off: whether torque-off was asked for: by its key, or by a second stop.
    """

    def __init__(self, keys: Callable[[], str] = lambda: "", now: Callable[[], float] = time.perf_counter) -> None:
        self.stops = self.pauses = self.nexts = 0
        self.is_torque_off = False
        self._keys, self._now = keys, now
        self._last = -RELEASED
        self._signals: list[None] = []

    def interrupt(self) -> None:
        """Count a signal as a stop, at the next `look`."""
        self._signals.append(None)

    def look(self) -> None:
        """Take in what was pressed since the last look."""
        pressed = SEQUENCE.sub("", self._keys())
        signals, self._signals = self._signals, []
        if ESCAPE in pressed or signals:
            now = self._now()
            if now - self._last >= RELEASED:
                self.stops += 1
            self._last = now
        self.pauses += PAUSE in pressed
        self.nexts += NEXT in pressed.lower()
        self.is_torque_off |= TORQUE_OFF in pressed.lower() or self.stops > 1


@contextmanager
def controls() -> Iterator[Controls]:
    """Turn keys and signals into presses within this context, instead of ending the program."""
    with _keys() as keys:
        made = Controls(keys)
        with on_endings(made.interrupt):
            yield made


@contextmanager
def on_endings(act: Callable[[], None]) -> Iterator[None]:
    """Call a function at each signal that asks for the end, where signals are available."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda *_: act()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Return a function that returns the keys pressed since its last call, without waiting and without Enter."""
    if not _is_terminal():
        yield lambda: ""
    elif sys.platform == "win32":
        import msvcrt

        def hit() -> str:
            keys = ""
            while msvcrt.kbhit() or keys[-1:] in ("\0", "\xe0"):  # the rest of an arrow key is there
                keys += msvcrt.getwch()
            return keys

        yield hit
    else:
        import select
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)

        def pressed() -> str:
            try:  # the terminal may be closed at any time
                there = select.select([sys.stdin], [], [], 0)[0]
                return os.read(sys.stdin.fileno(), 64).decode("ascii", "ignore") if there else ""
            except (OSError, ValueError):
                return ""

        try:
            yield pressed
        finally:
            with suppress(termios.error, OSError, ValueError):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _is_terminal() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False
