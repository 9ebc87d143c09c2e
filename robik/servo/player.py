"""Playing a motion on servos, safely.

One thread owns the port. Everybody else talks to a `Player`, whose methods never wait for the port, and looks at its `status`.

    closed → connecting → ready (torque off) ⇄ holding (torque on) → approaching → playing ⇄ paused → holding
                                                        │            live → holding
                                                        └── stopping (soft) → holding;  emergency → ready;  any fault → fault
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.bus import Bus, PortGone, ServoSilent
from robik.servo.chain import ServoChain
from robik.servo.connecting import Unfit
from robik.servo.preflight import Preflight, preflight
from robik.servo.schedule import take_precedence
from robik.servo.session import Session, way_on
from robik.servo.simulator.server import SimulatorProcess
from robik.servo.status import OFF, PlaySettings, PlayState, Status
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
    """

    def __init__(self, chain: ServoChain, port: str, settings: PlaySettings | None = None) -> None:
        self.chain, self.port, self.settings = chain, port, settings or PlaySettings()
        self.simulator: SimulatorProcess | None = None
        self._asked = chain
        self._status = Status()
        self._publishing = threading.Lock()
        self._wishes = Wishes(self.settings.heartbeat)
        self._commands: queue.SimpleQueue[Callable[[Session], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ending = False
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
                self._commands.put(Session.connect)
            return
        self._ending, self.chain = False, self._asked
        self._commands = queue.SimpleQueue()
        self._wishes = Wishes(self.settings.heartbeat)
        self._status = Status(PlayState.CONNECTING, f"connecting to {self.port}")
        self._thread = threading.Thread(target=self._run, args=(after,), name=f"servos on {self.port}", daemon=True)
        self._thread.start()

    def torque(self, on: bool) -> None:
        """Turns torque on, the servos holding where they are, or off. Nothing ever moves before the first.

        After a fault this is also the way on: everything is read and checked again first.

        Raises:
            ServoError: they move.
        """
        self._look_again("turning torque on" if on else "turning torque off")
        self._commands.put(Session.torque_on if on else Session.torque_off)

    def reboot(self) -> None:
        """Reboots the servos that have a hardware error, once its cause is gone: the way on from there, then torque on.

        Raises:
            ServoError: they move.
        """
        self._look_again("rebooting")
        self._commands.put(Session.reboot)

    def preflight(self, motion: Motion, from_afar: bool = False) -> Preflight:
        """What speaks against playing this motion; `from_afar` as in `play`."""
        return preflight(motion, self.chain, self.settings, self._status.present, from_afar)

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
            ServoError: the preflight's list, or that the servos do not hold.
        """
        motion = part(motion, start, end, speed)
        self.preflight(motion, from_afar).check()
        self._check_holding()
        along = Along(motion, self.chain, self.settings.interpolation)
        self._check_own_limits(along)
        frame = float(np.median(np.diff(motion.times))) if len(motion.times) > 1 else 1.0 / self.settings.rate
        self._begin(PlayState.APPROACHING, "going to the first frame", along.duration)
        self._commands.put(lambda session: session.play(along, loop, frame))

    def live(self) -> None:
        """Follows what `aim` says, from slowly catching up with the first of it until `stop`.

        Raises:
            ServoError: the servos do not hold.
        """
        self._check_holding()
        self._begin(PlayState.LIVE, "following live", 0.0)
        self._commands.put(Session.live)

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
        """Torque off, now."""
        self._wishes.off.set()
        self._commands.put(lambda session: session.torque_off(OFF))

    def close(self, timeout: float = 3.0) -> None:
        """Stops softly if it plays, leaves torque as it is, closes the port; waits for that at most `timeout` [s], 0 for not at all."""
        self._wishes.stop.set()
        self._ending = True
        if self._thread is not None and timeout > 0:
            self._thread.join(timeout)

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

    def _check_own_limits(self, along: Along) -> None:
        """Servos refuse goals beyond their own limits without a word: better said before."""
        counts = self.chain.counts(along.at(np.linspace(0.0, along.duration, max(2, int(along.duration * self.settings.rate) + 1))))
        for k, servo in enumerate(self.chain.servos):
            low, high = self._goal_limits[k]
            least, most = counts[:, k].min(), counts[:, k].max()
            if least < low or most > high:
                raise ServoError(
                    f"servo {servo.id} ({servo.actuator}) takes goals from {low} to {high} counts only, the motion needs {least} "
                    f"to {most}; change its position limits or its operating mode"
                )

    # the port's thread

    def _run(self, after: Player | None) -> None:
        bus: Bus | None = None
        if after is not None:
            after.close(LEAVING)
        try:
            if self.port == SIMULATED:
                self.simulator = SimulatorProcess.of(self._asked)
            bus = Bus(self._asked, self.simulator.port if self.simulator else self.port, self.settings.silence)
            take_precedence()
            session = Session(bus, self.settings, self._wishes, self._publish, lambda: self._status, self._know)
            try:
                session.connect()
            except Unfit as unfit:  # what is wrong with them can be mended, with the port open
                self._publish(state=PlayState.FAULT, message=str(unfit))
            self._serve(session)
        except ServoError as error:
            self._publish(state=PlayState.FAULT, message=str(error))
        except Exception as error:  # a mistake of ours must not leave an owner waiting for a thread that is gone
            self._publish(state=PlayState.FAULT, message=f"the player broke down ({error!r}); the servos stop by their watchdog")
            raise
        finally:
            if bus is not None:
                bus.close()
            if self.simulator is not None:
                self.simulator.end()
                self.simulator = None

    def _serve(self, session: Session) -> None:
        failed = 0
        while not (self._ending and self._commands.empty()):
            try:
                command = self._commands.get(timeout=LOOK)
            except queue.Empty:
                failed = self._look(session, failed)
                continue
            try:
                command(session)
            except PortGone:
                raise
            except ServoSilent as silent:
                self._publish(state=PlayState.FAULT, message=f"{silent}; {way_on(str(silent))}")
            except ServoError as error:
                self._publish(state=PlayState.FAULT, message=str(error))
        self._publish(state=PlayState.CLOSED, message=f"port closed, torque is {'on' if self._status.torque else 'off'}")

    def _know(self, chain: ServoChain, goal_limits: np.ndarray) -> None:
        self.chain, self._goal_limits = chain, goal_limits

    def _look(self, session: Session, failed: int) -> int:
        if self._status.state in (PlayState.FAULT, PlayState.CONNECTING):
            return 0
        try:
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

    def _complain(self, message: str) -> None:
        """A fault; unless the owner has asked meanwhile for something that looks anew, and will say what comes of that."""
        with self._publishing:
            if self._status.state is not PlayState.CONNECTING:
                self._status = replace(self._status, state=PlayState.FAULT, message=message)

    def _publish(self, **changes: object) -> None:
        with self._publishing:  # an owner's change must not be lost to the thread's; nobody holds this while waiting
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
