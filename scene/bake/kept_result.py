"""Properties kept of each bake: its actions and its result, on the robot's root, and its markers, on the scene."""

from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Action, Object, PropertyGroup


class RobikTargetResult(PropertyGroup):
    """`name` is the robot's frame."""

    position_error: FloatProperty(name="Worst Distance", unit="LENGTH", precision=4)
    orientation_error: FloatProperty(name="Worst Angle", unit="ROTATION")
    position_mean: FloatProperty(name="Mean Distance", unit="LENGTH", precision=4)
    orientation_mean: FloatProperty(name="Mean Angle", unit="ROTATION")
    frame: IntProperty(name="Frame", description="Where the distance is worst")
    is_angle: BoolProperty(name="Angle", description="Whether it is an angle alone, as of a look")


class RobikActuatorResult(PropertyGroup):
    """`name` is the actuator."""

    unit: StringProperty(name="Unit", description="Of its values: rad or m", default="rad")
    peak_velocity: FloatProperty(name="Peak Speed", description="[rad/s or m/s]")
    velocity_limit: FloatProperty(name="Speed Limit", description="Of the motor; 0 where unknown [rad/s or m/s]")
    frame: IntProperty(name="Frame", description="Where it is fastest")
    has_limits: BoolProperty(name="Limited", description="Whether its joint has limits")
    room: FloatProperty(name="Room", description="Least distance to a limit of its joint [rad or m]")
    used: FloatProperty(
        name="Reach", description="How far it goes from the middle of its range: 1 at a limit; 0 without limits"
    )
    room_frame: IntProperty(name="Frame", description="Where the joint is nearest to a limit")
    torque: FloatProperty(name="Torque", description="The largest that the motion needs [N m or N]; 0 before a test")
    effort: FloatProperty(name="Stall Torque", description="Of the motor; 0 where unknown [N m or N]")
    torque_frame: IntProperty(name="Frame", description="Where it needs most torque")
    heat: FloatProperty(name="Heat", description="Mean square of torque by stall torque: 1 is a motor that stalls")
    beyond: IntProperty(name="Beyond", description="Samples whose torque the motor cannot give at its speed")


class RobikShort(PropertyGroup):
    """A run of frames that fall short; `name` says why at the worst of them."""

    frame: IntProperty(name="Frame", description="The worst of them")
    first: IntProperty(name="First", description="The first frame that falls short")
    last: IntProperty(name="Last", description="The last frame that falls short")


class RobikPenetration(PropertyGroup):
    """`name` is what the robot goes into: itself, or the ground."""

    where: StringProperty(name="Where", description="Which bodies go deepest")
    depth: FloatProperty(name="Depth", description="How deep they go", unit="LENGTH", precision=4)
    frame: IntProperty(name="Frame", description="Where they go deepest")
    share: FloatProperty(name="Share", description="Of the samples, with more than a millimetre", subtype="FACTOR")


