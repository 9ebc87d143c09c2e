"""Setting servos up: scan, streaming settings, ids, which servo is which, zeros and directions."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Event

from ...robik.errors import RobikError
from ...robik.physics.servo_limits import CHAIN_EXTENSION
from ...robik.servo.bus.telemetry import Seen
from ...robik.servo.chain.file import save_chain
from ...robik.servo.setup.task import Task
from ...robik.words import counted
from ...scene.robot.chain import servo_chain
from ...scene.robot.parts import changeable_robot, chosen_robot
from ...scene.robot.reading import read_robot
from ...scene.servos import fields as servo_fields
from ...scene.servos import setup as servo_setup
from ...translations import OWN
from ..reporting import Reporting
from .play import Watching

LOOK = 0.1  # [s]
TIMEOUT = 60.0  # for scripts [s]


class Waiting(Reporting):
    """An operator that stays until a task is done; ESC cancels it. A script waits for it."""

    bl_idname = "robik.waiting"  # never registered

    def wait_for(self, context: Context, task: Task) -> set[str]:
        """Wait, in whichever way is right."""
        self._task = task
        if bpy.app.background:
            return self._end(context, TIMEOUT)
        self._timer = context.window_manager.event_timer_add(LOOK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def finish(self, context: Context, result: Any) -> None:
        """Use the task's findings."""

    def _end(self, context: Context, timeout: float = 0.0) -> set[str]:
        self.finish(context, self._task.wait(timeout))
        self.report({"INFO"}, f"Servos: {self._task.said}")
        return {"FINISHED"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Look at the task, and let the panel show it."""
        if event.type == "ESC" and event.value == "PRESS":
            self._task.cancel()
        if event.type == "TIMER" and context.area is not None:
            context.area.tag_redraw()
        if not self._task.is_done:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        try:
            return self._end(context)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator."""
        context.window_manager.event_timer_remove(self._timer)
        self._task.cancel()


class ROBIK_OT_scan_servos(Waiting):
    """Ask at all usual baud rates which servos are there; nothing is changed and nothing moves"""

    bl_idname = "robik.scan_servos"
    bl_label = "Scan"

    def run(self, context: Context) -> set[str]:
        """Scan."""
        return self.wait_for(context, servo_setup.scan(context.scene.robik.port, servo_setup.brand(context.scene)))


class ROBIK_OT_prepare_servos(Waiting):
    """Bring the servos that the scan found to settings that can stream: baud rate, return delay, position mode"""

    bl_idname = "robik.prepare_servos"
    bl_label = "Prepare for Streaming"

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Ask, with the list."""
        return context.window_manager.invoke_props_dialog(self, width=500)

    def draw(self, context: Context) -> None:
        """Draw the changes that would be made."""
        self.layout.label(text=f"{len(servo_setup.advice())} settings will be changed, and stay without power:")
        for change in servo_setup.advice():
            self.layout.label(text=str(change))

    def run(self, context: Context) -> set[str]:
        """Make the changes."""
        return self.wait_for(context, servo_setup.prepare(context.scene.robik.port))


class ROBIK_OT_set_servo(Waiting):
    """Give a servo another id or baud rate"""

    bl_idname = "robik.set_servo"
    bl_label = "Set Id and Baud Rate"
    servo: IntProperty(name="Servo", description="Its id, as it is now", options={"HIDDEN"})
    new_id: IntProperty(name="New Id", min=0, max=252)
    new_baud: IntProperty(name="New Baud Rate", default=1_000_000, min=9_600, max=4_500_000)

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Ask which."""
        self.new_id = self.servo
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: Context) -> set[str]:
        """Set it."""
        return self.wait_for(
            context, servo_setup.change(context.scene.robik.port, self.servo, self.new_id, self.new_baud)
        )


class ROBIK_OT_assign_servo(Waiting):
    """Move this motor by hand, torque off: the servo that moves becomes its servo"""

    bl_idname = "robik.assign_servo"
    bl_label = "Assign by Hand"
    bl_options = {"REGISTER", "UNDO"}
    actuator: StringProperty(name="Motor", translation_context=OWN)

    def run(self, context: Context) -> set[str]:
        """Wait for a move."""
        return self.wait_for(context, servo_setup.find_dragged(context.scene.robik.port, self.actuator))

    def finish(self, context: Context, result: Seen | None) -> None:
        if result is not None:
            servo_setup.assign(context.scene, chosen_robot(context.scene), self.actuator, result)


