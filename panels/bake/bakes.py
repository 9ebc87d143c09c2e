"""The bakes that are kept."""

from typing import cast

from bpy.types import Context, Object, PropertyGroup, UILayout, UIList

from ...scene.bake.bakes import in_use
from ..tab import FoldedPanel, line, robot_or_hint


class ROBIK_UL_bakes(UIList):
    """Bakes that are kept, and how many of their samples meet their targets; the dot says which one moves the robot."""

    bl_idname = "ROBIK_UL_bakes"

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: PropertyGroup,
        item: PropertyGroup,
        icon: int,
        active: PropertyGroup,
        active_name: str,
        index: int,
    ) -> None:
        row = layout.row(align=True)
        used = in_use(cast(Object, data.id_data)) == index
        row.operator(
            "robik.use_bake", text="", icon="RADIOBUT_ON" if used else "RADIOBUT_OFF", emboss=False
        ).index = index
        halves = row.split(factor=0.62, align=True)
        halves.prop(item, "name", text="", emboss=False)
        if item.result.frames:
            halves.label(text=f"{item.result.frames - item.result.missed}/{item.result.frames}")


class ROBIK_PT_bakes(FoldedPanel):
    """The bakes that are kept."""

    bl_idname = "ROBIK_PT_bakes"
    bl_parent_id = "ROBIK_PT_bake"
    bl_label = "Bakes"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        robot = root.robik.robot
        if not robot.bakes:
            line(layout, "Bakes are kept here", "INFO")
            return
        row = layout.row()
        row.template_list("ROBIK_UL_bakes", "", robot, "bakes", robot, "chosen_bake", rows=3)
        row.operator("robik.remove_bake", text="", icon="REMOVE").index = robot.chosen_bake
        layout.prop(robot.bake, "keep")
        layout.prop(robot.bake, "corrections")


CLASSES = (ROBIK_UL_bakes, ROBIK_PT_bakes)
