"""Playing a motion on servos, safely.

One thread owns the port. Everybody else talks to a `Player`, whose methods never wait for the port, and looks at its `status`.

    closed → connecting → ready (torque off) ⇄ holding (torque on) → approaching → playing → holding
                                                        └── stopping (soft) → holding;  emergency → ready;  any fault → fault
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robik.errors import ServoError
from robik.retarget.motion import Motion
from robik.servo.bus import Bus, PortGone
from robik.servo.chain import ServoChain
from robik.servo.models import SINGLE_TURN_MODE
from robik.servo.preflight import Preflight, preflight
from robik.servo.schedule import take_precedence
from robik.servo.serving import SimulatorProcess
from robik.servo.status import PlaySettings, PlayState, Status
from robik.servo.stream import Outcome, Stream, Wishes
from robik.servo.trajectory import Along, Between, Standing, Trajectory

SIMULATED = "sim"  # the port that is a simulated chain, started and ended by the player
LOOK = 0.2  # [s] between looks at the servos while nothing plays
PATIENT_LOOKS = 3  # that may fail in a row
ARRIVED = 40  # [counts], 3.5°: how near the servos must be to the first frame before it starts
SETTLE = 0.2  # [s] of waiting for that, up to
SETTLES = 10  # times


class Player:
    """Plays motions on a chain.

    Args:
        chain: the servos.
        port: a device path, a URL that pyserial opens, or `SIMULATED`.
        settings: how to play.
    """

    def __init__(self, chain: ServoChain, port: str, settings: PlaySettings | None = None) -> None:
        self.chain, self.port, self.settings = chain, port, settings or PlaySettings()
        self.simulator: SimulatorProcess | None = None
        self._status = Status()
        self._publishing = threading.Lock()
        self._wishes = Wishes(self.settings.heartbeat)
        self._commands: queue.SimpleQueue[Callable[[Bus], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._goal_limits = chain.count_limits
        self._single_turn = np.ones(len(chain.servos), dtype=bool)

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
        """Whoever started the player is alive; without this, servos that play stop by their watchdog."""
        self._wishes.beat()

    def connect(self) -> None:
        """Opens the port and reads every servo, writing nothing; ends in ready, or in holding where torque is on already."""
        if self.is_open:
            return
        self._ending = False
        self._commands = queue.SimpleQueue()
        self._wishes = Wishes(self.settings.heartbeat)
        self._status = Status(PlayState.CONNECTING, f"connecting to {self.port}")
        self._thread = threading.Thread(target=self._run, name=f"servos on {self.port}", daemon=True)
        self._thread.start()

    def torque(self, on: bool) -> None:
        """Turns torque on, the servos holding where they are, or off. Nothing ever moves before the first.

        After a fault this is also the way on: everything is read and checked again first.
        """
        if self._status.state is PlayState.FAULT and self.is_open:
            self._publish(state=PlayState.CONNECTING, message="looking at the servos again")
        self._commands.put(self._torque_on if on else self._torque_off)

    def preflight(self, motion: Motion) -> Preflight:
        """What speaks against playing this motion."""
        return preflight(motion, self.chain, self.settings.rate, self.settings.interpolation)

    def play(self, motion: Motion) -> None:
        """Goes slowly to the first frame, then plays.

        Raises:
            ServoError: the preflight's list, or that the servos do not hold.
        """
        self.preflight(motion).check()
        if self._status.state is not PlayState.HOLDING:
            raise ServoError(f"the servos do not hold ({self._status.message}); connect and turn torque on first")
        along = Along(motion, self.chain, self.settings.interpolation)
        self._check_own_limits(along)
        self._wishes.clear()
        self._publish(state=PlayState.APPROACHING, message="going to the first frame", time=0.0, duration=along.duration)
        self._commands.put(lambda bus: self._play(bus, along))

    def stop(self) -> None:
        """Slows down along the motion, then holds."""
        self._wishes.stop.set()

    def emergency_stop(self) -> None:
        """Torque off, now."""
        self._wishes.off.set()
        self._commands.put(self._emergency)

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

    # the port's thread

    def _run(self) -> None:
        bus: Bus | None = None
        try:
            if self.port == SIMULATED:
                self.simulator = SimulatorProcess.of(self.chain)
            bus = Bus(self.chain, self.simulator.port if self.simulator else self.port)
            take_precedence()
            self._find(bus)
            self._serve(bus)
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

    def _serve(self, bus: Bus) -> None:
        failed = 0
        while not (self._ending and self._commands.empty()):
            try:
                command = self._commands.get(timeout=LOOK)
            except queue.Empty:
                failed = self._look(bus, failed)
                continue
            try:
                command(bus)
            except PortGone:
                raise
            except ServoError as error:
                self._publish(state=PlayState.FAULT, message=str(error))
        self._publish(state=PlayState.CLOSED, message=f"port closed, torque is {'on' if self._status.torque else 'off'}")

    def _look(self, bus: Bus, failed: int) -> int:
        if self._status.state is PlayState.FAULT:
            return 0
        try:
            self._publish(present=tuple(self.chain.values(self._folded(bus.positions())).tolist()))
        except PortGone:
            raise
        except ServoError as error:
            if failed + 1 == PATIENT_LOOKS:
                self._publish(state=PlayState.FAULT, message=str(error))
            return failed + 1
        return 0

    def _find(self, bus: Bus) -> None:
        found = bus.find()
        self._single_turn = np.array([f.mode == SINGLE_TURN_MODE for f in found])
        limits = self.chain.count_limits.copy()
        for k, f in enumerate(found):
            if f.low is not None and f.high is not None:
                limits[k] = max(f.low, limits[k, 0]), min(f.high, limits[k, 1])
        self._goal_limits = limits
        powered = sum(f.torque for f in found)
        torque = powered == len(found)
        present = self._folded(np.array([f.position for f in found]))
        self._publish(
            state=PlayState.HOLDING if torque else PlayState.READY,
            message=f"{len(found)} servos found, torque is " + ("on" if torque else f"on in {powered} only" if powered else "off"),
            torque=torque,
            present=tuple(self.chain.values(present).tolist()),
            hottest=max(f.celsius for f in found),
            lowest_volts=min(f.volts for f in found),
        )

    def _torque_on(self, bus: Bus) -> None:
        self._find(bus)
        bus.set_speed_limit(self._approach_speeds)  # should anything move now, then slowly
        bus.set_watchdog(0.0)
        goals = np.clip(self._folded(bus.positions()), self._goal_limits[:, 0], self._goal_limits[:, 1])
        bus.set("goal_position", goals.tolist())
        bus.set_torque(True)
        self._wishes.clear()
        self._publish(state=PlayState.HOLDING, message="holding, torque is on", torque=True)

    def _torque_off(self, bus: Bus) -> None:
        self._wishes.off.clear()
        bus.cut_torque()
        self._publish(state=PlayState.READY, message="torque is off", torque=False)

    def _emergency(self, bus: Bus) -> None:
        self._torque_off(bus)
        self._publish(message="emergency stop: torque is off")

    def _play(self, bus: Bus, along: Along) -> None:
        if not self._status.torque:
            raise ServoError("torque was turned off before the motion began; turn it on and play again")
        stream = Stream(bus, self.settings.rate, self._goal_limits, self._wishes, self._report)
        try:
            self._publish(state=PlayState.APPROACHING, message="going to the first frame", sent=0, dropped=0)
            present = self._folded(bus.positions())
            bus.set_speed_limit(self._approach_speeds)
            bus.set_watchdog(self.settings.watchdog)
            stream.begin(present)
            start = along.at(np.zeros(1))[0]
            outcome = self._stream(stream, Between(self.chain.values(present), start, self._approach_speeds))
            if outcome is Outcome.DONE:
                outcome = self._arrive(bus, stream, start)
            if outcome is Outcome.DONE:
                bus.set_speed_limit(self.chain.speed_limits)
                self._publish(state=PlayState.PLAYING, message="playing")
                stream.forget()
                outcome = self._stream(stream, along)
        except PortGone as gone:
            raise PortGone(f"{gone}; the servos stop by their watchdog within {self.settings.watchdog:g} s and hold") from None
        self._report(stream)
        self._finish(bus, stream, outcome)

    def _stream(self, stream: Stream, trajectory: Trajectory) -> Outcome:
        outcome = stream.run(trajectory)
        if outcome in (Outcome.STOPPED, Outcome.FAILED):
            self._publish(state=PlayState.STOPPING, message=stream.trouble or "slowing down")
            slowed = stream.slow_down(trajectory, self.settings.stop_time)
            return outcome if slowed is Outcome.DONE else slowed
        return outcome

    def _arrive(self, bus: Bus, stream: Stream, start: np.ndarray) -> Outcome:
        goal = self.chain.counts(start)
        for _ in range(SETTLES):
            outcome = self._stream(stream, Standing(start, SETTLE))
            if outcome is not Outcome.DONE:
                return outcome
            away = np.abs(self._folded(bus.positions()) - goal)
            if away.max() <= ARRIVED:
                return Outcome.DONE
        servo = self.chain.servos[int(np.argmax(away))]
        where = f"servo {servo.id} ({servo.actuator})"
        stream.trouble = f"{where} does not get to the first frame, {int(away.max())} counts are left; is it blocked?"
        return Outcome.FAILED

    def _finish(self, bus: Bus, stream: Stream, outcome: Outcome) -> None:
        if outcome is Outcome.OFF:
            self._emergency(bus)
            return
        if outcome is Outcome.ABANDONED:
            self._let_watchdog_bite(bus)
            return
        if outcome is Outcome.FAILED:
            bus.send("bus_watchdog", [0] * len(self.chain.servos))  # unanswered: one of them may be silent
            raise ServoError(f"{stream.trouble}; the others stopped and hold")
        bus.set_watchdog(0.0)
        self._publish(present=tuple(self.chain.values(self._folded(bus.positions())).tolist()))
        message = "played to the end" if outcome is Outcome.DONE else "stopped"
        if not self.settings.torque_after:
            self._torque_off(bus)
            self._publish(message=f"{message}, torque is off")
        else:
            self._publish(state=PlayState.HOLDING, message=f"{message}, holding")

    def _let_watchdog_bite(self, bus: Bus) -> None:
        self._publish(state=PlayState.STOPPING, message="no heartbeat: the servos stop by their watchdog")
        if self._wishes.off.wait(1.5 * self.settings.watchdog):
            self._torque_off(bus)
            return
        stopped = int(np.count_nonzero(bus.watchdogs() == -1))
        raise ServoError(
            f"no heartbeat for {self.settings.heartbeat:g} s: {stopped} of {len(self.chain.servos)} servos were stopped by their watchdog "
            "and hold; turn torque on again to go on"
        )

    def _folded(self, counts: np.ndarray) -> np.ndarray:
        """Positions as they are once torque is on: in single-turn mode, within one turn."""
        turns = np.array([servo.table.counts_per_turn for servo in self.chain.servos])
        return np.where(self._single_turn, counts % turns, counts)

    @property
    def _approach_speeds(self) -> np.ndarray:
        ratios = np.array([servo.gear_ratio for servo in self.chain.servos])
        return np.minimum(self.settings.approach_speed / ratios, self.chain.speed_limits)

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

    def _report(self, stream: Stream) -> None:
        schedule, late = stream.schedule, stream.schedule.lateness
        playing = self._status.state is PlayState.PLAYING
        self._publish(
            sent=schedule.sent,
            dropped=schedule.dropped,
            lateness_p99=late.percentile(99),
            lateness_worst=late.worst,
            time=min(stream.at, self._status.duration) if playing else self._status.time,
            present=tuple(self.chain.values(stream.present).tolist()),
            hottest=max(stream.celsius.values(), default=self._status.hottest),
            lowest_volts=min(stream.volts.values(), default=self._status.lowest_volts),
        )

    def _publish(self, **changes: object) -> None:
        with self._publishing:  # an owner's change must not be lost to the thread's; nobody holds this while waiting
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]
