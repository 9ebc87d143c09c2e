"""The bake and its result."""

from math import degrees

from bpy.types import Context, Object, PropertyGroup, UILayout

from ..scene.parts import parts
from ..scene.result import status
from .tab import FoldedPanel, TabPanel, line, robot_or_hint

MOST = 8  # rows of a list in the panel
MISSED = 1e-3  # a target that is off by more is missed [m]
CLOSED = 1e-9  # loops open by less count as closed [m]


class ROBIK_PT_bake(TabPanel):
    """Follow the character over the frame range"""

    bl_idname = "ROBIK_PT_bake"
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        robot, scene = root.robik.robot, context.scene
        bake, result = robot.bake, robot.result
        if not any(t.enabled for t in robot.character.targets):
            line(layout, "Add a target under Character first", "INFO")
        elif result.frames:
            line(layout, f"Last bake: {result.frames} samples in {result.seconds:.1f} s", "CHECKMARK")
        else:
            line(layout, "Ready to bake", "CHECKMARK")
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(bake, "use_range", text="Own Range")
        column = layout.column(align=True)
        source, names = (bake, ("start", "end")) if bake.use_range else (scene, ("frame_start", "frame_end"))
        column.prop(source, names[0], text="Frames")
        column.prop(source, names[1], text="to")
        layout.prop(bake, "samples", text="Samples / Frame")
        layout.prop(bake, "guarantee")
        layout.prop(bake, "soften")
        if bake.soften:
            layout.prop(bake, "velocity_limit", text="Limit [rad/s]")
        button = layout.row()
        button.scale_y = 1.4
        button.operator("robik.bake", text="Bake", icon="REC")


class ROBIK_PT_bake_advanced(FoldedPanel):
    """Weights of the solver"""

    bl_idname = "ROBIK_PT_bake_advanced"
    bl_parent_id = "ROBIK_PT_bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        layout.use_property_split, layout.use_property_decorate = True, False
        bake = root.robik.robot.bake
        for name in ("joint_limits", "state_weight", "velocity_weight"):
            layout.prop(bake, name)
        line(layout, f"Stillness {bake.state_weight:.1e}, softening {bake.velocity_weight:.1e}")  # fields show six decimals


class ROBIK_PT_result(TabPanel):
    """How well the robot followed"""

    bl_idname = "ROBIK_PT_result"
    bl_label = "Result"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        result = root.robik.robot.result
        if not result.frames:
            line(layout, "Bake first", "INFO")
            return
        line(layout, status(result).capitalize(), "CHECKMARK" if not result.short else "ERROR")
        if torn := _torn(root):
            line(layout, f"Balance pulls {torn} elsewhere: set its weights for Position X and Y to 0 in Character > Advanced", "INFO")
        column = layout.column(align=True)
        for row in result.targets:
            _jump(column, f"{row.name}   {1e3 * row.position_error:.2f} mm, {degrees(row.orientation_error):.2f}°", row.frame)
        column = layout.column(align=True)
        for row in sorted(result.actuators, key=_load, reverse=True)[:MOST]:
            limit = f" of {row.velocity_limit:.1f}" if row.velocity_limit > 0 else ""
            _jump(column, f"{row.name}   {row.peak_velocity:.2f}{limit} rad/s", row.frame, _load(row) > 1.0)
        column = layout.column(align=True)
        for row in result.short[:MOST]:
            _jump(column, row.name, row.frame, True)
        if len(result.short) > MOST:
            column.label(text=f"and {len(result.short) - MOST} more")
        closed = "closed" if result.residual <= CLOSED else f"open by {1e3 * result.residual:.3f} mm at worst"
        line(layout, f"Loops {closed}; {result.milliseconds:.2f} ms per sample")
        row = layout.row(align=True)
        row.operator("robik.rebuild_bodies")
        row.operator("robik.export_motion", text="Export Motion…")


def _torn(root: Object) -> str:
    """The target that balance keeps the robot from reaching, if one is also to be followed sideways; else empty."""
    robot = root.robik.robot
    if robot.balance.source == "NONE" or not robot.result.short:
        return ""
    feet = {f.robik.label for f in parts(root)["FRAME"] if f.robik.is_foot}
    free = {t.frame for t in robot.character.targets if t.enabled and t.frame not in feet and any(t.position_weight[:2])}
    missed = [row for row in robot.result.targets if row.name in free and row.position_error > MISSED]
    return max(missed, key=lambda row: row.position_error).name if missed else ""


def _load(row: PropertyGroup) -> float:
    """A motor's peak speed against its limit; its speed where that is unknown."""
    return row.peak_velocity / (row.velocity_limit or 1e6)


def _jump(column: UILayout, text: str, frame: int, alert: bool = False) -> None:
    """A row that goes to its frame."""
    row = column.split(factor=0.74, align=True)
    row.alert = alert
    row.label(text=text)
    row.operator("robik.go_to_frame", text=str(frame), icon="PLAY").frame = frame


CLASSES = (ROBIK_PT_bake, ROBIK_PT_bake_advanced, ROBIK_PT_result)
