"""Mapping a whole character at once: by its bones' names, and by presets."""

from __future__ import annotations

import pprint
from dataclasses import replace
from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy.types import Context, Event, Menu, Object, Operator, PropertyGroup
from bpy_extras.io_utils import ImportHelper

from ...robik.errors import RobikError
from ...robik.files import write_whole
from ...robik.mechanism import Mechanism
from ...robik.skeleton.limb_ranges import untold_legs
from ...robik.skeleton.mapping import Row, standing_row
from ...robik.words import counted
from ...scene.character.automap import apply, followable, hung_by, proposed, the_rig
from ...scene.character.fit import fit
from ...scene.character.rows import clear_targets
from ...scene.character.settings import RobikTarget
from ...scene.robot.feet import make_feet, showing
from ...scene.robot.library import add_row
from ...scene.robot.parts import changeable_robot
from ...scene.robot.reading import read_robot
from ..reporting import Reporting

# What a preset keeps of each target. Not what belongs to one recording: its contacts.
KEPT = (
    *("follows", "other", "axis", "distance"),
    *("bone", "enabled", "weight", "position_weight", "orientation_weight", "offset_location", "offset_rotation"),
    *("reach", "reach_root", "reach_middle", "reach_hips", "reach_chest", "reach_from_hips", "reach_from_chest"),
)


class RobikPair(PropertyGroup):
    """A frame of the robot, its `name`, and what it will follow."""

    use: BoolProperty(name="Use", description="Whether this pair is applied", default=True)
    followed: StringProperty(name="Follow", description="The bone or object that the frame will follow")


class RobikKeptTarget(PropertyGroup):
    """A target as a preset keeps it; `name` is the robot's frame."""

    source: StringProperty(name="Source", description="The object to follow; empty for the character's rig")
    __annotations__.update({name: RobikTarget.__annotations__[name] for name in KEPT})


