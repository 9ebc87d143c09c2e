"""A gamepad that SDL makes up: it goes through SDL as one that is plugged in does."""

from __future__ import annotations

import pytest

sdl2 = pytest.importorskip("sdl2", reason="needs pysdl2 and pysdl2-dll (requirements/test.txt)")


class VirtualPad:
    """Six axes and fifteen buttons, from `plug` to `unplug`; there must be a `Gamepad`, which starts SDL."""

    def plug(self) -> None:
        self.index = sdl2.SDL_JoystickAttachVirtual(sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
        assert self.index >= 0, sdl2.SDL_GetError()
        self._joystick = sdl2.SDL_JoystickOpen(self.index)

    def axis(self, number: int, value: float) -> None:
        assert sdl2.SDL_JoystickSetVirtualAxis(self._joystick, number, round(32767 * value)) == 0

    def button(self, number: int, is_held: bool) -> None:
        assert sdl2.SDL_JoystickSetVirtualButton(self._joystick, number, is_held) == 0

    def unplug(self) -> None:
        sdl2.SDL_JoystickClose(self._joystick)
        assert sdl2.SDL_JoystickDetachVirtual(self.index) == 0
