"""Settings of the bake, and of following live."""

from collections.abc import Callable

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import Action, Collection, Context, PropertyGroup

from ...robik.objectives.pose_prior import WEIGHT
from ...robik.objectives.settings import Settings
from ...translations import OWN
from .by_tens import steps_of
from .example import can_be_example
from .follow import wake

USUAL_SPEED = 5.0  # rad/s of a motor, from which its own limits would follow as below


def _follow_changed(_group: PropertyGroup, _context: Context) -> None:
    wake()


class RobikFollow(PropertyGroup):
    """Settings of Follow Live."""

    on: BoolProperty(
        name="Follow Live",
        description=(
            "The robot follows its targets at once, while you drag or play them; a bake is not needed, nor made"
        ),
        update=_follow_changed,
    )
    tracker: EnumProperty(
        name="Tracker",
        description="How the robot follows live",
        items=(
            ("STATE", "At Once", "Is where the bake would put it, at once, however fast the motors would have to turn"),
            (
                "DIFFERENTIAL",
                "Motor Speeds",
                "Moves as its motors can: never faster, never jerkier; lags behind what is too quick for it",
            ),
        ),
    )


def _switch_of(limit: str, usual: float) -> dict[str, Callable]:
    """Return a switch of a limit that is 0 while the motors' own counts; set, the limit begins with what is usual."""

    def is_own(bake: PropertyGroup) -> bool:
        return bool(getattr(bake, limit))

    def set_own(bake: PropertyGroup, on: bool) -> None:
        setattr(bake, limit, usual if on else 0.0)

    return {"get": is_own, "set": set_own}


