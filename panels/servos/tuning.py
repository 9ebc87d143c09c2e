"""Gains and profile of a servo, and how it follows."""

from bpy.types import Context

from ...robik.servo.port.status import PlayState
from ...scene.servos import play, tuning
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint


class ROBIK_PT_servos_tuning(FoldedPanel):
    """Set a servo's gains, and see at once how it follows."""

    bl_idname = "ROBIK_PT_servos_tuning"
    bl_label = "Tuning"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout = self.layout
        if robot_or_hint(context, layout) is None:
            return
        scene, fields = context.scene, context.scene.robik.playing.tuning
        servo = tuning.servo(scene)
        if servo is None:
            line(layout, "The robot has no servos: see Chain", "ERROR")
            return
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(fields, "servo")
        state = play.status().state if play.is_open() else PlayState.CLOSED
        if servo.datasheet.gains is None:
            line(layout, "Its gains cannot be set", "INFO")
        else:
            column = layout.column(align=True)
            column.enabled = not state.is_moving
            for name in ("p", "i", "d"):
                column.prop(fields, name)
            unit = "mm" if tuning.shown_per_unit(scene, servo) > 100.0 else "°"
            whole = column.column()  # its name has no room before the field
            whole.use_property_split = False
            whole.prop(fields, "acceleration", text=sentence("Acceleration {unit}/s²", unit=unit))
            layout.operator("robik.tune_alike", icon="DUPLICATE")
            if state.is_moving:
                line(layout, "Gains can be changed once the servos stand", "INFO")
        if said := tuning.refused() or servo.tuning_warning:
            line(layout, said[:1].upper() + said[1:], "ERROR")
        layout.prop(fields, "graph", toggle=True)
        row = layout.row(align=True)
        row.enabled = state is PlayState.HOLDING
        row.prop(fields, "nudge", text="")
        row.operator("robik.step_servo", icon="ARROW_LEFTRIGHT")


CLASSES = (ROBIK_PT_servos_tuning,)
