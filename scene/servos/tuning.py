"""Tuning of servos: gains and profiles as the scene's chain keeps them, which connected servos get at once.

Fields and undo change the chain alone; `tick` then tells the servos, from Blender's main loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import degrees
from time import monotonic
from typing import Any

from bpy.types import Object, PropertyGroup, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.servo.chain.chain import TUNED, ServoChain
from ...robik.servo.chain.file import chain_text
from ...robik.servo.chain.servo import Servo
from ...robik.servo.chain.tuning import Tuning
from ...robik.servo.play.player import Player
from ...robik.servo.port.status import PlayState
from ...robik.servo.setup import setup as chain_setup
from ...robik.servo.setup.nudge import quick_nudge
from ..robot.chain import servo_chain
from ..robot.parts import chosen_robot
from ..robot.reading import read_moving_parts
from ..robot.sliders import slides
from . import live_graph, play

MOMENT = 0.5  # [s] for which a chain is known: a drawing asks for each of its fields, more than once
STANDING = (PlayState.READY, PlayState.HOLDING)
_known: tuple[tuple[object, ...], float, ServoChain | None] = ((), 0.0, None)
_followed: tuple[object, ...] = ()  # what the servos were told of last
_refused = ""


def refused() -> str:
    """Return why the latest edit changed nothing, or a servo did not take it; empty if all is as it should be."""
    return _refused or play.status().untuned


def chain(scene: Scene) -> ServoChain | None:
    """Return the chain of the scene's robot; None where there is none."""
    global _known
    robot = scene.robik.robot
    asked = (scene.name, robot and robot.name, scene.robik.servos, scene.robik.playing.chain)
    if _known[0] != asked or monotonic() - _known[1] > MOMENT:
        _known = asked, monotonic(), _read(scene)
    return _known[2]


def _read(scene: Scene) -> ServoChain | None:
    try:
        root = chosen_robot(scene)
        return servo_chain(root, read_moving_parts(root), scene)
    except RobikError:  # the panel says why
        return None


def servo(scene: Scene) -> Servo | None:
    """Return the servo that is tuned: the chosen one, else the first; None without a chain."""
    listed, chosen = chain(scene), scene.robik.playing.tuning.chosen
    if listed is None:
        return None
    return next((one for one in listed.servos if one.id == chosen), listed.servos[0])


def measured(one: Servo) -> Tuning:
    """Return what a servo has: as read back where it is connected, else as the chain asks for, else the factory's."""
    player = play.player()
    read: dict[int, Tuning] = {}
    if player is not None and player.is_open and one.tuning == _asked(player, one):
        read = dict(zip(player.chain.ids, player.status.tunings, strict=False))
    gains = one.datasheet.gains
    layers = [read.get(one.id, Tuning()), one.tuning, Tuning(*(each.factory for each in gains)) if gains else Tuning()]
    return Tuning(*(next((value for value in entry if value is not None), None) for entry in zip(*layers, strict=True)))


def _asked(player: Player, one: Servo) -> Tuning | None:
    """Return what a player asks of a servo; None where it has another one there."""
    same = (mine for mine in player.chain.servos if (mine.id, mine.model) == (one.id, one.model))
    return next((mine.tuning for mine in same), None)


def edit(scene: Scene, **entries: Any) -> None:
    """Edit the chosen servo's entries in the chain, which stays connected.

    An edit that the chain refuses changes nothing; a setter cannot raise, so the panel says why.
    """
    global _refused
    one, listed = servo(scene), chain(scene)
    if one is None or listed is None:
        return
    try:
        _keep(scene, chain_setup.edited(listed, one.id, **entries))
        _refused = ""
    except RobikError as error:
        _refused = str(error)


def give_to_all(scene: Scene) -> int:
    """Give the chosen servo's tuning to all servos of its model, and return how many these are.

    Raise ServoError if there is no servo, or one of them cannot have it.
    """
    one, listed = servo(scene), chain(scene)
    if one is None or listed is None:
        raise ServoError("the robot has no servos; choose a servo file, or give its motors servos under Chain")
    entries: dict[str, Any] = {name: getattr(one, name) for name in TUNED}
    alike = [k for k, each in enumerate(listed.servos) if (each.model, each.brand) == (one.model, one.brand)]
    servos = [replace(each, **entries) if k in alike else each for k, each in enumerate(listed.servos)]
    _keep(scene, replace(listed, servos=tuple(servos)))
    return len(alike)


def _keep(scene: Scene, made: ServoChain) -> None:
    """Keep this chain as the scene's, as `setup.keep` does, with the servos connected as they are."""
    scene.robik.servos, scene.robik.playing.chain = "", chain_text(made)


# fields, in what is shown


def scene_of(group: PropertyGroup) -> Scene:
    """Return the scene that fields belong to."""
    scene: Scene = group.id_data  # type: ignore[assignment]
    return scene


def entry(name: str, k: int) -> dict[str, Callable[..., Any]]:
    """Get and set a gain."""

    def get(group: PropertyGroup) -> int:
        one = servo(scene_of(group))
        return (measured(one)[k] if one else None) or 0

    return {"get": get, "set": lambda group, value: edit(scene_of(group), **{name: value})}


def get_acceleration(group: PropertyGroup) -> float:
    """Return the acceleration of the chosen servo's profile in degrees or millimetres per s²; 0 for none."""
    scene = scene_of(group)
    if (one := servo(scene)) is None:
        return 0.0
    units = measured(one).acceleration or 0
    return units * one.datasheet.acceleration_unit / one.gear_ratio * shown_per_unit(scene, one)


def set_acceleration(group: PropertyGroup, value: float) -> None:
    """Set it."""
    scene = scene_of(group)
    if one := servo(scene):
        edit(scene, profile_acceleration=value / shown_per_unit(scene, one) or None)


def shown_per_unit(scene: Scene, one: Servo) -> float:
    """Return degrees per rad, or millimetres per m."""
    root: Object | None = scene.robik.robot
    return 1e3 if root is not None and slides(root, one.actuator) else degrees(1.0)


# connected servos


def tick(scene: Scene) -> None:
    """Do one turn of Blender's main loop: tell connected servos what changed, and show how the chosen one follows."""
    player = play.player()
    if player is None or not player.is_open:
        live_graph.hide()
        return
    _tell(scene, player)
    one = servo(scene) if scene.robik.playing.tuning.graph else None
    live_graph.follow(player, one, shown_per_unit(scene, one) if one else 1.0)


def _tell(scene: Scene, player: Player) -> None:
    """Tune the servos whose tuning in the chain is another than the player asks for, once they stand."""
    global _followed
    now = (id(player), scene.robik.servos, scene.robik.playing.chain)
    if now == _followed or player.status.state not in STANDING:
        return
    for one in listed.servos if (listed := chain(scene)) else ():
        asked = _asked(player, one)
        if asked is not None and asked != one.tuning:
            player.tune(one)
    _followed = now


def nudge(scene: Scene) -> None:
    """Move the chosen servo's motor a small way and back, as quickly as its limits let it.

    Raise ServoError if the servos do not hold, or it has no room.
    """
    player, one = play.connected(), servo(scene)
    if one is None:
        raise ServoError("the robot has no servos; choose a servo file, or give its motors servos under Chain")
    play.play_from(None)
    player.play(
        quick_nudge(player.chain, play.held_pose(), one.actuator, scene.robik.playing.tuning.nudge / one.gear_ratio)
    )
