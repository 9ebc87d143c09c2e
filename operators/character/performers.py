"""A character: one that walks, for those who have none at hand, or a recorded performer."""

from __future__ import annotations

from math import radians
from pathlib import Path

import bpy
from bpy.props import StringProperty
from bpy.types import Context, FileHandler, Object, Scene
from bpy_extras.io_utils import ExportHelper, ImportHelper, poll_file_object_drop
from mathutils import Matrix

from ...robik.errors import RobikError
from ...robik.recordings import save_recording
from ...robik.words import counted
from ...scene.character.recording import bring_recording
from ...scene.character.skeleton import whole_character
from ...scene.character.walking.figure import make_character
from ...scene.character.walking.walk import animate_walk
from ...scene.robot.feet import ground
from ...scene.robot.parts import chosen_robot, robots
from ..reporting import Reporting

BESIDE = 1.0  # how far to the robot's left it walks [m]


class ROBIK_OT_add_character(Reporting):
    """A character that walks, to try a robot with: beside the robot, or at the 3D cursor where there is none"""

    bl_idname = "robik.add_character"
    bl_label = "Walking Character"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """In object mode."""
        return context.mode == "OBJECT"

    def run(self, context: Context) -> set[str]:
        """Add and selects it; its walk begins with the scene, which is made long enough."""
        scene = context.scene
        bpy.ops.object.select_all(action="DESELECT")
        rig = make_character(scene)
        _place(rig, scene)
        rig.select_set(True)
        last = animate_walk(rig, first_frame=scene.frame_start)
        scene.frame_end = max(scene.frame_end, last)
        scene.frame_set(scene.frame_current)  # until then it stands as it was made
        self.report({"INFO"}, f"{rig.name} walks from frame {scene.frame_start} to {last}")
        return {"FINISHED"}


class ROBIK_OT_import_recording(Reporting, ImportHelper):
    """Bring in a recorded motion as a character of human size beside the robot, and map it"""

    bl_idname = "robik.import_recording"
    bl_label = "Import Recording"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = ".bvh"
    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default="*.bvh", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """In object mode."""
        return context.mode == "OBJECT"

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Ask for the file, unless it was dropped."""
        return self.execute(context) if self.filepath else ImportHelper.invoke(self, context, event)

    def run(self, context: Context) -> set[str]:
        """Bring it in; in a window, offers to map it."""
        root = chosen_robot(context.scene) if robots(context.scene) else None
        rig = bring_recording(Path(bpy.path.abspath(self.filepath)))
        _place(rig, context.scene)
        rate = context.scene.render.fps / context.scene.render.fps_base
        self.report({"INFO"}, f"{rig.name} plays at the scene's {rate:g} frames a second")
        if root is not None:
            root.robik.robot.character.rig = rig
            if not bpy.app.background:
                bpy.ops.robik.auto_map("INVOKE_DEFAULT")  # type: ignore[attr-defined]
        return {"FINISHED"}


class ROBIK_OT_export_character(Reporting, ExportHelper):
    """Write the character's bones and their motion to a file that 'robik retarget' and 'robik batch' follow"""

    bl_idname = "robik.export_character"
    bl_label = "Export Character"
    bl_options = {"REGISTER"}
    filename_ext = ".npz"
    filter_glob: StringProperty(default="*.npz", options={"HIDDEN"})

    def run(self, context: Context) -> set[str]:
        """Read the bones in every frame that a bake would follow."""
        motion, path = whole_character(context, chosen_robot(context.scene)), bpy.path.abspath(self.filepath)
        save_recording(motion, path)
        said = f"{counted(len(motion.skeleton.names), 'bone')} in {counted(len(motion.times), 'frame')}"
        self.report({"INFO"}, f"{Path(path).name}: {said}")
        return {"FINISHED"}


class ROBIK_FH_import_recording(FileHandler):
    """Dropping a recording on the viewport brings it in for the robot."""

    bl_idname = "ROBIK_FH_import_recording"
    bl_label = "Recording for a Robot"
    bl_import_operator = "robik.import_recording"
    bl_file_extensions = ".bvh"

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Over a 3D view and the like, where there is a robot."""
        return bool(poll_file_object_drop(context) and robots(context.scene))


def _place(rig: Object, scene: Scene) -> None:
    """Beside the robot, on its ground, looking where it looks; at the 3D cursor where there is none."""
    try:
        root = chosen_robot(scene)
    except RobikError:
        rig.location = scene.cursor.location
        return
    at, turn, _ = root.matrix_world.decompose()
    ahead = Matrix.Rotation(radians(90), 4, "Z")  # a robot's front is +X, the character's -Y
    size = Matrix.Diagonal((*rig.scale, 1.0))
    rig.matrix_world = Matrix.LocRotScale(at, turn, None) @ Matrix.Translation((0, BESIDE, ground(root))) @ ahead @ size


def menu_entry(self: bpy.types.Menu, _context: Context) -> None:
    """Among Blender's armatures to add."""
    self.layout.operator(ROBIK_OT_add_character.bl_idname, icon="ARMATURE_DATA")


def import_entry(self: bpy.types.Menu, _context: Context) -> None:
    """In File > Import."""
    self.layout.operator(ROBIK_OT_import_recording.bl_idname, text="Recording for a Robot (.bvh)")


CLASSES = (
    ROBIK_OT_add_character,
    ROBIK_OT_import_recording,
    ROBIK_OT_export_character,
    ROBIK_FH_import_recording,
)
