"""Settings of a robot's performance. No logic."""

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Action, Context, PropertyGroup

from ...robik.errors import RobikError
from ...translations import OWN
from ..bake.example import can_be_example
from ..robot.reading import read_moving_parts

NONE = ("NONE", "None", "Nothing of a gamepad")
BUTTONS = (
    NONE,
    ("A", "A", "The lower one of the four buttons on the right"),
    ("B", "B", "The right one of the four buttons"),
    ("X", "X", "The left one of the four buttons"),
    ("Y", "Y", "The upper one of the four buttons"),
    ("LEFT_SHOULDER", "Left Shoulder", "The button on the left shoulder"),
    ("RIGHT_SHOULDER", "Right Shoulder", "The button on the right shoulder"),
    ("UP", "Cross Up", "The cross, upwards"),
    ("DOWN", "Cross Down", "The cross, downwards"),
    ("LEFT", "Cross Left", "The cross, to the left"),
    ("RIGHT", "Cross Right", "The cross, to the right"),
)
AXES = (
    NONE,
    ("LEFT_X", "Left Stick X", "The left stick, to the right"),
    ("LEFT_Y", "Left Stick Y", "The left stick, upwards"),
    ("RIGHT_X", "Right Stick X", "The right stick, to the right"),
    ("RIGHT_Y", "Right Stick Y", "The right stick, upwards"),
    ("LEFT_TRIGGER", "Left Trigger", "The left trigger, from 0 to 1"),
    ("RIGHT_TRIGGER", "Right Trigger", "The right trigger, from 0 to 1"),
)
KEY = "A letter or a digit that is pressed while the robot performs"


def _motors(stick: PropertyGroup, _context: Context, _typed: str) -> list[str]:
    """Return the names of the robot's motors."""
    try:
        return list(read_moving_parts(stick.id_data).actuators)  # type: ignore[arg-type]
    except RobikError:
        return []


class RobikTrigger(PropertyGroup):
    """A clip that is played on top of the idle motion; its `name` is inherited."""

    action: PointerProperty(
        name="Clip",
        translation_context=OWN,
        description="What is played: a bake of this robot, or another action that moves its motors",
        type=Action,
        poll=can_be_example,
    )
    key: StringProperty(name="Key", translation_context=OWN, description=KEY, maxlen=1)
    osc: StringProperty(
        name="OSC Address",
        description="A message to this address triggers it, such as /wave; with the value 0 it lets it go",
    )
    button: EnumProperty(name="Gamepad", description="A button of a gamepad that triggers it", items=BUTTONS)
    held: BoolProperty(
        name="While Held", description="Play over and over as long as the key is held; else once, from begin to end"
    )
    moved_only: BoolProperty(
        name="Only What It Moves",
        description="The other motors go on with what is below, as an arm that waves while the robot walks",
    )


class RobikStick(PropertyGroup):
    """An axis that leans on a motor."""

    motor: StringProperty(
        name="Motor", translation_context=OWN, description="Which motor it turns", search=_motors, search_options=set()
    )
    amount: FloatProperty(
        name="Amount",
        description="How far it goes at the end of the axis, of half of the motor's range; negative for the other way",
        subtype="PERCENTAGE",
        min=-100.0,
        max=100.0,
        default=30.0,
        precision=0,
    )
    minus: StringProperty(name="Key Down", description=KEY, maxlen=1)
    plus: StringProperty(name="Key Up", description=KEY, maxlen=1)
    osc: StringProperty(
        name="OSC Address", description="Messages to this address, such as /look, put it somewhere from -1 to 1"
    )
    axis: EnumProperty(name="Gamepad", description="A stick of a gamepad that moves it", items=AXES)


class RobikPerformance(PropertyGroup):
    """Settings of a performance."""

    idle: PointerProperty(
        name="Idle",
        description="What the robot does all the time, over and over: one of its bakes; empty to stand",
        type=Action,
        poll=can_be_example,
    )
    fade: FloatProperty(
        name="Fade",
        description="How long a clip takes to come in and to go",
        default=0.3,
        min=0.02,
        max=10.0,
        soft_max=2.0,
        unit="TIME_ABSOLUTE",
        subtype="TIME_ABSOLUTE",
    )
    triggers: CollectionProperty(type=RobikTrigger)
    chosen_trigger: IntProperty(name="Trigger", min=0)
    sticks: CollectionProperty(type=RobikStick)
    chosen_stick: IntProperty(name="Stick", translation_context=OWN, min=0)
    osc_port: StringProperty(
        name="OSC Port",
        description=(
            "The UDP port at which messages of OSC are heard while the robot performs, such as 9000; empty for none."
            " From this computer alone, unless it names another address: 0.0.0.0:9000 hears everyone on the network"
        ),
    )
    vmc_port: StringProperty(
        name="VMC Port",
        description=(
            "The UDP port at which bodies are heard by VMC. From this computer alone, unless it names another address:"
            " 0.0.0.0:39539 hears everyone on the network"
        ),
        default="39539",
    )


CLASSES = (RobikTrigger, RobikStick, RobikPerformance)