class RobikBake(PropertyGroup):
    """Settings of the bake."""

    obstacles: PointerProperty(
        name="Obstacles",
        description="The robot is kept out of the meshes of this collection, whether they move or not; also out of"
        " another robot in it",
        type=Collection,
    )
    use_range: BoolProperty(name="Own Range", description="Bake these frames instead of the scene's frame range")
    start: IntProperty(name="Start", description="First frame to bake", default=1)
    end: IntProperty(name="End", description="Last frame to bake", default=250)
    blend: IntProperty(
        name="Blend",
        description=(
            "Frames at both ends of an own range over which targets lead out of the bake before and back into it; more"
            " of them turn the motors more slowly"
        ),
        min=0,
        soft_max=50,
        default=5,
    )
    samples: IntProperty(
        name="Samples per Frame",
        description="How often the motion is solved and keyed within each frame",
        min=1,
        max=100,
        default=1,
    )
    enforce_velocity: BoolProperty(
        name="Keep Motor Speeds",
        description="Never turn a motor faster than it can: the robot lags behind what is too quick for it",
        default=True,
    )
    velocity_share: FloatProperty(
        name="Motor Speed",
        description="How much of each motor's speed the motion may use",
        subtype="PERCENTAGE",
        min=1.0,
        max=100.0,
        default=100.0,
        precision=0,
    )
    hold: FloatProperty(
        name="Least Hold",
        description=(
            "Stay away from poses in which the motors lose hold of a loop, as where two forearms are in line; 0 allows"
            " them. Play in a joint is at most 1 / this as large at the bodies as at the motors"
        ),
        min=0.0,
        max=0.9,
        soft_max=0.2,
        step=1,
        precision=2,
        default=Settings().hold,
    )
    look_ahead: BoolProperty(
        name="Look Ahead",
        translation_context=OWN,
        description=(
            "Solve all frames at once: a motor leaves earlier and slows down before it must, so that the robot comes"
            " nearer to its targets at the same speeds, and never jerks"
        ),
        default=True,
    )
    own_acceleration: BoolProperty(
        name="Own Acceleration",
        description=(
            "Set the largest acceleration of each motor. Else it is as their servos keep it, or as much as brings them"
            " to their speed in 0.05 s"
        ),
        **_switch_of("acceleration", USUAL_SPEED / 0.05),
    )
    acceleration: FloatProperty(
        name="Acceleration",
        description="Largest of each motor, per s²; where it slides, 57.3° stand for the robot's size",
        unit="ROTATION",
        min=0.0,
        soft_max=500.0,
        precision=0,
    )
    own_jerk: BoolProperty(
        name="Own Jerk",
        description=(
            "Set the largest jerk of each motor. Else it is as much as brings them to their acceleration in 0.02 s"
        ),
        **_switch_of("jerk", USUAL_SPEED / 0.05 / 0.02),
    )
    jerk: FloatProperty(
        name="Jerk",
        description="Largest of each motor, per s³; where it slides, 57.3° stand for the robot's size",
        unit="ROTATION",
        min=0.0,
        soft_max=20000.0,
        precision=0,
    )
    torque: BoolProperty(
        name="Keep Torques",
        description=(
            "Look Ahead: no motor needs more torque than the effort limits of the robot's joints; what cannot be kept"
            " is told with the motor and the frame"
        ),
    )
    zero_moment: BoolProperty(
        name="Avoid Tipping",
        description=(
            "Look Ahead: the point where the ground's force acts stays inside the feet that stand, by the margin of"
            " Balance; what cannot be kept is told with the time. Takes longer"
        ),
    )
    catch_up: FloatProperty(
        name="Catch Up",
        description="Slow Down: how much faster than before it may be after a delay, until it is back on the beat",
        subtype="PERCENTAGE",
        min=0.0,
        max=100.0,
        default=0.0,
        precision=0,
    )
    cyclic: BoolProperty(
        name="Cyclic",
        translation_context=OWN,
        description="The last frame is the first: the motion plays in a loop without a seam",
    )
    soften: BoolProperty(
        name="Soften",
        translation_context=OWN,
        description=(
            "Hold back what turns faster than that share of the slowest motor's speed: smoother, but no promise"
        ),
    )
    velocity_limit: FloatProperty(
        name="Soften Above",
        description=(
            "For a robot whose motors' speeds are unknown: above this speed of turning a body is held back, per second"
        ),
        unit="ROTATION",
        min=0.01,
        default=5.0,
        soft_max=50.0,
    )
    velocity_weight: FloatProperty(
        name="Softening", description="How strongly speed is held back", min=0.0, default=1e-2, precision=5
    )
    stillness: FloatProperty(
        name="Stillness",
        description=(
            "How strongly the robot keeps its pose where the targets leave it free; each step is ten times as strong"
        ),
        min=0.0,
        soft_max=8.0,
        default=steps_of(Settings().stillness),
        precision=1,
    )
    posture: FloatProperty(
        name="Rest Pose",
        description=(
            "How strongly motors go back to their rest pose where the targets leave them free; each step is ten times"
            " as strong, and costs the targets ten times as much"
        ),
        min=0.0,
        soft_max=8.0,
        default=steps_of(Settings().posture),
        precision=1,
    )
    example: PointerProperty(
        name="Poses Like",
        description=(
            "A motion of this robot, such as an earlier bake: where the targets leave a choice, the robot takes poses"
            " like its"
        ),
        type=Action,
        poll=can_be_example,
    )
    likeness: FloatProperty(
        name="Likeness",
        description=(
            "How strongly the robot takes poses like the example's; each step is ten times as strong, "
            "and costs the targets ten times as much"
        ),
        min=0.0,
        soft_max=8.0,
        default=steps_of(WEIGHT),
        precision=1,
    )
    keep_apart: BoolProperty(
        name="Keep Apart", description="Keep the robot's bodies out of each other, by the meshes shown", default=True
    )
    keep: IntProperty(
        name="Keep Bakes",
        description="How many bakes are kept; then the oldest goes, unless it was given a name or moves the robot",
        default=20,
        min=1,
    )
    corrections: BoolProperty(
        name="Keep Corrections",
        description="Add what was changed by hand on the bake that moves the robot now, a layer that the next keeps",
        default=True,
    )
    joint_limits: BoolProperty(name="Joint Limits", description="Keep every joint within its limits", default=True)


CLASSES = (RobikFollow, RobikBake)
