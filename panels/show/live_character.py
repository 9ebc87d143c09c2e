"""Live character: a rig that is posed by VMC messages."""

from bpy.types import Context

from ...scene.show import live_character
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint


class ROBIK_PT_live_character(FoldedPanel):
    """A body that is tracked poses the rig."""

    bl_idname = "ROBIK_PT_live_character"
    bl_label = "Live Character"
    bl_parent_id = "ROBIK_PT_character"

    def draw(self, context: Context) -> None:
        layout, root = self.layout, robot_or_hint(context, self.layout)
        if root is None:
            return
        listens = live_character.is_listening()
        if listens:
            line(
                layout,
                sentence("Hears VMC at {address}", address=live_character.address()),
                "REC" if live_character.records() else "LINKED",
            )
            if not live_character.has_heard():
                line(layout, "No body has been heard yet", "INFO")
        elif live_character.why():
            line(layout, sentence("Ended: {why}", why=live_character.why()), "INFO")
        row = layout.row(align=True)
        if listens:
            row.operator("robik.hear_vmc", text="End", icon="SNAP_FACE", depress=True)
        else:
            row.operator("robik.hear_vmc", icon="ARMATURE_DATA").record = False
            row.operator("robik.hear_vmc", text="Record", icon="REC").record = True
        column = layout.column()
        column.enabled = not listens
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(root.robik.robot.performance, "vmc_port")


CLASSES = (ROBIK_PT_live_character,)
