"""The command `robik show`."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import ServoError
from ..motions import Motion
from ..servo.play.controls import Controls, controls
from ..servo.play.player import Player
from ..servo.play.terminal import STOPPED, TIMEOUT, UNMOVED, Stopped, say, take_in
from ..servo.port.outside import Notice, held
from ..servo.port.status import PlaySettings, PlayState, Status, torque_words
from ..servo.port.thread import SIMULATED
from .conducting import Conductor
from .osc import Listener
from .program import Program, check, read_program
from .requests import Ask, Request, Requests
from .show_file import load_show
from .sound import WITHOUT_SOUND, NoDevice, Sound

GLANCE = 0.02  # [s] between turns
TOLD = 0.2  # [s] between lines in the terminal
HINT = "[space pauses, N next act, ESC stops all, T torque off]"


@dataclass(frozen=True)
class Asked:
    """Options of a show.

    Attributes:
        is_check: say what would play and what is wrong, and open no port.
        is_simulated: all robots on simulated servos.
        is_silent: without the sound.
        softens: round off what the motors cannot do, and go slowly to a start far away.
        osc: the port, or HOST:PORT, at which OSC messages are taken; empty for none.
        may_lose_hold: play on where the motors lose hold of a robot.
    """

    is_check: bool = False
    is_simulated: bool = False
    is_silent: bool = False
    softens: bool = False
    osc: str = ""
    may_lose_hold: bool = False


def show(path: str | Path, asked: Asked, settings: PlaySettings) -> int:
    """Play a show with these settings for all robots, or print its plan; return 0 at its end, 1 if it was stopped.

    After a RobikError all servos are in a defined state.
    """
    read = load_show(path)
    if asked.is_simulated:
        robots = {name: replace(robot, port=SIMULATED) for name, robot in read.robots.items()}
        read = replace(read, robots=robots)
    program = read_program(read, settings, asked.softens, asked.is_silent, asked.may_lose_hold)
    for warning in program.warnings:
        say(f"warning: {warning}", sys.stderr)
    if asked.is_check:
        for line in program.lines():
            say(line)
    check(program)
    return 0 if asked.is_check else _play(program, asked, settings)


def _play(program: Program, asked: Asked, settings: PlaySettings) -> int:
    players = {
        name: Player(chain, program.show.robots[name].port, settings, is_apart=True)
        for name, chain in program.chains.items()
    }
    ports = [one for player in players.values() for one in held(player.chain, player.port)]
    with ExitStack() as opened:
        pressed = opened.enter_context(controls())
        notice = opened.enter_context(Notice(ports, lambda: _status(players)))
        opened.callback(_close, players.values())
        listener = opened.enter_context(Listener(asked.osc)) if asked.osc else None
        if listener is not None:
            say(f"OSC messages are taken at {listener.address} (UDP)")
        requests = Requests(pressed, listener, lambda text: say(text, sys.stderr))
        return _Show(program, players, pressed, notice, requests).run(asked)


def _close(players: Collection[Player]) -> None:
    for wait in (0.0, 3.0):
        for player in players:
            player.close(wait)


def _status(players: Mapping[str, Player]) -> Status:
    """Return the status of all in one, for other programs."""
    statuses = {name: player.status for name, player in players.items()}
    moving = [one for one in statuses.values() if one.state.is_moving]
    said = ", ".join(f"{name} {one.state.value}, {torque_words(one.servos)}" for name, one in statuses.items())
    servos = tuple(servo for one in statuses.values() for servo in one.servos)
    return replace((moving or list(statuses.values()))[0], message=said, servos=servos)


class _Show:
    """A show and its user's controls, from connecting to the end."""

    def __init__(
        self,
        program: Program,
        players: Mapping[str, Player],
        pressed: Controls,
        notice: Notice,
        requests: Requests,
    ) -> None:
        self._program, self._players, self._pressed, self._notice = program, players, pressed, notice
        self._requests, self._is_off, self._told = requests, False, 0.0
        self._act = 0  # the one that began last, or will begin
        self._sound: Sound | None = None

    def run(self, asked: Asked) -> int:
        """Connect all, check everything that can be known, turn torque on, play, and return the exit code."""
        has_moved = False
        try:
            self._connect()
            for name, player in self._players.items():
                _check(name, player, self._motions[name], asked.softens)
            self._open_sound()
            for player in self._players.values():
                player.torque(True)
            self._wait(PlayState.HOLDING)
            conductor = self._conductor(self._motions, self._sound)
            conductor.perform(asked.softens)
            has_moved = True
            return self._watch(conductor)
        except Stopped:
            say(f"{UNMOVED}; {self._leave_torque(has_moved)}")
            return STOPPED
        except ServoError as error:
            touched = any(player.has_touched_torque for player in self._players.values())
            raise ServoError(f"{error}; {self._leave_torque(has_moved)}" if touched else str(error)) from None
        finally:
            if self._sound is not None:
                self._sound.close()

    @property
    def _motions(self) -> Mapping[str, Motion]:
        assert self._program.timeline is not None  # as checked
        return self._program.timeline.motions

    def _conductor(self, motions: Mapping[str, Motion], sound: Sound | None, start: float = 0.0) -> Conductor:
        players = {name: self._players[name] for name in motions}
        goes_on = self._program.show.goes_on
        return Conductor(players, motions, sound, goes_on, lambda text: say(text, sys.stderr), start)

    def _connect(self) -> None:
        for player in self._players.values():
            player.connect()
        self._wait(PlayState.READY, PlayState.HOLDING)
        for name, player in self._players.items():
            say(f"{name}: {player.status.message}")
            for warning in filter(None, (player.status.missing, player.status.adapter)):
                say(f"warning: {name}: {warning}", sys.stderr)

    def _open_sound(self) -> None:
        show = self._program.show
        if show.sound is None or not self._program.sound_seconds:
            return
        try:
            self._sound = Sound(show.sound, show.sound_start)
        except NoDevice as error:
            say(f"warning: {error}; {WITHOUT_SOUND}", sys.stderr)

    # waiting

    def _look(self) -> None:
        """Take in what was pressed, here or outside, and turn torque off at once where that is asked."""
        take_in(self._pressed, self._notice)
        if self._pressed.is_torque_off and not self._is_off:
            self._is_off = True
            for player in self._players.values():
                player.emergency_stop()

    def _wait(self, *states: PlayState) -> None:
        """Wait until all players are there; a stop ends that."""
        ends = time.perf_counter() + TIMEOUT
        while True:
            self._look()
            if self._pressed.stops or self._pressed.is_torque_off:
                raise Stopped
            for name, player in self._players.items():
                player.heartbeat()
                if player.status.state is PlayState.FAULT:
                    raise ServoError(f"{name}: {player.status.message}")
            if all(player.status.state in states for player in self._players.values()):
                return
            if time.perf_counter() > ends:
                raise ServoError(f"the robots are not there after {TIMEOUT:g} s: {_status(self._players).message}")
            time.sleep(GLANCE)

    # playing

    def _watch(self, conductor: Conductor) -> int:
        while True:
            while conductor.step():
                self._look()
                self._obey(conductor)
                self._tell(conductor)
                time.sleep(GLANCE)
            if not conductor.is_left or conductor.has_ended:
                break
            conductor = self._from_act(conductor)
        self._tell(conductor, is_last=True)
        for name, player in self._players.items():
            say(f"{name}: {_account(player)}")
        if abs(conductor.drift) > 0:
            say(f"the sound's clock went {1e3 * conductor.drift:+.1f} ms against the computer's; the robots kept to it")
        if conductor.failures:
            raise ServoError("; ".join(f"{name}: {why}" for name, why in conductor.failures.items()))
        return STOPPED if conductor.is_stopped else 0

    def _obey(self, conductor: Conductor) -> None:
        """Do what is asked for."""
        if self._is_off and not conductor.is_stopped:
            conductor.stop()
        if not conductor.is_left:
            self._act = max(self._act, self._program.act_at(conductor.time))
        for request in self._requests.take():
            if request.ask is Ask.STOP:
                conductor.stop()
            elif request.ask is Ask.PAUSE or (request.ask is Ask.TOGGLE and not conductor.is_paused):
                conductor.pause()
            elif request.ask in (Ask.RESUME, Ask.TOGGLE):
                conductor.resume()
            else:
                self._leave(conductor, request)

    def _leave(self, conductor: Conductor, request: Request) -> None:
        """Let the robots come to a stand for another act; where there is none, say so and go on."""
        try:
            number = self._act + 2 if request.ask is Ask.NEXT else 0
            act = self._program.act_called(str(number) if number else request.act)
        except ServoError as error:
            say(f"warning: {error}", sys.stderr)
            return
        self._act = act
        if not conductor.has_ended:
            conductor.leave()

    def _from_act(self, before: Conductor) -> Conductor:
        """Go slowly to the begin of an act, where all stand, and play the show from there on."""
        timeline, start = self._program.from_act(self._act)
        motions = {name: motion for name, motion in timeline.motions.items() if name not in before.failures}
        if not motions:
            raise ServoError("; ".join(f"{name}: {why}" for name, why in before.failures.items()))
        for name, motion in motions.items():
            _check(name, self._players[name], motion, from_afar=True)
        conductor = self._conductor(motions, before.sound, start)
        conductor.failures.update(before.failures)
        conductor.perform(from_afar=True)
        return conductor

    def _tell(self, conductor: Conductor, is_last: bool = False) -> None:
        now = time.perf_counter()
        if not is_last and now - self._told < TOLD:
            return
        self._told = now
        try:
            if sys.stderr is None or not sys.stderr.isatty():
                return
        except ValueError:  # closed
            return
        text = f"{conductor.time:6.1f} of {self._program.duration:.1f} s  {_status(self._players).message}  {HINT}"
        say("\r\033[K" + ("" if is_last else text), sys.stderr, "" if is_last else "\r")

    # the end

    def _leave_torque(self, has_moved: bool) -> str:
        """Leave torque as it was found where nothing has moved; returns what it is, in words."""
        for player in self._players.values():
            if not player.is_open or self._pressed.is_torque_off or player.status.state.is_moving:
                continue
            if not has_moved and player.has_touched_torque:
                player.restore_torque()
            elif has_moved and not player.settings.torque_after and player.status.state is not PlayState.READY:
                player.torque(False)
        ends = time.perf_counter() + TIMEOUT
        while time.perf_counter() < ends and any(
            player.is_open and player.status.state is PlayState.CONNECTING for player in self._players.values()
        ):
            self._look()
            time.sleep(GLANCE)
        return "; ".join(f"{name}: {torque_words(player.status.servos)}" for name, player in self._players.items())


def _check(name: str, player: Player, motion: Motion, from_afar: bool) -> None:
    try:
        player.check(motion, from_afar)
    except ServoError as error:
        raise ServoError(f"{name}: {error}") from None


def _account(player: Player) -> str:
    status = player.status
    late = f"{status.lateness_p99 * 1e3:.2f} ms late at the 99th percentile"
    apart = f"{status.behind_worst * 1e3:.1f} ms off the show's clock at worst"
    goals = f"{status.sent} goals at {player.settings.rate:g} Hz, {status.dropped} dropped"
    return f"{status.message} ({goals}, {late}, {apart})"
