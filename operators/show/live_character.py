"""Live character: a rig that is posed by VMC messages."""

from contextlib import suppress

import bpy
from bpy.props import BoolProperty
from bpy.types import Context

from ...robik.errors import RobikError
from ...scene.show import live_character
from ..reporting import Reporting


def _beat() -> float | None:
    """From Blender's main loop, as long as messages are heard; a recording that ended by itself is keyed, too."""
    live_character.tick(bpy.context.scene)
    if live_character.is_listening():
        return live_character.BEAT
    with suppress(RobikError):  # the panel says why
        live_character.keep_recording(bpy.context.scene)
    return None


class ROBIK_OT_hear_vmc(Reporting):
    """Pose the character's rig by VMC messages, as trackers of bodies send them; Follow Live takes the robot along"""

    bl_idname = "robik.hear_vmc"
    bl_label = "Hear VMC"
    bl_options = {"REGISTER", "UNDO"}

    record: BoolProperty(
        name="Record", description="Key the poses on the rig, in an action of their own, from the current frame on"
    )

    def run(self, context: Context) -> set[str]:
        """Begin, or end and key what was recorded; a script must call `live_character.tick` itself."""
        if live_character.is_listening():
            live_character.end()
            if frames := live_character.keep_recording(context.scene):
                self.report({"INFO"}, f"Recorded {frames} frames")
            return {"FINISHED"}
        live_character.begin(context.scene, self.record)
        if not bpy.app.background and not bpy.app.timers.is_registered(_beat):
            bpy.app.timers.register(_beat, first_interval=live_character.BEAT)
        return {"FINISHED"}


CLASSES = (ROBIK_OT_hear_vmc,)
