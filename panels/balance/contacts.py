"""Contact phases: a strip and a list for each foot."""

from bpy.types import Context, PropertyGroup, UILayout, UIList

from ...scene.balance.contacts import strip
from ...scene.robot.parts import parts
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint

WIDTH = 26  # blocks of a strip


class ROBIK_UL_phases(UIList):
    """First and last frame of each phase."""

    bl_idname = "ROBIK_UL_phases"

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: PropertyGroup,
        item: PropertyGroup,
        icon: int,
        active: PropertyGroup,
        active_name: str,
    ) -> None:
        row = layout.row(align=True)
        row.alert = item.end < item.start
        row.prop(item, "start", text="")
        row.prop(item, "end", text="")


class ROBIK_PT_contacts(FoldedPanel):
    """Contacts of the feet, to be edited."""

    bl_idname = "ROBIK_PT_contacts"
    bl_parent_id = "ROBIK_PT_balance"
    bl_label = "Contacts"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        feet = {f.robik.label for f in parts(root)["FRAME"] if f.robik.is_foot}
        character = root.robik.robot.character
        led = [t for t in character.targets if t.enabled and t.leads]
        if not led:
            line(layout, "Let a frame follow the character first", "INFO")
            return
        if any(t.frame in feet for t in led):
            layout.operator("robik.detect_contacts", text="Detect and Edit")
        for target in led:
            if target.frame in feet or target.contact == "HAND":
                _draw_foot(layout, target, context)
        chosen = next((t for t in character.targets[character.active :][:1] if t in led), None)
        if chosen is not None and chosen.frame not in feet and chosen.contact != "HAND":
            layout.operator(
                "robik.add_phase", text=sentence("Hold {frame} Here", frame=chosen.frame)
            ).foot = chosen.frame


def _draw_foot(layout: UILayout, target: PropertyGroup, context: Context) -> None:
    """Draw a foot's strip over the scene's frames, and its phases."""
    column = layout.column(align=True)
    row = column.row()
    row.label(text=target.frame)
    row.prop(target, "contact", text="")
    column.prop(target, "holds_on")
    if target.contact != "HAND":
        return
    column.label(text=strip(target, context.scene.frame_start, context.scene.frame_end, WIDTH))
    row = column.row()
    row.template_list("ROBIK_UL_phases", target.frame, target, "stands", target, "active_phase", rows=3)
    side = row.column(align=True)
    side.operator("robik.add_phase", text="", icon="ADD").foot = target.frame
    remove = side.operator("robik.remove_phase", text="", icon="REMOVE")
    remove.foot, remove.index = target.frame, target.active_phase


CLASSES = (ROBIK_UL_phases, ROBIK_PT_contacts)
