"""Live character: a rig that is posed by VMC messages."""

import bpy
from bpy.types import Context

from ...scene.show import live_character
from ..reporting import Reporting


def _beat() -> float | None:
    """From Blender's main loop, as long as messages are heard."""
    live_character.tick(bpy.context.scene)
    return live_character.BEAT if live_character.is_listening() else None


class ROBIK_OT_hear_vmc(Reporting):
    """Pose the character's rig by VMC messages, as trackers of bodies send them; Follow Live takes the robot along"""

    bl_idname = "robik.hear_vmc"
    bl_label = "Hear VMC"

    def run(self, context: Context) -> set[str]:
        """Begin, or end; a script must call `live_character.tick` itself."""
        if live_character.is_listening():
            live_character.end()
            return {"FINISHED"}
        live_character.begin(context.scene)
        if not bpy.app.background and not bpy.app.timers.is_registered(_beat):
            bpy.app.timers.register(_beat, first_interval=live_character.BEAT)
        return {"FINISHED"}


CLASSES = (ROBIK_OT_hear_vmc,)
