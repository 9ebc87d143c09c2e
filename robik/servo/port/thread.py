"""The thread that owns the port: it does what is asked for, and looks at the servos while nothing is."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np

from ...errors import ServoError
from ..bus.bus import Bus
from ..bus.connecting import Unfit
from ..bus.emergency import Emergency, EmergencyStopped
from ..bus.line import PortGone, ServoSilent
from ..bus.schedule import take_precedence
from ..chain.chain import ServoChain
from ..chain.port_name import SIMULATED
from ..simulator.simulation import Simulation
from .board import Board
from .outside import ports_of, tell_torque_off
from .remedies import halt, way_on
from .session import Session
from .status import OFF, PlaySettings, PlayState, torque_words
from .stream import Wishes
from .users import users_words

PATIENT_LOOKS = 3  # that may fail in a row


class PortThread:
    """A thread that opens the port, connects, does what is asked for, and closes it.

    Its methods without an underscore are for other threads. `on_connected` is called with the chain and its count
    limits (n, 2) before the servos that are there are published.

    Attributes:
        wishes, port: the owner's, and the port that it opens.
        emergency: the owner's emergency stop.
        simulation: the simulated chain, while it runs.
    """

    def __init__(
        self,
        chain: ServoChain,
        port: str,
        settings: PlaySettings,
        board: Board,
        on_connected: Callable[[ServoChain, np.ndarray], None],
        wishes: Wishes | None = None,
    ) -> None:
        self.emergency, self.wishes, self.port = Emergency(), wishes or Wishes(settings.heartbeat), port
        self.simulation: Simulation | None = None
        self._chain, self._settings = chain, settings
        self._board, self._on_connected = board, on_connected
        self._commands: queue.SimpleQueue[tuple[int, Callable[[Session], None]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_running = self._ending = False

    @property
    def is_alive(self) -> bool:
        """Return whether it has the port, or is about to."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, before: Callable[[], None]) -> None:
        """Open the port and connect, after `before`, which may be slow."""
        self._start(lambda: self._run(before))

    def ask(self, command: str, *arguments: object, **published: object) -> None:
        """Call a command of `Session`, unless the emergency stop is pressed before.

        The status says `published` until it is done.
        """
        if published:
            self._board.publish(**published)
        self._put(lambda session: getattr(session, command)(*arguments))

    def _put(self, command: Callable[[Session], None]) -> None:
        self._commands.put((self.emergency.presses, command))

    @property
    def is_cutting(self) -> bool:
        """Return whether the emergency stop was pressed, and torque-off has not been sent since."""
        return self.emergency.is_pending

    def release_emergency(self) -> None:
        """Let torque be turned on again, since the user has asked for it."""
        self.emergency.release()

    def press_emergency(self) -> None:
        """Turn torque off, now, whatever goes on; where the port is closed it is opened for that."""
        with self._lock:
            self.emergency.press()
            wakes = self._is_running
        if wakes:
            self._put(lambda _: None)  # wakes it, should it wait for a command
        elif self.port != SIMULATED:  # whose servos are gone with it
            self._start(self._run_for_emergency)

    def end(self, timeout: float) -> None:
        """Close the port once all that was asked for is done; wait at most `timeout` [s]."""
        self._ending = True
        if self._thread is not None and timeout > 0:
            self._thread.join(timeout)

    # the thread

    def _start(self, run: Callable[[], None]) -> None:
        self._is_running = True
        self._thread = threading.Thread(target=run, name=f"servos on {self.port}", daemon=True)
        self._thread.start()

    def _run(self, before: Callable[[], None]) -> None:
        before()
        try:
            if self.port == SIMULATED:
                self.simulation = Simulation(self._chain)
            with closing(self._open()) as bus:
                take_precedence()
                self._serve(self._session(bus))
        except ServoError as error:
            unknown = tuple(replace(servo, torque=None) for servo in self._board.status.servos)
            self._board.publish(state=PlayState.FAULT, message=str(error), servos=unknown)
        except Exception as error:  # a mistake of ours must not leave an owner waiting for a thread that is gone
            self._board.publish(
                state=PlayState.FAULT,
                message=f"the player broke down ({error!r}); {halt(self._chain, self._settings.watchdog)}",
            )
            raise
        finally:
            if self.simulation is not None:
                self.simulation.end()
                self.simulation = None
                self._board.forget_simulated()
            self._leave()

    def _open(self, needs_all: bool = True) -> Bus:
        if self.simulation:
            return Bus(self.simulation.chain, self.simulation.port, self._settings.silence, self.emergency)
        return Bus(self._chain, self.port, self._settings.silence, self.emergency, needs_all)

    def _session(self, bus: Bus) -> Session:
        return Session(bus, self._settings, self.wishes, self._board, self._on_connected)

    def _leave(self) -> None:
        """End the thread; but not with an emergency stop that nobody answered."""
        with self._lock:
            self._is_running = self.emergency.is_pending and self.port != SIMULATED
        if self._is_running:
            self._run_for_emergency()

    def _run_for_emergency(self) -> None:
        """Open the port to turn torque off, and for nothing else."""
        self._board.publish(state=PlayState.CONNECTING, message=f"turning torque off on {self.port}")
        self.emergency.let_pass()
        for port in self._ports:
            tell_torque_off(port)  # who turns torque off itself, and then knows of it, is better than who is passed
        try:
            with closing(self._open(needs_all=False)) as bus:
                self._session(bus).torque_off(OFF)
            torque = torque_words(self._board.status.servos)
            self._board.publish(state=PlayState.CLOSED, message=f"port closed, {torque}{self._beside}")
        except ServoError as error:
            self._board.publish(
                state=PlayState.FAULT,
                message=f"torque could not be turned off: {error}{self._beside}; switch the power off",
            )
        finally:
            self.emergency.forbid_passing()
            self._is_running = False

    @property
    def _ports(self) -> list[str]:
        return ports_of(self._chain, self.port)

    @property
    def _beside(self) -> str:
        """Return who holds a port that was opened nevertheless, in words."""
        if not self.emergency.has_passed:
            return ""
        users = dict.fromkeys(users_words(port) for port in self._ports)
        return f"; {' and '.join(users)} still holds the port"

    def _serve(self, session: Session) -> None:
        """Do what is asked for until the owner leaves; an emergency stop comes first."""
        with suppress(EmergencyStopped):
            self._connect(session)
        failed = 0
        while self.emergency.is_pending or not (self._ending and self._commands.empty()):
            try:
                failed = self._turn(session, failed)
            except EmergencyStopped:
                continue
            except PortGone:
                raise
            except ServoError as error:
                self._fail(session, error)
        self._close(session)

    def _connect(self, session: Session) -> None:
        try:
            session.connect()
        except Unfit as unfit:  # what is wrong with them can be mended, with the port open
            self._fail(session, unfit)

    def _turn(self, session: Session, failed: int) -> int:
        """Do what comes next; returns how many looks in a row have failed."""
        if self.emergency.is_pending:
            session.torque_off(OFF)
            return 0
        try:
            presses, command = self._commands.get(timeout=self.wishes.pause)
        except queue.Empty:
            return self._look(session, failed)
        if presses == self.emergency.presses:
            command(session)
        return 0

    def _fail(self, session: Session, error: ServoError) -> None:
        """Tell of a fault, and of the torque that there is now.

        What moved has been looked at just before: that waits for no answer.
        """
        way = f"; {way_on(str(error))}" if isinstance(error, ServoSilent) else ""
        fault = {"state": PlayState.FAULT, "message": f"{error}{way}"}
        has_moved = self._board.status.state.is_moving
        if has_moved:
            self._board.publish(**fault)
        try:
            session.survey()
        except EmergencyStopped:
            return
        if not has_moved:
            self._board.publish(**fault)

    def _close(self, session: Session) -> None:
        try:
            session.survey()
        except EmergencyStopped:
            return  # `_leave` answers it
        self._board.publish(state=PlayState.CLOSED, message=f"port closed, {torque_words(self._board.status.servos)}")

    def _look(self, session: Session, failed: int) -> int:
        """Look at the servos while nothing moves.

        Also in a fault, in which some may still be powered, or may get hot. While the emergency lasts, whatever has
        torque is told again.
        """
        if self._board.status.state is PlayState.CONNECTING:
            return failed
        had_torque = self._board.status.may_have_torque
        try:
            if self._board.status.state is PlayState.FAULT:
                session.survey()
            else:
                session.look()
            if self.emergency.is_pressed and (had_torque or self._board.status.may_have_torque):
                session.torque_off(OFF)
        except PortGone:
            raise
        except ServoSilent as silent:
            if failed + 1 == PATIENT_LOOKS:
                self._board.complain(f"{silent}; {way_on(str(silent))}")
            return failed + 1
        except ServoError as error:
            self._board.complain(str(error))
        return 0
