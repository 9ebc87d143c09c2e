"""Work on a port in a thread of its own, for an interface that never waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...errors import ServoError


class Task:
    """Work in a thread, which begins at once.

    `work` gets this task, may publish progress by `say`, and should end when `is_cancelled`.

    Attributes:
        said: its latest progress in words.
        result: what `work` gave; None before it is done, or if it failed.
        error: why it failed, in words; empty if it did not.
    """

    def __init__(self, work: Callable[[Task], Any]) -> None:
        self.said, self.error = "", ""
        self.result: Any = None
        self._work, self._cancelled = work, threading.Event()
        self._thread = threading.Thread(target=self._run, name="setting up servos", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._work(self)
        except ServoError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"setting up broke down ({error!r})"
            raise

    @property
    def is_done(self) -> bool:
        """Return whether it has ended, in whichever way."""
        return not self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        """Return whether it should end."""
        return self._cancelled.is_set()

    def say(self, text: str) -> None:
        """Publish the task's progress."""
        self.said = text

    def cancel(self) -> None:
        """Ask it to end."""
        self._cancelled.set()

    def wait(self, timeout: float) -> Any:
        """Wait for the result, for scripts; raise ServoError if it failed, or takes longer than `timeout` [s]."""
        self._thread.join(timeout)
        if not self.is_done:
            raise ServoError(f"setting up the servos takes more than {timeout:g} s ({self.said})")
        if self.error:
            raise ServoError(self.error)
        return self.result
