"""Settings of the bake that are changed now and then: what motors keep to, and how the robot moves."""

from math import degrees

from bpy.types import Context, Object, PropertyGroup, UILayout

from ...robik.report.shortfall import millimetres
from ...scene.robot.parts import parts
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint
from .stand import can_fall

UNLIMITED = 1e30  # rad/s: a motor of unknown speed has the largest number of single precision


class ROBIK_PT_bake_motors(FoldedPanel):
    """Speeds, and the limits within which all frames are solved at once."""

    bl_idname = "ROBIK_PT_bake_motors"
    bl_parent_id = "ROBIK_PT_bake"
    bl_label = "Motors"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        bake, result = root.robik.robot.bake, root.robik.robot.result
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(bake, "samples", text="Samples / Frame")
        layout.prop(bake, "velocity_share", slider=True)
        layout.prop(bake, "enforce_velocity")
        if bake.soften or not bake.look_ahead:  # looking ahead is smooth already; what an older file asks for is seen
            _draw_soften(layout, root, bake)
        if result.frames and (bake.enforce_velocity or bake.soften):
            _draw_cost(layout, result)
        if bake.look_ahead:
            _draw_limits(layout, root, bake)
        layout.prop(bake, "catch_up")


def _draw_limits(layout: UILayout, root: Object, bake: PropertyGroup) -> None:
    """Draw the limits within which all frames are solved at once."""
    column = layout.column(align=True)
    for own, name, unit in (("own_acceleration", "acceleration", "per s²"), ("own_jerk", "jerk", "per s³")):
        row = column.row(align=True, heading=bake.bl_rna.properties[name].name)
        is_own = getattr(bake, own)
        row.prop(bake, own, text="" if is_own else "As the motors'", invert_checkbox=True)
        if is_own:
            row.prop(bake, name, text=unit)
    column = layout.column(align=True)
    column.prop(bake, "torque")
    if bake.zero_moment or can_fall(root):
        column.prop(bake, "zero_moment")


def _draw_soften(layout: UILayout, root: Object, bake: PropertyGroup) -> None:
    """Draw how fast motion is held back, and from which speed where no motor says it."""
    layout.prop(bake, "soften")
    if not bake.soften:
        return
    layout.prop(bake, "velocity_weight")
    joints = [joint.robik.joint for joint in parts(root, ("JOINT",))["JOINT"]]
    if all(joint.velocity_limit > UNLIMITED for joint in joints if joint.actuated):
        layout.prop(bake, "velocity_limit")


def _draw_cost(layout: UILayout, result: PropertyGroup) -> None:
    """Draw the cost of keeping the motors' speeds."""
    if result.held_back:
        cost, turn = millimetres(result.speed_cost), degrees(result.speed_turn)
        line(layout, sentence("Costs up to {distance}, {angle:.1f}°", distance=cost, angle=turn), "INFO")
    elif any(row.velocity_limit > 0 for row in result.actuators):
        line(layout, "Keeping to it costs nothing", "CHECKMARK")
    else:
        line(layout, "No motor's speed is known, so none is kept: set it with Add Motor", "INFO")


class ROBIK_PT_bake_style(FoldedPanel):
    """Poses where the targets leave a choice, and the things that the robot keeps out of."""

    bl_idname = "ROBIK_PT_bake_style"
    bl_parent_id = "ROBIK_PT_bake"
    bl_label = "Style"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        bake = root.robik.robot.bake
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(bake, "example")
        if bake.example:
            layout.prop(bake, "likeness")
        layout.prop(bake, "stillness")
        layout.prop(bake, "posture")
        layout.prop(bake, "joint_limits")
        found = parts(root, ("JOINT", "BODY"))
        if len(found["JOINT"]) > len(found["BODY"]):  # loops
            layout.prop(bake, "hold")
        layout.prop(bake, "keep_apart")
        layout.prop(bake, "obstacles")


CLASSES = (ROBIK_PT_bake_motors, ROBIK_PT_bake_style)
