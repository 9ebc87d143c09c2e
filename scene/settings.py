"""What an animator sets: targets, balance, bake, overlays. Kept per robot, on its root; the rest on the scene."""

from collections.abc import Callable
from math import log10

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Action, Context, Object, PropertyGroup

from robik.objectives.pose_prior import WEIGHT

from .example import can_be_example
from .import_options import RobikImport
from .kept_bake import RobikMarker
from .servo_fields import RobikServo
from .servo_settings import RobikPlaying

ONES = (1.0, 1.0, 1.0)
WEAKEST = -10  # exponent of the weight that an animator sees as 0


def _frame_names(target: PropertyGroup, _context: Context, typed: str) -> list[str]:
    """The frames of a target's robot, then its bodies, that contain what is being typed."""
    parts = [o for o in target.id_data.children_recursive if o.robik.kind in ("FRAME", "BODY")]
    parts.sort(key=lambda o: (o.robik.kind == "BODY", o.robik.order))
    return [o.robik.label for o in parts if typed.lower() in o.robik.label.lower()]


class RobikPhase(PropertyGroup):
    """Frames in which a foot stands."""

    start: IntProperty(name="From", description="First frame in which the foot stands")
    end: IntProperty(name="To", description="Last frame in which the foot stands")


class RobikTarget(PropertyGroup):
    """A part of the character that a frame of the robot follows."""

    enabled: BoolProperty(name="Follow", description="Whether the bake follows this target", default=True)
    source: PointerProperty(name="Source", description="The armature or object that is followed", type=Object)
    bone: StringProperty(name="Bone", description="The pose bone that is followed; empty for the object itself")
    frame: StringProperty(name="Frame", description="The robot's frame or body that follows", search=_frame_names)
    weight: FloatProperty(name="Weight", description="How much this target counts against the others", min=0.0, soft_max=1.0, default=1.0)
    position_weight: FloatVectorProperty(
        name="Position",
        description="How much the position counts along the world's X, Y and Z",
        size=3,
        min=0.0,
        soft_max=1.0,
        default=ONES,
    )
    orientation_weight: FloatVectorProperty(
        name="Orientation",
        description="How much the direction of the robot frame's own X, Y and Z axis counts",
        size=3,
        min=0.0,
        soft_max=1.0,
        default=ONES,
    )
    contact: EnumProperty(
        name="Contact",
        description="When this foot stands on the ground",
        items=(
            ("DETECT", "Detect", "Found from the foot's height and speed"),
            ("HAND", "By hand", "The phases listed under Balance > Contacts"),
        ),
    )
    stands: CollectionProperty(type=RobikPhase)
    active_phase: IntProperty(name="Phase", min=0)
    phases: StringProperty(name="Stands", description="As files of the first format kept the phases", options={"HIDDEN"})
    offset_location: FloatVectorProperty(
        name="Offset", description="Of the robot's frame, along the axes of what it follows", subtype="TRANSLATION", unit="LENGTH", size=3
    )
    offset_rotation: FloatVectorProperty(
        name="Turn", description="Of the robot's frame against what it follows", subtype="QUATERNION", size=4, default=(1.0, 0.0, 0.0, 0.0)
    )


class RobikCharacter(PropertyGroup):
    """How the character's motion is brought to the robot's size and place; the character itself stays as it is."""

    rig: PointerProperty(name="Rig", description="The character: an armature, or any object", type=Object)
    scale: FloatProperty(
        name="Scale",
        description="Size of the robot against the character; its motion is scaled by this",
        min=1e-6,
        default=1.0,
        precision=4,
    )
    stride: FloatProperty(
        name="Stride",
        description="Makes the way over the ground longer or shorter against the height: long legs take longer steps",
        min=0.01,
        soft_max=3.0,
        default=1.0,
    )
    fit_by: EnumProperty(
        name="Fit By",
        description="What Fit to Robot makes equal",
        items=(
            ("LEGS", "Leg length", "The height of the hips above the feet; without feet how far what is followed lies apart"),
            ("HEIGHT", "Height", "The height of the whole character and of the whole robot"),
            ("EXACT", "Exact", "Nothing is scaled, moved or turned: the rig was made for this robot"),
        ),
    )
    location: FloatVectorProperty(
        name="Place",
        description="Where the character's world origin comes to lie after scaling",
        subtype="TRANSLATION",
        unit="LENGTH",
        size=3,
    )
    yaw: FloatProperty(
        name="Turn",
        description="Turns the motion about the vertical: the robot walks another way; Fit to Robot then places it again",
        subtype="ANGLE",
        unit="ROTATION",
    )
    targets: CollectionProperty(type=RobikTarget)
    active: IntProperty(name="Target", min=0)


