"""The robot: which one, its motors as sliders, and the joint that is selected."""

from bpy.app.translations import pgettext_iface
from bpy.types import Context, Menu

from ...robik import robots as bundled
from ...robik.mechanism import JOINT_TYPES
from ...robik.mechanism.joints import SLIDES, TURNS
from ...scene.overlay.views import open_loops
from ...scene.robot import posing
from ...scene.robot.exact import LARGEST
from ...scene.robot.inventory import inventory
from ...scene.robot.parts import coordinate_names, motions_of, parts, robot_of, robots, shown_robot
from ...scene.robot.saved_format import too_new
from ...scene.robot.sliders import data_path
from ...translations import OWN, sentence
from ..tab import FoldedPanel, TabPanel, line, robot_or_hint

UNIT_ROUNDING = 1e-6  # of single precision


class ROBIK_MT_bundled_robots(Menu):
    """Robots that come with RobIK, to begin with."""

    bl_idname = "ROBIK_MT_bundled_robots"
    bl_label = "Robot"

    def draw(self, context: Context) -> None:
        for name in bundled.names():
            text = name.upper() if name[-1].isdigit() else name.replace("_", " ").title()
            self.layout.operator("robik.import_robot", text=text).filepath = str(bundled.path(name))


class ROBIK_PT_robot(TabPanel):
    """Import and choose."""

    bl_idname = "ROBIK_PT_robot"
    bl_label = "Robot"

    def draw(self, context: Context) -> None:
        layout = self.layout
        found = robots(context.scene)
        root = None
        if not found:
            line(layout, shown_robot(context.scene) or "No robot yet: import one, or drop its file on the view", "INFO")
        elif len(found) > 1 and context.scene.robik.robot not in found:
            line(layout, sentence("{count} robots: choose the one to work on", count=len(found)), "INFO")
        else:
            root = robot_or_hint(context, layout)
        if root is not None:
            line(layout, inventory(root))
            if too_new(root):
                line(layout, "Saved by a later RobIK: some settings may be missing here", "ERROR")
            if posing.problem(root):
                line(layout, posing.problem(root), "ERROR")
        if abs(context.scene.unit_settings.scale_length - 1.0) > UNIT_ROUNDING:
            line(layout, "RobIK takes a unit of Blender as 1 m: set Scene > Units > Unit Scale to 1", "ERROR")
        if loops := open_loops(context.scene):
            for text in loops:
                line(layout, text, "ERROR")
            layout.operator("robik.hide_open_loops", icon="X")
        row = layout.row(align=True)
        row.operator("robik.import_robot", text="Import Robot…", icon="IMPORT")
        row.operator("robik.gallery", text="Gallery…", icon="IMGDISPLAY")
        if found:
            row = layout.row(align=True)
            row.prop(context.scene.robik, "robot", text="")
            row.operator("robik.duplicate_robot", text="", icon="DUPLICATE")
            row.operator("robik.reload_robot", text="", icon="FILE_REFRESH")
        if root is not None:
            hidden = any(j.hide_get() for j in parts(root)["JOINT"])
            text, icon = ("Show Joints", "HIDE_ON") if hidden else ("Hide Joints", "HIDE_OFF")
            layout.operator("robik.show_joints", text=text, icon=icon).show = hidden


class ROBIK_PT_motors(FoldedPanel):
    """A slider for each motor; the robot follows."""

    bl_idname = "ROBIK_PT_motors"
    bl_parent_id = "ROBIK_PT_robot"
    bl_label = "Motors"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        row = layout.row(align=True)
        row.operator("robik.rest_pose")
        row.operator("robik.flip_pose")
        column = layout.column(align=True)
        for joint in parts(root)["JOINT"]:
            for name in coordinate_names(joint) if joint.robik.joint.actuated else ():
                if name in root:
                    column.prop(root, data_path(name), text=name, slider=True)
        layout.operator("robik.key_pose", icon="KEY_HLT")


class ROBIK_PT_diagnosis(FoldedPanel):
    """Loops, ways to move, joints that contradict; what the robot's file has to say."""

    bl_idname = "ROBIK_PT_diagnosis"
    bl_parent_id = "ROBIK_PT_robot"
    bl_label = "Diagnosis"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        told = root.robik.robot
        layout.operator("robik.diagnose", icon="VIEWZOOM")
        layout.prop(told, "tolerance")
        for said in told.diagnosis.splitlines():
            line(layout, said, "CHECKMARK" if said.startswith("nothing") else "DOT")
        for joint in parts(root)["JOINT"]:
            finding = joint.robik.joint.finding
            if finding in ("NEEDLESS", "STUCK", "ASKEW"):
                shown = joint.robik.joint.bl_rna.properties["finding"].enum_items[finding].name
                line(layout, f"{joint.robik.label}: {pgettext_iface(shown, OWN)}", "ERROR")
        for said in told.report.splitlines():
            line(layout, said, "INFO")
        for said in told.warnings.splitlines():
            line(layout, said, "ERROR")


class ROBIK_PT_joint(TabPanel):
    """The joint whose empty is selected."""

    bl_idname = "ROBIK_PT_joint"
    bl_parent_id = "ROBIK_PT_robot"
    bl_label = "Selected Joint"

    @classmethod
    def poll(cls, context: Context) -> bool:
        active = context.active_object
        return active is not None and active.robik.kind == "JOINT" and robot_of(active) is not None

    def draw(self, context: Context) -> None:
        layout, part = self.layout, context.active_object
        layout.use_property_split, layout.use_property_decorate = True, False
        group = part.robik.joint
        layout.prop(part.robik, "label")
        for name in ("type", "parent", "child", "actuated"):
            layout.prop(group, name)
        if JOINT_TYPES[group.type].motions is None:
            layout.prop(group, "motions")
        motions = motions_of(part)
        for k, motion in enumerate(motions):
            names = ("lower", "upper") if motion in SLIDES else ("from_angle", "to_angle")
            column = layout.column(align=True)
            for name, text in zip(names, ("From [m]" if motion in SLIDES else "From", "To"), strict=True):
                if abs(getattr(group, name)[k]) < LARGEST:
                    column.prop(group, name, index=k, text=text)
                else:
                    column.label(text=_unlimited(text))
        for name, text in (("cone", "Cone"), ("turn_limit", "Largest Turn")) if motions == TURNS else ():
            if getattr(group, name) < LARGEST:
                layout.prop(group, name)
            else:
                layout.label(text=_unlimited(text))
        if group.actuated:
            if group.velocity_limit < LARGEST and motions and motions[0] in SLIDES:
                layout.prop(group, "velocity_limit", text="Speed [m/s]")
            elif group.velocity_limit < LARGEST:
                layout.prop(group, "turning_speed")
            else:
                layout.label(text="Speed: not known, Add Motor sets it")
        if motions and group.type != "free":
            column = layout.column(align=True)
            spring = ("relaxed",) if group.stiffness else ()
            for name in ("friction", "damping", "armature", *(() if motions == TURNS else ("stiffness", *spring))):
                column.prop(group, name)


def _unlimited(name: str) -> str:
    return sentence("{name}: no limit", name=pgettext_iface(name))


def in_add_menu(self: Menu, _context: Context) -> None:
    """At the end of Blender's menu Add."""
    self.layout.menu(ROBIK_MT_bundled_robots.bl_idname, icon="ARMATURE_DATA")


CLASSES = (ROBIK_MT_bundled_robots, ROBIK_PT_robot, ROBIK_PT_motors, ROBIK_PT_diagnosis, ROBIK_PT_joint)
