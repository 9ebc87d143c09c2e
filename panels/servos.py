"""The servos: connect, hold, play, stop."""

from math import degrees

from bpy.types import Context

from robik.servo.player import PlayState

from ..scene import play
from .tab import TabPanel, line, robot_or_hint

ICONS = {PlayState.FAULT: "ERROR", PlayState.CLOSED: "UNLINKED"}


class ROBIK_PT_servos(TabPanel):
    """Play the baked motion on the robot itself"""

    bl_idname = "ROBIK_PT_servos"
    bl_label = "Servos"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        status = play.status()
        line(layout, status.message[:1].upper() + status.message[1:], ICONS.get(status.state, "LINKED"))
        settings = context.scene.robik
        is_open = status.state not in play.CLOSED
        column = layout.column()
        column.enabled = not is_open
        column.prop(settings, "port")
        column.prop(settings, "servos", text="File")
        row = layout.row(align=True)
        if is_open:
            row.operator("robik.disconnect_servos", icon="UNLINKED")
            row.operator("robik.torque_servos", text="Torque Off" if status.torque else "Torque On").on = not status.torque
        else:
            row.operator("robik.connect_servos", icon="LINKED")
        row.operator("robik.preflight")
        if not is_open:
            return
        row = layout.row(align=True)
        row.scale_y = 1.4
        if status.state.is_moving:
            row.progress(factor=status.progress, text=f"{status.time:.1f} of {status.duration:.1f} s")
        elif not root.robik.robot.result.frames:
            row.label(text="Bake before playing", icon="INFO")
        elif not status.torque:
            row.label(text="Turn torque on before playing", icon="INFO")
        else:
            row.operator("robik.play_servos", icon="PLAY")
        stop = layout.row(align=True)
        stop.alert = True
        stop.operator("robik.stop_servos", text="Stop", icon="CANCEL").emergency = False
        stop.operator("robik.stop_servos", text="Torque Off Now").emergency = True
        if status.present:
            text = ", ".join(f"{degrees(v):.0f}°" for v in status.present[:6])
            layout.label(text=f"{text}{' …' if len(status.present) > 6 else ''}   {status.hottest:.0f} °C")


CLASSES = (ROBIK_PT_servos,)
