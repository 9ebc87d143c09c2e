"""Playing a motion on servos, safely.

One thread owns the port. Everybody else talks to a `Player`, whose methods never wait for the port, and looks at its
`status`.

    closed → connecting → ready (torque off) ⇄ holding (torque on) → approaching → playing ⇄ paused → holding
                                                        │            live → holding
                                                        └── stopping (soft) → holding;  any fault → fault

From every state the emergency stop leads to ready: torque-off is the next packet on the wire, also where the port is
closed and has to be opened for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...errors import ServoError
from ...motions import Motion
from ...tilt_feedback import TiltPlan
from ..chain.chain import ServoChain, retuned
from ..chain.servo import Servo
from ..chain.trajectory import Along, part
from ..port.board import Board
from ..port.process import PortOwner, PortProcess
from ..port.recording import check_writable
from ..port.status import PlaySettings, PlayState, Status
from ..port.stream import CLOSE_LOOK, LOOK
from ..port.thread import PortThread
from ..simulator.process import SimulatorProcess
from .preflight import Preflight, preflight
from .resuming import stopped_in

LEAVING = 10.0  # [s] that another player gets to let go of the port


class Player:
    """Player of motions on a chain.

    Its port is a device path, a URL that pyserial opens, the address of a program that has the bus, or `SIMULATED`.
    With `is_apart` a process of its own has the port, instead of a thread of this one: then this process may stall,
    and where it stalls for too long or dies, the servos come to a planned stand.

    Attributes:
        chain: the servos; once connected, those of them that are there.
        has_touched_torque: whether torque may be another than was found, since it was asked for.
    """

    def __init__(
        self, chain: ServoChain, port: str, settings: PlaySettings | None = None, is_apart: bool = False
    ) -> None:
        chain = chain.as_at(port)
        self.chain, self.port, self.settings = chain, port, settings or PlaySettings()
        self.has_touched_torque, self._is_apart = False, is_apart
        self._played: Motion | None = None
        self._asked = chain
        self._board = Board()
        self._after: Player | None = None
        self._goal_limits = chain.count_limits
        self._renew()

    def _renew(self) -> None:
        kind = PortProcess if self._is_apart else PortThread
        self._thread: PortOwner = kind(self._asked, self.port, self.settings, self._board, self._on_connected)
        self._wishes = self._thread.wishes

    @property
    def status(self) -> Status:
        """Return where it stands now."""
        return self._board.status

    @property
    def is_open(self) -> bool:
        """Return whether the port is open, or being opened.

        Also after a fault that left it so, when torque can still be turned off.
        """
        return self._thread.is_alive

    @property
    def simulator(self) -> SimulatorProcess | None:
        """The simulated servos that it plays on, if it does, while they run; of several brands the first one's."""
        return self._thread.simulation.processes[0] if self._thread.simulation else None

    def heartbeat(self) -> None:
        """Whoever started the player is alive; without this, servos that move stop by their watchdog."""
        self._wishes.beat()

    def connect(self, after: Player | None = None) -> None:
        """Open the port and read every servo, writing nothing; end in ready, or in holding where torque is on.

        `after` is a player that still has to let go of the port.
        """
        if self.is_open:
            if self.status.state is PlayState.FAULT:
                self._ask_again(f"connecting to {self.port}", "connect")
            return
        self.chain, self._after, self.has_touched_torque = self._asked, after, False
        self._renew()
        self._board.status = Status(PlayState.CONNECTING, f"connecting to {self.port}")
        self._thread.start(lambda: after.close(LEAVING) if after else None)

    def torque(self, on: bool) -> None:
        """Turn torque on, the servos holding where they are, or off. Nothing ever moves before the first.

        After a fault or an emergency stop this is also the way on: everything is read and checked again first.
        Raise ServoError while they move, or while torque is being turned off.
        """
        if on and self._thread.is_cutting:
            raise ServoError("torque is just being turned off; wait until the status says so")
        self._check_standing()
        self.has_touched_torque = True
        if on:
            self._thread.release_emergency()
        self._ask_again("turning torque on" if on else "turning torque off", "torque_on" if on else "torque_off")

    def restore_torque(self) -> None:
        """Give each servo the torque, on or off, that it had at connecting: for whoever gives up before anything moved.

        Raise ServoError while they move.
        """
        self._ask_again("leaving torque as it was found", "restore_torque")

    def reboot(self) -> None:
        """Reboot the servos that have a hardware error, once its cause is gone; then torque can be turned on.

        Raise ServoError while they move.
        """
        self._ask_again("rebooting", "reboot")

    def watch(self, is_close: bool) -> None:
        """Look at standing servos as often as a recording by hand needs it, or else as an interface does."""
        self._wishes.look_every = CLOSE_LOOK if is_close else LOOK

    def trace(self, id: int | None) -> None:
        """Look closely at the servo with this id, whose goals and positions `Status.trace` then has; None ends it."""
        self._wishes.traced = -1 if id is None else id

    def tune(self, servo: Servo) -> None:
        """Give the servo of this one's id its gains and profile acceleration, now and whenever torque is turned on.

        They are read back: `Status.tunings`, and `Status.untuned` where it does not take them. Raise ServoError
        while they move.
        """
        self._check_standing()
        self._asked, self.chain = retuned(self._asked, servo), retuned(self.chain, servo)
        if self.is_open:
            self._thread.ask("tune", servo.id, *servo.tuning)

    def ask_tunings(self) -> None:
        """Have the servos' tunings read, for `Status.tunings`; raise ServoError while they move."""
        self._check_standing()
        if self.is_open:
            self._thread.ask("read_tunings")

    def preflight(self, motion: Motion, from_afar: bool = False) -> Preflight:
        """Return the problems and warnings of playing a motion; `from_afar` is as for `play`."""
        present, begin = self.status.present, self.begins_at(motion)
        return preflight(motion, self.chain, self.settings, present, from_afar, self._goal_limits, begin)

    def begins_at(self, motion: Motion) -> float:
        """Return the time on the way [s] at which a motion begins: where it was stopped, if the robot stands there."""
        return stopped_in(motion, self._played, self.chain, self.settings.interpolation, self.status)

    def play(
        self,
        motion: Motion,
        loop: bool = False,
        start: float | None = None,
        end: float | None = None,
        speed: float = 1.0,
        from_afar: bool = False,
        tilt: TiltPlan | None = None,
    ) -> None:
        """Go slowly to the first frame, then play; where the same motion was stopped and the robot stands there, go on.

        `start` and `end` are the stretch to play, in the motion's own times [s]. With `loop` it goes over and over
        until it is stopped; `speed` 2 is twice as fast. With `from_afar` it may start far from where the robot
        stands, going there slowly, instead of being refused. `tilt` is None to play without feedback. Raise
        ServoError for what speaks against it, or if the servos do not hold.
        """
        if tilt is not None and self._asked.imu is None:
            raise ServoError('tilt feedback needs an IMU; name one in the servo file ("imu": {"port": …})')
        motion = part(motion, start, end, speed)
        along, begin = self.check(motion, from_afar), self.begins_at(motion)
        self._check_holding()
        frame = float(np.median(np.diff(motion.times))) if len(motion.times) > 1 else 1.0 / self.settings.rate
        going = {"state": PlayState.APPROACHING, "message": "going to the first frame"}
        self._wishes.clear()
        righted = () if tilt is None else (tilt,)
        self._thread.ask("play", along, loop, frame, begin, *righted, **going, time=begin, duration=along.duration)
        self._played = motion

    def perform(self, motion: Motion, from_afar: bool = False, *timing: float) -> None:
        """Go slowly to the first frame and stand there, until `begin_show` says when to begin; then play by that clock.

        `from_afar` and errors are as for `play`; `timing` is the pace with which it begins, and steering, as in
        `Timed`.
        """
        along = self.check(motion, from_afar)
        self._check_holding()
        going = {"state": PlayState.APPROACHING, "message": "going to the first frame"}
        self._wishes.clear()
        self._thread.ask("perform", along, *timing, **going, time=0.0, duration=along.duration)
        self._played = None

    def begin_show(self, begin: float) -> None:
        """Set the time of `time.perf_counter` [s] at which the performed motion begins, or began.

        Set it again where the show's clock goes otherwise.
        """
        self._wishes.show.set(begin)

    def check(self, motion: Motion, from_afar: bool = False) -> Along:
        """Check a whole motion against everything that can be known before torque is on, and return the way along it.

        That is the chain's limits and the servos' own, where the robot stands (`from_afar` as for `play`), and
        whether the telemetry can be recorded. Raise ServoError for what speaks against it.
        """
        self.preflight(motion, from_afar).check()
        if self.settings.record:
            check_writable(self.settings.record)
        return Along(motion, self.chain, self.settings.interpolation)

    def live(self) -> None:
        """Follow the values of `aim` until `stop`, from slowly catching up with the first of them.

        Raise ServoError unless the servos hold.
        """
        self._check_holding()
        if self.settings.record:
            check_writable(self.settings.record)
        self._wishes.clear()
        self._thread.ask("live", state=PlayState.LIVE, message="following live", time=0.0, duration=0.0)

    def aim(self, values: Mapping[str, float] | None) -> None:
        """Set the value per actuator [rad or m] to follow live.

        Without values, or where one is missing or is not a number, the robot comes to a stand, smoothly, until
        there is one again.
        """
        wished = (
            None
            if values is None
            else np.array([values.get(name, np.nan) for name in self.chain.actuators], dtype=float)
        )
        self._wishes.wish.set(wished)

    def pause(self) -> None:
        """Slow down along the motion and stand there, still watched, until `resume`."""
        self._wishes.pace = 0.0

    def resume(self) -> None:
        """Go on from where it paused."""
        self._wishes.pace = 1.0

    def stop(self) -> None:
        """Slow down along the motion, then hold."""
        self._wishes.stop.set()

    def emergency_stop(self) -> None:
        """Turn torque off, now, whatever goes on. Until the user turns it on again, nothing else does.

        Where the port is closed it is opened for that; where an earlier player has yet to let go of it, that one is
        told, too.
        """
        if self._after is not None and self._after.is_open:
            self._after.emergency_stop()
        self._thread.press_emergency()

    def close(self, timeout: float = 3.0) -> None:
        """Stop softly if it plays, leave torque as it is, close the port.

        Wait for that at most `timeout` [s], 0 for not at all.
        """
        self._wishes.stop.set()
        self._thread.end(timeout)

    def wait(self, *states: PlayState, timeout: float = 60.0) -> Status:
        """Beat until the player is in one of these states, and return the status then.

        For scripts; an interface looks at `status` instead. Raise ServoError after `timeout` [s], or for a fault
        that is not waited for.
        """
        ends = time.perf_counter() + timeout
        while (status := self.status).state not in states:
            if status.state is PlayState.FAULT:
                raise ServoError(status.message)
            if time.perf_counter() > ends:
                raise ServoError(f"the player is still {status.state.value} after {timeout:g} s: {status.message}")
            self.heartbeat()
            time.sleep(0.01)
        return status

    def _check_standing(self) -> None:
        if self.status.state.is_moving:
            raise ServoError(f"the servos are {self.status.state.value}; stop them first")

    def _ask_again(self, message: str, command: str) -> None:
        """Ask for what looks at the servos again."""
        self._check_standing()
        if self.is_open:
            self._thread.ask(command, state=PlayState.CONNECTING, message=message)

    def _check_holding(self) -> None:
        if self.status.state is not PlayState.HOLDING:
            raise ServoError(f"the servos do not hold ({self.status.message}); connect and turn torque on first")

    def _on_connected(self, chain: ServoChain, goal_limits: np.ndarray) -> None:
        there = set(chain.ids)  # as they were tuned since, which the port's owner need not know
        tuned = tuple(servo for servo in self._asked.servos if servo.id in there)
        self.chain, self._goal_limits = replace(self._asked, servos=tuned), goal_limits
