"""Properties of a robot's parts: bodies, visuals, joints and couplings. No logic beyond validation."""

from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, Object, PropertyGroup

from ...robik.mechanism import JOINT_TYPES
from ...robik.mechanism.joints import MOTIONS
from ...robik.mechanism.visual import SHAPES
from ...translations import OWN
from .exact import LARGEST
from .hand_build import joint_edited

FINDINGS = (
    ("NONE", "Fine", "Nothing to say"),
    ("REDUNDANT", "Redundant", "Some of what it ties follows from the other joints of its loop; usual, and no harm"),
    ("NEEDLESS", "Needless", "Without it the robot could move no more than with it"),
    ("STUCK", "Stuck", "It has a motion, but the other joints keep it from moving"),
    ("ASKEW", "Askew", "Its axis or place does not quite agree with the others of its loop, which so cannot move"),
)

# What cannot be overridden is the library's again in a file that is opened; a joint would tie the library's bodies.
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def _is_body(_group: PropertyGroup, candidate: Object) -> bool:
    return candidate.robik.kind == "BODY"


class RobikBody(PropertyGroup):
    """Properties of a body's object."""

    mass: FloatProperty(name="Mass", unit="MASS", min=0.0, precision=4)
    com: FloatVectorProperty(
        name="Centre of Mass", description="In the body's own frame", unit="LENGTH", size=3, precision=4
    )
    inertia: FloatVectorProperty(
        name="Inertia", description="About the centre of mass: xx, yy, zz, xy, xz, yz [kg m²]", size=6, precision=6
    )
    rest_location: FloatVectorProperty(
        name="Rest Location", description="In the robot's rest pose", unit="LENGTH", size=3, precision=4
    )
    rest_rotation: FloatVectorProperty(
        name="Rest Rotation",
        description="In the robot's rest pose",
        subtype="QUATERNION",
        size=4,
        default=(1.0, 0.0, 0.0, 0.0),
    )


class RobikVisual(PropertyGroup):
    """Properties of a visual's object."""

    shape: EnumProperty(name="Shape", items=[(shape, shape.capitalize(), "") for shape in SHAPES])
    size: FloatVectorProperty(
        name="Size", description="As the shape wants it: lengths, radius and length, or a mesh's scale", size=3
    )
    color: FloatVectorProperty(name="Colour", subtype="COLOR", size=4, min=0.0, max=1.0, default=(0.8, 0.8, 0.8, 1.0))
    file: StringProperty(name="File", description="Of a mesh, as the robot's file gives it")


def _joint_changed(group: PropertyGroup, _context: Context) -> None:
    joint_edited(group.id_data)  # type: ignore[arg-type]


def _row_in_degrees(name: str, text: str) -> FloatVectorProperty:
    """Return a property that shows a row of a joint's angles as Blender shows angles; what it shows is kept in rad."""
    return FloatVectorProperty(
        name=text,
        description="Per motion that turns",
        size=6,
        unit="ROTATION",
        get=lambda group: tuple(getattr(group, name)),
        set=lambda group, values: setattr(group, name, values),
    )


class RobikJoint(PropertyGroup):
    """Properties of a joint's empty."""

    type: EnumProperty(
        name="Type",
        description="What the two bodies may do relative to each other",
        items=[(row.name, row.name.capitalize(), row.about) for row in JOINT_TYPES.values()],
        update=_joint_changed,
    )
    parent: PointerProperty(
        name="Parent",
        description="The body that carries the joint; empty for the world",
        type=Object,
        poll=_is_body,
        override=OVERRIDABLE,
    )
    child: PointerProperty(
        name="Child", description="The body that the joint moves", type=Object, poll=_is_body, override=OVERRIDABLE
    )
    finding: EnumProperty(
        name="Finding",
        translation_context=OWN,
        description="What the last diagnosis found about this joint",
        items=FINDINGS,
    )
    actuated: BoolProperty(
        name="Motor", translation_context=OWN, description="Whether a motor drives this joint", update=_joint_changed
    )
    has_axis2: BoolProperty(name="Second Axis", description="Whether the direction of the empty's Y axis matters")
    motions: BoolVectorProperty(
        name="Motions",
        description=f"Of a general joint, which are free: {', '.join(MOTIONS)}",
        size=6,
        update=_joint_changed,
    )
    lower: FloatVectorProperty(name="Lower Limit", description="Per motion [rad or m]", size=6, default=(-LARGEST,) * 6)
    upper: FloatVectorProperty(name="Upper Limit", description="Per motion [rad or m]", size=6, default=(LARGEST,) * 6)
    rest: FloatVectorProperty(
        name="Rest Value", description="Per motion, its value in the rest pose [rad or m]", size=6
    )
    from_angle: _row_in_degrees("lower", "From")
    to_angle: _row_in_degrees("upper", "To")
    turning_speed: FloatProperty(
        name="Speed per Second",
        description="Of a motor that turns: the fastest it can, per second",
        unit="ROTATION",
        min=0.0,
        get=lambda group: group.velocity_limit,
        set=lambda group, value: setattr(group, "velocity_limit", value),
    )
    velocity_limit: FloatProperty(
        name="Velocity Limit", description="Of the motor [rad/s or m/s]", min=0.0, default=LARGEST
    )
    effort_limit: FloatProperty(name="Effort Limit", description="Of the motor [N m or N]", min=0.0, default=LARGEST)
    gain: FloatProperty(
        name="Position Gain", description="Of the motor's position loop [N m/rad or N/m]", min=0.0, default=LARGEST
    )
    friction: FloatProperty(
        name="Friction", description="Of the joint itself, at any speed [N m or N]", min=0.0, precision=4
    )
    damping: FloatProperty(
        name="Damping", description="Of the joint itself, per speed [N m s/rad or N s/m]", min=0.0, precision=4
    )
    armature: FloatProperty(
        name="Armature",
        translation_context=OWN,
        description="Inertia of what turns with the joint beyond its bodies, as a rotor behind a gear [kg m² or kg]",
        min=0.0,
        precision=5,
    )
    stiffness: FloatProperty(
        name="Spring",
        translation_context=OWN,
        description="Stiffness of a spring in the joint [N m/rad or N/m]",
        min=0.0,
    )
    relaxed: FloatProperty(name="Relaxed At", description="Where the spring pulls nowhere [rad or m]")
    cone: FloatProperty(
        name="Cone",
        description="Of a ball: the largest angle between its axis on both sides",
        unit="ROTATION",
        min=1e-6,
        default=LARGEST,
    )
    turn_limit: FloatProperty(
        name="Largest Turn",
        description="Of a ball: the largest angle of its whole rotation",
        unit="ROTATION",
        min=1e-6,
        default=LARGEST,
    )


class RobikCoupling(PropertyGroup):
    """A gear or mimic joint; `name` is inherited."""

    follower: StringProperty(name="Follower", description="The coordinate that follows")
    leader: StringProperty(name="Leader", description="The coordinate that leads")
    coefficients: StringProperty(
        name="Coefficients", description="Of the polynomial in the leader, the constant first", default="0.0 1.0"
    )
    others: StringProperty(
        name="Further Leaders", description='Each with its slope, as [["name", 0.5]]; empty for a coupling of two'
    )


CLASSES = (RobikBody, RobikVisual, RobikJoint, RobikCoupling)
