"""Handles to pose and animate a robot by hand."""

from bpy.props import BoolProperty
from bpy.types import Context

from ...robik.words import counted
from ...scene.character.handles import add_handles
from ...scene.character.settings import LOOK_AT
from ...scene.robot.parts import changeable_robot
from ...scene.robot.reading import read_robot
from ..reporting import Reporting


class ROBIK_OT_add_handles(Reporting):
    """Give the robot handles to drag and key, which it follows live: hips, feet, hands, head, an arm's end, grippers"""

    bl_idname = "robik.add_handles"
    bl_label = "Add Handles"
    bl_options = {"REGISTER", "UNDO"}
    look_at: BoolProperty(
        name="Look At",
        description="The head looks at a handle of its own before it, in place of turning with its handle",
        default=False,
    )

    def run(self, context: Context) -> set[str]:
        """Add them, select them, and follow live."""
        root = changeable_robot(context.scene)
        handles = add_handles(context, root, read_robot(root), self.look_at)
        for selected in context.selected_objects:
            selected.select_set(False)
        for handle in handles:
            handle.select_set(True)
        context.view_layer.objects.active = handles[0]
        root.robik.robot.follow.on = True
        if self.look_at and not any(row.follows == LOOK_AT for row in root.robik.robot.character.targets):
            self.report({"WARNING"}, f"Robot {root.name!r} has no head that could look at a handle")
        self.report({"INFO"}, f"{counted(len(handles), 'handle')}: drag and key them; Bake when it moves as it should")
        return {"FINISHED"}


CLASSES = (ROBIK_OT_add_handles,)
