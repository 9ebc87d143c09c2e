"""Playing a motion on servos, safely.

One thread owns the port. Everybody else talks to a `Player`, whose methods never wait for the port, and looks at its `status`.

    closed → connecting → ready (torque off) ⇄ holding (torque on) → approaching → playing ⇄ paused → holding
                                                        │            live → holding
                                                        └── stopping (soft) → holding;  any fault → fault

From every state the emergency stop leads to ready: torque-off is the next packet on the wire, also where the port is closed and has to
be opened for it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np

from robik.errors import ServoError
from robik.retarget.motion import Motion
from robik.servo.bus import Bus, PortGone, ServoSilent
from robik.servo.chain import ServoChain
from robik.servo.connecting import Unfit
from robik.servo.emergency import Emergency, EmergencyStopped
from robik.servo.preflight import Preflight, preflight
from robik.servo.recording import check_writable
from robik.servo.schedule import take_precedence
from robik.servo.session import Session, way_on
from robik.servo.simulator.server import SimulatorProcess
from robik.servo.status import OFF, PlaySettings, PlayState, Status, torque_words
from robik.servo.stream import Wishes
from robik.servo.trajectory import Along, part

SIMULATED = "sim"  # the port that is a simulated chain, started and ended by the player
LOOK = 0.05  # [s] between looks at the servos while nothing plays
LEAVING = 10.0  # [s] that another player gets to let go of the port
PATIENT_LOOKS = 3  # that may fail in a row


class Player:
    """Plays motions on a chain.

    Args:
        chain: the servos.
        port: a device path, a URL that pyserial opens, or `SIMULATED`.
        settings: how to play.

    Attributes:
        chain: the servos; once connected, those of them that are there.
        has_touched_torque: whether torque may be another than was found, since it was asked for.
    """

    def __init__(self, chain: ServoChain, port: str, settings: PlaySettings | None = None) -> None:
        self.chain, self.port, self.settings = chain, port, settings or PlaySettings()
        self.simulator: SimulatorProcess | None = None
        self.has_touched_torque = False
        self._asked = chain
        self._status = Status()
        self._publishing = threading.Lock()
        self._wishes, self._emergency = Wishes(self.settings.heartbeat), Emergency()
        self._commands: queue.SimpleQueue[tuple[int, Callable[[Session], None]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_running = self._ending = False
        self._after: Player | None = None
        self._goal_limits = chain.count_limits

    # for everybody

    @property
    def status(self) -> Status:
        """Where it stands now."""
        return self._status

    @property
    def is_open(self) -> bool:
        """Whether the port is open, or being opened: also after a fault that left it so, when torque can still be turned off."""
        return self._thread is not None and self._thread.is_alive()

    def heartbeat(self) -> None:
        """Whoever started the player is alive; without this, servos that move stop by their watchdog."""
        self._wishes.beat()

    def connect(self, after: Player | None = None) -> None:
        """Opens the port and reads every servo, writing nothing; ends in ready, or in holding where torque is on already.

        Args:
            after: a player that still has to let go of the port.
        """
        if self.is_open:
            if self._status.state is PlayState.FAULT:
                self._look_again(f"connecting to {self.port}")
                self._ask(Session.connect)
            return
        self._ending, self.chain, self._after = False, self._asked, after
        self.has_touched_torque = False
        self._commands = queue.SimpleQueue()
        self._wishes, self._emergency = Wishes(self.settings.heartbeat), Emergency()
        self._status = Status(PlayState.CONNECTING, f"connecting to {self.port}")
        self._start(self._run)

    def torque(self, on: bool) -> None:
        """Turns torque on, the servos holding where they are, or off. Nothing ever moves before the first.

        After a fault or an emergency stop this is also the way on: everything is read and checked again first.

        Raises:
            ServoError: they move, or torque is just being turned off.
        """
        if on and self._emergency.is_pending:
            raise ServoError("torque is just being turned off; wait until the status says so")
        self._look_again("turning torque on" if on else "turning torque off")
        self.has_touched_torque = True
        if on:
            self._emergency.release()
        self._ask(Session.torque_on if on else Session.torque_off)

    def restore_torque(self) -> None:
        """Give each servo the torque, on or off, that it had at connecting: for whoever gives up before anything moved.

        Raises:
            ServoError: they move.
        """
        self._look_again("leaving torque as it was found")
        self._ask(Session.restore_torque)

    def reboot(self) -> None:
        """Reboots the servos that have a hardware error, once its cause is gone: the way on from there, then torque on.

        Raises:
            ServoError: they move.
        """
        self._look_again("rebooting")
        self._ask(Session.reboot)

    def preflight(self, motion: Motion, from_afar: bool = False) -> Preflight:
        """What speaks against playing this motion; `from_afar` as in `play`."""
        return preflight(motion, self.chain, self.settings, self._status.present, from_afar, self._goal_limits)

    def play(
        self,
        motion: Motion,
        loop: bool = False,
        start: float | None = None,
        end: float | None = None,
        speed: float = 1.0,
        from_afar: bool = False,
    ) -> None:
        """Goes slowly to the first frame, then plays.

        Args:
            motion: what.
            loop: over and over, until it is stopped.
            start, end: a stretch of it, in its own times [s].
            speed: 2 is twice as fast.
            from_afar: whether it may start far from where the robot stands, going there slowly, instead of being refused.

        Raises:
            ServoError: what speaks against it, or that the servos do not hold.
        """
        motion = part(motion, start, end, speed)
        along = self.check(motion, from_afar)
        self._check_holding()
        frame = float(np.median(np.diff(motion.times))) if len(motion.times) > 1 else 1.0 / self.settings.rate
        self._begin(PlayState.APPROACHING, "going to the first frame", along.duration)
        self._ask(lambda session: session.play(along, loop, frame))

    def check(self, motion: Motion, from_afar: bool = False) -> Along:
        """Hold a motion against everything that can be known before torque is on: the chain's limits and the servos' own, where the
        robot stands, and whether the telemetry can be recorded.

        Args:
            motion: as it is to be played, the whole of it.
            from_afar: as in `play`.

        Raises:
            ServoError: what speaks against it.
        """
        self.preflight(motion, from_afar).check()
        if self.settings.record:
            check_writable(self.settings.record)
        return Along(motion, self.chain, self.settings.interpolation)

    def live(self) -> None:
        """Follows what `aim` says, from slowly catching up with the first of it until `stop`.

        Raises:
            ServoError: the servos do not hold.
        """
        self._check_holding()
        if self.settings.record:
            check_writable(self.settings.record)
        self._begin(PlayState.LIVE, "following live", 0.0)
        self._ask(Session.live)

    def aim(self, values: Mapping[str, float] | None) -> None:
        """Where the robot should be now, while it follows live: a value per actuator [rad or m].

        None, a missing actuator or one that is not a number: it comes to a stand, smoothly, until there is a wish again.
        """
        wished = None if values is None else np.array([values.get(name, np.nan) for name in self.chain.actuators], dtype=float)
        self._wishes.wish.set(wished)

    def pause(self) -> None:
        """Slows down along the motion and stands there, still watched, until `resume`."""
        self._wishes.pace = 0.0

    def resume(self) -> None:
        """Goes on from where it paused."""
        self._wishes.pace = 1.0

    def stop(self) -> None:
        """Slows down along the motion, then holds."""
        self._wishes.stop.set()

    def emergency_stop(self) -> None:
        """Turn torque off, now, whatever goes on. Until the user turns it on again, nothing else does.

        Where the port is closed it is opened for that; where an earlier player has yet to let go of it, that one is told, too.
        """
        if self._after is not None and self._after.is_open:
            self._after.emergency_stop()
        with self._publishing:
            self._emergency.press()
            wakes = self._is_running
        if wakes:
            self._ask(lambda _: None)  # wakes it, should it wait for a command
        elif self.port != SIMULATED:  # whose servos are gone with it
            self._start(self._run_for_emergency)

    def close(self, timeout: float = 3.0) -> None:
        """Stops softly if it plays, leaves torque as it is, closes the port; waits for that at most `timeout` [s], 0 for not at all."""
        self._wishes.stop.set()
        self._ending = True
        if self._thread is not None and timeout > 0:
            self._thread.join(timeout)

    def _ask(self, command: Callable[[Session], None]) -> None:
        """Let the port's thread do something, unless the emergency stop is pressed before it gets there."""
        self._commands.put((self._emergency.presses, command))

    def wait(self, *states: PlayState, timeout: float = 60.0) -> Status:
        """Beats until the player is in one of these states. For scripts; an interface looks at `status` instead.

        Raises:
            ServoError: a fault, with its message, unless faults are waited for; or time is up.
        """
        ends = time.monotonic() + timeout
        while (status := self.status).state not in states:
            if status.state is PlayState.FAULT:
                raise ServoError(status.message)
            if time.monotonic() > ends:
                raise ServoError(f"the player is still {status.state.value} after {timeout:g} s: {status.message}")
            self.heartbeat()
            time.sleep(0.01)
        return status

    def _look_again(self, message: str) -> None:
        if self._status.state.is_moving:
            raise ServoError(f"the servos are {self._status.state.value}; stop them first")
        if self.is_open:
            self._publish(state=PlayState.CONNECTING, message=message)

    def _check_holding(self) -> None:
        if self._status.state is not PlayState.HOLDING:
            raise ServoError(f"the servos do not hold ({self._status.message}); connect and turn torque on first")

    def _begin(self, state: PlayState, message: str, duration: float) -> None:
        self._wishes.clear()
        self._publish(state=state, message=message, time=0.0, duration=duration)

    # the port's thread

    def _start(self, run: Callable[[], None]) -> None:
        self._is_running = True
        self._thread = threading.Thread(target=run, name=f"servos on {self.port}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        if self._after is not None:
            self._after.close(LEAVING)
        try:
            if self.port == SIMULATED:
                self.simulator = SimulatorProcess.of(self._asked)
            with closing(self._open()) as bus:
                take_precedence()
                self._serve(Session(bus, self.settings, self._wishes, self._publish, lambda: self._status, self._know))
        except ServoError as error:
            self._publish(state=PlayState.FAULT, message=str(error), servos=tuple(replace(s, torque=None) for s in self._status.servos))
        except Exception as error:  # a mistake of ours must not leave an owner waiting for a thread that is gone
            self._publish(state=PlayState.FAULT, message=f"the player broke down ({error!r}); the servos stop by their watchdog")
            raise
        finally:
            if self.simulator is not None:
                self.simulator.end()
                self.simulator = None
                self._publish(servos=tuple(replace(servo, torque=False) for servo in self._status.servos))
            self._leave()

    def _open(self) -> Bus:
        return Bus(self._asked, self.simulator.port if self.simulator else self.port, self.settings.silence, self._emergency)

    def _leave(self) -> None:
        """End the thread; but not with an emergency stop that nobody answered."""
        with self._publishing:
            self._is_running = self._emergency.is_pending and self.port != SIMULATED
        if self._is_running:
            self._run_for_emergency()

    def _run_for_emergency(self) -> None:
        """Open the port to turn torque off, and for nothing else."""
        self._publish(state=PlayState.CONNECTING, message=f"turning torque off on {self.port}")
        try:
            with closing(self._open()) as bus:
                session = Session(bus, self.settings, self._wishes, self._publish, lambda: self._status, self._know)
                session.torque_off(OFF)
                self._publish(state=PlayState.CLOSED, message=f"port closed, {torque_words(self._status.servos)}")
        except ServoError as error:
            self._publish(state=PlayState.FAULT, message=f"torque could not be turned off: {error}; switch the power off")
        finally:
            self._is_running = False

    def _serve(self, session: Session) -> None:
        """Do what is asked for until the owner leaves; an emergency stop comes first."""
        with suppress(EmergencyStopped):
            self._connect(session)
        failed = 0
        while self._emergency.is_pending or not (self._ending and self._commands.empty()):
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
        if self._emergency.is_pending:
            session.torque_off(OFF)
            return 0
        try:
            presses, command = self._commands.get(timeout=LOOK)
        except queue.Empty:
            return self._look(session, failed)
        if presses == self._emergency.presses:
            command(session)
        return 0

    def _fail(self, session: Session, error: ServoError) -> None:
        """Tell of a fault, with the torque that there is now."""
        try:
            session.survey()
        except EmergencyStopped:
            return
        way = f"; {way_on(str(error))}" if isinstance(error, ServoSilent) else ""
        self._publish(state=PlayState.FAULT, message=f"{error}{way}")

    def _close(self, session: Session) -> None:
        try:
            session.survey()
        except EmergencyStopped:
            return  # `_leave` answers it
        self._publish(state=PlayState.CLOSED, message=f"port closed, {torque_words(self._status.servos)}")

    def _look(self, session: Session, failed: int) -> int:
        """Look at the servos while nothing moves; also in a fault, in which some may still be powered, or may get hot."""
        try:
            if self._status.state is PlayState.FAULT:
                session.survey()
                if self._emergency.is_pressed and self._status.may_have_torque:
                    session.torque_off(OFF)
            elif self._status.state is not PlayState.CONNECTING:
                session.look()
        except PortGone:
            raise
        except ServoSilent as silent:
            if failed + 1 == PATIENT_LOOKS:
                self._complain(f"{silent}; {way_on(str(silent))}")
            return failed + 1
        except ServoError as error:
            self._complain(str(error))
        return 0

    def _know(self, chain: ServoChain, goal_limits: np.ndarray) -> None:
        self.chain, self._goal_limits = chain, goal_limits

    def _complain(self, message: str) -> None:
        """A fault; unless the owner has asked meanwhile for something that looks anew, and will say what comes of that."""
        with self._publishing:
            if self._status.state is not PlayState.CONNECTING:
                self._status = replace(self._status, state=PlayState.FAULT, message=message)

    def _publish(self, **changes: object) -> None:
        with self._publishing:  # an owner's change must not be lost to the thread's; nobody holds this while waiting
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
