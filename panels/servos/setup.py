"""The servos' chain: who is there, which servo turns which motor, zeros and directions."""

from bpy.types import Context, Object, PropertyGroup, UILayout

from ...robik.errors import RobikError
from ...robik.servo.chain.chain import ServoChain
from ...robik.servo.chain.servo import Servo
from ...robik.servo.setup.setup import rate_warning
from ...scene.robot.chain import servo_chain
from ...scene.robot.reading import read_moving_parts
from ...scene.robot.sliders import slides
from ...scene.servos import fields as servo_fields
from ...scene.servos import play
from ...scene.servos import setup as servo_setup
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint


class ROBIK_PT_servos_chain(FoldedPanel):
    """Find the servos, and say which one turns which motor."""

    bl_idname = "ROBIK_PT_servos_chain"
    bl_label = "Chain"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, root = self.layout, robot_or_hint(context, self.layout)
        if root is None:
            return
        _draw_scan(layout)
        try:
            mechanism = read_moving_parts(root)
            chain = servo_chain(root, mechanism, context.scene)
        except RobikError as error:
            line(layout, str(error), "ERROR")
            return
        if warning := rate_warning(chain, play.settings_of(context.scene)):
            line(layout, warning, "ERROR")
        _draw_chain(layout, chain, root, context.scene.robik.playing)
        for actuator in mechanism.actuators:
            if actuator not in chain.actuators:
                row = layout.row(align=True)
                row.label(text=sentence("{motor}: none", motor=actuator), icon="ERROR")
                row.operator("robik.add_servo", text="", icon="ADD").actuator = actuator
                row.operator("robik.assign_servo", text="", icon="VIEW_PAN").actuator = actuator
        row = layout.row(align=True)
        row.operator("robik.zero_servos")
        row.operator("robik.save_servos", icon="FILE_TICK")
        layout.operator("robik.take_servo_speeds")


def _draw_scan(layout: UILayout) -> None:
    task = servo_setup.task()
    row = layout.row(align=True)
    row.operator("robik.scan_servos", icon="VIEWZOOM")
    if servo_setup.advice():
        row.operator("robik.prepare_servos", icon="PREFERENCES")
    if task is not None and (task.error or task.said):
        line(layout, task.error or task.said, "ERROR" if task.error else "INFO")
    for one in servo_setup.seen():
        row = layout.row(align=True)
        model = one.model or sentence("unknown, {number}", number=one.number)
        place = one.motor or sentence("{rate} baud", rate=one.baud_rate)
        row.label(text=f"{one.id}: {model}, {place}")
        row.operator("robik.set_servo", text="", icon="GREASEPENCIL").servo = one.id


def _draw_chain(layout: UILayout, chain: ServoChain, root: Object, playing: PropertyGroup) -> None:
    column = layout.column(align=True)
    for servo in chain.servos:
        is_alone, is_chosen = chain.actuators.count(servo.actuator) == 1, servo.id == playing.chosen
        row = column.row(align=True)
        icon = "DISCLOSURE_TRI_DOWN" if is_chosen else "DISCLOSURE_TRI_RIGHT"
        row.operator("robik.choose_servo", text="", icon=icon, emboss=False).servo = servo.id
        row.label(text=f"{servo.actuator}: {servo.id}")
        sign = row.row(align=True)
        sign.ui_units_x = 1.0
        sign.operator("robik.turn_servo", text="+" if servo.direction > 0 else "−").servo = servo.id
        row.operator("robik.nudge_servo", text="", icon="ARROW_LEFTRIGHT").actuator = servo.actuator
        if is_alone:  # by hand, one cannot tell two apart that move together
            row.operator("robik.assign_servo", text="", icon="VIEW_PAN").actuator = servo.actuator
        if is_chosen:
            _draw_fields(column.box().column(), servo, root, playing.servo)
            if is_alone:
                column.operator("robik.add_servo", text="Add Second Servo", icon="ADD").actuator = servo.actuator
            column.operator("robik.remove_servo", icon="REMOVE").servo = servo.id


def _draw_fields(column: UILayout, servo: Servo, root: Object, fields: PropertyGroup) -> None:
    """Name before the values, in one field each: beside them there is no room for both."""
    unit, gear = ("mm", "Gear rad/m") if slides(root, servo.actuator) else ("°", "Gear Ratio")
    column.prop(fields, "model", text="")
    row = column.row(align=True)
    row.prop(fields, "id")
    row.prop(fields, "zero")
    column.prop(fields, "port", placeholder="The one played on")
    column.prop(fields, "gear_ratio", text=gear)
    row = column.row(align=True)
    row.prop(fields, "lowest", text=sentence("From {unit}", unit=unit))
    row.prop(fields, "highest", text=sentence("To {unit}", unit=unit))
    column.prop(fields, "speed", text=sentence("Speed {unit}/s", unit=unit))
    column.prop(fields, "acceleration", text=sentence("Acceleration {unit}/s²", unit=unit))
    if servo.datasheet.current_unit is not None:
        column.prop(fields, "current", text="Current A" if servo.current_limit else "Current A (its own)")
    if servo_fields.refused():
        line(column, servo_fields.refused(), "ERROR")


CLASSES = (ROBIK_PT_servos_chain,)
