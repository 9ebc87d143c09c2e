"""Baking: with progress and ESC in a window, straight through elsewhere."""

from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Object
from bpy_extras.io_utils import ExportHelper

from ...robik.errors import RobikError
from ...robik.motions import FORMATS, Motion
from ...robik.motions.layout import ORDERS
from ...robik.motions.registry import WRITABLE, format_to_write
from ...robik.servo.chain.export import export_motion
from ...robik.words import counted
from ...scene.bake import bakes
from ...scene.bake.all_actions import Baked, all_steps, performer, takes_of
from ...scene.bake.baking import bake_steps
from ...scene.bake.judging import judge_again
from ...scene.bake.markers import mark_short
from ...scene.bake.physics import motor_needs
from ...scene.bake.report import write_report
from ...scene.bake.result import status
from ...scene.bake.sound import sound_of
from ...scene.long_work.steps import Progress
from ...scene.migration import bring_up_to_date
from ...scene.motion import even_frames, motion_frames, read_motion
from ...scene.robot.chain import servo_chain
from ...scene.robot.parts import changeable_robot, chosen_robot
from ...scene.robot.reading import read_robot
from ...translations import OWN
from ..reporting import Reporting
from ..stepping import Stepping


class ROBIK_OT_bake(Stepping):
    """Make the robot follow the character over the frame range: keys its motors and its bodies"""

    bl_idname = "robik.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Bake stopped; nothing was changed"

    def steps(self, context: Context) -> Generator[Progress, None, Motion]:
        """Sample, solve, write."""
        root = changeable_robot(context.scene)
        bring_up_to_date(root)
        return bake_steps(context, root)

    def done(self, context: Context, result: Motion) -> None:
        root = chosen_robot(context.scene)
        self.report({"INFO"}, f"{root.name}: {status(root.robik.robot.result)}")


class ROBIK_OT_bake_all_actions(Stepping):
    """Bake every action of the character, or every strip of its NLA: each gets a bake of its own, with its length"""

    bl_idname = "robik.bake_all_actions"
    bl_label = "Bake All Actions"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Stopped; the bakes that were done are kept"
    strips: BoolProperty(
        name="NLA Strips", description="Bake the strips of the character's NLA instead of the file's actions"
    )
    only: StringProperty(name="Names", description="Only those whose names fit, such as walk*; all if empty")

    def steps(self, context: Context) -> Generator[Progress, None, list[Baked]]:
        """Bake one after the other."""
        root = changeable_robot(context.scene)
        bring_up_to_date(root)
        return all_steps(context, root, takes_of(performer(root), self.strips, self.only))

    def modal(self, context: Context, event: Event) -> set[str]:
        found = super().modal(context, event)
        if found == {"CANCELLED"}:
            bpy.ops.ed.undo_push(message=self.bl_label)
        return found

    def done(self, context: Context, result: list[Baked]) -> None:
        failed = [baked for baked in result if baked.motion is None]
        for baked in failed:
            self.report({"WARNING"}, f"{baked.name}: {baked.told}")
        self.report({"INFO"}, f"{len(result) - len(failed)} of {counted(len(result), 'take')} baked")


class ROBIK_OT_use_bake(Reporting):
    """Let this bake move the robot"""

    bl_idname = "robik.use_bake"
    bl_label = "Use Bake"
    bl_options = {"REGISTER", "UNDO"}
    index: IntProperty(name="Bake", description="Its place in the list", min=0)

    def run(self, context: Context) -> set[str]:
        """Change the actions of root and bodies."""
        _change_bakes(context, self.index, bakes.use)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
        return {"FINISHED"}


class ROBIK_OT_remove_bake(Reporting):
    """Delete this bake with its curves"""

    bl_idname = "robik.remove_bake"
    bl_label = "Remove Bake"
    bl_options = {"REGISTER", "UNDO"}
    index: IntProperty(name="Bake", description="Its place in the list", min=0)

    def run(self, context: Context) -> set[str]:
        """Delete its actions too, unless something else uses them."""
        _change_bakes(context, self.index, bakes.remove)
        return {"FINISHED"}


def _change_bakes(context: Context, index: int, change: Callable[[Object, int], None]) -> None:
    """Apply `change` to the bake of this index, and mark the timeline for the bake that is then in use.

    Raise RobikError if there is no such bake.
    """
    root = changeable_robot(context.scene)
    kept = root.robik.robot.bakes
    if index >= len(kept):
        raise RobikError(
            f"robot {root.name!r} has no bake number {index + 1}; it has {len(kept) or 'none yet, bake first'}"
        )
    change(root, index)
    mark_short(root, context.scene)


