"""Conducting a show: its robots begin together and keep to one clock, and one that fails stops the others, or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from ..errors import ServoError
from ..motions import Motion
from ..servo.play.player import Player
from ..servo.port.status import PlayState, Status
from .sound import WITHOUT_SOUND, Sound

LEAD = 0.6  # [s] from when all robots are in place to the begin: longer than the sound that a device keeps
BEHIND = 1.0  # [s] behind the clock, from which a robot counts as failed
STEER = 1e-4  # [s] that the sound's clock has moved, from which the robots are told
OVER = 1e-6  # [s] before the end, which counts as the end
SPEEDING_UP = 0.2  # [s] that a robot falls behind as it goes on from a stand: half of what it takes to its pace


class Conductor:
    """Players that perform together, by the robots' names; all hold before.

    The motions begin at the time `start` of the show [s]. With `goes_on` the others go on where one fails. `tell`
    is called with what the user should know.

    Attributes:
        sound: on a device, while that is there; None without one.
        failures: why each robot failed that did, by name.
        is_stopped: whether somebody asked for the end.
        is_left: whether the robots come to a stand for another act.
        is_paused: whether all stand, or slow down to a stand, until `resume`.
        drift: by how much the sound's clock has gone slower than this computer's since the begin [s].
    """

    def __init__(
        self,
        players: Mapping[str, Player],
        motions: Mapping[str, Motion],
        sound: Sound | None,
        goes_on: bool,
        tell: Callable[[str], None],
        start: float = 0.0,
    ) -> None:
        self._players, self._motions, self.sound = players, motions, sound
        self._goes_on, self._tell, self._start = goes_on, tell, start
        self.failures: dict[str, str] = {}
        self.is_stopped, self.is_left, self.drift = False, False, 0.0
        self._begin: float | None = None  # as planned
        self._told = 0.0  # when it began, as the robots were told
        self._over: set[str] = set()  # robots that have played to their end
        self.is_paused = False
        self._resumes = False
        self._goes_on_at: float | None = None  # by the computer's clock, after a pause [s]

    @property
    def time(self) -> float:
        """Return the time of the show [s]; where it begins, before that."""
        if self.is_paused:
            return self._start + max(player.status.time for player in self._players.values())
        return self._start + (max(0.0, time.perf_counter() - self._told) if self._begin is not None else 0.0)

    def perform(self, from_afar: bool) -> None:
        """Send all robots to their first frames, from far away if `from_afar`; a ServoError names one that cannot."""
        for name, player in self._players.items():
            try:
                player.perform(self._motions[name], from_afar)
            except ServoError as error:
                self.stop()
                raise ServoError(f"{name}: {error}") from None

    def step(self) -> bool:
        """Do one turn, some fifty times a second, and return whether the show goes on."""
        for name, player in self._players.items():
            player.heartbeat()
            self._judge(name, player)
        if not self._is_ending:
            self._take_turn()
        return any(player.status.state.is_moving for player in self._players.values())

    def _take_turn(self) -> None:
        if self._begin is None:
            self._begin_if_ready()
        elif not self.is_paused:
            self._steer()
        elif self._goes_on_at is None:
            if self._resumes:
                self._go_on()
        elif time.perf_counter() >= self._goes_on_at:
            self.is_paused, self._resumes, self._goes_on_at = False, False, None
            for player in self._players.values():
                player.resume()

    def pause(self) -> None:
        """Let all robots slow down along their motions and stand, and the sound be silent, until `resume`."""
        if self._begin is None or self._is_ending or self.is_paused:
            return
        self.is_paused = True
        if self.sound is not None:
            self.sound.pause()
        for player in self._players.values():
            player.pause()

    def resume(self) -> None:
        """Go on together, as soon as all stand."""
        self._resumes = self.is_paused

    def _go_on(self) -> None:
        states = {player.status.state for player in self._players.values()}
        if PlayState.PLAYING in states or PlayState.PAUSED not in states:
            return
        at, moment = self.time, time.perf_counter() + LEAD
        self._goes_on_at = moment - SPEEDING_UP
        self._begin = self._told = moment - (at - self._start)
        self._check_sound()
        if self.sound is not None:
            self.sound.begin(moment, at)
        for player in self._players.values():
            player.begin_show(self._begin)

    @property
    def has_ended(self) -> bool:
        """Return whether nothing is to be played any more: it was stopped, or a robot failed and the others stop."""
        return self.is_stopped or bool(self.failures and not self._goes_on)

    @property
    def _is_ending(self) -> bool:
        return self.has_ended or self.is_left

    def leave(self) -> None:
        """Let all robots slow down and hold, and the sound be silent, for another act."""
        self.is_left = True
        for player in self._players.values():
            player.stop()
        if self.sound is not None:
            self.sound.pause()

    def stop(self) -> None:
        """Let all robots slow down and hold, and the sound end."""
        self.is_stopped = True
        self._end()

    def _end(self) -> None:
        for player in self._players.values():
            player.stop()
        if self.sound is not None:
            self.sound.close()

    def _judge(self, name: str, player: Player) -> None:
        """Take note of a robot that has failed, was stopped by somebody else, or has come to its end."""
        if name in self.failures or name in self._over:
            return
        status = player.status
        if status.state in (PlayState.FAULT, PlayState.CLOSED):
            self._fail(name, status.message)
        elif status.state is PlayState.PLAYING and status.behind > BEHIND:
            player.stop()
            self._fail(name, f"it is {status.behind:.1f} s behind the show{_why(status)}; it stops and holds")
        elif status.state in (PlayState.HOLDING, PlayState.READY) and not self._is_ending:
            if self._begin is not None and status.time >= status.duration - OVER:
                self._over.add(name)
            else:
                self._tell(f"{name} was stopped ({status.message}); all stop")
                self.stop()

    def _fail(self, name: str, why: str) -> None:
        self.failures[name] = why
        if self.is_stopped:
            return
        if not self._goes_on or self._begin is None:
            self._goes_on = False  # whoever fails before the show begins ends it
            self._end()
        else:
            self._tell(f"warning: {name}: {why}; the others go on")

    def _begin_if_ready(self) -> None:
        if not all(player.status.state is PlayState.PLAYING for player in self._players.values()):
            return
        self._check_sound()
        if self.sound is not None and not self.sound.is_ready:
            return
        self._begin = self._told = time.perf_counter() + LEAD
        if self.sound is not None:
            self.sound.begin(self._begin, self._start)
        for player in self._players.values():
            player.begin_show(self._begin)

    def _check_sound(self) -> None:
        """Go on without the sound where its device is gone."""
        if self.sound is not None and not self.sound.is_playing:
            self._tell(f"warning: the sound device is gone; {WITHOUT_SOUND}")
            self.sound.close()
            self.sound = None

    def _steer(self) -> None:
        """Tell the robots when the show began, by the sound's own clock."""
        self._check_sound()
        if self.sound is None or self._begin is None:
            return
        if self.sound.began is None:
            return
        began = self.sound.began + self._start
        if abs(began - self._told) > STEER:
            self._told, self.drift = began, began - self._begin
            for player in self._players.values():
                player.begin_show(began)


def _why(status: Status) -> str:
    return f", since {status.strain}" if status.strain else ""
