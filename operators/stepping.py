"""Operators of many steps: with progress and ESC in a window, straight through elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

import bpy
from bpy.types import ID, Context, Event

from ..robik.errors import RobikError
from ..robik.steps import finish
from ..scene.long_work import heartbeat
from ..scene.long_work.steps import Progress
from .reporting import Reporting

SLICE = 0.1  # work between two looks at the keyboard [s]
LOOKING = ("MIDDLEMOUSE", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "LEFT_ARROW", "RIGHT_ARROW", "HOME")  # changes no scene
LOOKING_ROUND = ("WHEEL", "TRACKPAD", "MOUSEROTATE", "MOUSESMARTZOOM", "NDOF", "NUMPAD", "TIMER")  # begin of a type


class Stepping(Reporting):
    """An operator whose work is `steps`; stopped early they must leave everything as it was."""

    bl_idname = "robik.stepping"  # never registered
    stopped = "Stopped; nothing was changed"
    escape = "stop, nothing will be changed"  # what ESC does

    steps: Callable[[Context], Generator[Progress, None, Any]]  # what the operator does

    _steps: Generator[Progress, None, Any]
    _touched: list[ID]  # what the steps may hold on to: Blender crashes where its memory is used once it is gone
    _shown = ""  # in the status bar
    _is_apart = False  # whether the work that goes on needs nothing of Blender
    _began: float  # as if what is done only once took no time
    _last: float

    def keeps(self) -> bool:
        """Ask the steps to end soon and keep what there is; return whether they do."""
        return False

    def done(self, context: Context, result: Any) -> None:
        """Tell what came of it."""

    def run(self, context: Context) -> set[str]:
        """Return all of it at once."""
        self.done(context, finish(self.steps(context)))
        return {"FINISHED"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Start; a timer carries it on."""
        self._began = self._last = perf_counter()
        try:
            self._steps = self.steps(context)
            next(self._steps)
        except StopIteration as done:
            self.done(context, done.value)
            return {"FINISHED"}
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._touched = [context.scene, *context.scene.objects]
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Return a slice of the work, or its end."""
        if event.type == "ESC" and (event.value == "RELEASE" or self.keeps()):
            return {"RUNNING_MODAL"}
        if event.type == "ESC":
            return self._ended(context, {"WARNING"}, self.stopped, {"CANCELLED"})
        if event.type != "TIMER":
            return self._met(event)
        if not _are_there(self._touched):
            return self._ended(
                context, {"ERROR"}, "an object of this scene was removed meanwhile; nothing was changed", {"CANCELLED"}
            )
        until = perf_counter() + SLICE
        try:
            progress = next(self._steps)
            while perf_counter() < until and not progress.is_long and not progress.is_apart:
                heartbeat.beat()
                progress = next(self._steps)
        except StopIteration as done:
            self._clear(context)
            self.done(context, done.value)
            return {"FINISHED"}
        except RobikError as error:
            return self._ended(context, {"ERROR"}, str(error), {"CANCELLED"})
        except BaseException:
            self._clear(context)  # Blender shows a defect of ours, but would leave timer and status bar behind
            raise
        self._is_apart = progress.is_apart
        if (told := self._told(progress)) != self._shown:  # each change draws the window
            self._shown = told
            context.workspace.status_text_set(f"RobIK: {told}    ESC: {self.escape}")
            context.window_manager.progress_update(progress.fraction or 0.0)
        return {"PASS_THROUGH"} if self._is_apart else {"RUNNING_MODAL"}

    def _met(self, event: Event) -> set[str]:
        """Keep keys and clicks from the scene, but for looking at it and playing it while the work is elsewhere."""
        if not self._is_apart:
            return {"RUNNING_MODAL"}
        if event.type == "SPACE" and event.value == "PRESS":
            bpy.ops.screen.animation_play()
        looks = event.type in LOOKING or event.type.startswith(LOOKING_ROUND)
        return {"PASS_THROUGH"} if looks else {"RUNNING_MODAL"}

    def _told(self, progress: Progress) -> str:
        """Return what is being done, how far it is, and how long it may take yet."""
        now = perf_counter()
        if not progress.counts:
            self._began += now - self._last
        self._last = now
        if progress.fraction is None:
            return progress.text
        text = f"{progress.text}, {100 * progress.fraction:.0f} %"
        left = (now - self._began) * (1.0 / max(progress.fraction, 0.01) - 1.0)
        return f"{text}, about {left:.0f} s left" if progress.fraction > 0.05 and progress.counts else text

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, for example with its window."""
        self._clear(context)

    def _ended(self, context: Context, kind: set[str], text: str, result: set[str]) -> set[str]:
        self._clear(context)
        self.report(kind, text)
        return result

    def _clear(self, context: Context) -> None:
        with suppress(ReferenceError):  # of what was removed meanwhile
            self._steps.close()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        for area in context.screen.areas if context.screen else ():
            area.tag_redraw()


def _are_there(blocks: list[ID]) -> bool:
    try:
        return all(block.name for block in blocks)
    except ReferenceError:
        return False
