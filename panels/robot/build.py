"""Building and mending a robot by hand."""

from bpy.types import Context

from ...scene.robot.parts import robots
from ...translations import OWN
from ..tab import TabPanel, line


class ROBIK_PT_build(TabPanel):
    """Bodies from meshes, joints from holes, ground, motors and masses."""

    bl_idname = "ROBIK_PT_build"
    bl_parent_id = "ROBIK_PT_robot"
    bl_label = "Build"
    bl_translation_context = OWN
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator("robik.make_robot", text="Make Robot from Selection", icon="MESH_CUBE")
        line(
            layout,
            "Select two bodies, then the rim of a hole in Edit Mode, or put the 3D cursor where the joint belongs",
        )
        layout.operator_menu_enum("robik.add_joint", "type", text="Add Joint", icon="CONSTRAINT")
        if not robots(context.scene):
            return
        row = layout.row(align=True)
        row.operator("robik.remove_joint")
        row.operator("robik.set_limits", text="Limits…")
        row = layout.row(align=True)
        row.operator("robik.set_motor", text="Add Motor").on = True
        row.operator("robik.set_motor", text="Remove Motor").on = False
        row = layout.row(align=True)
        row.operator("robik.set_ground")
        row.operator("robik.make_foot")
        layout.operator("robik.rest_pose")
        layout.operator_menu_enum("robik.set_mass", "material", text="Mass from Volume", icon="RIGID_BODY")
        layout.operator("robik.export_robot", text="Export Robot…", icon="EXPORT")


CLASSES = (ROBIK_PT_build,)
