"""Properties that RobIK adds to objects and scenes, under `robik`. No logic beyond validation."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup

from ..robik.mechanism.model import TOLERANCE
from .bake import kept_result, physics_settings
from .bake import settings as bake_settings
from .bake.kept_result import RobikKeptBake, RobikMarker, RobikResult
from .bake.physics_settings import RobikPhysics
from .bake.settings import RobikBake, RobikFollow
from .balance import settings as balance_settings
from .balance.settings import RobikBalance
from .character import settings as character_settings
from .character.settings import RobikCharacter
from .importing import options
from .importing.options import RobikImport
from .overlay import settings as overlay_settings
from .overlay.settings import RobikOverlays
from .robot import properties as robot_properties
from .robot.properties import OVERRIDABLE, RobikBody, RobikCoupling, RobikJoint, RobikVisual
from .servos import ports as servo_ports
from .servos import settings as servo_settings
from .servos.settings import RobikPlaying
from .show import settings as show_settings
from .show.settings import RobikPerformance

KINDS = (
    ("NONE", "None", "Not a part of a robot"),
    ("ROBOT", "Robot", "The root of a robot"),
    ("BODY", "Body", "A rigid body"),
    ("VISUAL", "Visual", "Something to see of a body"),
    ("JOINT", "Joint", "Ties two bodies together"),
    ("FRAME", "Frame", "A place on a body that can follow a target"),
)


class RobikRobot(PropertyGroup):
    """Properties of a robot's root."""

    format: IntProperty(
        name="Format", description="Of what RobIK keeps with the robot: which version of RobIK has written it last"
    )
    identity: StringProperty(name="Identity", description="Tells a robot from its copies", options={"HIDDEN"})
    source: StringProperty(name="File", description="The file that the robot was imported from", subtype="FILE_PATH")
    tolerance: FloatProperty(
        name="Tolerance",
        description=(
            "Of manufacturing, in sizes of the robot: a linkage that moves only by exact numbers, as a parallelogram"
            " does, may be off by this and still move"
        ),
        default=TOLERANCE,
        min=0.0,
        max=1e-2,
        step=1e-3,
        precision=6,
    )
    rounding: FloatProperty(name="Rounding", description="Of the file's numbers, taken up in the joints", unit="LENGTH")
    diagnosis: StringProperty(name="Diagnosis", description="What the last diagnosis found, a sentence a line")
    report: StringProperty(name="Report", description="What the import found and decided, a sentence a line")
    warnings: StringProperty(
        name="Warnings", description="What of the file was read otherwise or could not be used, a sentence a line"
    )
    importing: PointerProperty(type=RobikImport)
    couplings: CollectionProperty(type=RobikCoupling)
    character: PointerProperty(type=RobikCharacter)
    balance: PointerProperty(type=RobikBalance)
    bake: PointerProperty(type=RobikBake)
    follow: PointerProperty(type=RobikFollow)
    physics: PointerProperty(type=RobikPhysics)
    result: PointerProperty(type=RobikResult)
    bakes: CollectionProperty(type=RobikKeptBake)
    chosen_bake: IntProperty(name="Bake", min=0)
    performance: PointerProperty(type=RobikPerformance)


class RobikObject(PropertyGroup):
    """Role of an object in a robot."""

    kind: EnumProperty(name="Part", items=KINDS)
    label: StringProperty(name="Name", description="The part's name in the robot; the object's own name may differ")
    is_foot: BoolProperty(name="Foot", description="Whether the robot can stand on this frame")
    by_hand: BoolProperty(
        name="By Hand", description="Made in Blender, not read from the robot's file, so reading that again keeps it"
    )
    order: IntProperty(name="Order", description="Place among the robot's parts of its kind", min=0)
    robot: PointerProperty(type=RobikRobot)
    body: PointerProperty(type=RobikBody)
    visual: PointerProperty(type=RobikVisual)
    joint: PointerProperty(type=RobikJoint, override=OVERRIDABLE)


def _is_robot(_group: PropertyGroup, candidate: Object) -> bool:
    return candidate.robik.kind == "ROBOT"


class RobikScene(PropertyGroup):
    """Properties of a scene."""

    robot: PointerProperty(name="Robot", description="The robot that the panels work on", type=Object, poll=_is_robot)
    importing: PointerProperty(type=RobikImport)
    servos: StringProperty(
        name="Servos", description="The file that says which servo drives which motor", subtype="FILE_PATH"
    )
    overlays: PointerProperty(type=RobikOverlays)
    markers: CollectionProperty(type=RobikMarker)
    port: StringProperty(
        name="Port",
        description="The serial port of the servos, the address of a program that has it, such as"
        " reachy:localhost:8000 for Reachy Mini's daemon, or sim for simulated servos",
        default="sim",
        search=servo_ports.suggested,
        search_options={"SUGGESTION"},
    )
    playing: PointerProperty(type=RobikPlaying)


FEATURES = (
    kept_result,
    options,
    character_settings,
    balance_settings,
    physics_settings,
    bake_settings,
    overlay_settings,
    servo_settings,
    show_settings,
    robot_properties,
)
CLASSES = (*(cls for feature in FEATURES for cls in feature.CLASSES), RobikRobot, RobikObject, RobikScene)


def _allow_overrides() -> None:
    """Let every property be changed in a library override, and rows be added.

    Else a file that is opened again has the library's values.
    """
    for cls in CLASSES:
        for declared in (each for each in cls.__annotations__.values() if "get" not in each.keywords):
            rows = declared.function is CollectionProperty
            declared.keywords["override"] = {*OVERRIDABLE, "USE_INSERTION"} if rows else OVERRIDABLE


def register() -> None:
    """Add `robik` to objects and scenes."""
    _allow_overrides()
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.robik = PointerProperty(type=RobikObject, override=OVERRIDABLE)
    bpy.types.Scene.robik = PointerProperty(type=RobikScene)


def unregister() -> None:
    """Take `robik` away again; the data stays in the file."""
    del bpy.types.Scene.robik, bpy.types.Object.robik
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
