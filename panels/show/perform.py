"""Performing: the idle motion, triggers and sticks."""

from bpy.types import Context, PropertyGroup, UILayout, UIList

from ...scene.show import performing
from ...translations import sentence
from ..tab import FoldedPanel, line, robot_or_hint


class ROBIK_UL_triggers(UIList):
    """Name and key of each trigger; one without a clip shows in red."""

    bl_idname = "ROBIK_UL_triggers"

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
        name = row.row(align=True)
        name.alert = item.action is None
        plays = item.name in performing.playing()
        name.prop(item, "name", text="", emboss=False, icon="PLAY" if plays else "ERROR" if name.alert else "ACTION")
        key = row.row(align=True)
        key.ui_units_x = 1.6
        key.prop(item, "key", text="", emboss=False)


class ROBIK_UL_sticks(UIList):
    """Motor and keys of each stick."""

    bl_idname = "ROBIK_UL_sticks"

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
        row.prop(item, "motor", text="", emboss=False, icon="ARROW_LEFTRIGHT")
        keys = row.row(align=True)
        keys.ui_units_x = 3.2
        keys.prop(item, "minus", text="", emboss=False)
        keys.prop(item, "plus", text="", emboss=False)


class ROBIK_PT_servos_perform(FoldedPanel):
    """Layers that are played by hand: idle motion, triggered clips, sticks."""

    bl_idname = "ROBIK_PT_servos_perform"
    bl_label = "Perform"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, root = self.layout, robot_or_hint(context, self.layout)
        if root is None:
            return
        performance, performs = root.robik.robot.performance, performing.is_performing()
        _draw_state(layout, performs)
        row = layout.row(align=True)
        if performs:
            row.operator("robik.perform", text="End", icon="SNAP_FACE", depress=True)
        else:
            row.operator("robik.perform", icon="PLAY").record = False
            row.operator("robik.perform", text="Record", icon="REC").record = True
        column = layout.column()
        column.enabled = not performs
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(performance, "idle")
        column.prop(performance, "fade")
        _draw_triggers(column, performance)
        _draw_sticks(column, performance)
        column.prop(performance, "osc_port")


def _draw_state(layout: UILayout, performs: bool) -> None:
    """Say what plays, or why nothing does."""
    if not performs:
        if performing.why():
            line(layout, sentence("Ended: {why}", why=performing.why()), "INFO")
        return
    names = ", ".join(performing.playing())
    icon = "REC" if performing.records() else "PLAY"
    line(layout, sentence("Plays {clips}", clips=names) if names else "Waits for a key or a message", icon)
    if performing.address():
        line(layout, sentence("Hears OSC at {address}", address=performing.address()), "LINKED")
    if performing.unheard():
        line(layout, sentence("Means nothing here: {message}", message=performing.unheard()), "QUESTION")


def _draw_triggers(column: UILayout, performance: PropertyGroup) -> None:
    column.label(text="Triggers")
    row = column.row()
    row.template_list("ROBIK_UL_triggers", "", performance, "triggers", performance, "chosen_trigger", rows=3)
    side = row.column(align=True)
    side.operator("robik.add_trigger", text="", icon="ADD")
    side.operator("robik.remove_trigger", text="", icon="REMOVE")
    if 0 <= performance.chosen_trigger < len(performance.triggers):
        chosen = performance.triggers[performance.chosen_trigger]
        for name in ("action", "osc", "button", "held", "moved_only"):
            column.prop(chosen, name)


def _draw_sticks(column: UILayout, performance: PropertyGroup) -> None:
    column.label(text="Sticks")
    row = column.row()
    row.template_list("ROBIK_UL_sticks", "", performance, "sticks", performance, "chosen_stick", rows=3)
    side = row.column(align=True)
    side.operator("robik.add_stick", text="", icon="ADD")
    side.operator("robik.remove_stick", text="", icon="REMOVE")
    if 0 <= performance.chosen_stick < len(performance.sticks):
        chosen = performance.sticks[performance.chosen_stick]
        for name in ("motor", "amount", "minus", "plus", "osc", "axis"):
            column.prop(chosen, name)


CLASSES = (ROBIK_UL_triggers, ROBIK_UL_sticks, ROBIK_PT_servos_perform)
