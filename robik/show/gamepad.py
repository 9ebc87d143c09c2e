"""Gamepads, by SDL: their sticks and buttons as SDL names them on any maker's pad."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from ..errors import ServoError
from ..extras import extra

DEAD = 0.12  # of a stick's way, within which it is in the middle
FULL = 32767  # SDL's number for the end of an axis
AXES = {"LEFT_X": 0, "LEFT_Y": 1, "RIGHT_X": 2, "RIGHT_Y": 3, "LEFT_TRIGGER": 4, "RIGHT_TRIGGER": 5}  # as SDL counts
UPWARDS = ("LEFT_Y", "RIGHT_Y")  # SDL counts these downwards
BUTTONS = {
    "A": 0, "B": 1, "X": 2, "Y": 3, "BACK": 4, "START": 6, "LEFT_STICK": 7, "RIGHT_STICK": 8, "LEFT_SHOULDER": 9,
    "RIGHT_SHOULDER": 10, "UP": 11, "DOWN": 12, "LEFT": 13, "RIGHT": 14,
}  # fmt: skip


@dataclass(frozen=True)
class PadState:
    """State of a gamepad; of one that is not there all is in the middle and let go.

    Attributes:
        axes: by name, from -1 to 1, up and right positive; triggers from 0.
        buttons: names of those that are held.
    """

    axes: dict[str, float] = field(default_factory=lambda: dict.fromkeys(AXES, 0.0))
    buttons: frozenset[str] = frozenset()


def centred(value: float) -> float:
    """Return an axis value, -1 to 1, without the noise of a stick in the middle: continuous, 0 within `DEAD`."""
    size = max(abs(value) - DEAD, 0.0) / (1.0 - DEAD)
    return min(size, 1.0) * (1.0 if value > 0 else -1.0)


class Gamepad:
    """The first gamepad that there is, also one that is plugged in later.

    Raise MissingExtraError if the packages that bring SDL are not installed, ServoError if SDL does not work here.

    Attributes:
        name: of the pad; empty while there is none.
    """

    def __init__(self) -> None:
        with extra("gamepad"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has SDL's binaries from a package
            import sdl2
        self._sdl: Any = sdl2
        self._pad: Any = None
        self.name = ""
        sdl2.SDL_SetHint(sdl2.SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, b"1")  # SDL has no window here
        sdl2.SDL_SetHint(sdl2.SDL_HINT_NO_SIGNAL_HANDLERS, b"1")
        sdl2.SDL_SetHint(b"SDL_JOYSTICK_THREAD", b"1")  # Windows tells of pads by messages, which nobody else takes
        if sdl2.SDL_InitSubSystem(sdl2.SDL_INIT_GAMECONTROLLER) != 0:
            raise ServoError(f"gamepads cannot be read: SDL says {sdl2.SDL_GetError().decode(errors='replace')!r}")

    def look(self) -> PadState:
        """Return where its sticks are and what is held, without waiting."""
        sdl = self._sdl
        sdl.SDL_GameControllerUpdate()
        if self._pad is not None and not sdl.SDL_GameControllerGetAttached(self._pad):
            self._let_go()
        if self._pad is None and not self._find():
            return PadState()
        axes = {name: centred(sdl.SDL_GameControllerGetAxis(self._pad, k) / FULL) for name, k in AXES.items()}
        axes |= {name: -axes[name] for name in UPWARDS}
        held = (name for name, k in BUTTONS.items() if sdl.SDL_GameControllerGetButton(self._pad, k))
        return PadState(axes, frozenset(held))

    def close(self) -> None:
        """Leave the gamepad to others."""
        if self._sdl is not None:
            self._let_go()
            self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)
            self._sdl = None

    def _find(self) -> bool:
        sdl = self._sdl
        for k in range(sdl.SDL_NumJoysticks()):
            if sdl.SDL_IsGameController(k) and (pad := sdl.SDL_GameControllerOpen(k)):
                self._pad, self.name = pad, (sdl.SDL_GameControllerName(pad) or b"gamepad").decode(errors="replace")
                return True
        return False

    def _let_go(self) -> None:
        if self._pad is not None:
            self._sdl.SDL_GameControllerClose(self._pad)
        self._pad, self.name = None, ""
