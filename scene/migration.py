"""Robots that earlier versions of RobIK have saved, brought up to date: each format from the one before."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Object, PropertyGroup

from ..robik.errors import RobikError
from .animation import actions
from .bake import bakes
from .bake.by_tens import steps_of
from .balance.contacts import parse_phases, set_rows
from .robot.saved_format import FORMAT


def bring_up_to_date(root: Object) -> None:
    """Turn what an earlier version kept with a robot into what this one expects.

    A linked robot is left to its own file.
    """
    robot = root.robik.robot
    if robot.format >= FORMAT or not root.is_editable:
        return
    if robot.format < 2:
        _from_first(root)
    if robot.format < 3:
        _from_second(root)
    if robot.format < 4:
        _from_third(root)
    _from_fourth(root)
    robot.format = FORMAT


def _from_first(root: Object) -> None:
    """Format 2 lists the phases of feet, and keeps every bake."""
    for target in root.robik.robot.character.targets:
        text = _stored(target, "phases")
        if text and target.contact == "HAND":
            with suppress(RobikError):  # which it said at every bake
                set_rows(target, parse_phases(text, "phases"))
    if bakes.in_use(root) < 0 and actions.assigned(root)[0] is not None:
        bakes.record(root, actions.assigned(root)[0].name)
        bakes.keep_result(root)


def _from_second(root: Object) -> None:
    """Format 3 names the switch that keeps motor speeds as the library does: `enforce_velocity`, before `guarantee`."""
    bake = root.robik.robot.bake
    if (kept := _stored(bake, "guarantee")) is not None:
        bake.enforce_velocity = bool(kept)


def _from_third(root: Object) -> None:
    """Format 4 has one choice of balance, on by default, for what the centre of mass follows and at which pace."""
    balance = root.robik.robot.balance
    source, pace = _stored(balance, "source") or 0, _stored(balance, "pace") or 0
    balance.mode = ("OFF", ("AUTO", "STILL", "MOVING")[pace], "OBJECT")[source]
    balance.pin_feet = bool(_stored(balance, "pin_feet"))


def _from_fourth(root: Object) -> None:
    """Format 5 has one name for a setting, that of the library; sliders by tens hold their steps.

    Follow Live has two trackers.
    """
    bake = root.robik.robot.bake
    if (share := _stored(bake, "speed")) is not None:
        bake.velocity_share = share
    for name, weight in (("stillness", "still"), ("posture", "posture"), ("likeness", "example_weight")):
        if (kept := _stored(bake, weight)) is not None:
            setattr(bake, name, steps_of(kept))
    follow = root.robik.robot.follow
    if _stored(follow, "tracker") == 2:  # Springy, which only the library has now: this one lags behind as it did
        follow.tracker = "DIFFERENTIAL"


def _stored(group: PropertyGroup, name: str) -> Any:
    """Return what a file holds of a property, also of one that no longer exists; None where it was left alone."""
    # Since Blender 5.0, values of properties are kept apart from a user's own.
    stored = group.bl_system_properties_get() if hasattr(group, "bl_system_properties_get") else group
    return None if stored is None else stored.get(name)


def _bring_all() -> None:
    for candidate in bpy.data.objects:
        if candidate.robik.kind == "ROBOT":
            bring_up_to_date(candidate)


@persistent
def _after_load(_file: str) -> None:
    _bring_all()


@persistent
def _after_import(_context: object) -> None:
    _bring_all()


def register() -> None:
    """From now on files are brought up to date when they are opened, and robots when they are appended."""
    bpy.app.handlers.load_post.append(_after_load)
    if hasattr(bpy.app.handlers, "blend_import_post"):  # since Blender 4.3; before, a bake sees to it
        bpy.app.handlers.blend_import_post.append(_after_import)


def unregister() -> None:
    """In reverse."""
    bpy.app.handlers.load_post.remove(_after_load)
    if hasattr(bpy.app.handlers, "blend_import_post"):
        bpy.app.handlers.blend_import_post.remove(_after_import)
