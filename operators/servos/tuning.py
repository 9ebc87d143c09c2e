"""Tuning servos: one's gains for all that are alike, and a nudge to see how a servo responds."""

import bpy
from bpy.types import Context

from ...robik.servo.port.status import PlayState
from ...scene.servos import play, tuning
from ..reporting import Reporting
from .play import TIMEOUT, Watching, check_disarmed


class ROBIK_OT_tune_alike(Reporting):
    """Give this servo's gains and acceleration to all servos of its model"""

    bl_idname = "robik.tune_alike"
    bl_label = "To All of Its Model"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Store them; connected servos get them at once."""
        count = tuning.give_to_all(context.scene)
        self.report({"INFO"}, f"Servos: {count} have these gains now")
        return {"FINISHED"}


class ROBIK_OT_step_servo(Watching):
    """Move this servo a little and back, as quickly as its limits let it, to see how it follows; ESC stops"""

    bl_idname = "robik.step_servo"
    bl_label = "Nudge"

    def run(self, context: Context) -> set[str]:
        """Move; a script waits for the end."""
        check_disarmed()
        tuning.nudge(context.scene)
        if not bpy.app.background:
            return self.watch(context)
        play.connected().wait(PlayState.HOLDING, PlayState.READY, timeout=TIMEOUT)
        self.tell()
        return {"FINISHED"}


CLASSES = (ROBIK_OT_tune_alike, ROBIK_OT_step_servo)
