"""The sidebar's buttons and fields under a real mouse: it goes down the tab and asks Blender what lies below it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import bpy
import numpy as np

from tests.gui.window import TAB, here, key, region, remember, robot, screen_height, settled, view, xdotool

STEP = 15  # pixels from look to look; buttons are 20 high
HIGHLIGHT = (71, 114, 179)  # of a dialog's default button in Blender's own theme
TELLS = bpy.app.version >= (5, 0)  # whether Blender tells which property lies below the mouse
_places: dict[str, int] = {}  # where something was found last


def open_tab() -> Iterator[float]:
    """N, and a click on the tab."""
    if not view().spaces[0].show_region_ui:
        yield from key("n")
        yield 0.5
    for _ in range(10):  # its tabs are there once it was drawn
        side = region("UI")
        for y in range(_top() + 10, _top() + 400, 20):
            if side.active_panel_category == TAB:
                return
            xdotool("mousemove", side.x + side.width - 8, y, "click", 1)
            yield 0.1
            yield from settled()
    raise AssertionError(f"the sidebar has no tab {TAB!r} that can be clicked")


def press(operator: str, across: float = 0.5, beside: float | None = None) -> Iterator[float]:
    """Clicks a button.

    Args:
        operator: the beginning of its call, as Python would write it after `bpy.ops.`.
        across: where in its row, as a share of the sidebar's width.
        beside: where in that row what shall be clicked instead, and cannot be asked what it is.
    """
    yield from _point_at(operator, across)
    if beside is not None:
        xdotool("mousemove", region("UI").x + int(beside * region("UI").width), _places[operator])
        yield from settled()
    yield from _click()


def switch(what: str, across: float = 0.6) -> Iterator[float]:
    """Clicks a switch; `what` is its property's path below the robot's settings, here and below."""
    if not TELLS:
        _set(what, not _get(what))
        return
    yield from _point_at(what, across)
    yield from _click()


def enter(what: str, number: float) -> Iterator[float]:
    """Types into a number field."""
    if not TELLS:
        _set(what, number)
        return
    yield from _point_at(what, 0.75)
    xdotool("click", "--repeat", 2, "--delay", 60, 1)
    yield 0.3
    xdotool("key", "ctrl+a")
    xdotool("type", "--args", 1, number)
    xdotool("key", "Return")
    yield 0.3
    yield from settled()


def choose(what: str, value: str, letter: str) -> Iterator[float]:
    """Opens a field of choices and takes the one with this letter underlined."""
    if not TELLS:
        _set(what, value)
        return
    yield from _point_at(what, 0.75)
    yield from _click()
    xdotool("key", letter)
    yield 0.3
    yield from settled()


def _click() -> Iterator[float]:
    xdotool("click", 1)
    yield 0.4
    yield from settled()


def _get(what: str) -> object:
    return robot().path_resolve(what)


def _set(what: str, value: object) -> None:
    """What a click would have done, with its undo step."""
    owner, _, name = what.rpartition(".")
    setattr(robot().path_resolve(owner), name, value)
    remember(name)


def confirm(before: np.ndarray) -> Iterator[float]:
    """Clicks the highlighted button of the dialog that has come up since a picture was taken."""
    new = (_like(screen(), HIGHLIGHT)) & ~_like(before, HIGHLIGHT)
    rows, columns = np.nonzero(new)
    assert len(rows), "no dialog with a highlighted button came up"
    widest = np.bincount(rows).argmax()
    middle = rows[np.abs(rows - widest) < 12]
    xdotool("mousemove", int(np.median(columns[rows == widest])), int(np.median(middle)))
    yield 0.3
    yield from _click()


def screen() -> np.ndarray:
    """The screen's pixels (height, width, 3)."""
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    size = subprocess.run(["xdotool", "getdisplaygeometry"], check=True, capture_output=True, text=True).stdout.split()
    return np.frombuffer(raw, np.uint8).reshape(int(size[1]), int(size[0]), 3)


def _like(pixels: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    return (np.abs(pixels.astype(int) - colour) < 12).all(axis=2)


def _point_at(what: str, across: float) -> Iterator[float]:
    """Moves the mouse over something, looking first where it was last.

    Raises:
        AssertionError: it is nowhere in the tab.
    """
    side = region("UI")
    x = side.x + int(across * side.width)
    near = _places.get(what, _top())
    for y in sorted(range(_top() + 4, _top() + side.height, STEP), key=lambda y: abs(y - near)):
        xdotool("mousemove", x, y)
        yield from settled()
        if (yield from _lies_here(what)):
            _places[what] = y
            return
    raise AssertionError(f"the tab shows no {what!r} at {across:.0%} of its width")


def _lies_here(what: str) -> Iterator[float]:
    """Whether the mouse is over it: a property is known to the context, an operator's call is what Ctrl-C copies."""
    with bpy.context.temp_override(**here() | {"region": region("UI")}):
        found = bpy.context.property
    if found is not None:
        return found[1].endswith(what)
    manager = bpy.context.window_manager
    manager.clipboard = ""
    xdotool("key", "ctrl+c")
    yield from settled()
    return manager.clipboard.startswith(f"bpy.ops.{what}")


def _top() -> int:
    """Where on the screen the sidebar begins."""
    side = region("UI")
    return screen_height() - side.y - side.height
