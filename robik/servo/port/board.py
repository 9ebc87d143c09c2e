"""The board on which the port's thread and the owner of a player publish its status."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from .status import PlayState, Status


class Board:
    """A status that two threads change. Nobody holds its lock while waiting.

    Attributes:
        status: where the player stands now; whoever reads it may keep it.
    """

    def __init__(self) -> None:
        self.status = Status()
        self._lock = threading.Lock()

    def publish(self, **changes: object) -> None:
        """Change fields of the status; a change by the other thread is not lost.

        Where the servos are is known as of now, unless the change itself says since when.
        """
        if "present" in changes:
            changes.setdefault("seen", time.perf_counter())
        with self._lock:
            self.status = replace(self.status, **changes)  # type: ignore[arg-type]

    def complain(self, message: str) -> None:
        """Publish a fault, unless the owner has meanwhile asked to connect again, which reports its own result."""
        with self._lock:
            if self.status.state is not PlayState.CONNECTING:
                self.status = replace(self.status, state=PlayState.FAULT, message=message)

    def forget_simulated(self) -> None:
        """Publish that the simulated servos are gone, and their torque with them."""
        with self._lock:
            none = tuple(replace(servo, torque=False) for servo in self.status.servos)
            is_closed = self.status.state is PlayState.CLOSED
            message = "port closed, the simulated servos are gone" if is_closed else self.status.message
            self.status = replace(self.status, servos=none, message=message)
