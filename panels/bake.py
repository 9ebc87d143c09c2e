"""The bake."""

from bpy.types import Context

from .tab import FoldedPanel, TabPanel, line, robot_or_hint


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


CLASSES = (ROBIK_PT_bake, ROBIK_PT_bake_advanced)
