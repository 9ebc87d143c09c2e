"""Conducting a show: its robots begin together and keep to one clock, and one that fails stops the others, or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from ..errors import ServoError
from ..motions import Motion
from ..servo.player import Player
from ..servo.status import PlayState, Status
from .sound import WITHOUT_SOUND, Sound

LEAD = 0.6  # [s] from when all robots are in place to the begin: longer than the sound that a device keeps
BEHIND = 1.0  # [s] behind the clock, from which a robot counts as failed
STEER = 1e-4  # [s] that the sound's clock has moved, from which the robots are told
OVER = 1e-6  # [s] before the end, which counts as the end


class Conductor:
    """Players that perform together.

    Args:
        players: by the robots' names, holding.
        motions: likewise.
        sound: on a device; None without one.
        goes_on: whether the others go on where one fails.
        tell: says what the user should know.

    Attributes:
        failures: why each robot failed that did, by name.
        is_stopped: whether somebody asked for the end.
        drift: by how much the sound's clock has gone slower than this computer's since the begin [s].
    """

    def __init__(
        self,
        players: Mapping[str, Player],
        motions: Mapping[str, Motion],
        sound: Sound | None,
        goes_on: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._players, self._motions, self._sound = players, motions, sound
        self._goes_on, self._tell = goes_on, tell
        self.failures: dict[str, str] = {}
        self.is_stopped, self.drift = False, 0.0
        self._begin: float | None = None  # as planned
        self._told = 0.0  # when it began, as the robots were told
        self._over: set[str] = set()  # robots that have played to their end

    @property
    def time(self) -> float:
        """Return the time of the show [s]; 0 before it begins."""
        return max(0.0, time.perf_counter() - self._told) if self._begin is not None else 0.0

    def perform(self, from_afar: bool) -> None:
        """Let all robots go to their first frames.

        Args:
            from_afar: Whether from far away, too.

        Raises:
            ServoError: a robot cannot; names it.
        """
        for name, player in self._players.items():
            try:
                player.perform(self._motions[name], from_afar)
            except ServoError as error:
                self.stop()
                raise ServoError(f"{name}: {error}") from None

    def step(self) -> bool:
        """Do one turn, some fifty times a second.

        Returns:
            Whether the show goes on.
        """
        for name, player in self._players.items():
            player.heartbeat()
            self._judge(name, player)
        if not self.is_stopped and not (self.failures and not self._goes_on):
            self._begin_if_ready() if self._begin is None else self._steer()
        return any(player.status.state.is_moving for player in self._players.values())

    def stop(self) -> None:
        """Let all robots slow down and hold, and the sound end."""
        self.is_stopped = True
        self._end()

    def _end(self) -> None:
        for player in self._players.values():
            player.stop()
        if self._sound is not None:
            self._sound.close()

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
        elif status.state in (PlayState.HOLDING, PlayState.READY) and not self.is_stopped:
            if self._begin is not None and status.time >= status.duration - OVER:
                self._over.add(name)
            elif not (self.failures and not self._goes_on):
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
        if self._sound is not None and not self._sound.is_ready:
            return
        self._begin = self._told = time.perf_counter() + LEAD
        if self._sound is not None:
            self._sound.begin(self._begin)
        for player in self._players.values():
            player.begin_show(self._begin)

    def _check_sound(self) -> None:
        """Go on without the sound where its device is gone."""
        if self._sound is not None and not self._sound.is_playing:
            self._tell(f"warning: the sound device is gone; {WITHOUT_SOUND}")
            self._sound.close()
            self._sound = None

    def _steer(self) -> None:
        """Tell the robots when the show began, by the sound's own clock."""
        self._check_sound()
        if self._sound is None or self._begin is None:
            return
        began = self._sound.began
        if began is not None and abs(began - self._told) > STEER:
            self._told, self.drift = began, began - self._begin
            for player in self._players.values():
                player.begin_show(began)


def _why(status: Status) -> str:
    return f", since {status.strain}" if status.strain else ""
