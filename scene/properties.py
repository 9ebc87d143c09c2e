"""What RobIK adds to Blender's data, under `robik` on objects and scenes: parts of a robot. No logic beyond validation."""

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, Object, PropertyGroup

from robik.mechanism import JOINT_TYPES
from robik.mechanism.joints import MOTIONS
from robik.mechanism.visual import SHAPES

from .exact import LARGEST
from .import_options import RobikImport
from .kept_bake import RobikKeptBake, RobikResult
from .settings import RobikBake, RobikBalance, RobikCharacter, RobikFollow, RobikScene

KINDS = (
    ("NONE", "None", "Not a part of a robot"),
    ("ROBOT", "Robot", "The root of a robot"),
    ("BODY", "Body", "A rigid body"),
    ("VISUAL", "Visual", "Something to see of a body"),
    ("JOINT", "Joint", "Ties two bodies together"),
    ("FRAME", "Frame", "A place on a body that can follow a target"),
)


FINDINGS = (
    ("NONE", "Fine", "Nothing to say"),
    ("REDUNDANT", "Redundant", "Some of what it ties follows from the other joints of its loop; usual, and no harm"),
    ("NEEDLESS", "Needless", "Without it the robot could move no more than with it"),
    ("STUCK", "Stuck", "It has a motion, but the other joints keep it from moving"),
    ("ASKEW", "Askew", "Its axis or place does not quite agree with the others of its loop, which so cannot move"),
)

# In a library override a joint ties the override's bodies. What cannot be overridden is the library's again in a file that is opened.
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def _is_body(_group: PropertyGroup, candidate: Object) -> bool:
    return candidate.robik.kind == "BODY"


class RobikBody(PropertyGroup):
    mass: FloatProperty(name="Mass", unit="MASS", min=0.0, precision=4)
    com: FloatVectorProperty(name="Centre of Mass", description="In the body's own frame", unit="LENGTH", size=3, precision=4)
    inertia: FloatVectorProperty(
        name="Inertia", description="About the centre of mass: xx, yy, zz, xy, xz, yz [kg m²]", size=6, precision=6
    )
    rest_location: FloatVectorProperty(name="Rest Location", description="In the robot's rest pose", unit="LENGTH", size=3, precision=4)
    rest_rotation: FloatVectorProperty(
        name="Rest Rotation", description="In the robot's rest pose", subtype="QUATERNION", size=4, default=(1.0, 0.0, 0.0, 0.0)
    )


class RobikVisual(PropertyGroup):
    shape: EnumProperty(name="Shape", items=[(shape, shape.capitalize(), "") for shape in SHAPES])
    size: FloatVectorProperty(name="Size", description="As the shape wants it: lengths, radius and length, or a mesh's scale", size=3)
    color: FloatVectorProperty(name="Colour", subtype="COLOR", size=4, min=0.0, max=1.0, default=(0.8, 0.8, 0.8, 1.0))
    file: StringProperty(name="File", description="Of a mesh, as the robot's file gives it")


def _joint_changed(group: PropertyGroup, _context: Context) -> None:
    from .hand_build import joint_edited  # it reads these properties

    joint_edited(group.id_data)  # type: ignore[arg-type]


