"""Emergency stop: a state that every read and write of the port looks at."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

SLICE = 0.005  # [s] of waiting at a time: the emergency stop may be pressed meanwhile
PASSING = 0.3  # [s] that another program gets to let go of a port on which torque is to be turned off


class EmergencyStopped(Exception):
    """The emergency stop was pressed while the port was in use.

    No `ServoError`: nobody but the port's loop may answer it.
    """


class Emergency:
    """A latch between whoever presses the emergency stop and the thread that owns the port.

    Pressed, it stays pressed until the user turns torque on: until then no packet but torque-off changes a servo. It is
    pending until torque-off has been sent: until then no packet but torque-off is sent at all, and no answer is waited
    for.

    Attributes:
        presses: count of presses; a command from before the latest one is out of date.
        passes_at: when ports may be opened beside another program's lock [s]: see `let_pass`.
        has_passed: whether one was.
    """

    def __init__(self) -> None:
        self.presses = 0
        self.has_passed = False
        self.passes_at = inf
        self._served = 0
        self._pressed = threading.Event()
        self._is_serving = False

    @property
    def is_pressed(self) -> bool:
        """Return whether it was pressed, and torque has not been asked for since."""
        return self._pressed.is_set()

    @property
    def is_pending(self) -> bool:
        """Return whether it was pressed, and torque-off has not been sent since."""
        return self.presses > self._served

    def press(self) -> None:
        """Ask for torque-off. Any thread may."""
        self._pressed.set()
        self.presses += 1

    def release(self) -> None:
        """Let packets change servos again, since the user has asked for torque."""
        self._pressed.clear()

    def let_pass(self, seconds: float = PASSING) -> None:
        """Let ports be opened beside another program's lock, which may hang, to turn torque off alone."""
        self.passes_at = time.perf_counter() + seconds

    def forbid_passing(self) -> None:
        """Open ports for this program alone again."""
        self.passes_at, self.has_passed = inf, False

    def check(self, changes: bool = False) -> None:
        """Raise EmergencyStopped if the work must stop.

        `changes` says that a packet that changes a servo is about to be sent.
        """
        if not self._is_serving and (self.is_pending or (changes and self.is_pressed)):
            raise EmergencyStopped

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`; raise EmergencyStopped when the stop is pressed."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.check()
            time.sleep(min(left, SLICE))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Let the owner of the port turn torque off within this.

        Presses from before the beginning are served if it does not fail.
        """
        presses = self.presses
        self._is_serving = True
        try:
            yield
            self._served = presses
        finally:
            self._is_serving = False
