"""Settings of playing a scene's motion on servos. No logic."""

import math

from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import PropertyGroup

from ...translations import OWN
from .fields import RobikServo
from .ports import suggested
from .tuning_fields import RobikTuning


class RobikPlaying(PropertyGroup):
    """Settings of playing."""

    loop: BoolProperty(
        name="Loop", description="Play over and over until it is stopped; at the end the robot goes back to the start"
    )
    use_range: BoolProperty(
        name="Preview Range",
        description="Play only the timeline's preview range, where it has one, instead of the whole bake",
    )
    speed: FloatProperty(
        name="Speed",
        description="1 plays in the animation's own time, 2 twice as fast",
        default=1.0,
        min=0.05,
        max=4.0,
        soft_max=2.0,
    )
    rate: IntProperty(
        name="Rate",
        translation_context=OWN,
        description="Goals per second; more of them follow fast motions more smoothly and need a faster bus",
        default=100,
        min=50,
        max=1000,
    )
    soften: BoolProperty(
        name="Soften",
        translation_context=OWN,
        description=(
            "Round the motion off where it asks for more than the motors' limits of position, speed and acceleration"
            " allow, and go slowly to its start from wherever the robot stands; without this such a motion, or a start"
            " far away, is refused"
        ),
    )
    lose_hold: BoolProperty(
        name="Play Without Hold",
        description=(
            "Play on where the motors lose hold of the robot, so that it may come to another pose than the bake's;"
            " without this such a motion is refused"
        ),
    )
    stall: FloatProperty(
        name="Bear Stalls",
        description="The servos play on while Blender does nothing for this long, as while it imports a file; "
        "after that they slow down along the motion and hold",
        default=1.0,
        min=0.2,
        max=60.0,
        soft_max=5.0,
        unit="TIME_ABSOLUTE",
        subtype="TIME_ABSOLUTE",
    )
    feed_forward: BoolProperty(
        name="Send Speeds",
        description="Tell the servos with each goal how fast to go there, which makes slow motions smoother",
    )
    without: StringProperty(
        name="Play Without",
        description=(
            "Ids of servos to play without, such as 3, 7. Any other servo of the chain that does not answer is refused"
        ),
    )
    dead_man: BoolProperty(
        name="While D Is Held",
        description="When following live: the robot comes to a stand whenever the key D is not held",
    )
    mirror: BoolProperty(
        name="Real Pose",
        description="The robot in the view takes the pose of the real one, while that does not play or follow",
    )
    ghost: BoolProperty(
        name="Ghost",
        description="Show in blue where the real robot is, beside the robot that the sliders pose",
        default=True,
    )
    hand_tolerance: FloatProperty(
        name="Tolerance",
        description="How far the keys of a recording by hand may be from it, at the servos; 0 keys every sample",
        default=math.radians(0.5),
        min=0.0,
        max=math.radians(10.0),
        subtype="ANGLE",
    )
    hand_poses: BoolProperty(
        name="Poses Only",
        description=(
            "Record only the poses in which the robot is held still for a moment (0.4 s), as keys with smooth ways"
            " between them"
        ),
    )
    leader_port: StringProperty(
        name="Port",
        description="The serial port of a second robot, which is moved by hand, or a program that has it",
        search=suggested,
        search_options={"SUGGESTION"},
    )
    leader_servos: StringProperty(
        name="Servo File",
        description="Which of the second robot's servos turns which motor; left out, as the robot's own",
        subtype="FILE_PATH",
    )
    record: StringProperty(
        name="Telemetry",
        description="A CSV file that gets positions, loads, temperatures and voltages while it plays",
        subtype="FILE_PATH",
    )
    chain: StringProperty(
        name="Chain", description="Which servo turns which motor, as this scene keeps it, in the form of a servo file"
    )
    chosen: IntProperty(name="Servo", description="Id of the servo whose fields are shown; -1 for none", default=-1)
    servo: PointerProperty(type=RobikServo)
    tuning: PointerProperty(type=RobikTuning)


CLASSES = (RobikServo, RobikTuning, RobikPlaying)
