"""Building and mending a robot by hand, and writing it to a file."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Menu, Object
from bpy_extras.io_utils import ExportHelper

from ...robik.errors import RobikError
from ...robik.feet.support import thin_feet
from ...robik.formats import WRITERS
from ...robik.mechanism import JOINT_TYPES
from ...robik.mechanism.joints import SLIDES
from ...robik.words import counted
from ...scene.long_work.steps import compile_ahead
from ...scene.robot import hand_build
from ...scene.robot.anchors import SOURCES, anchor_of
from ...scene.robot.body_mesh import export_robot, weigh
from ...scene.robot.feet import make_feet
from ...scene.robot.inventory import inventory
from ...scene.robot.library import check_own_parts
from ...scene.robot.parts import changeable_robot, chosen_robot, motions_of, robot_of, robots
from ...scene.robot.reading import read_robot
from ...translations import OWN
from ..reporting import Reporting

LAST = ("fixed", "free")  # in the menu of joint types
TYPES = sorted((row for row in JOINT_TYPES.values() if row.motions is not None), key=lambda row: row.name in LAST)
DENSITIES = (
    ("2700", "Aluminium", "2700 kg/m³"), ("7850", "Steel", "7850 kg/m³"), ("1240", "PLA", "1240 kg/m³, printed solid"),
    ("1040", "ABS", "1040 kg/m³, printed solid"), ("1010", "Nylon", "1010 kg/m³"), ("OWN", "Other", "As given below"),
)  # fmt: skip


class ROBIK_OT_make_robot(Reporting):
    """Make a robot of the selected meshes: each becomes a body, to be tied to the others by joints"""

    bl_idname = "robik.make_robot"
    bl_label = "Make Robot"
    bl_options = {"REGISTER", "UNDO"}
    name: StringProperty(name="Name", description="Of the robot", default="robot")

    def run(self, context: Context) -> set[str]:
        """Make each mesh a body, where it stands."""
        compile_ahead()
        context.view_layer.update()
        root = hand_build.make_robot(context, _plain(context), self.name or "robot")
        hand_build.settle(root)
        self.report(
            {"INFO"},
            f"{root.robik.label}: {inventory(root)}; now tie the bodies by joints, and choose the one that stands"
            " still",
        )
        return {"FINISHED"}


class ROBIK_OT_add_joint(Reporting):
    """Tie two selected bodies by a joint, which the active one carries; plain meshes become bodies; may close a loop"""

    bl_idname = "robik.add_joint"
    bl_label = "Add Joint"
    bl_options = {"REGISTER", "UNDO"}
    type: EnumProperty(
        name="Type",
        description="What the bodies may do",
        items=[(row.name, row.name.capitalize(), row.about) for row in TYPES],
    )
    anchor: EnumProperty(name="Anchor", description="Where the joint is, and which way its axis points", items=SOURCES)
    actuated: BoolProperty(name="Motor", translation_context=OWN, description="Whether a motor drives the joint")
    name: StringProperty(name="Name", description="Of the joint; without one, the bodies' names")

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """In Edit Mode the anchor is what is selected, unless told otherwise."""
        if not self.properties.is_property_set("anchor") and context.mode == "EDIT_MESH":
            self.anchor = "FACE" if context.tool_settings.mesh_select_mode[2] else "CIRCLE"
        return self.execute(context)

    def run(self, context: Context) -> set[str]:
        """Make bodies of what is none yet, then the joint."""
        compile_ahead()
        context.view_layer.update()
        anchor = anchor_of(context, self.anchor)
        root, parent, child = _two_bodies(context, self.type, self.name, self.actuated)
        made = hand_build.add_joint(root, parent, child, self.type, anchor, self.name, self.actuated)
        joint = made.robik.joint
        ends = f"{parent.robik.label!r} and {child.robik.label!r}"
        _tell(self, root, f"{made.robik.label}: {joint.type} between {ends}")
        return {"FINISHED"}


class ROBIK_OT_remove_joint(Reporting):
    """Take away the selected joints, or those between two selected bodies"""

    bl_idname = "robik.remove_joint"
    bl_label = "Remove Joint"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Remove them."""
        joints = hand_build.selected_joints(context)
        root, names = _one_robot(joints), ", ".join(j.robik.label for j in joints)
        hand_build.remove_joints(root, joints)
        _tell(self, root, f"Removed {names}")
        return {"FINISHED"}


