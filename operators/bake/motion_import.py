"""Importing motion files as keys."""

from pathlib import Path

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy.types import Context
from bpy_extras.io_utils import ImportHelper

from ...robik.motions import FORMATS, Companions
from ...robik.motions.layout import ORDERS
from ...robik.motions.registry import READABLE
from ...robik.words import counted
from ...scene.bake.motion_import import import_motion
from ...scene.robot.parts import changeable_robot
from ..reporting import Reporting

BY_CONTENT = "auto"


class ROBIK_OT_import_motion(Reporting, ImportHelper):
    """Key a motion file on the robot, as an action of its own beside its bakes"""

    bl_idname = "robik.import_motion"
    bl_label = "Import Motion"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = ".csv"
    filepath: StringProperty(
        name="File", description="The motion file, or folder", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    format: EnumProperty(
        name="Format",
        description="What kind of file it is",
        items=[
            (BY_CONTENT, "By Content", "The file's content tells"),
            *((name, FORMATS[name].label, "") for name in READABLE),
        ],
        default=BY_CONTENT,
    )
    order: EnumProperty(
        name="Order",
        description="Order of bodies and joints in files without their names",
        items=[(name, label, "") for name, label in zip(ORDERS, ("As MuJoCo", "As Isaac"), strict=True)],
    )
    fps: FloatProperty(
        name="Samples per Second",
        description="Of files that do not say how many; 0 for what is usual there",
        min=0.0,
        default=0.0,
    )
    filter_glob: StringProperty(
        default=";".join(f"*{extension}" for name in READABLE for extension in FORMATS[name].extensions if extension),
        options={"HIDDEN"},
    )

    def run(self, context: Context) -> set[str]:
        """Write the keys."""
        root, path = changeable_robot(context.scene), Path(bpy.path.abspath(self.filepath))
        beside = Companions(order=self.order, fps=self.fps or None)
        chosen = None if self.format == BY_CONTENT else self.format
        motion, apart = import_motion(root, context.scene, path, chosen, beside)
        self.report({"INFO"}, f"{root.name}: {counted(len(motion.times), 'sample')} of {path.name}")
        if apart:
            self.report({"WARNING"}, apart)
        return {"FINISHED"}


CLASSES = (ROBIK_OT_import_motion,)
