"""Settings of tests in physics, and what *Make It Stand* has tried."""

from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Action, PropertyGroup


class RobikAttempt(PropertyGroup):
    """One thing that was tried; `name` says what."""

    told: StringProperty(name="Verdict", description="What became of it")
    stands: BoolProperty(name="Stands", description="Whether it stands in nine of ten trials")
    action: PointerProperty(name="Bake", description="The bake that was tried", type=Action)
    carry_weight: BoolProperty(name="Carry Weight", description="Whether goals carried the weight")
    p_gain: IntProperty(name="P Gain", description="Of the servos; 0 for that of the factory")
    speed: FloatProperty(name="Speed", description="Of the motion; 1 is its own", default=1.0)


class RobikPhysics(PropertyGroup):
    carry_weight: BoolProperty(
        name="Carry Weight",
        description="Tell the motors to go further by what they give way under the weight, in tests of physics",
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
    attempts: CollectionProperty(type=RobikAttempt)
    chosen: IntProperty(name="Attempt", min=0)


CLASSES = (RobikAttempt, RobikPhysics)