class RobikResult(PropertyGroup):
    """Result of a bake, as it is kept in the robot's root."""

    frames: IntProperty(name="Samples", description="How many samples were baked; 0 before the first bake")
    corrected: BoolProperty(
        name="Corrected", description="Whether what was changed by hand on the bake before was added"
    )
    mark: StringProperty(name="Mark", description="Of the curves and the frame rate that it was judged by")
    rest: StringProperty(
        name="Other Frames", description="What the frames outside an own range are worth; empty where all were baked"
    )
    rest_missed: IntProperty(name="Others Missed", description="How many of them do not meet their targets")
    rest_frame: IntProperty(name="Frame", description="The worst of the other frames")
    missed: IntProperty(name="Missed", description="How many samples do not meet their targets")
    nearly: IntProperty(
        name="Nearly", description="How many of them miss no target by more than ten times what counts as met"
    )
    worst: StringProperty(name="Worst", description="The miss that counts most, by its size and its target's weight")
    met: FloatProperty(
        name="Met Within",
        description="How far from its target a frame may be",
        unit="LENGTH",
        precision=4,
        default=1e-3,
    )
    too_fast: IntProperty(
        name="Too Fast", description="How many samples a motor would have to enter faster than it can"
    )
    jumps: IntProperty(name="Jumps", description="Samples into which a motor turns by more than 0.2 rad in 1/120 s")
    acceleration: FloatProperty(name="Acceleration", description="Largest acceleration of a motor [rad/s² or m/s²]")
    jerk: FloatProperty(name="Jerk", description="Largest jerk of a motor [rad/s³ or m/s³]")
    looked_ahead: BoolProperty(name="Looked Ahead", description="Whether all frames were solved at once")
    ended_early: BoolProperty(name="Ended Early", description="Whether looking ahead ended before the optimum")
    beyond: StringProperty(name="Beyond", description="What could not be kept, and where; empty where all is kept")
    mean_before: FloatProperty(
        name="Mean Frame by Frame",
        description="Mean distance from the targets before all frames were solved at once",
        unit="LENGTH",
        precision=4,
    )
    mean_distance: FloatProperty(name="Mean Distance", description="From all targets", unit="LENGTH", precision=4)
    acceleration_before: FloatProperty(
        name="Acceleration Frame by Frame",
        description="Largest acceleration of a motor before all frames were solved at once [rad/s² or m/s²]",
    )
    start: FloatProperty(name="Start", description="The first sample's frame")
    step: FloatProperty(name="Step", description="Frames between samples", default=1.0)
    seconds: FloatProperty(name="Duration", description="How long the bake took [s]")
    sampling: FloatProperty(name="Sampling", description="How long sampling the character took [s]")
    preparing: FloatProperty(
        name="Preparing", description="How long it took until the solver was ready: long if it was compiled [s]"
    )
    solving: FloatProperty(name="Solving", description="How long solving took after that [s]")
    writing: FloatProperty(name="Writing", description="How long writing the keys took [s]")
    held_back: IntProperty(
        name="Held Back", description="Samples that keeping the motors' speed keeps from their targets"
    )
    speed_cost: FloatProperty(
        name="Cost of Speed",
        description="How far keeping the motors' speed has moved a frame, or the centre of mass, at worst",
        unit="LENGTH",
        precision=4,
    )
    speed_turn: FloatProperty(
        name="Turn by Speed",
        description="How far keeping the motors' speed has turned a frame at worst",
        unit="ROTATION",
    )
    speed_frame: IntProperty(name="Frame", description="Where keeping the motors' speed costs most")
    milliseconds: FloatProperty(name="Time per Sample", description="Median of solving one sample [ms]")
    residual: FloatProperty(
        name="Closure", description="How far the loops are open at worst", unit="LENGTH", precision=6
    )
    margin: FloatProperty(
        name="Margin",
        description="How far inside the support of the feet the zero-moment point is at worst: the ground's force acts "
        "there, and where it is outside, the robot tips over",
        unit="LENGTH",
        precision=4,
    )
    has_margin: BoolProperty(name="Margin Known", description="Whether contacts were known, so that there is a margin")
    margin_frame: IntProperty(name="Frame", description="Where the margin is least")
    margin_asked: FloatProperty(
        name="Margin Asked",
        description="What balance was to keep, with what motors give way by; 0 without balance over the feet",
        unit="LENGTH",
        precision=4,
    )
    flight: IntProperty(name="Flight", description="Samples in which no foot stands, so that nothing can balance")
    flight_frame: IntProperty(name="Frame", description="Where the robot is first in the air")
    tipping: FloatProperty(
        name="Tipping", description="Share of the frames on the ground in which the robot tips over", subtype="FACTOR"
    )
    has_contacts: BoolProperty(name="Contacts", description="Whether something was to stand still")
    slide: FloatProperty(
        name="Slide", description="Mean speed of what is in contact, against what it stands on [mm/s]", precision=3
    )
    contact_off: FloatProperty(
        name="Contacts Off",
        description="How far something in contact is from where it is held, at worst",
        unit="LENGTH",
        precision=4,
    )
    contact_frame: IntProperty(name="Frame", description="Where something in contact is furthest off")
    limbs: StringProperty(
        name="Limbs", description="By how much parts of limbs point another way than the character's, in the mean"
    )
    moved: IntProperty(
        name="Footholds Moved",
        description="Footholds that were out of reach or put legs into each other, and are elsewhere",
    )
    moved_most: FloatProperty(
        name="Moved By", description="How far a foothold is from where the character stands", unit="LENGTH", precision=4
    )
    moved_frame: IntProperty(name="Frame", description="Where the robot first stands on what was moved furthest")
    moved_why: StringProperty(name="Moved", description="Which footholds were moved, how far and why")
    penetration: CollectionProperty(type=RobikPenetration)
    beyond_robot: StringProperty(name="Beyond", description="What the robot cannot do, empty where it follows the clip")
    hold: StringProperty(
        name="Hold Lost", description="Where the motors lose hold of the robot, and of what; empty where they keep it"
    )
    hold_lost: IntProperty(name="Without Hold", description="Samples in which the motors do not determine the robot")
    hold_frame: IntProperty(name="Frame", description="Where the motors have least hold of the robot")
    sunk: FloatProperty(
        name="Below Ground", description="How far a sole goes below the ground, at worst", unit="LENGTH", precision=4
    )
    sunk_frame: IntProperty(name="Frame", description="Where a sole goes lowest")
    com_error: FloatProperty(
        name="Centre of Mass", description="Worst distance from its target", unit="LENGTH", precision=4
    )
    com_mean: FloatProperty(
        name="Mean Distance", description="Of the centre of mass from its target", unit="LENGTH", precision=4
    )
    com_frame: IntProperty(name="Frame", description="Where the centre of mass is furthest from its target")
    has_com: BoolProperty(name="Centre of Mass Followed", description="Whether the centre of mass had a target")
    targets: CollectionProperty(type=RobikTargetResult)
    actuators: CollectionProperty(type=RobikActuatorResult)
    short: CollectionProperty(type=RobikShort)
    physics: StringProperty(
        name="Physics", description="Whether the robot falls in physics; empty before it was tested"
    )
    physics_stands: BoolProperty(name="Stands", description="Whether the robot stands to the end in physics")
    physics_frame: IntProperty(name="Frame", description="Where the robot falls in physics")
    physics_more: StringProperty(name="Details", description="Margins, torques and disturbed trials in physics")
    shown: StringProperty(
        name="Motor", description="Which motor the motor graph brings out; empty for the one that works hardest"
    )


class RobikBakePart(PropertyGroup):
    """The part of a bake that animates one object; `name` is the body's, empty for the robot's root."""

    action: PointerProperty(name="Action", type=Action)
    slot: IntProperty(name="Slot", description="Handle of the action's slot; 0 where actions have none")


class RobikKeptBake(PropertyGroup):
    """A bake; `name` is what it is called."""

    parts: CollectionProperty(type=RobikBakePart)
    original: PointerProperty(
        name="Original", description="The action of the robot's root in the bake that this one corrects", type=Action
    )
    result: PointerProperty(type=RobikResult)


class RobikMarker(PropertyGroup):
    """A timeline marker that a bake has set; `name` is the marker's."""

    frame: IntProperty(name="Frame")
    root: PointerProperty(name="Robot", description="The root of the robot that it is for", type=Object)


CLASSES = (
    RobikTargetResult, RobikActuatorResult, RobikShort, RobikPenetration, RobikResult, RobikBakePart, RobikKeptBake,
    RobikMarker,
)  # fmt: skip
