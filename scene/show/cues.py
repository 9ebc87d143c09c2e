"""Cues of a performance: what keys, OSC messages and gamepads mean to a robot, as its panel says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from bpy.types import Object, PropertyGroup, Scene

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.show.gamepad import Gamepad
from ...robik.show.layers import Clip, Layers
from ...robik.show.osc import Listener, Message
from .clips import read_clip
from .pad import gamepad

DEAD_MAN = "D"  # the key that servos may need held while they are live
STOP = "/robik/stop"  # as of a show
IDLE = "the idle motion"


@dataclass(frozen=True, eq=False)
class _Trigger:
    """A clip, and what triggers it."""

    clip: Clip
    key: str
    osc: str
    button: str


@dataclass(eq=False)
class _Stick:
    """An axis: where it is held, by keys, by OSC and by a gamepad."""

    place: int  # of its motor
    reach: float  # [rad or m] at its end
    minus: str
    plus: str
    osc: str
    axis: str
    by_osc: float = 0.0
    by_pad: float = 0.0

    def at(self, held: set[str]) -> float:
        """Return where it is, from -1 to 1."""
        return min(max(self.by_osc + self.by_pad + (self.plus in held) - (self.minus in held), -1.0), 1.0)


@dataclass(eq=False)
class Cues:
    """Triggers and sticks of a robot.

    Attributes:
        idle: its idle motion, or None.
        unheard: the last OSC message that meant nothing, in words.
    """

    idle: Clip | None
    triggers: list[_Trigger]
    sticks: list[_Stick]
    actuators: int
    unheard: str = ""
    _held: set[str] = field(default_factory=set)
    _listener: Listener | None = None
    _pad: Gamepad | None = None
    _pushed: frozenset[str] = frozenset()  # buttons of the gamepad

    @property
    def address(self) -> str:
        """Return where OSC messages are heard; empty where none are."""
        return "" if self._listener is None else self._listener.address

    def listen(self, port: str) -> None:
        """Listen to OSC messages, and to a gamepad where one is asked for, from now on; an empty port is none.

        Raise RobikError if that cannot be.
        """
        asked = {*_keys(self.triggers, ("button",)), *_keys(self.sticks, ("axis",))}
        self._pad = gamepad() if asked else None
        try:
            self._listener = Listener(port.strip()) if port.strip() else None
        except RobikError:
            self.close()
            raise

    def close(self) -> None:
        """Hear nothing any more."""
        if self._pad is not None:
            self._pad.close()
            self._pad = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def press(self, key: str, layers: Layers) -> bool:
        """Press a key; returns whether it means something."""
        known = self._knows(key)
        if known and key not in self._held:  # a key that is held repeats
            self._held.add(key)
            for trigger in self.triggers:
                if trigger.key == key:
                    layers.trigger(trigger.clip)
            self._lean(layers)
        return known

    def let_go(self, key: str, layers: Layers) -> bool:
        """Let a key go; returns whether it means something."""
        self._held.discard(key)
        for trigger in self.triggers:
            if trigger.key == key and trigger.clip.is_round:
                layers.release(trigger.clip.name)
        self._lean(layers)
        return self._knows(key)

    def let_go_all(self, layers: Layers) -> None:
        """Let go of all keys."""
        for key in list(self._held):
            self.let_go(key, layers)

    def hear(self, layers: Layers) -> bool:
        """Take in what gamepad and OSC messages say; returns whether one asks to stop."""
        self._look(layers)
        for message in self._listener.messages() if self._listener is not None else ():
            if not isinstance(message, Message):
                self.unheard = str(message)
            elif message.address == STOP:
                return True
            elif not self._obey(message, layers):
                self.unheard = message.address
        return False

    def _look(self, layers: Layers) -> None:
        if self._pad is None:
            return
        state = self._pad.look()
        for trigger in self.triggers:
            if trigger.button in state.buttons - self._pushed:
                layers.trigger(trigger.clip)
            elif trigger.button in self._pushed - state.buttons and trigger.clip.is_round:
                layers.release(trigger.clip.name)
        self._pushed = state.buttons
        for stick in self.sticks:
            stick.by_pad = state.axes.get(stick.axis, 0.0)
        self._lean(layers)

    def _obey(self, message: Message, layers: Layers) -> bool:
        value = message.arguments[0] if message.arguments else 1.0
        number = float(value) if isinstance(value, int | float) else None
        triggers = [trigger for trigger in self.triggers if trigger.osc == message.address]
        for trigger in triggers:
            if number != 0.0:
                layers.trigger(trigger.clip)
            elif trigger.clip.is_round:
                layers.release(trigger.clip.name)
        sticks = [stick for stick in self.sticks if stick.osc == message.address]
        if number is not None and np.isfinite(number) and message.arguments:
            for stick in sticks:
                stick.by_osc = min(max(number, -1.0), 1.0)
            self._lean(layers)
        return bool(triggers or sticks)

    def _knows(self, key: str) -> bool:
        return bool(key) and key in {*_keys(self.triggers, ("key",)), *_keys(self.sticks, ("minus", "plus"))}

    def _lean(self, layers: Layers) -> None:
        offsets = np.zeros(self.actuators)
        for stick in self.sticks:
            offsets[stick.place] += stick.reach * stick.at(self._held)
        layers.lean(offsets)


def read_cues(root: Object, mechanism: Mechanism, scene: Scene) -> Cues:
    """Read a robot's triggers and sticks from its panel; a RobikError names the one that is wrong."""
    settings = root.robik.robot.performance
    names = [row.name for row in settings.triggers]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise RobikError(f"two triggers are called {twice!r}; give them different names")
    idle = None
    if settings.idle is not None:
        idle = read_clip(settings.idle, IDLE, root, mechanism, scene, moved_only=False, is_round=True)
    triggers = [_read_trigger(row, root, mechanism, scene) for row in settings.triggers]
    sticks = [_read_stick(row, mechanism) for row in settings.sticks]
    _check_keys([*_keys(triggers, ("key",)), *_keys(sticks, ("minus", "plus"))], scene.robik.playing.dead_man)
    return Cues(idle, triggers, sticks, len(mechanism.actuators))


