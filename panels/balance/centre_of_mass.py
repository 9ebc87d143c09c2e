"""Balance: the target of the centre of mass."""

from bpy.types import Context, Object

from ...robik.errors import RobikError
from ...robik.feet.support import thin_feet
from ...scene.balance.settings import OVER_FEET
from ...scene.robot.parts import parts
from ...scene.robot.reading import read_moving_parts
from ...translations import sentence
from ..tab import FoldedPanel, TabPanel, axes, line, robot_or_hint


class ROBIK_PT_balance(TabPanel):
    """Balance: the place of the centre of mass."""

    bl_idname = "ROBIK_PT_balance"
    bl_label = "Balance"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        balance = root.robik.robot.balance
        line(layout, *_status(root))
        if balance.mode in OVER_FEET and (thin := _thin(root)):
            line(layout, thin[0].upper() + thin[1:], "ERROR")
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(balance, "mode")
        if balance.mode == "OBJECT":
            layout.prop(balance, "target")
        if balance.mode in OVER_FEET:
            layout.prop(balance, "margin")
        layout.prop(balance, "pin_feet")
        layout.prop(balance, "ground")


class ROBIK_PT_balance_advanced(FoldedPanel):
    """Shift of weight, and how much the centre of mass counts."""

    bl_idname = "ROBIK_PT_balance_advanced"
    bl_parent_id = "ROBIK_PT_balance"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        balance = root.robik.robot.balance
        layout.use_property_split, layout.use_property_decorate = True, False
        if balance.mode in OVER_FEET:
            for name in ("add_give", "lead", "give_way"):
                layout.prop(balance, name)
        column = layout.column()
        column.active = balance.mode != "OFF"
        axes(column, balance, "weight", "Weight")


def _thin(root: Object) -> str:
    """Return which feet the robot cannot stand on alone, in words."""
    try:
        return thin_feet(read_moving_parts(root), root.robik.robot.balance.margin)
    except RobikError:  # the robot is incomplete, which the panel Robot says
        return ""


def _status(root: Object) -> tuple[str, str]:
    robot = root.robik.robot
    feet = [f.robik.label for f in parts(root)["FRAME"] if f.robik.is_foot]
    following = {t.frame for t in robot.character.targets if t.enabled and t.leads}
    mode = robot.balance.mode
    if mode in OVER_FEET and not following & set(feet):
        icon = "INFO" if mode == "AUTO" else "ERROR"
        if not feet:
            return (
                "No part of this robot is a foot: to balance it, select its feet, then Robot > Build > Make Foot",
                icon,
            )
        return sentence("To balance it, let a foot follow the character: {feet}", feet=", ".join(feet)), icon
    if robot.result.frames and robot.result.has_margin:
        margin, frame = 1e3 * robot.result.margin, robot.result.margin_frame
        if margin < 0:
            told = "Tips over its feet, by {margin:.0f} mm, worst at frame {frame}"
            return sentence(told, margin=-margin, frame=frame), "ERROR"
        return sentence("Margin {margin:.0f} mm, worst at frame {frame}", margin=margin, frame=frame), "CHECKMARK"
    if mode == "OFF":
        return "The centre of mass goes where the motion takes it", "INFO"
    if mode == "OBJECT":
        followed = robot.balance.target
        if not followed:
            return "Choose the object to follow", "ERROR"
        return sentence("Follows {name}", name=followed.name), "INFO"
    return "A bake keeps it over the feet; Follow Live leans there once they have moved", "INFO"


CLASSES = (ROBIK_PT_balance, ROBIK_PT_balance_advanced)
