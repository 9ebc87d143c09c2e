"""A player and its user in a terminal: keys, signals and notices from outside, and the torque at the end."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import IO

from ...errors import ServoError
from ..port.outside import STOP, TORQUE_OFF, Notice
from ..port.status import PlayState, Status, torque_words
from .controls import Controls
from .player import Player

GLANCE = 0.05  # [s] between looks at the controls and the player
TIMEOUT = 30.0  # [s] of connecting, and of turning torque on
STOPPED = 1  # the exit code when the user stopped it
UNMOVED = "stopped before anything moved"


class Stopped(Exception):
    """The user gave up before anything moved."""


class AtTerminal:
    """A player and its user's controls: keys, signals, and requests of other programs."""

    def __init__(self, player: Player, pressed: Controls, notice: Notice) -> None:
        self._player, self._pressed, self._notice = player, pressed, notice
        self._stops, self._is_off = 0, False  # of what was pressed, what was done

    def _look(self) -> None:
        take_in(self._pressed, self._notice)

    def _obey(self) -> bool:
        """Take in what was pressed, and turn torque off at once where that is asked; return whether a stop is."""
        self._look()
        if self._pressed.is_torque_off and not self._is_off:
            self._is_off = True
            self._player.emergency_stop()
        before, self._stops = self._stops, self._pressed.stops
        return self._stops > before

    def _wait(self, *states: PlayState) -> Status:
        """Wait until the player is there; a stop ends that at once while it connects, which changes nothing."""
        ends = time.perf_counter() + TIMEOUT
        while (status := self._player.status).state not in states:
            self._player.heartbeat()
            self._look()
            if self._pressed.is_torque_off:
                self._player.emergency_stop()
                raise Stopped
            if self._pressed.stops and PlayState.READY in states:
                raise Stopped
            if status.state is PlayState.FAULT:
                raise ServoError(status.message)
            if time.perf_counter() > ends:
                raise ServoError(f"the player is still {status.state.value} after {TIMEOUT:g} s: {status.message}")
            time.sleep(GLANCE / 5)
        self._look()
        if self._pressed.stops:
            raise Stopped
        return status

    def _leave_torque(self) -> str:
        """Leave torque as it was found, since nothing has moved; returns what it is, in words."""
        player = self._player
        if not player.has_touched_torque and not self._pressed.is_torque_off:
            return "torque is as it was found"
        if player.is_open and not self._pressed.is_torque_off:
            player.restore_torque()
        return self._settled()

    def _turn_off_if_asked(self) -> str:
        """Turn torque off where it was to be off in the end, whatever the end is; returns what it is, in words."""
        player = self._player
        if player.is_open and not player.settings.torque_after:
            player.torque(False)
        return self._settled()

    def _settled(self) -> str:
        ends = time.perf_counter() + TIMEOUT
        while self._player.is_open and self._player.status.state is PlayState.CONNECTING and time.perf_counter() < ends:
            self._look()
            if self._pressed.is_torque_off:
                self._player.emergency_stop()
            time.sleep(GLANCE)
        return torque_words(self._player.status.servos)


def take_in(pressed: Controls, notice: Notice) -> None:
    """Add what other programs ask for to what was pressed here."""
    asked = notice.look()
    if asked == STOP and not pressed.stops:  # a second one would turn torque off
        pressed.interrupt()
    pressed.look()
    pressed.is_torque_off |= asked == TORQUE_OFF


def say(text: str, to: IO[str] | None = None, end: str = "\n") -> None:
    """Print, unless the terminal is gone, which must not end what plays; standard output if `to` is None."""
    with suppress(OSError, ValueError):
        print(text, file=to, end=end, flush=True)
