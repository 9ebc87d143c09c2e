"""Performing: keys and OSC messages trigger clips, and what comes of it becomes a bake."""

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Event

from ...robik.errors import RobikError
from ...scene.robot.library import add_row, remove_row
from ...scene.robot.parts import changeable_robot
from ...scene.show import performing
from ..reporting import Reporting

LOOK = 0.05  # [s] between a window's looks at the performance
DIGITS = {"ZERO": "0", "ONE": "1", "TWO": "2", "THREE": "3", "FOUR": "4", "FIVE": "5", "SIX": "6", "SEVEN": "7",
          "EIGHT": "8", "NINE": "9"}  # fmt: skip


def _beat() -> float | None:
    """From Blender's main loop, whatever the user is dragging; as long as a robot performs."""
    performing.tick(bpy.context.scene)
    return performing.BEAT if performing.is_performing() else None


class ROBIK_OT_perform(Reporting):
    """The robot goes on with its idle motion, and keys and OSC messages trigger clips; Return or ESC ends it"""

    bl_idname = "robik.perform"
    bl_label = "Perform"
    bl_options = {"REGISTER", "UNDO"}

    record: BoolProperty(
        name="Record", description="Key what is performed as a bake of its own, from the current frame on"
    )
    _timer = None

    def run(self, context: Context) -> set[str]:
        """Begin, or end what is performed; a script goes on, and must call `performing.tick` itself."""
        if performing.is_performing():
            performing.end()
            return self._end(context) if bpy.app.background else {"FINISHED"}
        performing.begin(context.scene, self.record)
        if bpy.app.background:
            return {"FINISHED"}
        if not bpy.app.timers.is_registered(_beat):
            bpy.app.timers.register(_beat, first_interval=performing.BEAT)
        self._timer = context.window_manager.event_timer_add(LOOK, window=context.window)
        context.workspace.status_text_set(
            "Performing: keys trigger clips, Backspace lets them go, Return or ESC ends it"
        )
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Take the keys that mean something; every other event goes on to Blender."""
        if not performing.is_performing():
            return self._end(context)
        if event.type in ("ESC", "RET") and event.value == "PRESS":
            performing.end()
            return self._end(context) | {"PASS_THROUGH"} if event.type == "ESC" else self._end(context)
        if event.type == "WINDOW_DEACTIVATE":
            performing.let_go_all()
        elif event.type == "TIMER":
            _redraw(context)
        elif event.type == "BACK_SPACE" and event.value == "PRESS":
            performing.release_all()
            return {"RUNNING_MODAL"}
        elif not (event.ctrl or event.alt or event.oskey) or event.value == "RELEASE":
            key = DIGITS.get(event.type, event.type)
            if event.value == "PRESS" and performing.press(key):
                return {"RUNNING_MODAL"}
            if event.value == "RELEASE" and performing.let_go(key):
                return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, for example by opening another file."""
        performing.end()
        self._clear(context)

    def _end(self, context: Context) -> set[str]:
        """Key what was recorded, and say why it ended by itself."""
        self._clear(context)
        try:
            kept = performing.keep_recording(context.scene)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if why := performing.why():
            self.report({"WARNING"}, f"The performance ended: {why}")
        if kept is not None:
            self.report({"INFO"}, f"Recorded {kept[0]:.1f} s as a bake of {kept[1]} frames")
        return {"FINISHED"} if kept is not None or not why else {"CANCELLED"}

    def _clear(self, context: Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
            self._timer = None
            _redraw(context)


def _redraw(context: Context) -> None:
    for area in context.screen.areas if context.screen else ():
        if area.type == "VIEW_3D":
            area.tag_redraw()


class ROBIK_OT_add_trigger(Reporting):
    """Add a trigger: a clip, and the key or the OSC message that starts it"""

    bl_idname = "robik.add_trigger"
    bl_label = "Add Trigger"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Add one at the end, with the next digit as its key."""
        performing.check_none()
        performance = changeable_robot(context.scene).robik.robot.performance
        keys = {row.key for row in performance.triggers}
        row = add_row(performance.triggers, "clip ")
        row.key = next((digit for digit in "1234567890" if digit not in keys), "")
        performance.chosen_trigger = len(performance.triggers) - 1
        return {"FINISHED"}


class ROBIK_OT_add_stick(Reporting):
    """Add a stick: an axis of two keys or an OSC message that leans on a motor"""

    bl_idname = "robik.add_stick"
    bl_label = "Add Stick"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Add one at the end."""
        performing.check_none()
        performance = changeable_robot(context.scene).robik.robot.performance
        add_row(performance.sticks)
        performance.chosen_stick = len(performance.sticks) - 1
        return {"FINISHED"}


class Removing(Reporting):
    """An operator that removes the chosen row of a list of the performance: `rows`, each called `what`."""

    bl_idname = "robik.removing"  # never registered
    bl_label = ""
    rows = ""
    what = ""

    def run(self, context: Context) -> set[str]:
        """Remove it."""
        performing.check_none()
        root, chosen = changeable_robot(context.scene), f"chosen_{self.what}"
        performance = root.robik.robot.performance
        index = getattr(performance, chosen)
        remove_row(root, f"robik.robot.performance.{self.rows}", index, self.what)
        setattr(performance, chosen, max(0, index - 1))
        return {"FINISHED"}


class ROBIK_OT_remove_trigger(Removing):
    """Remove the chosen trigger; its clip stays"""

    bl_idname = "robik.remove_trigger"
    bl_label = "Remove Trigger"
    bl_options = {"REGISTER", "UNDO"}
    rows, what = "triggers", "trigger"


class ROBIK_OT_remove_stick(Removing):
    """Remove the chosen stick"""

    bl_idname = "robik.remove_stick"
    bl_label = "Remove Stick"
    bl_options = {"REGISTER", "UNDO"}
    rows, what = "sticks", "stick"


CLASSES = (
    ROBIK_OT_perform,
    ROBIK_OT_add_trigger,
    ROBIK_OT_remove_trigger,
    ROBIK_OT_add_stick,
    ROBIK_OT_remove_stick,
)
