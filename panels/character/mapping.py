"""The character: which of its parts the robot's frames follow."""

from collections.abc import Container

from bpy.app.translations import pgettext_iface
from bpy.types import Context, Object, PropertyGroup, UILayout, UIList

from ...operators.character.mapping import ROBIK_MT_mapping_presets
from ...robik.errors import RobikError
from ...robik.objectives.registry import row_kind
from ...scene.character.mapping import check_source, describe, lacking
from ...scene.robot.parts import parts
from ...translations import sentence
from ..tab import FoldedPanel, TabPanel, axes, line, robot_or_hint


class ROBIK_UL_targets(UIList):
    """Source, frame and weight of each target; a missing source or frame shows in red."""

    bl_idname = "ROBIK_UL_targets"
    frames: frozenset[str] = frozenset()  # of the robot; the panel looks them up once before it draws the rows

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
        row.prop(item, "enabled", text="")
        names = row.split(factor=0.45, align=True)
        source = names.row()
        problem = item.enabled and problem_of(item, context, self.frames)
        source.alert = bool(problem)
        source.label(text=_followed(item), icon="ERROR" if problem else _icon(item))
        right = names.row(align=True)
        frame = right.row()
        frame.alert = item.enabled and item.frame not in self.frames and (item.leads or bool(item.frame))
        frame.label(text=item.frame or pgettext_iface("frame…" if item.leads else "all"))
        weight = right.row()
        weight.scale_x = 0.9
        weight.prop(item, "weight", text="", emboss=False)


class ROBIK_PT_character(TabPanel):
    """Mapping of the character to the robot."""

    bl_idname = "ROBIK_PT_character"
    bl_label = "Character"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        character = root.robik.robot.character
        ROBIK_UL_targets.frames = frames = _frames(root)
        line(layout, *_status(root, frames, context))
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(character, "rig")
        if character.rig is None and not any(o.type == "ARMATURE" for o in context.scene.objects):
            layout.operator("robik.add_character", text="Add a Walking Character")
            layout.operator("robik.import_recording", text="Bring a Recording…")
        if not character.targets:
            layout.operator("robik.add_handles", icon="EMPTY_AXIS")
        row = layout.row(align=True)
        row.operator("robik.auto_map", text="Auto-Map…")
        row.menu("ROBIK_MT_mapping_presets", text=ROBIK_MT_mapping_presets.bl_label)
        row.operator("robik.mapping_preset_add", text="", icon="ADD")
        row.operator("robik.mapping_preset_add", text="", icon="REMOVE").remove_active = True
        row = layout.row()
        row.template_list("ROBIK_UL_targets", "", character, "targets", character, "active", rows=4)
        side = row.column(align=True)
        side.operator("robik.add_target", text="", icon="ADD")
        side.operator("robik.remove_target", text="", icon="REMOVE")
        if 0 <= character.active < len(character.targets):
            _draw_target(layout, character.targets[character.active])
        row = layout.row(align=True)
        row.operator("robik.match_now", text="Match Now").poses = "NOW"
        row.operator("robik.match_now", text="Match Rest").poses = "REST"
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(character, "fit_by")
        column.operator("robik.fit_character", text="Fit to Robot")
        for name in ("scale", "stride", "location", "yaw", "left_out"):
            column.prop(character, name)


class ROBIK_PT_target_advanced(FoldedPanel):
    """Weights by axis and the offset of the chosen target."""

    bl_idname = "ROBIK_PT_target_advanced"
    bl_parent_id = "ROBIK_PT_character"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        character = root.robik.robot.character
        if not 0 <= character.active < len(character.targets):
            line(layout, "Add a target first", "INFO")
            return
        target = character.targets[character.active]
        layout.use_property_split, layout.use_property_decorate = True, False
        labels = dict(row_kind(target.follows).fields)
        if "axes" in labels:
            layout.label(text=labels["axes"])
            axes(layout, target, "position_weight", "Position")
            axes(layout, target, "orientation_weight", "Direction")
        if target.leads and target.reach_root:
            layout.column().prop(target, "reach")
        if "offset" in labels:
            layout.label(text=labels["offset"])
            for name in ("offset_location", "offset_rotation"):
                layout.column().prop(target, name)
        if not {"axes", "offset"} & labels.keys():
            line(layout, "Nothing more to set for this target", "INFO")


def problem_of(target: PropertyGroup, context: Context, frames: Container[str]) -> str:
    """Return what is wrong with what a target follows; empty if nothing is."""
    try:
        check_source(target, context.scene)
    except RobikError as error:
        return str(error)
    return "" if target.leads else lacking(target, frames)


def _frames(root: Object) -> frozenset[str]:
    """Return what of a robot can follow: its frames and bodies."""
    return frozenset(part.robik.label for listed in parts(root, ("FRAME", "BODY")).values() for part in listed)


def _status(root: Object, frames: frozenset[str], context: Context) -> tuple[str, str]:
    character = root.robik.robot.character
    targets = [t for t in character.targets if t.enabled]
    if not targets:
        return "Add what the robot shall follow: select a bone and press +", "INFO"
    problems = [p for t in targets if (p := problem_of(t, context, frames))]
    if problems:
        return problems[0], "ERROR"
    if lost := next((t for t in targets if t.leads and t.frame not in frames), None):
        return (
            sentence(
                "The robot has no frame {frame!r} to follow {source}: choose another, or switch that target off",
                frame=lost.frame,
                source=describe(lost),
            ),
            "ERROR",
        )
    told = "{count} of {all} targets follow, scale {scale:.3g}"
    counts = {"count": len(targets), "all": len(character.targets)}
    return sentence(told, **counts, scale=character.scale), "CHECKMARK"


def _followed(target: PropertyGroup) -> str:
    """Return what a row of the list says that a target follows."""
    source = target.bone or (target.source.name if target.source else target.other)
    if target.leads:
        return source or pgettext_iface("choose…")
    label = pgettext_iface(row_kind(target.follows).label)
    return f"{label}: {source}" if source else label


def _icon(target: PropertyGroup) -> str:
    return "BONE_DATA" if target.bone else "OBJECT_DATA"


def _draw_target(layout: UILayout, target: PropertyGroup) -> None:
    column = layout.column(align=True)
    column.use_property_split, column.use_property_decorate = True, False
    column.prop(target, "follows")
    for name, label in row_kind(target.follows).fields:
        if name == "source":
            row = column.row(align=True)
            row.prop(target, "source", text=label)
            row.operator("robik.choose_source", text="", icon="RESTRICT_SELECT_OFF")
            if target.source is not None and target.source.type == "ARMATURE":
                column.prop_search(target, "bone", target.source.pose, "bones", text="Bone")
        elif name in ("frame", "other"):
            column.prop(target, name, text=label, icon="EMPTY_ARROWS")
        elif name in ("axis", "distance"):
            column.prop(target, name, text=label)


CLASSES = (ROBIK_UL_targets, ROBIK_PT_character, ROBIK_PT_target_advanced)
