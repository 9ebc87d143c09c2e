"""Sources of an object's motion: the F-curves, strips and drivers that Blender evaluates, and those it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpy.types import Action, FCurve, NlaStrip, Object

from . import actions
from .actions import SLOTS, Channel


def curves_at_work(target: Object) -> dict[Channel, FCurve]:
    """Return the curves of an object's action that Blender evaluates, by data path and index."""
    if any(track.is_solo for track in tracks_at_work(target)):
        return {}
    return {channel: curve for channel, curve in actions.curves_of(target).items() if is_at_work(curve)}


def is_at_work(curve: FCurve) -> bool:
    """Return whether Blender evaluates a curve of an action in use, as far as the curve itself says."""
    return curve.is_valid and not curve.is_empty and not curve.mute


def tracks_at_work(target: Object) -> list:
    """Return the tracks of an object's NLA that Blender evaluates."""
    data = target.animation_data
    if data is None or not data.use_nla:
        return []
    solo = [track for track in data.nla_tracks if track.is_solo]
    return solo or [track for track in data.nla_tracks if not track.mute]


def strips_at_work(target: Object) -> Iterator[NlaStrip]:
    """Yield the strips of an object's NLA that Blender evaluates and that play actions, those in meta strips too.

    They lie in the scene's time where they are in no meta strip.
    """
    return (strip for track in tracks_at_work(target) for strip in track.strips if not strip.mute)


def actions_at_work(target: Object) -> list[Action]:
    """Return the actions that move an object: the one in use, then those of its strips."""
    found = [actions.assigned(target)[0], *(action for strip in strips_at_work(target) for action in _actions(strip))]
    return list(dict.fromkeys(action for action in found if action is not None))


def _actions(strip: NlaStrip) -> Iterator[Action | None]:
    yield strip.action
    for inner in strip.strips:
        yield from _actions(inner)


def strip_curves(strip: NlaStrip) -> dict[Channel, FCurve]:
    """Return the curves that a strip plays, those of strips in a meta strip too, by data path and index."""
    found: dict[Channel, FCurve] = {}
    if strip.action is not None:
        slot = strip.action_slot if SLOTS else None
        curves = dict(actions.slots_in(strip.action)).get(slot.handle if slot is not None else 0, {})
        found |= {channel: curve for channel, curve in curves.items() if is_at_work(curve)}
    for inner in strip.strips:
        found |= strip_curves(inner)
    return found


def is_animated(target: Object) -> bool:
    """Return whether an object has an action, or strips."""
    return actions.assigned(target)[0] is not None or any(True for _ in strips_at_work(target))


def drivers_of(target: Object) -> list[FCurve]:
    """Return the drivers of an object's channels."""
    return [] if target.animation_data is None else list(target.animation_data.drivers)


def are_driven(target: Object, channels: Iterable[Channel]) -> bool:
    """Return whether a driver sets one of an object's channels."""
    return not {(curve.data_path, curve.array_index) for curve in drivers_of(target)}.isdisjoint(channels)


def is_plain(target: Object) -> bool:
    """Return whether F-curves at work alone move an object: no value goes through a strip, driver or constraint.

    Nor is a group of curves muted, which Blender 4.2 heeds and 5.0 does not.
    """
    data = target.animation_data
    is_layered = data is not None and data.use_nla and len(data.nla_tracks) > 0
    groups = (curve.group for curve in actions.curves_of(target).values())
    is_grouped = any(group is not None and group.mute for group in groups)
    return not (is_layered or is_grouped or drivers_of(target) or len(target.constraints))
