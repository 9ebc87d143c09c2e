"""A process of its own that has the port, as its owner sees it: as `PortThread`, where the owner may stall or die."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol

import numpy as np

from ... import program
from ...errors import ServoError
from ...tilt_feedback import TiltPlan
from ..chain.chain import ServoChain
from ..chain.file import chain_text
from ..chain.trajectory import Along
from ..simulator.simulation import Simulation
from .board import Board
from .messages import along_data, pack, settings_data, status_from, tilt_data, unpack
from .outbox import Outbox
from .remedies import halt
from .sent_wishes import SentWishes
from .status import PlaySettings, PlayState, Status
from .thread import SIMULATED, PortThread

HOST = "servo.port.host"
HUNG = 0.3  # [s] of silence after the emergency stop was pressed, until the process is ended and torque cut from here
ENDING = 3.0  # [s] that the process gets to leave when its port is closed


class PortOwner(Protocol):
    """Owner of a player's port: `PortThread` or `PortProcess`."""

    wishes: Any
    simulation: Simulation | None

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs."""

    @property
    def is_cutting(self) -> bool:
        """Return whether it is cutting torque."""

    def start(self, before: Callable[[], None]) -> None:
        """Start the process; call `before` first, which may be slow."""

    def ask(self, command: str, *arguments: Any, **published: Any) -> None:
        """Ask the process for a command; the status says `published` at once."""

    def press_emergency(self) -> None:
        """Press the emergency stop."""

    def release_emergency(self) -> None:
        """Release the emergency stop."""

    def end(self, timeout: float) -> None:
        """End the process, by force after a timeout [s]."""


class PortProcess:
    """A process that opens the port, connects, does what is asked for, and closes it.

    `on_connected` is called with the chain and its count limits (n, 2) before the servos that are there are
    published.

    Attributes:
        wishes: the owner's.
        simulation: the simulated chain, while it runs.
    """

    def __init__(
        self,
        chain: ServoChain,
        port: str,
        settings: PlaySettings,
        board: Board,
        on_connected: Callable[[ServoChain, np.ndarray], None],
    ) -> None:
        self.wishes = SentWishes(self._send)
        self.simulation: Simulation | None = None
        self._chain, self._port, self._settings = chain, port, settings
        self._board, self._on_connected = board, on_connected
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None  # once it can be spoken to
        self._outbox = Outbox()
        self._thread: threading.Thread | None = None
        self._rescue: PortThread | None = None  # turns torque off where there is no process to do it
        self._is_running = self._is_told_over = False
        self._asked = self._presses = 0
        self._known_presses, self._is_known_cutting = 0, False
        self._heard = time.perf_counter()
        self._connected: tuple[list[int], list[list[int]]] = ([], [])

    @property
    def is_alive(self) -> bool:
        """Return whether it has the port, or is about to."""
        return self._is_running or (self._rescue is not None and self._rescue.is_alive)

    @property
    def is_cutting(self) -> bool:
        """Return whether the emergency stop was pressed, and torque-off has not been sent since."""
        if self._rescue is not None and self._rescue.is_cutting:
            return True
        return self._is_running and (self._presses > self._known_presses or self._is_known_cutting)

    def start(self, before: Callable[[], None]) -> None:
        """Open the port and connect, after `before`, which may be slow."""
        self._is_running = True
        self._thread = threading.Thread(target=self._run, args=(before,), name=f"process of {self._port}", daemon=True)
        self._thread.start()

    def ask(self, command: str, *arguments: Any, **published: Any) -> None:
        """Call a command of `Session`, unless the emergency stop is pressed before.

        The status says `published` until it is done.
        """
        sent = [self._data(one) for one in arguments]
        with self._lock:  # a status that does not know of this must not be published after it
            if published:
                self._board.publish(**published)
            self._asked += 1
            self._send("ask", number=self._asked, command=command, arguments=sent, published=published)

    def _data(self, one: Any) -> Any:
        """Return an argument of a command as JSON knows it."""
        if isinstance(one, Along):
            return along_data(one, self._chain)
        return tilt_data(one) if isinstance(one, TiltPlan) else one

    def press_emergency(self) -> None:
        """Turn torque off, now, whatever goes on; where the port is closed it is opened for that."""
        with self._lock:
            self._presses += self._is_running
            if self._process is not None:
                threading.Thread(target=self._end_if_hung, args=(self._process,), daemon=True).start()
            self._send("press")
            if self._process is None:
                self._cut_from_here()

    def release_emergency(self) -> None:
        """Let torque be turned on again, since the user has asked for it."""
        self._send("release")

    def end(self, timeout: float) -> None:
        """Close the port once all that was asked for is done; wait at most `timeout` [s]."""
        self._send("end")
        if self._thread is not None and timeout > 0:
            self._thread.join(timeout)

    # the pipe

    def _send(self, do: str, is_newest: bool = False, **content: Any) -> None:
        """Send a message; of those that say how things are now, only the newest waits for a process that hangs."""
        with self._lock:
            if self._is_running:
                self._outbox.send(pack(do, **content), do if is_newest else "")

    def _run(self, before: Callable[[], None]) -> None:
        try:
            process = _started()
        except OSError as error:
            self._fail(f"the process that plays cannot be started: {error}")
            self._is_running = False
            return
        said = ""
        try:
            before()
            self._open(process)
            self._listen(process)
        except ServoError as error:
            said = str(error)
        finally:
            self._clear_up(process, said)

    def _open(self, process: subprocess.Popen[bytes]) -> None:
        port = self._port
        if port == SIMULATED:
            self.simulation = Simulation(self._chain)
            self._chain, port = self.simulation.chain, self.simulation.port
        how = {"chain": json.loads(chain_text(self._chain)), "port": port, "settings": settings_data(self._settings)}
        assert process.stdout is not None
        if not process.stdout.readline():  # until then, an emergency stop is answered from here
            raise ServoError("the process that plays does not start")
        while not self._hand_over(process, how):
            time.sleep(0.01)

    def _hand_over(self, process: subprocess.Popen[bytes], how: dict[str, Any]) -> bool:
        """Let the process open the port, unless it is open here to turn torque off: two cannot have it."""
        with self._lock:
            if self._rescue is not None and self._rescue.is_alive:
                return False
            self._heard = time.perf_counter()
            assert process.stdin is not None
            self._outbox.open(process.stdin, pack("open", **how, message=self._board.status.message))
            self._process = process
            return True

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            content = unpack(line)
            with self._lock:
                self._take(**content)

    def _take(
        self,
        do: str,
        number: int,
        presses: int,
        is_cutting: bool,
        ids: list[int],
        limits: list[list[int]],
        status: dict[str, Any],
        is_over: bool,
    ) -> None:
        """Take in what the process says of itself."""
        self._heard, self._is_told_over = time.perf_counter(), is_over
        self._known_presses, self._is_known_cutting = presses, is_cutting
        if limits and self._connected != (ids, limits):
            self._connected = ids, limits
            there = tuple(servo for servo in self._chain.servos if servo.id in ids)
            self._on_connected(replace(self._chain, servos=there), np.array(limits))
        if number >= self._asked:
            said = status_from(status)
            self._board.publish(**{field.name: getattr(said, field.name) for field in fields(Status)})

    def _clear_up(self, process: subprocess.Popen[bytes], said: str) -> None:
        """Clear up: the process has ended, or is not needed."""
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            self._process = None
        self._outbox.close(process.stdin)
        process.stdout.close()
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        state = self._board.status.state
        if said or not self._is_told_over or state is PlayState.CONNECTING or state.is_moving:
            self._fail(said or f"the process that plays has ended ({process.returncode}); {self._guard_words}")
        if self.simulation is not None:
            self.simulation.end()
            self.simulation = None
            self._board.forget_simulated()
        with self._lock:
            is_unserved = self.is_cutting
            self._is_running = False
            if is_unserved:
                self._cut_from_here()

    @property
    def _guard_words(self) -> str:
        return f"{halt(self._chain, self._settings.watchdog)}; connect again"

    def _fail(self, message: str) -> None:
        unknown = tuple(replace(servo, torque=None) for servo in self._board.status.servos)
        self._board.publish(state=PlayState.FAULT, message=message, servos=unknown)

    # the emergency stop, where the process cannot

    def _end_if_hung(self, process: subprocess.Popen[bytes]) -> None:
        """End a process that does not answer any more; whoever listens to it then turns torque off from here."""
        time.sleep(HUNG)
        if self.is_cutting and time.perf_counter() - self._heard > HUNG:
            process.kill()

    def _cut_from_here(self) -> None:
        if self._port == SIMULATED:  # whose servos are gone with it, or are yet to come
            return
        if self._rescue is None or not self._rescue.is_alive:
            self._rescue = PortThread(self._chain, self._port, self._settings, self._board, self._on_connected)
        self._rescue.press_emergency()


def _started() -> subprocess.Popen[bytes]:
    """Return the process, which waits to be told its port. What ends the owner by a key or a signal does not end it."""
    windows: dict[str, Any] = {
        "creationflags": 0x08000000 | 0x00000200 | 0x00000080
    }  # no window, own group, high priority
    others: dict[str, Any] = {"start_new_session": True}
    return subprocess.Popen(
        program.command(HOST),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=program.environment(),
        bufsize=-1,
        **(windows if sys.platform == "win32" else others),
    )
