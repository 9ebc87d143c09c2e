"""Importing a robot: from the menu, by dropping its file on the viewport, from a script."""

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, FileHandler, Menu, Object
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from robik.errors import RobikError
from robik.formats import READERS, Imported, import_robot
from robik.warm_up import warm_up

from ..scene.build_robot import Builder
from ..scene.duplicate import duplicate_robot
from ..scene.parts import changeable_robot, chosen_robot, show_joints
from .reporting import Reporting


def _tell(operator: Reporting, root: Object, imported: Imported, builder: Builder) -> None:
    """Reports what the file's reader has to say, and keeps it with the robot for the panel."""
    warnings = (*imported.warnings, *builder.warnings)
    root.robik.robot.report, root.robik.robot.warnings = "\n".join(imported.report), "\n".join(warnings)
    for warning in warnings:
        operator.report({"WARNING"}, warning)
    operator.report({"INFO"}, f"{root.robik.label}: {len(builder.mechanism.bodies)} bodies; {'; '.join(imported.report[-1:])}")


class ROBIK_OT_import_robot(Reporting, ImportHelper):
    """Import a robot from its file into a collection of its own"""

    bl_idname = "robik.import_robot"
    bl_label = "Import Robot"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = next(iter(READERS))
    # Not remembered from one call to the next: a path that is there was dropped on the window.
    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob: StringProperty(default=";".join(f"*{extension}" for extension in READERS), options={"HIDDEN"})

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Asks for the file, unless it was dropped."""
        return self.execute(context) if self.filepath else super().invoke(context, event)

    def run(self, context: Context) -> set[str]:
        """Builds the robot and makes it the one that the panels work on."""
        imported = import_robot(self.filepath)
        if not bpy.app.background:
            warm_up()  # so that the first bake need not wait for the compiler
        builder = Builder(imported.mechanism, self.filepath)
        root = builder.build(context.scene.collection)
        context.scene.robik.robot = root
        _tell(self, root, imported, builder)
        show_joints(root, False)
        for selected in context.selected_objects:
            selected.select_set(False)
        root.select_set(True)
        context.view_layer.objects.active = root
        return {"FINISHED"}


class ROBIK_OT_reload_robot(Reporting):
    """Read the robot's file again; the targets and settings stay"""

    bl_idname = "robik.reload_robot"
    bl_label = "Reload Robot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Replaces the robot's parts below its root."""
        root = changeable_robot(context.scene)
        source = bpy.path.abspath(root.robik.robot.source)
        if not source:
            raise RobikError(f"robot {root.name!r} was not imported from a file, so there is nothing to read again")
        imported = import_robot(source)
        builder = Builder(imported.mechanism, source)
        builder.rebuild(root)
        _tell(self, root, imported, builder)
        show_joints(root, False)
        return {"FINISHED"}


class ROBIK_OT_duplicate_robot(Reporting):
    """Make this robot once more, with its hidden joints, settings and bakes, and choose the copy"""

    bl_idname = "robik.duplicate_robot"
    bl_label = "Duplicate Robot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Copies all parts below the root."""
        made = duplicate_robot(changeable_robot(context.scene))
        context.scene.robik.robot = made
        for selected in context.selected_objects:
            selected.select_set(False)
        made.select_set(True)
        context.view_layer.objects.active = made
        return {"FINISHED"}


class ROBIK_OT_show_joints(Reporting):
    """Show or hide the empties of the robot's joints in this view layer"""

    bl_idname = "robik.show_joints"
    bl_label = "Show Joints"
    bl_options = {"REGISTER", "UNDO"}
    show: BoolProperty(name="Show", default=True)

    def run(self, context: Context) -> set[str]:
        """Shows or hides."""
        show_joints(chosen_robot(context.scene), self.show)
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


CLASSES = (ROBIK_OT_import_robot, ROBIK_OT_reload_robot, ROBIK_OT_duplicate_robot, ROBIK_OT_show_joints, ROBIK_FH_import_robot)
