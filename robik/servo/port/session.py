"""Session of a player on the thread that owns the port: find the servos, hold, play, follow, stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ...errors import ServoError
from ...limiter import Limiter
from ...tilt_feedback import TiltPlan
from ..bus.bus import Bus
from ..bus.connecting import check_inside, find, names
from ..bus.health import Health
from ..bus.holding import Stand
from ..bus.line import PortGone, ServoSilent
from ..bus.reports import found_report, look_report
from ..bus.schedule import undisturbed
from ..bus.telemetry import Found, Telemetry
from ..chain.chain import ServoChain
from ..chain.servo import Servo
from ..chain.trajectory import Along, Between, Round, Standing, Trajectory
from ..chain.tuning import Tuning
from ..imu.righting import Righting, righted
from .board import Board
from .guide import Guide, Journey, Pursuit, Timed
from .recording import recorded
from .remedies import halt, halted, remedy, stopped, way_on
from .status import PlaySettings, PlayState, torque_words
from .stream import Outcome, Stream, Wishes
from .trace import Trace
from .tuner import Tuner

ARRIVED = 0.06  # [rad], 3.5°: how near the servos must be to the first frame before it starts
SETTLE = 0.2  # [s] of waiting for that, up to
SETTLES = 10  # times


class Session:
    """A chain behind an open port.

    `on_connected` is called with the chain and its count limits (n, 2) before the servos that are there are
    published.
    """

    def __init__(
        self,
        bus: Bus,
        settings: PlaySettings,
        wishes: Wishes,
        board: Board,
        on_connected: Callable[[ServoChain, np.ndarray], None],
    ) -> None:
        self._bus, self._settings, self._wishes = bus, settings, wishes
        self._board, self._on_connected = board, on_connected
        self._asked, self._is_found = bus.chain, False
        self._tuner = Tuner(bus, {servo.id: servo.tuning for servo in bus.chain.servos})
        self._goal_limits = bus.chain.count_limits
        self._torque_before: dict[int, bool] = {}
        self._righting: Righting | None = None
        self._trace = Trace(wishes)
        self._forget()

    def connect(self) -> None:
        """Read every servo, write nothing; end in ready, or in holding where torque is on already.

        Raise ServoError for what keeps them from playing.
        """
        found = self._find()
        self._torque_before = dict(zip(self.chain.ids, (one.torque for one in found), strict=True))
        counts = self._folded(np.array([one.position for one in found]))
        self._board.publish(**found_report(self._bus, found, counts))

    @property
    def chain(self) -> ServoChain:
        """The servos that are there."""
        return self._bus.chain

    def _find(self) -> tuple[Found, ...]:
        """Read every servo, write nothing."""
        self._forget()
        found = find(self._bus, self._settings.without)
        self._health = Health(self.chain, found)
        self._single_turn = np.array([f.is_single_turn for f in found])
        limits = self.chain.count_limits.copy()
        for k, f in enumerate(found):
            if f.low is not None and f.high is not None:
                limits[k] = max(f.low, limits[k, 0]), min(f.high, limits[k, 1])
        self._goal_limits = limits
        self._on_connected(self.chain, limits)
        self._is_found = True
        self._own_limits = [(f.low, f.high) for f in found]
        return found

    def _forget(self) -> None:
        """Know nothing of the servos but what the chain says."""
        self._bus.forget()
        self._is_found, self._health = False, Health(self._asked, ())
        self._single_turn = np.zeros(len(self._asked.servos), dtype=bool)

    # torque

    def torque_on(self) -> None:
        """Every servo holds where it is."""
        found = self._find()
        bus, stand = self._bus, Stand(self._bus, [one.position for one in found], self._single_turn)
        stand.look()
        bus.set_watchdog(0.0)
        bus.prepare()
        self._tuner.write_all()
        stand.check_gains()
        bus.set_speed_limit(self._approach_speeds)  # should anything move now, then slowly
        goals = stand.look()
        check_inside(self.chain.servos, goals.tolist(), self._own_limits)
        bus.hold_at(goals)
        bus.set_torque([True] * len(self.chain.servos))
        seen = stand.watch(goals)
        self._wishes.clear()
        held = {"message": "holding, torque is on", "strain": "", "goals": self._told(goals)}
        report = found_report(bus, found, goals) | self._readings(seen)
        self._board.publish(**report | held | {"state": PlayState.HOLDING})

    def torque_off(self, message: str = "torque is off") -> None:
        """Turn torque off, before anything else, and publish `message`.

        A ServoError names the servos that still have torque, or do not answer.
        """
        after = self._bus.cut_torque()
        seen: Sequence[bool | None] = after
        if len(self._board.status.servos) != len(after):  # they were not found fit, so nothing was known of them
            self.survey()
            both = zip(self._board.status.servos, after, strict=True)
            seen = [was if one.torque is None else one.torque for one, was in both]  # a look may go unanswered
        now = (replace(one, torque=torque) for one, torque in zip(self._board.status.servos, seen, strict=True))
        self._board.publish(servos=tuple(now))
        asked = zip(self.chain.servos, after, strict=True)
        still = [
            servo for servo, torque in asked if torque or (torque is None and servo.id not in self._settings.without)
        ]
        if not still:
            self._board.publish(state=PlayState.READY, message=message, goals=())
            return
        raise ServoError(f"torque-off was sent, but {names(still)} did not confirm it; switch the power off")

    def restore_torque(self) -> None:
        """Give each servo the torque, on or off, that it had at connecting."""
        self._bus.set_torque([self._torque_before.get(id, False) for id in self.chain.ids])
        self.survey()
        status = self._board.status
        state = PlayState.HOLDING if status.torque else PlayState.READY
        self._board.publish(state=state, message=torque_words(status.servos))

    def reboot(self) -> None:
        """Reboot the servos that have a hardware error, and look at all again."""
        asleep = [servo for servo in self._asked.servos if self._has_error(servo)]
        for servo in asleep:
            self._bus.line_of(servo).reboot(servo)
        if asleep:
            self._bus.emergency.pause(self._bus.waking)
        self.connect()

    def _has_error(self, servo: Servo) -> bool:
        try:
            return self._bus.line_of(servo).has_error(servo)
        except ServoSilent:
            return False

    def read_tunings(self) -> None:
        """Read and publish the servos' tunings, if they were found fit."""
        if self._is_found:
            self._board.publish(tunings=self._tuner.read())

    def tune(self, id: int, *entries: int | None) -> None:
        """Give a servo the entries of a `Tuning`; publish the tuning of all, and why it was not taken."""
        said, tunings = self._tuner.tune(id, Tuning(*entries))
        self._board.publish(untuned=said, **({"tunings": tunings} if tunings else {}))

    def _readings(self, seen: Sequence[Telemetry | None]) -> dict[str, Any]:
        """Return what is to be published of a look at every servo."""
        counts = self._folded(np.array([0 if one is None else one.position for one in seen]))
        return look_report(self._bus, self._health, seen, counts, self._board.status.present)

    def look(self) -> None:
        """Look at all servos, while nothing plays; at none if not all were fit when they were last looked for.

        Raise ServoError if one does not answer, or no longer does what it did.
        """
        if not self._is_found:
            return
        was_held = self._board.status.state is PlayState.HOLDING
        seen = self._bus.look_at_each()
        report = self._readings(seen)
        trace = self._trace.look(self.chain, self._board.status.goals, report["present"], seen)
        self._board.publish(**report, trace=trace)
        for servo, one in zip(self.chain.servos, seen, strict=True):
            if one.trouble and (was_held or one.errors):
                raise ServoError(f"servo {servo.id} ({servo.actuator}) {one.trouble}; {remedy(one)}")

    def survey(self) -> None:
        """Read and publish what each servo reports, fit or not: after a fault, and before leaving."""
        self._board.publish(**self._readings(self._bus.glance()))

    # moving

    def play(self, along: Along, loop: bool, frame: float, begin: float = 0.0, tilt: TiltPlan | None = None) -> None:
        """Go slowly to the first frame, or to the time `begin` on the way, then along a motion, in a loop if asked.

        `frame` is the time between its samples [s], `tilt` None to play without feedback. Raise ServoError if a
        servo fails; or, before anything moves, if the sensor that feedback needs does not say enough.
        """
        way: Trajectory = Round(along, self._approach_speeds, frame, self.chain.speed_limits) if loop else along
        round = way.length if isinstance(way, Round) else 0.0
        self._board.publish(state=PlayState.APPROACHING, message="going to the first frame", round=round)
        with righted(self._bus, tilt, round) as self._righting:
            self._move(lambda stream: self._travel(stream, way, begin))

    def perform(self, along: Along, *timing: float) -> None:
        """Go slowly to the first frame, stand there until a show begins, then along a motion by the show's clock.

        `timing` is the pace with which it begins, and steering, as in `Timed`.
        """
        self._righting = None
        self._board.publish(state=PlayState.APPROACHING, message="going to the first frame", round=0.0)
        timed = Timed(along, self._settings.stop_time, self._wishes.show, *timing)
        self._move(lambda stream: self._travel(stream, along, 0.0, timed))

    def live(self) -> None:
        """Follow the owner's wishes."""
        self._righting = None
        self._board.publish(state=PlayState.LIVE, message="following live")
        self._move(self._chase)

    def _move(self, go: Callable[[Stream], Outcome]) -> None:
        if not self._board.status.torque:
            raise ServoError("torque was turned off before anything moved; turn it on and start again")
        settings = self._settings
        fresh = {"strain": "", "recording": "", "righting": "", "goals": ()}
        self._board.publish(sent=0, dropped=0, looks=0, stopped_at=0.0, **fresh)
        try:
            with recorded(settings.record, self.chain, lambda said: self._board.publish(recording=said)) as note:
                limits, report = self._goal_limits, self._report
                stream = Stream(self._bus, settings, limits, self._wishes, self._health, report, note, self._righting)
                stream.on_seen = partial(self._trace.note, self.chain)
                present = self._folded(self._bus.positions())
                self._bus.set_speed_limit(self._approach_speeds)
                self._bus.set_watchdog(settings.watchdog)
                with undisturbed():
                    stream.begin(present, self._approach_speeds)
                    outcome = go(stream)
                self._report(stream)
            self._finish(stream, outcome)
        except PortGone as gone:
            raise PortGone(f"{gone}; {halt(self._asked, settings.watchdog)}") from None

    def _travel(self, stream: Stream, way: Trajectory, begin: float, guide: Guide | None = None) -> Outcome:
        start = way.at(np.array([begin]))[0]
        outcome = stream.follow(self._journey(Between(self.chain.values(stream.present), start, self._approach_speeds)))
        if outcome is Outcome.DONE:
            outcome = self._arrive(stream, start)
        if outcome is not Outcome.DONE:
            return outcome
        stream.trouble = self._righting.begin(begin) if self._righting else ""
        if stream.trouble:
            return Outcome.FAILED
        self._release(stream, self.chain.speed_limits)
        self._board.publish(state=PlayState.PLAYING, message="playing")
        outcome = stream.follow(guide or self._journey(way, begin))
        if outcome is Outcome.STOPPED:
            self._board.publish(stopped_at=stream.at)
        return outcome

    def _journey(self, trajectory: Trajectory, begin: float = 0.0) -> Guide:
        return Journey(trajectory, self._settings.stop_time, begin)

    def _chase(self, stream: Stream) -> Outcome:
        speeds = self._settings.live_share * self.chain.speed_limits
        accelerations = np.minimum(self._settings.live_acceleration, self.chain.acceleration_limits)
        limiter = Limiter(
            np.sort(self.chain.values(self._goal_limits.T).T, axis=1), speeds, accelerations, stream.schedule.period
        )
        limiter.place(self.chain.values(stream.present))
        self._release(stream, speeds)
        self._board.publish(state=PlayState.LIVE, message="following live")
        return stream.follow(Pursuit(limiter, self._wishes.wish, np.minimum(self._approach_speeds, speeds), speeds))

    def _release(self, stream: Stream, speeds: np.ndarray) -> None:
        """From the approach's speed limits to others."""
        self._bus.set_speed_limit(speeds)
        stream.limit(speeds)
        stream.start_over()

    def _arrive(self, stream: Stream, start: np.ndarray) -> Outcome:
        goal = self.chain.counts(start)
        for _ in range(SETTLES):
            outcome = stream.follow(self._journey(Standing(start, SETTLE)))
            if outcome is not Outcome.DONE:
                return outcome
            away = np.abs(self._folded(self._bus.positions()) - goal) / self.chain.counts_per_turn * 2 * np.pi
            if away.max() <= ARRIVED:
                return Outcome.DONE
        servo = self.chain.servos[int(np.argmax(away))]
        where = f"servo {servo.id} ({servo.actuator})"
        left = f"{np.degrees(away.max()):.1f}° are left"
        stream.trouble = f"{where} does not get to the first frame, {left}; is it blocked?"
        return Outcome.FAILED

    def _finish(self, stream: Stream, outcome: Outcome) -> None:
        if outcome is Outcome.ABANDONED:
            self._let_watchdog_bite(f"no heartbeat for {self._settings.heartbeat:g} s")
        if outcome is Outcome.STALLED:
            self._let_watchdog_bite(f"this computer stood still for {stream.stall:.1f} s")
        if outcome is Outcome.FAILED:
            self._bus.let_hold()
            raise ServoError(f"{stream.trouble}; {halted(stream.trouble)}; {way_on(stream.trouble)}")
        self._bus.set_watchdog(0.0)
        self._board.publish(present=self._told(self._folded(self._bus.positions())), goals=self._told(stream.goals))
        is_over = outcome is Outcome.DONE
        message = "played to the end" if is_over else "stopped"
        if not self._settings.torque_after:
            self.torque_off(f"{message}, torque is off" + ("" if is_over else "; turn it on to go on"))
        else:
            message = f"{message}, holding" + ("" if is_over else "; play again to go on")
            self._board.publish(state=PlayState.HOLDING, message=message)

    def _let_watchdog_bite(self, why: str) -> NoReturn:
        """Send nothing until the servos have stopped by themselves; raises ServoError, which says so."""
        watchdog = self._settings.watchdog
        self._board.publish(state=PlayState.STOPPING, message=f"{why}: {halt(self.chain, watchdog)}")
        self._bus.emergency.pause(1.5 * watchdog)
        said = stopped(self.chain, sum(self._bus.are_stopped()))
        raise ServoError(f"{why}: {said}; turn torque on again to go on")

    def _told(self, counts: np.ndarray) -> tuple[float, ...]:
        """Return values of actuators as a status has them, of counts (n,)."""
        return tuple(self.chain.values(counts).tolist())

    def _folded(self, counts: np.ndarray) -> np.ndarray:
        """Positions as they are once torque is on: in single-turn mode, within one turn."""
        return np.where(self._single_turn, counts % self.chain.counts_per_turn, counts)

    @property
    def _approach_speeds(self) -> np.ndarray:
        return self.chain.approach_speeds(self._settings.approach_speed)

    def _report(self, stream: Stream) -> None:
        status = self._board.status
        state, message = status.state, status.message
        if stream.trouble or self._wishes.stop.is_set():
            state, message = PlayState.STOPPING, stream.trouble or "slowing down"
        elif state in (PlayState.PLAYING, PlayState.PAUSED):
            state = PlayState.PAUSED if stream.is_resting and self._wishes.pace == 0.0 else PlayState.PLAYING
            message = state.value
        seen = [one for one in self._health.seen if one is not None]
        self._board.publish(
            state=state,
            message=message,
            behind=self._wishes.show.behind,
            behind_worst=self._wishes.show.worst,
            time=stream.at if state in (PlayState.PLAYING, PlayState.PAUSED) else status.time,
            strain=self._health.strain,
            looks=stream.looks,
            righting=self._righting.words if self._righting else "",
            trace=self._trace.samples,
            **stream.schedule.account,
            **(self._readings(seen) if len(seen) == len(self.chain.servos) else {}),
        )