class RobikJoint(PropertyGroup):
    type: EnumProperty(
        name="Type",
        description="What the two bodies may do relative to each other",
        items=[(t, t.capitalize(), "") for t in JOINT_TYPES],
        update=_joint_changed,
    )
    parent: PointerProperty(
        name="Parent", description="The body that carries the joint; empty for the world", type=Object, poll=_is_body, override=OVERRIDABLE
    )
    child: PointerProperty(name="Child", description="The body that the joint moves", type=Object, poll=_is_body, override=OVERRIDABLE)
    finding: EnumProperty(name="Finding", description="What the last diagnosis found about this joint", items=FINDINGS)
    actuated: BoolProperty(name="Motor", description="Whether a motor drives this joint", update=_joint_changed)
    has_axis2: BoolProperty(name="Second Axis", description="Whether the direction of the empty's Y axis matters")
    motions: BoolVectorProperty(
        name="Motions", description=f"Of a general joint, which are free: {', '.join(MOTIONS)}", size=6, update=_joint_changed
    )
    lower: FloatVectorProperty(name="Lower Limit", description="Per motion [rad or m]", size=6, default=(-LARGEST,) * 6)
    upper: FloatVectorProperty(name="Upper Limit", description="Per motion [rad or m]", size=6, default=(LARGEST,) * 6)
    rest: FloatVectorProperty(name="Rest Value", description="Per motion, its value in the rest pose [rad or m]", size=6)
    velocity_limit: FloatProperty(name="Velocity Limit", description="Of the motor [rad/s or m/s]", min=0.0, default=LARGEST)
    effort_limit: FloatProperty(name="Effort Limit", description="Of the motor [N m or N]", min=0.0, default=LARGEST)


class RobikCoupling(PropertyGroup):
    """A gear or mimic joint; `name` is inherited."""

    follower: StringProperty(name="Follower", description="The coordinate that follows")
    leader: StringProperty(name="Leader", description="The coordinate that leads")
    coefficients: StringProperty(name="Coefficients", description="Of the polynomial in the leader, the constant first", default="0.0 1.0")


class RobikRobot(PropertyGroup):
    format: IntProperty(name="Format", description="Of what RobIK keeps with the robot: which version of RobIK has written it last")
    source: StringProperty(name="File", description="The file that the robot was imported from", subtype="FILE_PATH")
    diagnosis: StringProperty(name="Diagnosis", description="What the last diagnosis found, a sentence a line")
    report: StringProperty(name="Report", description="What the import found and decided, a sentence a line")
    warnings: StringProperty(name="Warnings", description="What of the file was read otherwise or could not be used, a sentence a line")
    importing: PointerProperty(type=RobikImport)
    couplings: CollectionProperty(type=RobikCoupling)
    character: PointerProperty(type=RobikCharacter)
    balance: PointerProperty(type=RobikBalance)
    bake: PointerProperty(type=RobikBake)
    follow: PointerProperty(type=RobikFollow)
    result: PointerProperty(type=RobikResult)
    bakes: CollectionProperty(type=RobikKeptBake)
    chosen_bake: IntProperty(name="Bake", min=0)


class RobikObject(PropertyGroup):
    """What an object is to a robot."""

    kind: EnumProperty(name="Part", items=KINDS)
    label: StringProperty(name="Name", description="The part's name in the robot; the object's own name may differ")
    is_foot: BoolProperty(name="Foot", description="Whether the robot can stand on this frame")
    by_hand: BoolProperty(name="By Hand", description="Made in Blender, not read from the robot's file, so reading that again keeps it")
    order: IntProperty(name="Order", description="Place among the robot's parts of its kind", min=0)
    robot: PointerProperty(type=RobikRobot)
    body: PointerProperty(type=RobikBody)
    visual: PointerProperty(type=RobikVisual)
    joint: PointerProperty(type=RobikJoint, override=OVERRIDABLE)


CLASSES = (RobikBody, RobikVisual, RobikJoint, RobikCoupling, RobikRobot, RobikObject)


def register() -> None:
    """Adds `robik` to objects and scenes."""
    from . import kept_bake, settings

    for cls in (*kept_bake.CLASSES, *settings.CLASSES, *CLASSES):
        bpy.utils.register_class(cls)
    bpy.types.Object.robik = PointerProperty(type=RobikObject, override=OVERRIDABLE)
    bpy.types.Scene.robik = PointerProperty(type=RobikScene)


def unregister() -> None:
    """Takes `robik` away again; the data stays in the file."""
    from . import kept_bake, settings

    del bpy.types.Scene.robik, bpy.types.Object.robik
    for cls in reversed((*kept_bake.CLASSES, *settings.CLASSES, *CLASSES)):
        bpy.utils.unregister_class(cls)
