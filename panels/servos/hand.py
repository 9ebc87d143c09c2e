"""Robots that are moved by hand: recording them, and one that leads another."""

from bpy.types import Context

from ...scene.servos import leader, play
from ..tab import FoldedPanel, line


class ROBIK_PT_servos_hand(FoldedPanel):
    """Motions that a hand makes."""

    bl_idname = "ROBIK_PT_servos_hand"
    bl_label = "By Hand"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, playing = self.layout, context.scene.robik.playing
        leads = leader.player() is not None
        row = layout.row(align=True)
        row.enabled = play.is_open() or leads
        row.operator("robik.key_servos", text="Key", icon="KEY_HLT")
        row.operator("robik.record_servos", text="Record", icon="REC")
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(playing, "hand_poses")
        row = layout.row()
        row.active = not playing.hand_poses
        row.prop(playing, "hand_tolerance")
        layout.label(text="Leader")
        column = layout.column()
        column.enabled = not leads
        column.prop(playing, "leader_port")
        column.prop(playing, "leader_servos")
        if leads:
            message = leader.status().message
            line(layout, message[:1].upper() + message[1:], "LINKED" if leader.leads() else "ERROR")
            layout.operator("robik.disconnect_leader", icon="UNLINKED")
        else:
            layout.operator("robik.connect_leader", icon="LINKED")


CLASSES = (ROBIK_PT_servos_hand,)
