"""Importing a robot: from the menu, by dropping its file on the viewport, from a script."""

from collections.abc import Generator
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Context, FileHandler, Menu, Object
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ...robik.formats import READERS
from ...scene.importing.options import ARGUMENTS, BASE, PACKAGES
from ...scene.importing.robot_file import folders_nearby, import_steps, reload_steps
from ...scene.long_work.steps import Progress, compile_ahead
from ...scene.overlay.views import draw_open_pose
from ...scene.robot.diagnosis import diagnose_robot
from ...scene.robot.duplicate import duplicate_robot
from ...scene.robot.inventory import import_lines, inventory
from ...scene.robot.library import own_robot
from ...scene.robot.parts import changeable_robot, chosen_robot, show_joints
from ..reporting import Reporting
from ..stepping import Stepping


class ROBIK_OT_import_robot(Stepping, ImportHelper):
    """Import a robot from its file into a collection of its own"""

    bl_idname = "robik.import_robot"
    bl_label = "Import Robot"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Import stopped; nothing was changed"
    filename_ext = next(iter(READERS))
    # Not remembered from one call to the next: a path that is there was dropped on the window, or chosen.
    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default=";".join(f"*{extension}" for extension in READERS), options={"HIDDEN"})
    base: EnumProperty(**BASE, options={"SKIP_SAVE"})
    packages: StringProperty(**PACKAGES, options={"SKIP_SAVE"})
    arguments: StringProperty(**ARGUMENTS, options={"SKIP_SAVE"})
    browsed: BoolProperty(default=False, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        remembered = context.scene.robik.importing
        for name in ("base", "packages"):
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(remembered, name))
        if self.filepath:
            return Stepping.invoke(self, context, event)
        self.browsed = True
        return ImportHelper.invoke(self, context, event)

    def run(self, context: Context) -> set[str]:
        if self.browsed and not bpy.app.background:
            bpy.ops.robik.import_robot(  # type: ignore[attr-defined]
                "INVOKE_DEFAULT",
                filepath=self.filepath,
                base=self.base,
                packages=self.packages,
                arguments=self.arguments,
            )
            return {"CANCELLED"}
        return super().run(context)

    def steps(self, context: Context) -> Generator[Progress, None, Object]:
        """Read and build."""
        leave_modes(context)
        compile_ahead()
        return import_steps(context, self.filepath, self.base, self.packages, self.arguments)

    def done(self, context: Context, result: Object) -> None:
        tell(self, context, result)


class ROBIK_OT_reload_robot(Stepping):
    """Read the robot's file again, after its CAD model was changed; what matches by name stays"""

    bl_idname = "robik.reload_robot"
    bl_label = "Reload Robot"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Stopped; the robot is as it was"
    packages: StringProperty(**PACKAGES, options={"SKIP_SAVE"})

    def steps(self, context: Context) -> Generator[Progress, None, Object]:
        """Read again, and changes what has changed."""
        leave_modes(context)
        return reload_steps(context, own_robot(context.scene), self.packages)

    def done(self, context: Context, result: Object) -> None:
        tell(self, context, result)


def leave_modes(context: Context) -> None:
    """Return to Object Mode, which importers of meshes need."""
    if context.mode != "OBJECT" and context.active_object is not None:
        bpy.ops.object.mode_set(mode="OBJECT")


def tell(operator: Stepping, context: Context, root: Object) -> None:
    """Report what there is to say of the robot; in a window also as a popup."""
    told = root.robik.robot
    for warning in told.warnings.splitlines():
        operator.report({"WARNING"}, warning)
    last = told.report.splitlines()[-1:]
    operator.report({"INFO"}, "; ".join([f"{root.robik.label}: {inventory(root)}", *last]))
    if not bpy.app.background:
        lines = import_lines(root)  # plain text: the robot may be gone while the popup stands
        nearby = folders_nearby(root)

        def draw(popup: Menu, _context: Context) -> None:
            for text, icon in lines:
                popup.layout.label(text=text, icon=icon)
            if nearby:
                names = ", ".join(Path(folder).name for folder in nearby.split(";"))
                again = popup.layout.operator("robik.reload_robot", text=f"Read Again with {names}", icon="FILE_FOLDER")
                again.packages = nearby

        context.window_manager.popup_menu(draw, title=root.robik.label, icon="INFO")


class ROBIK_OT_duplicate_robot(Reporting):
    """Make this robot once more, with its hidden joints, settings and bakes, and choose the copy"""

    bl_idname = "robik.duplicate_robot"
    bl_label = "Duplicate Robot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Copy all parts below the root."""
        made = duplicate_robot(own_robot(context.scene))
        context.scene.robik.robot = made
        for selected in context.selected_objects:
            selected.select_set(False)
        made.select_set(True)
        context.view_layer.objects.active = made
        return {"FINISHED"}


class ROBIK_OT_hide_open_loops(Reporting):
    """Take away the drawing of the robot whose loops do not close"""

    bl_idname = "robik.hide_open_loops"
    bl_label = "Hide Open Loops"
    bl_options = {"REGISTER"}

    def run(self, context: Context) -> set[str]:
        """Draws it no more."""
        draw_open_pose(context.scene, None)
        return {"FINISHED"}


class ROBIK_OT_show_joints(Reporting):
    """Show or hide the empties of the robot's joints in this view layer"""

    bl_idname = "robik.show_joints"
    bl_label = "Show Joints"
    bl_options = {"REGISTER", "UNDO"}
    show: BoolProperty(name="Show", default=True)

    def run(self, context: Context) -> set[str]:
        """Show or hide."""
        show_joints(chosen_robot(context.scene), self.show)
        return {"FINISHED"}


class ROBIK_OT_diagnose(Reporting):
    """Look for joints that are redundant, cannot move or contradict each other, and mark them in the view"""

    bl_idname = "robik.diagnose"
    bl_label = "Diagnose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Look at the robot as it is built now."""
        root = changeable_robot(context.scene)
        self.report({"INFO"}, f"{root.robik.label}: {'; '.join(diagnose_robot(root))}")
        context.scene.robik.overlays.diagnosis = True
        return {"FINISHED"}


class ROBIK_FH_import_robot(FileHandler):
    """Dropping a robot file on the viewport imports it."""

    bl_idname = "ROBIK_FH_import_robot"
    bl_label = "Robot"
    bl_import_operator = "robik.import_robot"
    bl_file_extensions = ";".join(sorted({f".{extension.rpartition('.')[2]}" for extension in READERS}))

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Only over a 3D view and the like."""
        return poll_file_object_drop(context)


def menu_entry(self: Menu, _context: Context) -> None:
    """In File > Import."""
    self.layout.operator(ROBIK_OT_import_robot.bl_idname, text="Robot (URDF, MJCF, SDF, USD, RobIK)")


CLASSES = (
    ROBIK_OT_import_robot, ROBIK_OT_reload_robot, ROBIK_OT_duplicate_robot, ROBIK_OT_hide_open_loops,
    ROBIK_OT_show_joints, ROBIK_OT_diagnose,
    ROBIK_FH_import_robot,
)  # fmt: skip
