"""Fields of the panel *Tuning*. Gains keep nothing: they read the robot's chain, and edit it."""

import math

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Context, PropertyGroup

from ...translations import OWN
from . import tuning

_listed: list[tuple[str, str, str, int]] = []  # Blender keeps no copy of the texts


def _servos(group: PropertyGroup, context: Context | None) -> list[tuple[str, str, str, int]]:
    chain = tuning.chain(tuning.scene_of(group))
    listed = [(str(s.id), f"{s.id} {s.actuator}", s.model, s.id) for s in chain.servos] if chain else []
    if listed != _listed:
        _listed[:] = listed
    return _listed


def _chosen(group: PropertyGroup) -> int:
    servo = tuning.servo(tuning.scene_of(group))
    return -1 if servo is None else servo.id


class RobikTuning(PropertyGroup):
    """Gains and profile of one servo, and how it is looked at."""

    chosen: IntProperty(name="Servo", description="Id of the servo that is tuned; -1 for the first", default=-1)
    servo: EnumProperty(
        name="Servo",
        translation_context=OWN,
        description="Whose gains are shown, and whom the graph follows",
        items=_servos,
        get=_chosen,
        set=lambda group, id: setattr(group, "chosen", id),
    )
    p: IntProperty(
        name="P Gain",
        description="How strongly it goes to its goal: higher is stiffer and more exact, until it shakes or hums",
        min=1,
        max=16383,
        soft_max=3000,
        **tuning.entry("p_gain", 0),
    )
    i: IntProperty(
        name="I Gain",
        description="How strongly it works off an error that stays, as under a weight; too high, and it swings slowly",
        min=0,
        max=16383,
        soft_max=3000,
        **tuning.entry("i_gain", 1),
    )
    d: IntProperty(
        name="D Gain",
        description="How strongly it brakes: higher overshoots less, until it hums",
        min=0,
        max=16383,
        soft_max=8000,
        **tuning.entry("d_gain", 2),
    )
    acceleration: FloatProperty(
        name="Acceleration",
        description=(
            "With which the servo itself goes to each goal, in degrees or mm per s²: lower is softer, and later; 0 for"
            " no such limit. The fastest speed is Chain's"
        ),
        min=0.0,
        soft_max=10_000.0,
        precision=0,
        get=tuning.get_acceleration,
        set=tuning.set_acceleration,
    )
    graph: BoolProperty(
        name="Live Graph",
        description="Draw goal, position and current of this servo over the last 5 s at the foot of the 3D view",
    )
    nudge: FloatProperty(
        name="Nudge By",
        description="How far Nudge turns the servo's horn",
        default=math.radians(5.0),
        min=math.radians(0.5),
        max=math.radians(20.0),
        subtype="ANGLE",
    )