def _read_trigger(row: PropertyGroup, root: Object, mechanism: Mechanism, scene: Scene) -> _Trigger:
    if row.action is None:
        raise RobikError(f"the trigger {row.name!r} has no clip; choose one, or remove the trigger")
    clip = read_clip(row.action, row.name, root, mechanism, scene, row.moved_only, row.held)
    return _Trigger(clip, _key(row.key), _address(row.osc), _of_pad(row.button))


def _read_stick(row: PropertyGroup, mechanism: Mechanism) -> _Stick:
    if row.motor not in mechanism.actuators:
        named = repr(row.motor) if row.motor else "no motor"
        raise RobikError(f"a stick turns {named}; the robot has {', '.join(mechanism.actuators)}")
    place = mechanism.actuators.index(row.motor)
    low, high = mechanism.actuator_limits[place]
    half = 0.5 * (high - low) if np.isfinite(high - low) else np.pi
    return _Stick(
        place, half * row.amount / 100.0, _key(row.minus), _key(row.plus), _address(row.osc), _of_pad(row.axis)
    )


def _key(text: str) -> str:
    key = text.strip().upper()
    if key and not (key.isascii() and key.isalnum()):
        raise RobikError(f"a key is a letter or a digit, not {text!r}")
    return key


def _address(text: str) -> str:
    address = text.strip()
    if address and not address.startswith("/"):
        raise RobikError(f"an OSC address begins with /, as /{address}")
    if address == STOP:
        raise RobikError(f"{STOP} ends the performance; choose another address")
    return address


def _of_pad(name: str) -> str:
    """Return the name of a button or axis; empty for none."""
    return "" if name == "NONE" else name


def _keys(rows: list, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the keys that rows have, without empty ones."""
    yield from (getattr(row, name) for row in rows for name in names if getattr(row, name))


def _check_keys(keys: list[str], has_dead_man: bool) -> None:
    if twice := next((key for key in keys if keys.count(key) > 1), ""):
        raise RobikError(f"the key {twice} has two meanings; give one of them another key")
    if has_dead_man and DEAD_MAN in keys:
        raise RobikError(f"the key {DEAD_MAN} keeps the servos going (While D Is Held); choose another one")