class ROBIK_OT_set_ground(Reporting):
    """Hold the active body where it is: the robot stands on it. It no longer floats, nor stands on another"""

    bl_idname = "robik.set_ground"
    bl_label = "Set Ground"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Fix it to the world."""
        context.view_layer.update()
        found = hand_build.selected_bodies(context)
        if not found:
            raise RobikError("no body is selected; select the one that shall stand still")
        root = _one_robot(found[:1])
        hand_build.set_ground(root, found[0])
        _tell(self, root, f"{found[0].robik.label!r} stands still")
        return {"FINISHED"}


class ROBIK_OT_make_foot(Reporting):
    """Let the robot stand on the selected bodies, on what touches the ground now, and on nothing else"""

    bl_idname = "robik.make_foot"
    bl_label = "Make Foot"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Give each a frame with a sole."""
        context.view_layer.update()
        found = hand_build.selected_bodies(context)
        if not found:
            raise RobikError("no body is selected; select the robot's feet")
        root = _one_robot(found)
        made, freed = make_feet(root, {body: [body] for body in found})
        context.scene.robik.robot = root
        if thin := thin_feet(read_robot(root), root.robik.robot.balance.margin):
            self.report({"WARNING"}, thin[0].upper() + thin[1:])
        then = "Fit to Robot" if root.robik.robot.character.targets else "Auto-Map"
        feet = ", ".join(foot.robik.label for foot in made) + (" and is held by nothing else any more" if freed else "")
        self.report({"INFO"}, f"{root.robik.label} stands on {feet}; now {then}")
        return {"FINISHED"}


class ROBIK_OT_set_motor(Reporting):
    """Drive the selected joints by motors, each with a slider that poses the robot, or take the motors away"""

    bl_idname = "robik.set_motor"
    bl_label = "Set Motor"
    bl_options = {"REGISTER", "UNDO"}
    on: BoolProperty(name="Motor", translation_context=OWN, description="Whether motors drive them", default=True)
    speed: FloatProperty(
        name="Speed",
        description=(
            "The fastest these motors can, as their servo's data sheet says: bakes keep to it. 0 leaves it as it is"
            " [rad/s or m/s]"
        ),
        min=0.0,
        soft_max=20.0,
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> set[str]:
        """Switch them."""
        joints = hand_build.selected_joints(context)
        root = _one_robot(joints)
        hand_build.set_motors(root, joints, self.on, self.speed)
        _tell(self, root, f"{', '.join(j.robik.label for j in joints)}: {'driven' if self.on else 'no motor'}")
        return {"FINISHED"}


class ROBIK_OT_set_limits(Reporting):
    """Set how far the selected joints may go"""

    bl_idname = "robik.set_limits"
    bl_label = "Set Limits"
    bl_options = {"REGISTER", "UNDO"}
    limited: BoolProperty(name="Limited", description="Whether there are limits at all", default=True)
    from_angle: FloatProperty(
        name="From", description="Of joints that turn", subtype="ANGLE", unit="ROTATION", default=-1.5707963
    )
    to_angle: FloatProperty(
        name="To", description="Of joints that turn", subtype="ANGLE", unit="ROTATION", default=1.5707963
    )
    from_length: FloatProperty(name="Slides From", description="Of joints that slide", unit="LENGTH", default=-0.1)
    to_length: FloatProperty(name="Slides To", description="Of joints that slide", unit="LENGTH", default=0.1)

    def run(self, context: Context) -> set[str]:
        """Set them."""
        joints = hand_build.selected_joints(context)
        root = _one_robot(joints)
        for joint in joints:
            slides = motions_of(joint)[:1] and motions_of(joint)[0] in SLIDES
            limits = (self.from_length, self.to_length) if slides else (self.from_angle, self.to_angle)
            hand_build.set_limits(root, joint, limits if self.limited else (-float("inf"), float("inf")))
        context.scene.robik.robot = root
        return {"FINISHED"}


class ROBIK_OT_set_mass(Reporting):
    """Weigh the selected bodies: mass, centre of mass and inertia of their meshes, as if solid and of one material"""

    bl_idname = "robik.set_mass"
    bl_label = "Mass from Volume"
    bl_options = {"REGISTER", "UNDO"}
    material: EnumProperty(
        name="Material", translation_context=OWN, description="What the bodies are made of", items=DENSITIES
    )
    density: FloatProperty(
        name="Density", description="Of another material [kg/m³]", min=0.001, soft_max=20000.0, default=1000.0
    )

    def run(self, context: Context) -> set[str]:
        """Weigh them."""
        context.view_layer.update()
        found = hand_build.selected_bodies(context)
        if not found:
            raise RobikError("no body is selected; select those that shall be weighed")
        root = _one_robot(found)
        density, total = self.density if self.material == "OWN" else float(self.material), 0.0
        for body in found:
            mass, is_open = weigh(body, density)
            total += mass
            for name in is_open:
                self.report(
                    {"WARNING"},
                    f"Mesh {name!r} is not closed, so its volume is an estimate: fill its holes in Edit Mode",
                )
        context.scene.robik.robot = root
        self.report({"INFO"}, f"{counted(len(found), 'body weighs', 'bodies weigh')} {total:.4g} kg")
        return {"FINISHED"}


class ROBIK_OT_rest_pose(Reporting):
    """Put the robot into its rest pose: motors at their rest values, bodies where they were built"""

    bl_idname = "robik.rest_pose"
    bl_label = "Rest Pose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Pose it."""
        hand_build.to_rest(changeable_robot(context.scene))
        return {"FINISHED"}


class ROBIK_OT_export_robot(Reporting, ExportHelper):
    """Write the robot to a file: .robik.json without loss, URDF (loops beside it), or MJCF (loops as equalities)"""

    bl_idname = "robik.export_robot"
    bl_label = "Export Robot"
    bl_options = {"REGISTER"}
    filename_ext = ".robik.json"
    check_extension = False
    filepath: StringProperty(name="File", subtype="FILE_PATH")
    filter_glob: StringProperty(default=";".join(f"*{extension}" for extension in WRITERS), options={"HIDDEN"})

    def run(self, context: Context) -> set[str]:
        """Write it."""
        context.view_layer.update()
        root = chosen_robot(context.scene)
        for sentence in export_robot(root, Path(bpy.path.abspath(self.filepath))):
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"{root.robik.label} written to {self.filepath}")
        return {"FINISHED"}


