"""Gamepads, through SDL's own virtual ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from robik.errors import MissingExtraError
from robik.show.gamepad import Gamepad, PadState, centred
from tests.show.virtual_pad import VirtualPad


@pytest.fixture
def pad() -> Iterator[Gamepad]:
    made = Gamepad()
    yield made
    made.close()


def test_sticks_and_buttons_from_plugging_in_to_pulling_out(pad: Gamepad) -> None:
    assert pad.look() == PadState() and pad.name == ""
    virtual = VirtualPad()
    virtual.plug()
    assert pad.look() == PadState() and pad.name
    virtual.axis(0, 1.0)
    virtual.axis(1, -1.0)  # up
    virtual.axis(3, 1.0)
    virtual.button(0, True)
    virtual.button(14, True)
    state = pad.look()
    assert {name: value for name, value in state.axes.items() if value} == {
        "LEFT_X": 1.0, "LEFT_Y": pytest.approx(1.0, abs=1e-4), "RIGHT_Y": -1.0}  # fmt: skip
    assert state.buttons == {"A", "RIGHT"}
    virtual.button(0, False)
    assert pad.look().buttons == {"RIGHT"}
    virtual.unplug()
    assert pad.look() == PadState() and pad.name == ""
    virtual.plug()  # and in again
    virtual.axis(2, -1.0)
    pad.look()
    assert pad.look().axes["RIGHT_X"] == pytest.approx(-1.0, abs=1e-4)
    virtual.unplug()


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.0), (0.1, 0.0), (-0.1, 0.0), (1.0, 1.0), (-1.0, -1.0),
                                                 (0.56, 0.5), (-0.56, -0.5), (1.1, 1.0)])  # fmt: skip
def test_a_stick_in_the_middle_is_there(value: float, expected: float) -> None:
    assert centred(value) == pytest.approx(expected)


def test_without_sdl_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sdl2", None)
    with pytest.raises(
        MissingExtraError, match=r"^a gamepad needs the extra 'gamepad': pip install '\.\[gamepad\]' in a checkout$"
    ):
        Gamepad()
