"""A character for those who have none at hand."""

from __future__ import annotations

from math import radians

import bpy
from bpy.types import Context
from mathutils import Matrix

from robik.errors import RobikError

from ..scene.parts import chosen_robot
from ..scene.walking_character.figure import make_character
from ..scene.walking_character.walk import animate_walk
from .reporting import Reporting

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
        """Adds and selects it; its walk begins with the scene, which is made long enough."""
        scene = context.scene
        bpy.ops.object.select_all(action="DESELECT")
        rig = make_character(scene)
        try:
            at, turn, _ = chosen_robot(scene).matrix_world.decompose()
            ahead = Matrix.Rotation(radians(90), 4, "Z")  # a robot's front is +X, the character's -Y
            rig.matrix_world = Matrix.LocRotScale(at, turn, None) @ Matrix.Translation((0, BESIDE, 0)) @ ahead
        except RobikError:  # no robot to walk beside
            rig.location = scene.cursor.location
        rig.select_set(True)
        last = animate_walk(rig, first_frame=scene.frame_start)
        scene.frame_end = max(scene.frame_end, last)
        self.report({"INFO"}, f"{rig.name} walks from frame {scene.frame_start} to {last}")
        return {"FINISHED"}


def menu_entry(self: bpy.types.Menu, _context: Context) -> None:
    """Among Blender's armatures to add."""
    self.layout.operator(ROBIK_OT_add_character.bl_idname, icon="ARMATURE_DATA")


CLASSES = (ROBIK_OT_add_character,)
