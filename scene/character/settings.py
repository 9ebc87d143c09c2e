"""Settings of the character.

What each frame of the robot follows, and how the character's motion is brought to the robot.
"""

from typing import cast

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
from bpy.types import Context, Object, PropertyGroup

from ...robik.objectives.frame_pose import ROW
from ...robik.objectives.registry import ROWS
from ...translations import OWN
from .renaming import follow_renamed

POSE = ROW.key  # of the targets that ask for the pose of a frame
LOOK_AT, RELATIVE_TO = "LOOK_AT", "RELATIVE_TO"
ONES = (1.0, 1.0, 1.0)
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
AXES |= {f"-{name}": tuple(-x for x in axis) for name, axis in AXES.items()}


def _frame_names(target: PropertyGroup, _context: Context, typed: str) -> list[str]:
    """Return the frames of a target's robot, then its bodies, that contain what is being typed."""
    parts = [o for o in target.id_data.children_recursive if o.robik.kind in ("FRAME", "BODY")]
    parts.sort(key=lambda o: (o.robik.kind == "BODY", o.robik.order))
    return [o.robik.label for o in parts if typed.lower() in o.robik.label.lower()]


class RobikPhase(PropertyGroup):
    """Frames in which a foot stands."""

    start: IntProperty(name="From", description="First frame in which the foot stands")
    end: IntProperty(name="To", description="Last frame in which the foot stands")


def _source_changed(target: PropertyGroup, _context: Context) -> None:
    follow_renamed(cast(Object, target.id_data))


class RobikTarget(PropertyGroup):
    """A part of the character that a frame of the robot follows."""

    @property
    def leads(self) -> bool:
        """Return whether it asks for the pose of its frame, as most do."""
        return self.follows == POSE

    follows: EnumProperty(
        name="Follows",
        description="How the robot's frame follows",
        items=tuple((kind.key, kind.label, kind.about) for kind in ROWS),
    )
    other: StringProperty(name="Other Frame", description="Another frame or body of the robot", search=_frame_names)
    axis: EnumProperty(
        name="Axis",
        description="Axis of the robot's frame that points at what it looks at",
        items=tuple((name, name, f"The frame's {name} axis") for name in AXES),
    )
    distance: FloatProperty(
        name="Distance", description="That is kept", min=0.0, default=0.5, subtype="DISTANCE", unit="LENGTH"
    )
    enabled: BoolProperty(name="Follow", description="Whether the bake follows this target", default=True)
    source: PointerProperty(
        name="Source", description="The armature or object that is followed", type=Object, update=_source_changed
    )
    bone: StringProperty(name="Bone", description="The pose bone that is followed; empty for the object itself")
    frame: StringProperty(
        name="Frame", translation_context=OWN, description="The robot's frame or body that follows", search=_frame_names
    )
    weight: FloatProperty(
        name="Weight", description="How much this target counts against the others", min=0.0, soft_max=1.0, default=1.0
    )
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
        translation_context=OWN,
        description=(
            "How much the direction of the robot frame's own X, Y and Z axis counts. Weight on Z alone holds where Z"
            " points, and the frame may spin about it; in mink and pink a weight acts on turns about the axis instead"
        ),
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
    holds_on: PointerProperty(
        name="On",
        description="The object that this frame stands on or holds on to, such as a seat, a rail or a platform; it goes"
        " along with it. Empty for the ground",
        type=Object,
    )
    active_phase: IntProperty(name="Phase", min=0)
    reach: FloatVectorProperty(
        name="Reach",
        description="Lengths of the robot's upper arm and forearm against the character's, beside the scale of all",
        size=2,
        min=0.01,
        soft_max=3.0,
        default=(1.0, 1.0),
    )
    reach_root: StringProperty(
        name="Shoulder", description="The bone of the upper arm; empty where the bone is followed wherever it is"
    )
    reach_middle: StringProperty(
        name="Elbow", description="The bone of the forearm; empty where that is what is followed"
    )
    reach_hips: StringProperty(
        name="Hips", description="The bone from which the robot's trunk is measured to its shoulder"
    )
    reach_chest: StringProperty(
        name="Chest", description="The bone with which the upper part of the robot's trunk turns"
    )
    reach_from_hips: FloatVectorProperty(
        name="To Waist",
        description="From the hips' bone to the robot's waist, along the bone's axes",
        subtype="TRANSLATION",
        unit="LENGTH",
        size=3,
    )
    reach_from_chest: FloatVectorProperty(
        name="To Shoulder",
        description="From the robot's waist to its shoulder, along the axes of the chest's bone",
        subtype="TRANSLATION",
        unit="LENGTH",
        size=3,
    )
    offset_location: FloatVectorProperty(
        name="Offset",
        description="Of the robot's frame, along the axes of what it follows",
        subtype="TRANSLATION",
        unit="LENGTH",
        size=3,
    )
    offset_rotation: FloatVectorProperty(
        name="Turn",
        description="Of the robot's frame against what it follows",
        subtype="QUATERNION",
        size=4,
        default=(1.0, 0.0, 0.0, 0.0),
    )


class RobikCharacter(PropertyGroup):
    """Placement of the character's motion over the robot; the character itself stays as it is."""

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
            ("LEGS", "Leg length", "The lengths of the legs' bones; without legs how far what is followed lies apart"),
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
        description=(
            "Turns the motion about the vertical: the robot walks another way; Fit to Robot then places it again"
        ),
        subtype="ANGLE",
        unit="ROTATION",
    )
    left_out: IntProperty(
        name="Left Out",
        description="Frames at the start that are a pose to align by and are not baked; Fit to Robot finds them",
        min=0,
        soft_max=10,
    )
    targets: CollectionProperty(type=RobikTarget)
    active: IntProperty(name="Target", min=0)
    bones: StringProperty(
        name="Bones", description="Of the rigs that are followed, by which renamed ones are found", options={"HIDDEN"}
    )


CLASSES = (RobikPhase, RobikTarget, RobikCharacter)
