"""Handles to pose and animate a robot by hand."""

from bpy.types import Context

from ...robik.words import counted
from ...scene.character.handles import add_handles
from ...scene.robot.parts import changeable_robot
from ...scene.robot.reading import read_robot
from ..reporting import Reporting


class ROBIK_OT_add_handles(Reporting):
    """Give the robot handles to drag and key: hips, feet, hands, head, or the end of an arm; it follows them live"""

    bl_idname = "robik.add_handles"
    bl_label = "Add Handles"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Add them, select them, and follow live."""
        root = changeable_robot(context.scene)
        handles = add_handles(context, root, read_robot(root))
        for selected in context.selected_objects:
            selected.select_set(False)
        for handle in handles:
            handle.select_set(True)
        context.view_layer.objects.active = handles[0]
        root.robik.robot.follow.on = True
        self.report({"INFO"}, f"{counted(len(handles), 'handle')}: drag and key them; Bake when it moves as it should")
        return {"FINISHED"}


CLASSES = (ROBIK_OT_add_handles,)
