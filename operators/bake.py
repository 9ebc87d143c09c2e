"""Baking: with progress and ESC in a window, straight through elsewhere."""

from collections.abc import Generator
from pathlib import Path
from time import perf_counter

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Object
from bpy_extras.io_utils import ExportHelper

from robik.errors import RobikError
from robik.retarget.motion import Motion, save_motion

from ..scene import bakes
from ..scene.bake import bake_steps
from ..scene.curves import baked_frames, read_motion
from ..scene.markers import mark_short
from ..scene.parts import changeable_robot, chosen_robot
from ..scene.read_robot import read_robot
from ..scene.report import write_report
from ..scene.result import status
from ..scene.steps import Progress, finish
from .reporting import Reporting

SLICE = 0.1  # work between two looks at the keyboard [s]


class ROBIK_OT_bake(Reporting):
    """Make the robot follow the character over the frame range: keys its motors and its bodies"""

    bl_idname = "robik.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    _steps: Generator[Progress, None, Motion]
    _began: float

    def run(self, context: Context) -> set[str]:
        """The whole bake at once."""
        root = changeable_robot(context.scene)
        finish(bake_steps(context, root))
        self.report({"INFO"}, f"{root.name}: {status(root.robik.robot.result)}")
        return {"FINISHED"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Starts the bake; a timer carries it on."""
        self._began = perf_counter()
        try:
            self._steps = bake_steps(context, changeable_robot(context.scene))
            next(self._steps)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """A slice of the bake, or its end."""
        if event.type == "ESC":
            return self._ended(context, {"WARNING"}, "Bake stopped; nothing was changed", {"CANCELLED"})
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        until = perf_counter() + SLICE
        try:
            progress = next(self._steps)
            while perf_counter() < until:
                progress = next(self._steps)
        except StopIteration:
            root = chosen_robot(context.scene)
            return self._ended(context, {"INFO"}, f"{root.name}: {status(root.robik.robot.result)}", {"FINISHED"})
        except RobikError as error:
            return self._ended(context, {"ERROR"}, str(error), {"CANCELLED"})
        context.window_manager.progress_update(progress.fraction)
        left = (perf_counter() - self._began) * (1.0 / max(progress.fraction, 0.01) - 1.0)
        about = f", about {left:.0f} s left" if progress.fraction > 0.05 else ""
        text = f"RobIK: {progress.text}, {100 * progress.fraction:.0f} %{about}    ESC: stop, nothing will be changed"
        context.workspace.status_text_set(text)
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, for example with its window."""
        self._clear(context)

    def _ended(self, context: Context, kind: set[str], text: str, result: set[str]) -> set[str]:
        self._clear(context)
        self.report(kind, text)
        return result

    def _clear(self, context: Context) -> None:
        self._steps.close()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        for area in context.screen.areas if context.screen else ():
            area.tag_redraw()


class ROBIK_OT_use_bake(Reporting):
    """Let this bake move the robot"""

    bl_idname = "robik.use_bake"
    bl_label = "Use Bake"
    bl_options = {"REGISTER", "UNDO"}
    index: IntProperty(name="Bake", description="Its place in the list", min=0)

    def run(self, context: Context) -> set[str]:
        """Changes the actions of root and bodies."""
        root = changeable_robot(context.scene)
        _check_bake(root, self.index)
        bakes.use(root, self.index)
        mark_short(root, context.scene)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
        return {"FINISHED"}


class ROBIK_OT_remove_bake(Reporting):
    """Delete this bake with its curves"""

    bl_idname = "robik.remove_bake"
    bl_label = "Remove Bake"
    bl_options = {"REGISTER", "UNDO"}
    index: IntProperty(name="Bake", description="Its place in the list", min=0)

    def run(self, context: Context) -> set[str]:
        """Deletes its actions too, unless something else uses them."""
        root = changeable_robot(context.scene)
        _check_bake(root, self.index)
        bakes.remove(root, self.index)
        mark_short(root, context.scene)
        return {"FINISHED"}


def _check_bake(root: Object, index: int) -> None:
    """Whether there is such a bake.

    Raises:
        RobikError: says which there are.
    """
    kept = root.robik.robot.bakes
    if index >= len(kept):
        raise RobikError(f"robot {root.name!r} has no bake number {index + 1}; it has {len(kept) or 'none yet, bake first'}")


class ROBIK_OT_export_motion(Reporting, ExportHelper):
    """Write the motors' curves to a file: a time and a column per motor"""

    bl_idname = "robik.export_motion"
    bl_label = "Export Motion"
    bl_options = {"REGISTER"}
    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    def run(self, context: Context) -> set[str]:
        """Reads the curves at their keys."""
        root = chosen_robot(context.scene)
        mechanism = read_robot(root)
        save_motion(read_motion(root, mechanism, baked_frames(root, mechanism), context.scene), bpy.path.abspath(self.filepath))
        return {"FINISHED"}


class ROBIK_OT_report(Reporting, ExportHelper):
    """Write the result as an HTML page with plots of speeds, errors, balance and contacts, and show it in the web browser"""

    bl_idname = "robik.report"
    bl_label = "Report"
    bl_options = {"REGISTER"}
    filename_ext = ".html"
    filter_glob: StringProperty(default="*.html", options={"HIDDEN"})
    show: BoolProperty(name="Show", description="Open the page in the web browser", default=True)

    def run(self, context: Context) -> set[str]:
        """Writes the page."""
        path = Path(bpy.path.abspath(self.filepath))
        write_report(chosen_robot(context.scene), context.scene, path)
        if self.show and not bpy.app.background:
            bpy.ops.wm.url_open(url=path.as_uri())
        return {"FINISHED"}


class ROBIK_OT_go_to_frame(Reporting):
    """Go to this frame"""

    bl_idname = "robik.go_to_frame"
    bl_label = "Go to Frame"
    bl_options = {"REGISTER"}
    frame: IntProperty(name="Frame", description="Where to go")
    motor: StringProperty(name="Motor", description="Which motor the speed graph shall bring out", options={"HIDDEN", "SKIP_SAVE"})
    why: StringProperty(name="Why", description="What there is to see", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: bpy.types.OperatorProperties) -> str:
        """The tooltip: what there is to see at the frame."""
        return f"{properties.why + ': ' if properties.why else ''}go to frame {properties.frame}"

    def run(self, context: Context) -> set[str]:
        """Moves the playhead."""
        if self.motor:
            chosen_robot(context.scene).robik.robot.result.shown = self.motor
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


CLASSES = (ROBIK_OT_bake, ROBIK_OT_use_bake, ROBIK_OT_remove_bake, ROBIK_OT_export_motion, ROBIK_OT_report, ROBIK_OT_go_to_frame)