class ROBIK_OT_zero_servos(Reporting):
    """Take the pose that the robot was put into by hand, torque off, as the one in which every motor is at 0"""

    bl_idname = "robik.zero_servos"
    bl_label = "Zero Here"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Store the zeros in the scene's chain."""
        servo_setup.zero_here(context.scene, chosen_robot(context.scene))
        self.report({"INFO"}, "Zeros stored; connect again")
        return {"FINISHED"}


class ROBIK_OT_nudge_servo(Watching):
    """Move this motor by 5 degrees and back, to see which way it turns; torque must be on, ESC stops"""

    bl_idname = "robik.nudge_servo"
    bl_label = "Nudge"
    actuator: StringProperty(name="Motor", translation_context=OWN)

    def run(self, context: Context) -> set[str]:
        """Move."""
        servo_setup.nudge(self.actuator)
        return {"FINISHED"} if bpy.app.background else self.watch(context)


class ROBIK_OT_turn_servo(Reporting):
    """Let this servo turn the other way for the same motion; connect again afterwards"""

    bl_idname = "robik.turn_servo"
    bl_label = "Turn Round"
    bl_options = {"REGISTER", "UNDO"}
    servo: IntProperty(name="Servo", description="Its id")

    def run(self, context: Context) -> set[str]:
        """Store it."""
        servo_setup.turn_round(context.scene, chosen_robot(context.scene), self.servo)
        return {"FINISHED"}


class ROBIK_OT_choose_servo(Reporting):
    """Show this servo's gear, limits and current below it, or no longer"""

    bl_idname = "robik.choose_servo"
    bl_label = "Unfold"
    servo: IntProperty(name="Servo", description="Its id")

    def run(self, context: Context) -> set[str]:
        """Unfold it, or fold it away."""
        servo_fields.choose(context.scene, self.servo)
        return {"FINISHED"}


class ROBIK_OT_add_servo(Reporting):
    """Another servo for this motor, with the next free id: beside one that is there, turning the other way round"""

    bl_idname = "robik.add_servo"
    bl_label = "Add Servo"
    bl_options = {"REGISTER", "UNDO"}
    actuator: StringProperty(name="Motor", translation_context=OWN)

    def run(self, context: Context) -> set[str]:
        """Add it, and unfold it."""
        context.scene.robik.playing.chosen = servo_setup.add(context.scene, chosen_robot(context.scene), self.actuator)
        return {"FINISHED"}


class ROBIK_OT_remove_servo(Reporting):
    """Take this servo out of the chain; a motor without one is left out when the motion plays"""

    bl_idname = "robik.remove_servo"
    bl_label = "Remove Servo"
    bl_options = {"REGISTER", "UNDO"}
    servo: IntProperty(name="Servo", description="Its id")

    def run(self, context: Context) -> set[str]:
        """Remove it."""
        servo_setup.remove(context.scene, chosen_robot(context.scene), self.servo)
        return {"FINISHED"}


class ROBIK_OT_take_servo_speeds(Reporting):
    """Give the robot's motors the speeds of their servos: bakes keep to them from now on"""

    bl_idname = "robik.take_servo_speeds"
    bl_label = "Bake at These Speeds"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Set them."""
        taken = servo_setup.take_speeds(context.scene, changeable_robot(context.scene))
        self.report({"INFO"}, f"{counted(len(taken), 'joint has', 'joints have')} the speed of its servo; bake again")
        return {"FINISHED"}


class ROBIK_OT_save_servos(Reporting):
    """Save the robot's servos as a file, for other scenes and for the command robik play"""

    bl_idname = "robik.save_servos"
    bl_label = "Save Servos…"
    filepath: StringProperty(subtype="FILE_PATH")

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Ask where."""
        self.filepath = f"{chosen_robot(context.scene).name}{CHAIN_EXTENSION}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Context) -> set[str]:
        """Save."""
        root = chosen_robot(context.scene)
        save_chain(servo_chain(root, read_robot(root), context.scene), Path(bpy.path.abspath(self.filepath)))
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_scan_servos,
    ROBIK_OT_prepare_servos,
    ROBIK_OT_set_servo,
    ROBIK_OT_assign_servo,
    ROBIK_OT_zero_servos,
    ROBIK_OT_nudge_servo,
    ROBIK_OT_turn_servo,
    ROBIK_OT_choose_servo,
    ROBIK_OT_add_servo,
    ROBIK_OT_remove_servo,
    ROBIK_OT_take_servo_speeds,
    ROBIK_OT_save_servos,
)
