"""A Blender window that a test works in: steps between redraws, mouse, keys, pictures. Runs inside that Blender."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from time import monotonic

import bpy
from bpy.types import Area, Region

PICTURES = "/pictures"
TAB = "RobIK"


def run(steps: Callable[[], Iterator[float]]) -> None:
    """Takes the steps one by one, the window alive between them; each says how long to wait [s]. Ends Blender, in an
    error with code 3."""
    going = steps()
    unhandled: list[str] = []  # in Blender's own calls of ours: drawing, handlers

    def noted(*error: object) -> None:
        unhandled.append(str(error[1]))
        sys.__excepthook__(*error)

    sys.excepthook = noted

    def step() -> float | None:
        try:
            return next(going)
        except StopIteration:
            if unhandled:
                os._exit(3)
            bpy.ops.wm.quit_blender()
            return None
        except BaseException:
            traceback.print_exc()
            picture("failed")
            os._exit(3)

    bpy.app.timers.register(step, first_interval=1.0)


def until(condition: Callable[[], bool], seconds: float, what: str) -> Iterator[float]:
    """Waits for a condition.

    Raises:
        AssertionError: names what did not come.
    """
    ends = monotonic() + seconds
    while not condition():
        assert monotonic() < ends, f"after {seconds:g} s still not: {what}"
        yield 0.05


def view() -> Area:
    """The 3D view."""
    return next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")


def root() -> bpy.types.Object | None:
    """The robot, wherever undo has put it; None while there is none."""
    return bpy.context.scene.robik.robot


def robot() -> bpy.types.PropertyGroup:
    """What is set for the robot."""
    return root().robik.robot


def result() -> bpy.types.PropertyGroup:
    """Of the last bake."""
    return robot().result


def region(kind: str) -> Region:
    """A region of the 3D view."""
    return next(r for r in view().regions if r.type == kind)


def here() -> dict[str, object]:
    """What to override the context with so that an operator runs in the 3D view."""
    return {"window": bpy.context.window_manager.windows[0], "area": view(), "region": region("WINDOW")}


def call(operator: Callable, **properties: object) -> set[str]:
    """An operator as a button calls it: invoked, with an undo step."""
    with bpy.context.temp_override(**here()):
        return operator("INVOKE_DEFAULT", True, **properties)


def remember(step: str) -> None:
    """An undo step for what a script has changed, whichever editor is open."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message=step)


def screen_height() -> int:
    """Of Blender's window, which counts from below while the screen counts from above [pixels]."""
    return bpy.context.window_manager.windows[0].height


def middle() -> tuple[int, int]:
    """On the screen, a place in the 3D view that nothing else covers."""
    main = region("WINDOW")
    return main.x + main.width // 3, screen_height() - main.y - main.height // 2


def key(name: str) -> Iterator[float]:
    """Presses a key with the mouse over the 3D view."""
    xdotool("mousemove", *middle())
    yield 0.2
    xdotool("key", name)
    yield 0.3
    yield from settled()


def xdotool(*words: object) -> None:
    """What a hand would do. Asking where the mouse is makes sure that the screen has heard of it."""
    subprocess.run(["xdotool", *map(str, words), "getmouselocation"], check=True, stdout=subprocess.DEVNULL)


def settled() -> Iterator[float]:
    """Until Blender has dealt with what the hand did, however slow the machine: it looks at timers first, then at
    events."""
    for _ in range(3):
        yield 0.02


def picture(name: str) -> None:
    """The screen as it is."""
    subprocess.run(["import", "-window", "root", f"{PICTURES}/{name}.png"], check=False)
