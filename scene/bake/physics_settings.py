"""Settings of tests in physics, and what *Make It Stand* has tried."""

from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup


class RobikAttempt(PropertyGroup):
    """One thing that was tried; `name` says what."""

    told: StringProperty(name="Verdict", description="What became of it")
    stands: BoolProperty(name="Stands", description="Whether it stands in nine of ten trials")
    bake: StringProperty(name="Bake", description="Name of the bake that was tried")
    frames: StringProperty(name="Frames", description="Where frames go in it, as JSON; empty where they stay")
    carry_weight: BoolProperty(name="Carry Weight", description="Whether goals carried the weight")
    p_gain: IntProperty(name="P Gain", description="Of the servos; 0 for that of the factory")
    stiffness: FloatProperty(name="Leg Stiffness", description="Of the legs; 0 for the gains of the robot's file")
    tilt_feedback: BoolProperty(name="Tilt Feedback", description="Whether tilt was fed back")
    speed: FloatProperty(name="Speed", description="Of the motion; 1 is its own", default=1.0)


class RobikPhysics(PropertyGroup):
    """Settings of a robot's tests in physics, and attempts to make it stand."""

    carry_weight: BoolProperty(
        name="Carry Weight",
        description="Tell the motors to go further by what they give way under the weight, in physics and on servos",
        default=False,
    )
    tilt_feedback: BoolProperty(
        name="Tilt Feedback",
        description="Right the robot at ankles and hips when it leans against the bake, by an IMU on its base, in "
        "physics and on servos. The servo file names the IMU",
        default=False,
    )
    p_gain: IntProperty(
        name="P Gain",
        description="Position P gain that the servos are set to; 0 for that of the factory. A leg stands only if its "
        "servos are stiff enough",
        min=0,
        max=16383,
        default=0,
    )
    stiffness: FloatProperty(
        name="Leg Stiffness",
        description="Of legs without servos, at least this share of what standing needs (m g h), by higher gains in "
        "physics; 0 for the gains of the robot's file. 2 is enough to stand well",
        min=0.0,
        max=100.0,
        default=0.0,
        precision=1,
    )
    attempts: CollectionProperty(type=RobikAttempt)
    chosen: IntProperty(name="Attempt", min=0)
    warped: StringProperty(name="Frames", description="Where the scene's frames have gone for the attempt in use")


CLASSES = (RobikAttempt, RobikPhysics)