class ROBIK_OT_export_motion(Reporting, ExportHelper):
    """Write the motors' curves, and a floating robot's base, to a file that others play"""

    bl_idname = "robik.export_motion"
    bl_label = "Export Motion"
    bl_options = {"REGISTER"}
    format: EnumProperty(
        name="Format",
        description="What kind of file to write; a script that leaves it out gets the one of the file's extension",
        items=[(name, FORMATS[name].label, "") for name in WRITABLE],
    )
    rate: FloatProperty(
        name="Samples per Second",
        description="At equal distances on the curves; 0 for the frames of the bake",
        min=0.0,
        default=0.0,
    )
    order: EnumProperty(
        name="Order",
        description="Order of bodies and joints in formats without their names",
        items=[(name, label, "") for name, label in zip(ORDERS, ("As MuJoCo", "As Isaac"), strict=True)],
    )
    header: BoolProperty(
        name="Header", description="A row of names above rows of numbers, in formats that have none", default=False
    )
    filter_glob: StringProperty(
        default=";".join(f"*{extension}" for name in WRITABLE for extension in FORMATS[name].extensions if extension),
        options={"HIDDEN"},
    )

    @property
    def filename_ext(self) -> str:
        """The extension that the file browser gives the file: its own where the format has it."""
        own, known = Path(self.filepath).suffix.lower(), FORMATS[self.format].extensions
        return own if own in known else known[0]

    def run(self, context: Context) -> set[str]:
        """Read the motion at its frames, or at the rate that is asked for."""
        root, path = chosen_robot(context.scene), bpy.path.abspath(self.filepath)
        mechanism, scene = read_robot(root), context.scene
        chosen = format_to_write(path, self.format if self.properties.is_property_set("format") else None)
        rate = self.rate or chosen.rate
        frames = even_frames(root, mechanism, scene, rate) if rate else motion_frames(root, mechanism, scene)
        motion = replace(read_motion(root, mechanism, frames, scene), needs=motor_needs(root))
        chain = servo_chain(root, mechanism, scene) if "servos" in chosen.needs else None
        with sound_of(scene, frames) if chosen.sounds else nullcontext() as sound:
            export_motion(
                motion.with_sound(sound), path, chosen.name, chain=chain, robot=mechanism,
                order=self.order, header=self.header, rate=self.rate or None,
            )  # fmt: skip
        return {"FINISHED"}


class ROBIK_OT_report(Reporting, ExportHelper):
    """Write the result as an HTML page with plots of speeds, errors, balance and contacts, and open it"""

    bl_idname = "robik.report"
    bl_label = "Report"
    bl_options = {"REGISTER"}
    filename_ext = ".html"
    filter_glob: StringProperty(default="*.html", options={"HIDDEN"})
    show: BoolProperty(name="Show", description="Open the page in the web browser", default=True)

    def run(self, context: Context) -> set[str]:
        """Write the page."""
        path = Path(bpy.path.abspath(self.filepath))
        write_report(chosen_robot(context.scene), context.scene, path)
        if self.show and not bpy.app.background:
            bpy.ops.wm.url_open(url=path.as_uri())
        return {"FINISHED"}


class ROBIK_OT_judge_again(Reporting):
    """Judge the motors' curves as they are now, against what the bake followed, in place of the result of the bake"""

    bl_idname = "robik.judge_again"
    bl_label = "Judge Again"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Judge them, and say where the bodies do not show what the motors do."""
        if behind := judge_again(changeable_robot(context.scene), context.scene):
            self.report({"WARNING"}, behind[0].upper() + behind[1:])
        return {"FINISHED"}


class ROBIK_OT_go_to_frame(Reporting):
    """Go to this frame"""

    bl_idname = "robik.go_to_frame"
    bl_label = "Go to Frame"
    bl_options = {"UNDO_GROUPED"}  # as Blender's own jumps: else the next Ctrl-Z would take the playhead back with it
    frame: IntProperty(name="Frame", description="Where to go")
    motor: StringProperty(
        name="Motor",
        translation_context=OWN,
        description="Which motor the speed graph shall bring out",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    why: StringProperty(name="Why", description="What there is to see", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: bpy.types.OperatorProperties) -> str:
        """Return the tooltip: what there is to see at the frame."""
        return f"{properties.why + ': ' if properties.why else ''}go to frame {properties.frame}"

    def run(self, context: Context) -> set[str]:
        """Move the playhead."""
        if self.motor:
            chosen_robot(context.scene).robik.robot.result.shown = self.motor
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_bake,
    ROBIK_OT_bake_all_actions,
    ROBIK_OT_use_bake,
    ROBIK_OT_remove_bake,
    ROBIK_OT_export_motion,
    ROBIK_OT_report,
    ROBIK_OT_judge_again,
    ROBIK_OT_go_to_frame,
)
