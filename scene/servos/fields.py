"""The fields of the servo that the panel *Chain* has unfolded.

They keep nothing: they read the robot's chain, and edit it.
"""

from collections.abc import Callable
from math import degrees
from time import monotonic
from typing import Any

from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup, Scene

from ...robik.errors import RobikError
from ...robik.servo.brands.registry import BRANDS, brand_of
from ...robik.servo.chain.servo import Servo
from ...translations import OWN
from ..robot.chain import servo_chain
from ..robot.parts import chosen_robot
from ..robot.reading import read_moving_parts
from ..robot.sliders import slides
from . import setup as servo_setup

MOMENT = 0.1  # [s] for which a servo is known: a drawing asks for each of its fields, more than once
NOBODY = Servo("nobody", 0)
TURNS, SLIDES = degrees(1.0), 1e3  # what is shown, degrees or millimetres, per rad or m
_known: tuple[tuple[object, ...], float, tuple[Servo, float]] = ((), 0.0, (NOBODY, TURNS))
_refused = ""
_models = [(brand, model) for brand in BRANDS.values() for model in brand.playable]


def refused() -> str:
    """Return why the latest edit changed nothing; empty if it did what it should."""
    return _refused


def choose(scene: Scene, id: int) -> None:
    """Unfold a servo; the one that is unfolded already is folded away."""
    global _refused
    _refused, playing = "", scene.robik.playing
    playing.chosen = -1 if playing.chosen == id else id


def _servo(scene: Scene) -> Servo:
    return _servo_and_scale(scene)[0]


def _scale(scene: Scene) -> float:
    return _servo_and_scale(scene)[1]


def _servo_and_scale(scene: Scene) -> tuple[Servo, float]:
    global _known
    playing, robot = scene.robik.playing, scene.robik.robot
    asked = (scene.name, robot and robot.name, scene.robik.servos, playing.chain, playing.chosen)
    if _known[0] != asked or monotonic() - _known[1] > MOMENT:
        _known = asked, monotonic(), _read(scene)
    return _known[2]


def _read(scene: Scene) -> tuple[Servo, float]:
    try:
        root = chosen_robot(scene)
        chain = servo_chain(root, read_moving_parts(root), scene)
    except RobikError:
        return NOBODY, TURNS  # the panel says why
    servo = next((servo for servo in chain.servos if servo.id == scene.robik.playing.chosen), NOBODY)
    return servo, SLIDES if slides(root, servo.actuator) else TURNS


def _edit(scene: Scene, **entries: Any) -> None:
    """Edit the chain; an edit that it refuses changes nothing.

    A setter cannot raise, so the panel says why.
    """
    global _refused
    try:
        servo_setup.edit(scene, chosen_robot(scene), scene.robik.playing.chosen, **entries)
        scene.robik.playing.chosen = entries.get("id", scene.robik.playing.chosen)
        _refused = ""
    except RobikError as error:
        _refused = str(error)


def _entry(name: str) -> dict[str, Callable[..., Any]]:
    """Get and set an entry as it is."""
    return {
        "get": lambda group: getattr(_servo(group.id_data), name),
        "set": lambda group, value: _edit(group.id_data, **{name: value}),
    }


def _rate(name: str) -> dict[str, Callable[..., Any]]:
    """Get and sets a limit in what is shown."""
    return {
        "get": lambda group: getattr(_servo(group.id_data), name) * _scale(group.id_data),
        "set": lambda group, value: _edit(group.id_data, **{name: value / _scale(group.id_data)}),
    }


def _end(k: int) -> dict[str, Callable[..., Any]]:
    """Get and sets an end of the positions in what is shown."""

    def put(group: PropertyGroup, value: float) -> None:
        scene: Scene = group.id_data  # type: ignore[assignment]
        ends = list(_servo(scene).position_limits)
        ends[k] = value / _scale(scene)
        _edit(scene, position_limits=tuple(ends))

    return {"get": lambda group: _servo(group.id_data).position_limits[k] * _scale(group.id_data), "set": put}


class RobikServo(PropertyGroup):
    """Degrees or millimetres. A change lets go of connected servos."""

    id: IntProperty(name="Id", description="On the bus, as the servo knows itself, 0 to 252", **_entry("id"))
    model: EnumProperty(
        name="Model",
        items=[(model, model, brand.title) for brand, model in _models],
        get=lambda group: _models.index((brand_of(_servo(group.id_data).brand), _servo(group.id_data).model)),
        set=lambda group, k: _edit(group.id_data, brand=_models[k][0].name, model=_models[k][1]),
    )
    port: StringProperty(
        name="Port",
        description="That the servo is on, where the robot has several; empty for the one that is played on",
        **_entry("port"),
    )
    zero: IntProperty(
        name="Zero", description="Counts at which the motor is at 0; Zero Here finds them", **_entry("zero")
    )
    gear_ratio: FloatProperty(
        name="Gear Ratio",
        description="Turns of the servo per turn of the motor; rad/m where it slides",
        precision=4,
        **_entry("gear_ratio"),
    )
    lowest: FloatProperty(
        name="From", description="Lowest position of the motor; of both its servos", precision=1, **_end(0)
    )
    highest: FloatProperty(
        name="To", description="Highest position of the motor; of both its servos", precision=1, **_end(1)
    )
    speed: FloatProperty(
        name="Speed",
        description="Highest speed of the motor; of both its servos",
        precision=1,
        **_rate("velocity_limit"),
    )
    acceleration: FloatProperty(
        name="Acceleration",
        description="Highest acceleration of the motor; of both its servos",
        precision=0,
        **_rate("acceleration_limit"),
    )
    current: FloatProperty(
        name="Current",
        translation_context=OWN,
        description="What the servo may draw for longer [A], below its own limit; 0 for its own",
        precision=2,
        get=lambda group: _servo(group.id_data).current_limit or 0.0,
        set=lambda group, value: _edit(group.id_data, current_limit=value or None),
    )
