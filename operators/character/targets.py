"""Targets that the robot follows: adding, removing and aligning them, and fitting the character."""

from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Object

from ...robik.errors import RobikError
from ...scene.character.automap import proposed_for, weigh
from ...scene.character.fit import align_rest_poses, fit, match_now
from ...scene.character.rows import TARGETS
from ...scene.robot.library import add_row, remove_row
from ...scene.robot.parts import changeable_robot
from ...scene.robot.reading import read_moving_parts
from ...translations import OWN
from ..reporting import Reporting


class ROBIK_OT_add_target(Reporting):
    """Let a frame of the robot follow the active pose bone, the active object, or the ones given"""

    bl_idname = "robik.add_target"
    bl_label = "Add Target"
    bl_options = {"REGISTER", "UNDO"}

    frame: StringProperty(
        name="Frame", translation_context=OWN, description="The robot's frame or body that shall follow"
    )
    source: StringProperty(name="Source", description="The armature or object to follow; empty for the active one")
    bone: StringProperty(
        name="Bone", description="The pose bone to follow; empty for the active one, or the object itself"
    )

    def run(self, context: Context) -> set[str]:
        """Add one target at the end of the list."""
        root = changeable_robot(context.scene)
        source, bone = self._source(context, root)
        character = root.robik.robot.character
        mechanism = read_moving_parts(root)
        names = mechanism.frame_names
        if self.frame and self.frame not in names:
            raise RobikError(f"robot {root.name!r} has no frame {self.frame!r}; it has {', '.join(names)}")
        taken = {t.frame for t in character.targets if t.leads}
        row = None
        if source is not None and source.type == "ARMATURE" and bone in source.pose.bones:
            row = proposed_for(context, root, mechanism, source, frame=self.frame, bone=bone)
        frame = self.frame or (row.frame if row is not None and row.frame not in taken else "")
        added = add_row(character.targets)
        added.source, added.bone = source, bone
        added.frame = frame or next((n for n in names if n not in taken), "")
        if row is not None and added.frame == row.frame:
            weigh(added, row)
        character.active = len(character.targets) - 1
        if character.rig is None:
            character.rig = source
        return {"FINISHED"}

    def _source(self, context: Context, root: Object) -> tuple[Object | None, str]:
        """Return the object, or None to be chosen later, and the bone."""
        if self.source:
            source: Object | None = context.scene.objects.get(self.source)
            if source is None:
                raise RobikError(f"there is no object {self.source!r} in this scene to follow")
            return source, self.bone
        active, bone = context.active_object, context.active_pose_bone
        if active is not None and bone is not None:
            return active, bone.name
        if active is not None and active.robik.kind == "NONE":
            return active, self.bone
        return root.robik.robot.character.rig, self.bone


class ROBIK_OT_remove_target(Reporting):
    """Take the chosen target off the list"""

    bl_idname = "robik.remove_target"
    bl_label = "Remove Target"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Remove the active row."""
        root = changeable_robot(context.scene)
        character = root.robik.robot.character
        remove_row(root, TARGETS, character.active, "target", "; switch it off")
        character.active = max(0, min(character.active, len(character.targets) - 1))
        return {"FINISHED"}


class ROBIK_OT_choose_source(Reporting):
    """Let the chosen target follow what is selected: the active pose bone, or the active object"""

    bl_idname = "robik.choose_source"
    bl_label = "From Selection"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Set source and bone of the active row."""
        character = changeable_robot(context.scene).robik.robot.character
        if not 0 <= character.active < len(character.targets):
            raise RobikError("no target is chosen; click one in the list")
        active, bone = context.active_object, context.active_pose_bone
        if active is None or active.robik.kind != "NONE":
            raise RobikError(
                "nothing to follow is selected; select a bone in pose mode, or an object that is no part of a robot"
            )
        target = character.targets[character.active]
        target.source, target.bone = active, bone.name if bone is not None else ""
        return {"FINISHED"}


class ROBIK_OT_match_now(Reporting):
    """Take the offset of every active target from how character and robot stand"""

    bl_idname = "robik.match_now"
    bl_label = "Match Now"
    bl_options = {"REGISTER", "UNDO"}

    poses: EnumProperty(
        name="Poses",
        description="Which poses correspond",
        items=(
            ("NOW", "As they stand now", "Pose robot and character alike first"),
            ("REST", "Rest poses", "The character's rest pose and the robot's, at the present scale"),
        ),
    )

    def run(self, context: Context) -> set[str]:
        """Set the offsets."""
        root = changeable_robot(context.scene)
        mechanism = read_moving_parts(root)
        (match_now if self.poses == "NOW" else align_rest_poses)(context, root, mechanism)
        return {"FINISHED"}


class ROBIK_OT_fit_character(Reporting):
    """Scale and place the character's motion to suit the robot, and align rest poses; the character is not changed"""

    bl_idname = "robik.fit_character"
    bl_label = "Fit to Robot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Set scale, place and offsets."""
        root = changeable_robot(context.scene)
        if note := fit(context, root, read_moving_parts(root)):
            self.report({"INFO"}, note)
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_add_target,
    ROBIK_OT_remove_target,
    ROBIK_OT_choose_source,
    ROBIK_OT_match_now,
    ROBIK_OT_fit_character,
)
