"""The servos' chain: who is there, which servo turns which motor, zeros and directions."""

from bpy.types import Context, Object, UILayout

from robik.errors import RobikError
from robik.servo.chain import ServoChain
from robik.servo.setup import rate_warning

from ..scene import play, servo_setup
from ..scene.read_robot import read_moving_parts
from .tab import FoldedPanel, line, robot_or_hint


class ROBIK_PT_servos_chain(FoldedPanel):
    """Find the servos, and say which one turns which motor"""

    bl_idname = "ROBIK_PT_servos_chain"
    bl_label = "Chain"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, root = self.layout, robot_or_hint(context, self.layout)
        if root is None:
            return
        _draw_scan(layout)
        try:
            chain = _chain(context, root)
        except RobikError as error:
            line(layout, str(error), "ERROR")
            return
        if warning := rate_warning(chain, play.settings_of(context.scene)):
            line(layout, warning, "ERROR")
        _draw_chain(layout, chain)
        row = layout.row(align=True)
        row.operator("robik.zero_servos")
        row.operator("robik.save_servos", icon="FILE_TICK")


def _chain(context: Context, root: Object) -> ServoChain:
    player = play.player()
    return player.chain if player is not None else play.servo_chain(root, read_moving_parts(root), context.scene)


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
        row.label(text=f"{one.id}: {one.model or f'unknown, {one.number}'}, {one.baud_rate} baud")
        row.operator("robik.set_servo", text="", icon="GREASEPENCIL").servo = one.id


def _draw_chain(layout: UILayout, chain: ServoChain) -> None:
    column = layout.column(align=True)
    for servo in chain.servos:
        row = column.row(align=True)
        row.label(text=f"{servo.actuator}: {servo.id}")
        row.operator("robik.turn_servo", text="+" if servo.direction > 0 else "−").servo = servo.id
        row.operator("robik.nudge_servo", text="", icon="ARROW_LEFTRIGHT").actuator = servo.actuator
        row.operator("robik.assign_servo", text="", icon="VIEW_PAN").actuator = servo.actuator


CLASSES = (ROBIK_PT_servos_chain,)