class RobikBalance(PropertyGroup):
    source: EnumProperty(
        name="Centre of Mass",
        description="What the robot's centre of mass follows",
        items=(
            ("NONE", "Free", "The centre of mass goes where the motion takes it"),
            ("FEET", "Over the feet", "Keep the centre of mass over the feet that stand on the ground"),
            ("OBJECT", "Object", "The centre of mass follows an object"),
        ),
        default="NONE",
    )
    target: PointerProperty(name="Target", description="The object that the centre of mass follows", type=Object)
    margin: FloatProperty(
        name="Margin",
        description="How far inside the standing foot's outline the centre of mass stays",
        unit="LENGTH",
        min=0.0,
        default=0.01,
        precision=3,
    )
    lead: FloatProperty(
        name="Look Ahead",
        description="How long before a foot lifts the weight is off it; longer makes the shift of weight begin earlier",
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        min=0.0,
        soft_max=0.5,
        default=0.06,
        precision=2,
    )
    give_way: BoolProperty(
        name="Hips Give Way",
        description="Let balance alone say where the hips are sideways; their height and direction still follow. "
        "They are the target where the legs meet, else the first that is no foot",
        default=True,
    )
    pin_feet: BoolProperty(name="Pin Feet", description="Hold standing feet flat on the ground, without sliding", default=False)
    weight: FloatVectorProperty(
        name="Weight",
        description="How much the centre of mass counts along the world's X, Y and Z",
        size=3,
        min=0.0,
        soft_max=1.0,
        default=ONES,
    )


def _follow_changed(_group: PropertyGroup, _context: Context) -> None:
    from .follow import wake  # it reads these properties

    wake()


class RobikFollow(PropertyGroup):
    """Whether a robot follows its targets live, and how."""

    on: BoolProperty(
        name="Follow Live",
        description="The robot follows its targets at once, while you drag or play them; a bake is not needed, nor made",
        update=_follow_changed,
    )
    tracker: EnumProperty(
        name="Tracker",
        description="How the robot follows live",
        items=(
            ("STATE", "At Once", "Is where the bake would put it, at once, however fast the motors would have to turn"),
            ("DIFFERENTIAL", "Motor Speeds", "Moves as its motors can: never faster, never jerkier; lags behind what is too quick for it"),
            ("DYNAMICS", "Springy", "Is pulled by its targets like a weight on a spring; calm where it is stretched out"),
        ),
    )


def _by_tens(weight: str) -> dict[str, Callable]:
    """A weight as an animator sets it: each step is ten times as strong."""

    def read(bake: PropertyGroup) -> float:
        return log10(getattr(bake, weight)) - WEAKEST

    def write(bake: PropertyGroup, steps: float) -> None:
        setattr(bake, weight, 10.0 ** (steps + WEAKEST))

    return {"get": read, "set": write}


class RobikBake(PropertyGroup):
    use_range: BoolProperty(name="Own Range", description="Bake these frames instead of the scene's frame range")
    start: IntProperty(name="Start", description="First frame to bake", default=1)
    end: IntProperty(name="End", description="Last frame to bake", default=250)
    blend: IntProperty(
        name="Blend",
        description="Frames at both ends of an own range over which the bake comes out of the one before and goes back into it; "
        "more of them turn the motors more slowly",
        min=0,
        soft_max=50,
        default=5,
    )
    samples: IntProperty(
        name="Samples per Frame", description="How often the motion is solved and keyed within each frame", min=1, max=100, default=1
    )
    guarantee: BoolProperty(
        name="Keep Motor Speeds",
        description="Never turn a motor faster than it can: the robot lags behind what is too quick for it",
        default=True,
    )
    speed: FloatProperty(
        name="Motor Speed",
        description="How much of each motor's speed the motion may use",
        subtype="PERCENTAGE",
        min=1.0,
        max=100.0,
        default=100.0,
        precision=0,
    )
    soften: BoolProperty(
        name="Soften", description="Hold back what turns faster than that share of the slowest motor's speed: smoother, but no promise"
    )
    velocity_limit: FloatProperty(
        name="Soften Above",
        description="For a robot whose motors' speeds are unknown: above this speed of turning a body is held back [rad/s]",
        min=0.01,
        default=5.0,
        soft_max=50.0,
    )
    velocity_weight: FloatProperty(name="Softening", description="How strongly speed is held back", min=0.0, default=1e-2, precision=5)
    state_weight: FloatProperty(
        name="Stillness", description="Pull towards the frame before, where the targets leave freedom", min=1e-12, default=1e-7, precision=8
    )
    stillness: FloatProperty(
        name="Stillness",
        description="How strongly the robot keeps its pose where the targets leave it free; each step is ten times as strong",
        min=0.0,
        soft_max=8.0,
        precision=1,
        **_by_tens("state_weight"),
    )
    example: PointerProperty(
        name="Poses Like",
        description="A motion of this robot, such as an earlier bake: where the targets leave a choice, the robot takes poses like its",
        type=Action,
        poll=can_be_example,
    )
    example_weight: FloatProperty(
        name="Likeness", description="Pull towards poses like the example's", min=1e-12, default=WEIGHT, precision=8
    )
    likeness: FloatProperty(
        name="Likeness",
        description="How strongly the robot takes poses like the example's; each step is ten times as strong, "
        "and costs the targets ten times as much",
        min=0.0,
        soft_max=8.0,
        precision=1,
        **_by_tens("example_weight"),
    )
    joint_limits: BoolProperty(name="Joint Limits", description="Keep every joint within its limits", default=True)


