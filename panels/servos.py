"""The servos: connect, hold, play, stop."""

from bpy.types import Context, UILayout

from robik.servo.player import PlayState, Status

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
        is_open = play.is_open()
        column = layout.column()
        column.enabled = not is_open
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(settings, "port")
        column.prop(settings, "servos", text="Servo File")
        row = layout.row(align=True)
        if is_open:
            row.operator("robik.disconnect_servos", icon="UNLINKED")
        else:
            row.operator("robik.connect_servos", icon="LINKED")
        row.operator("robik.preflight")
        if is_open:
            _draw_playing(layout, status, bool(root.robik.robot.result.frames))


def _draw_playing(layout: UILayout, status: Status, baked: bool) -> None:
    """Torque, play, stop."""
    row = layout.row(align=True)
    row.scale_y = 1.4
    if status.state.is_moving:
        row.progress(factor=status.progress, text=f"{status.time:.1f} of {status.duration:.1f} s")
    else:
        holds = status.state is PlayState.HOLDING  # after a fault, torque on is the way on
        row.operator("robik.torque_servos", text="Torque Off" if holds else "Torque On").on = not holds
        if holds and baked:
            row.operator("robik.play_servos", icon="PLAY")
        elif not baked:
            line(layout, "Bake before playing", "INFO")
    stop = layout.row(align=True)
    stop.alert, stop.scale_y = True, 1.4
    stop.operator("robik.stop_servos", text="Stop", icon="CANCEL").emergency = False
    stop.operator("robik.stop_servos", text="Torque Off Now").emergency = True
    if status.hottest:
        line(layout, f"Hottest servo {status.hottest:.0f} °C, lowest supply {status.lowest_volts:.1f} V")


CLASSES = (ROBIK_PT_servos,)
