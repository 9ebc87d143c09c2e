"""What the robot follows: adding, removing and aligning targets, fitting the character."""

from bpy.props import StringProperty
from bpy.types import Context, Object

from robik.errors import RobikError

from ..scene.fit import fit
from ..scene.mapping import check_source, match, placement, source_matrix
from ..scene.parts import bodies, chosen_robot, local_pose
from ..scene.read_robot import read_robot
from .reporting import Reporting


class ROBIK_OT_add_target(Reporting):
    """Let a frame of the robot follow a bone or an object: the active pose bone, the active object, or the ones given"""

    bl_idname = "robik.add_target"
    bl_label = "Add Target"
    bl_options = {"REGISTER", "UNDO"}

    frame: StringProperty(name="Frame", description="The robot's frame or body that shall follow")
    source: StringProperty(name="Source", description="The armature or object to follow; empty for the active one")
    bone: StringProperty(name="Bone", description="The pose bone to follow; empty for the active one, or the object itself")

    def run(self, context: Context) -> set[str]:
        """Adds one target at the end of the list."""
        root = chosen_robot(context.scene)
        source, bone = self._source(context, root)
        character = root.robik.robot.character
        names = read_robot(root).frame_names
        if self.frame and self.frame not in names:
            raise RobikError(f"robot {root.name!r} has no frame {self.frame!r}; it has {', '.join(names)}")
        taken = {t.frame for t in character.targets}
        added = character.targets.add()
        added.source, added.bone = source, bone
        added.frame = self.frame or next((n for n in names if n not in taken), "")
        character.active = len(character.targets) - 1
        if character.rig is None:
            character.rig = source
        return {"FINISHED"}

    def _source(self, context: Context, root: Object) -> tuple[Object | None, str]:
        """The object, or None to be chosen later, and the bone."""
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
        """Removes the active row."""
        character = chosen_robot(context.scene).robik.robot.character
        if not 0 <= character.active < len(character.targets):
            raise RobikError("no target is chosen; click one in the list")
        character.targets.remove(character.active)
        character.active = max(0, min(character.active, len(character.targets) - 1))
        return {"FINISHED"}


class ROBIK_OT_match_now(Reporting):
    """Take the offset of every active target from how character and robot stand now"""

    bl_idname = "robik.match_now"
    bl_label = "Match Now"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Sets the offsets."""
        root = chosen_robot(context.scene)
        mechanism, placed, objects = read_robot(root), placement(root), bodies(root)
        targets = [t for t in root.robik.robot.character.targets if t.enabled]
        if not targets:
            raise RobikError("there is no target to match; add one first")
        for target in targets:
            check_source(target, context.scene)
            mechanism.frame(target.frame)
        depsgraph = context.evaluated_depsgraph_get()
        for target in targets:
            frame = mechanism.frame(target.frame)
            here = local_pose(objects[mechanism.body_index[frame.body]]) @ frame.pose
            match(target, source_matrix(target, depsgraph), here, placed)
        return {"FINISHED"}


class ROBIK_OT_fit_character(Reporting):
    """Scale and place the character's motion so that it suits the robot, and align the rest poses; the character stays as it is"""

    bl_idname = "robik.fit_character"
    bl_label = "Fit to Robot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Sets scale, place and offsets."""
        root = chosen_robot(context.scene)
        fit(context, root, read_robot(root))
        return {"FINISHED"}


CLASSES = (ROBIK_OT_add_target, ROBIK_OT_remove_target, ROBIK_OT_match_now, ROBIK_OT_fit_character)