def _switched(_group: PropertyGroup, _context: Context) -> None:
    from . import overlay

    overlay.refresh()


class RobikOverlays(PropertyGroup):
    """What the 3D views show of all robots of a scene."""

    com: BoolProperty(
        name="Centre of Mass",
        description="Show each robot's centre of mass, and where on the ground it stands over",
        update=_switched,
    )
    com_target: BoolProperty(name="Mass Target", description="Show where the bake wanted the centre of mass to be", update=_switched)
    support: BoolProperty(
        name="Support",
        description="Show what each robot stands on: with its centre of mass over this area it does not tip over",
        update=_switched,
    )
    errors: BoolProperty(
        name="Misses",
        description="Show a line from each frame of a robot to where its target wants it, as far as it is off",
        update=_switched,
    )
    joints: BoolProperty(name="Joints", description="Show each joint's axes, how far it may go, and where it is now", update=_switched)
    diagnosis: BoolProperty(
        name="Diagnosis", description="Mark the joints that the last diagnosis found redundant, stuck or askew", update=_switched
    )
    motors: EnumProperty(
        name="Motors",
        description="Mark each motor by a ring that fills and changes its colour",
        items=(
            ("NONE", "None", "No marks"),
            ("SPEED", "Speed", "How much of its speed a motor needs now: red where the motion is faster than the motor"),
            ("LIMIT", "Reach", "How near a motor is to the end of its range: red at the end"),
            ("SINGULAR", "Singular", "How near a motor is to a pose in which it cannot move what it should, as with a straight knee"),
        ),
        update=_switched,
    )
    contacts: BoolProperty(
        name="Contacts",
        description="Show when each foot stands as strips in dope sheet and timeline: drag them or their ends, Ctrl-click to add one, "
        "X over one deletes it",
        update=_switched,
    )
    limits: BoolProperty(
        name="Limits",
        description="Show in the graph editor where the ranges of selected motors end (red), and where they become tight (amber)",
        update=_switched,
    )
    graph: BoolProperty(
        name="Speed Graph", description="Show the speeds of the chosen robot's motors against their limits, over the bake", update=_switched
    )


def _is_robot(_group: PropertyGroup, candidate: Object) -> bool:
    return candidate.robik.kind == "ROBOT"


class RobikScene(PropertyGroup):
    robot: PointerProperty(name="Robot", description="The robot that the panels work on", type=Object, poll=_is_robot)
    importing: PointerProperty(type=RobikImport)
    servos: StringProperty(name="Servos", description="The file that says which servo drives which motor", subtype="FILE_PATH")
    overlays: PointerProperty(type=RobikOverlays)
    markers: CollectionProperty(type=RobikMarker)
    port: StringProperty(name="Port", description="The serial port of the servos, or sim for simulated ones", default="sim")
    playing: PointerProperty(type=RobikPlaying)


CLASSES = (
    RobikImport,
    RobikPhase,
    RobikTarget,
    RobikCharacter,
    RobikBalance,
    RobikFollow,
    RobikBake,
    RobikOverlays,
    RobikServo,
    RobikPlaying,
    RobikScene,
)
