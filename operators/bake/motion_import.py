"""Importing motion files as keys."""

from math import radians
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Context
from bpy_extras.io_utils import ImportHelper

from ...robik.motions import FORMATS, Companions
from ...robik.motions.layout import ORDERS
from ...robik.motions.registry import READABLE
from ...robik.words import counted
from ...scene.bake.motion_import import Keying, import_motion
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
    angle: FloatProperty(
        name="Tolerance",
        description="How far motors and base may be turned from where the file has them; 0 for a key per sample",
        subtype="ANGLE",
        unit="ROTATION",
        min=0.0,
        default=radians(0.1),
    )
    length: FloatProperty(
        name="Tolerance of Slides",
        description="How far motors that slide, and the base, may be from where the file has them",
        unit="LENGTH",
        min=1e-6,
        default=1e-4,
        precision=5,
    )
    ghost: BoolProperty(
        name="Original as Ghost", description="Show beside the robot how the file has the motion", default=True
    )
    corrections: BoolProperty(
        name="Keep Corrections",
        description="Add to this motion what was changed by hand on the imported motion that moves the robot now",
        default=True,
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
        keying = Keying(angle=self.angle, length=self.length, ghost=self.ghost, corrections=self.corrections)
        found = import_motion(root, context.scene, path, chosen, beside, keying)
        more = ", with the corrections of the motion before" if found.corrected else ""
        self.report({"INFO"}, f"{root.name}: {counted(len(found.motion.times), 'sample')} of {path.name}{more}")
        if found.freed:
            self.report({"INFO"}, f"{root.name} floats now, since {path.name} says where its base is")
        for said in filter(None, (found.apart, found.unheard)):
            self.report({"WARNING"}, said)
        return {"FINISHED"}


CLASSES = (ROBIK_OT_import_motion,)