class ROBIK_OT_auto_map(Reporting):
    """Let the robot's frames follow bones of the same parts of the body, by name and shape; shows the pairs first"""

    bl_idname = "robik.auto_map"
    bl_label = "Auto-Map"
    bl_options = {"REGISTER", "UNDO"}

    pairs: CollectionProperty(type=RobikPair, options={"SKIP_SAVE"})
    fit: BoolProperty(
        name="Fit to Robot",
        description="Then scale and place the character's motion so that it suits the robot",
        default=True,
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Show what would be mapped; every pair can be changed or left out."""
        try:
            self._propose(context)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return context.window_manager.invoke_props_dialog(self, width=380, title="Auto-Map", confirm_text="Map")

    def draw(self, context: Context) -> None:
        """Frame and bone of each pair."""
        rig = the_rig(context, changeable_robot(context.scene))
        self.layout.label(
            text=f"The robot follows {rig.name}:", icon="ARMATURE_DATA" if rig.type == "ARMATURE" else "OBJECT_DATA"
        )
        column = self.layout.column(align=True)
        for pair in self.pairs:
            row = column.row(align=True)
            row.prop(pair, "use", text="")
            halves = row.split(factor=0.4, align=True)
            halves.label(text=pair.name)
            if rig.type == "ARMATURE":
                halves.prop_search(pair, "followed", rig.pose, "bones", text="")
            else:
                halves.prop_search(pair, "followed", context.scene, "objects", text="")
        self.layout.prop(self, "fit")

    def run(self, context: Context) -> set[str]:
        """Apply the pairs: the ones shown or given, else what the names tell."""
        if not self.pairs:
            self._propose(context)
        root = changeable_robot(context.scene)
        rig, mechanism = the_rig(context, root), read_robot(root)
        pairs = {pair.name: pair.followed for pair in self.pairs if pair.use and pair.followed}
        _check(pairs, mechanism.frame_names, rig, context)
        known = {row.frame: row for row in proposed(context, root, mechanism, rig)}
        rows = [replace(known.get(frame, Row(frame=frame, bone="")), bone=bone) for frame, bone in pairs.items()]
        rows, mechanism = self._on_feet(root, mechanism, rows)
        stayed = apply(root, rig, rows, dict(context.scene.objects.items()))
        self.report({"INFO"}, f"{counted(len(pairs), 'frame follows', 'frames follow')} {rig.name}")
        if stayed:
            self.report({"INFO"}, f"nothing of {rig.name} is for {', '.join(stayed)}: switched off")
        if held := hung_by(mechanism, rows):
            self.report(
                {"WARNING"},
                f"{held!r} is fixed to the world, so the robot cannot walk; select its feet, then Build > Make Foot",
            )
        if untold := untold_legs(mechanism, [row.frame for row in rows if row.bone]):
            self.report({"WARNING"}, untold[0].upper() + untold[1:])
        if self.fit:
            try:
                self._say(fit(context, root, mechanism))
            except RobikError as error:  # the pairs stay: what else is on the list hinders the fit
                self.report({"WARNING"}, f"not fitted: {error}; then Fit to Robot")
        return {"FINISHED"}

    def _on_feet(self, root: Object, mechanism: Mechanism, rows: list[Row]) -> tuple[list[Row], Mechanism]:
        """Return rows and robot with feet for what follows a foot.

        Used where the robot's file names none that it stands on.
        """
        feet = [row for row in rows if row.part in ("foot", "front foot")]
        if not feet or any(frame.is_foot for frame in mechanism.frames):
            return rows, mechanism
        try:
            made, freed = make_feet(root, showing(root, mechanism, [mechanism.frame(row.frame).body for row in feet]))
        except RobikError as error:
            self.report({"INFO"}, f"the robot has no feet yet: {error}; or select them, then Build > Make Foot")
            return rows, mechanism
        labels = {row.frame: foot.robik.label for row, foot in zip(feet, made, strict=True)}
        self._say(f"The robot stands on {', '.join(labels.values())}; Build > Make Foot corrects it")
        if freed:
            self._say("it is held by nothing else any more")
        mechanism = read_robot(root)
        return [
            standing_row(mechanism, replace(row, frame=labels.get(row.frame, row.frame))) for row in rows
        ], mechanism

    def _say(self, note: str) -> None:
        if note:
            self.report({"INFO"}, note)

    def _propose(self, context: Context) -> None:
        root = changeable_robot(context.scene)
        rig = the_rig(context, root)
        self.pairs.clear()
        for row in proposed(context, root, read_robot(root), rig):
            added = self.pairs.add()
            added.name, added.followed, added.use = row.frame, row.bone, bool(row.bone)


def _check(pairs: dict[str, str], frames: tuple[str, ...], rig: Object, context: Context) -> None:
    """Check that pairs can be applied; a RobikError names what is not there."""
    if not pairs:
        raise RobikError(
            f"neither names nor shape of {rig.name!r} say which part of the body is which; choose what each frame"
            " follows by hand"
        )
    there = followable(rig) if rig.type == "ARMATURE" else list(context.scene.objects.keys())
    for frame, followed in pairs.items():
        if frame not in frames:
            raise RobikError(f"the robot has no frame {frame!r}; it has {', '.join(frames)}")
        if followed not in there:
            raise RobikError(f"{frame!r} cannot follow {followed!r}: {rig.name!r} has no such bone, choose another")


class ROBIK_OT_set_targets(Reporting):
    """Let the robot follow exactly these targets; presets are files that call this"""

    bl_idname = "robik.set_targets"
    bl_label = "Set Targets"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    targets: CollectionProperty(type=RobikKeptTarget, options={"SKIP_SAVE"})

    def run(self, context: Context) -> set[str]:
        """Replace the list."""
        root = changeable_robot(context.scene)
        character = root.robik.robot.character
        rig = character.rig or the_rig(context, root)
        clear_targets(root)
        for kept in self.targets:
            added = add_row(character.targets)
            added.frame, added.source = kept.name, context.scene.objects.get(kept.source) if kept.source else rig
            for name in KEPT:
                setattr(added, name, getattr(kept, name))
        character.rig, character.active = rig, 0
        return {"FINISHED"}


class ROBIK_OT_load_mapping(Reporting, ImportHelper):
    """Let the robot follow what this preset says, with its weights and offsets"""

    bl_idname = "robik.load_mapping"
    bl_label = "Load Mapping"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = ".py"

    filepath: StringProperty(
        name="File", description="The preset, as + has written it", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(default="*.py", options={"HIDDEN"})

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Ask for the file, unless it was chosen from the menu."""
        return self.execute(context) if self.filepath else ImportHelper.invoke(self, context, event)

    def run(self, context: Context) -> set[str]:
        """Run the preset's file."""
        if not Path(self.filepath).is_file():
            raise RobikError(f"there is no preset {self.filepath!r}; choose a file that + beside Presets has written")
        try:
            bpy.utils.execfile(self.filepath)
        except Exception as error:  # a preset is a script: it can fail in any way
            raise RobikError(f"{self.filepath} is no preset of a mapping: {error}") from None
        return {"FINISHED"}


class ROBIK_OT_mapping_preset_add(AddPresetBase, Operator):
    """Keep these targets as a preset, or remove the chosen one; a file that can be shared"""

    bl_idname = "robik.mapping_preset_add"
    bl_label = "Mapping Preset"
    preset_menu = "ROBIK_MT_mapping_presets"
    preset_subdir = "robik/mapping"

    def add(self, context: Context, filepath: str) -> None:
        """Write the preset's file."""
        character = changeable_robot(context.scene).robik.robot.character
        targets = [_kept(target, character.rig) for target in character.targets]
        call = pprint.pformat(targets, sort_dicts=False, width=120)
        write_whole(filepath, f"import bpy\n\nbpy.ops.robik.set_targets(\n    targets={call}\n)\n")


def _kept(target: PropertyGroup, rig: Object | None) -> dict[str, object]:
    """Return a target as plain data."""
    elsewhere = target.source.name if target.source is not None and target.source != rig else ""
    values = {name: getattr(target, name) for name in KEPT}
    return {
        "name": target.frame,
        "source": elsewhere,
        **{n: v if isinstance(v, (str, bool, float)) else tuple(v) for n, v in values.items()},
    }


class ROBIK_MT_mapping_presets(Menu):
    """Mappings that were kept."""

    bl_idname = "ROBIK_MT_mapping_presets"
    bl_label = "Presets"
    preset_subdir = ROBIK_OT_mapping_preset_add.preset_subdir
    preset_operator = ROBIK_OT_load_mapping.bl_idname

    def draw(self, context: Context) -> None:
        """Draw the presets' files, and one from elsewhere."""
        self.draw_preset(context)
        self.layout.separator()
        self.layout.operator(ROBIK_OT_load_mapping.bl_idname, text="From File…", icon="FILEBROWSER")


CLASSES = (
    RobikPair,
    RobikKeptTarget,
    ROBIK_OT_auto_map,
    ROBIK_OT_set_targets,
    ROBIK_OT_load_mapping,
    ROBIK_OT_mapping_preset_add,
    ROBIK_MT_mapping_presets,
)