def _plain(context: Context) -> list[Object]:
    """Return the selected meshes that are no part of a robot."""
    return [o for o in context.selected_objects if o.type == "MESH" and o.robik.kind == "NONE"]


def _two_bodies(context: Context, kind: str, name: str, actuated: bool) -> tuple[Object, Object, Object]:
    """Return the robot, the body of the active object, and the other; plain meshes become bodies.

    Raise RobikError, with nothing changed, unless two bodies of one robot are selected that such a joint can tie.
    """
    found, plain = hand_build.selected_bodies(context), _plain(context)
    if len(found) + len(plain) != 2:
        raise RobikError(
            f"{len(found) + len(plain)} bodies are selected; select two, the one that carries the joint last"
        )
    roots = {root for body in found if (root := robot_of(body)) is not None}
    if len(roots) > 1:
        raise RobikError("the two bodies are parts of two robots; a joint ties bodies of one")
    active = context.active_object
    hand_build.check_joint(next(iter(roots), None), found, kind, name, actuated)
    if roots:
        root = _one_robot(found)
        made = [hand_build.add_body(root, shown) for shown in plain]
    else:
        plain.sort(key=lambda shown: shown != active)
        root, made = hand_build.make_robot(context, plain), []
        found = [shown.parent for shown in plain]
    both = [*found, *made] if plain[:1] != [active] or not roots else [*made, *found]
    return root, both[0], both[1]


def _one_robot(bodies: list[Object]) -> Object:
    """Return the robot of bodies; raise RobikError if they belong to several, or to another file.

    The panels work on it once something was done: a refusal must change nothing, since it makes no undo step.
    """
    found = {robot_of(part) for part in bodies}
    if len(found) != 1 or None in found:
        raise RobikError("the selection belongs to several robots; select parts of one")
    root = found.pop()
    check_own_parts(root)
    return root


def _tell(operator: Reporting, root: Object, done: str) -> None:
    """Let the panels work on the robot, and says what was done and what it is now.

    Warns of bodies that nothing ties to the others yet.
    """
    bpy.context.scene.robik.robot = root
    operator.report({"INFO"}, f"{done}; {inventory(root)}")
    for line in root.robik.robot.warnings.splitlines():
        if "unconnected parts" in line:
            operator.report({"WARNING"}, line)


def menu_entry(self: Menu, _context: Context) -> None:
    """In File > Export."""
    if robots(bpy.context.scene):
        self.layout.operator(ROBIK_OT_export_robot.bl_idname, text="Robot (RobIK, URDF, MJCF)")


CLASSES = (
    ROBIK_OT_make_robot, ROBIK_OT_add_joint, ROBIK_OT_remove_joint, ROBIK_OT_set_ground, ROBIK_OT_make_foot,
    ROBIK_OT_set_motor,
    ROBIK_OT_set_limits, ROBIK_OT_set_mass, ROBIK_OT_rest_pose, ROBIK_OT_export_robot,
)  # fmt: skip
