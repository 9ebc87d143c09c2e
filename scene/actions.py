"""F-curves in bulk, over both Action APIs: the only place that knows how a Blender version stores them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Action, FCurve, Object

from robik.errors import RobikError

INTERPOLATIONS = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}


@dataclass(frozen=True)
class Curve:
    """One channel's keys.

    Attributes:
        data_path: from the animated object.
        index: of an array's element; 0 for a single number.
        values: (T,).
        group: under which the dope sheet lists it.
    """

    data_path: str
    index: int
    values: np.ndarray
    group: str


def write_curves(target: Object, frames: np.ndarray, curves: Iterable[Curve], interpolation: str = "LINEAR") -> None:
    """Keys channels of an object: theirs are replaced, its others stay.

    Args:
        target: gets an action if it has none that may be changed.
        frames: (T,) when, with fractions for sub-frames.
        curves: what.
        interpolation: of all keys.
    """
    channels = _Channels(_editable_action(target), target)
    kinds = np.full(len(frames), INTERPOLATIONS[interpolation], dtype=np.int32)
    for curve in curves:
        channels.remove(curve.data_path, curve.index)
        made = channels.new(curve)
        points = np.empty((len(frames), 2), dtype=np.float32)
        points[:, 0], points[:, 1] = frames, curve.values
        made.keyframe_points.add(len(frames))
        made.keyframe_points.foreach_set("co", points.ravel())
        made.keyframe_points.foreach_set("interpolation", kinds)
        made.update()


def curves_of(target: Object) -> dict[tuple[str, int], FCurve]:
    """An object's F-curves by data path and index; empty without an action."""
    action = target.animation_data.action if target.animation_data else None
    if action is None:
        return {}
    return {(curve.data_path, curve.array_index): curve for curve in _Channels(action, target).curves()}


def read_curves(target: Object, channels: Sequence[tuple[str, int]], frames: np.ndarray) -> np.ndarray:
    """Channels evaluated at frames, (T, channels).

    Raises:
        RobikError: names the channel that has no F-curve.
    """
    found = curves_of(target)
    values = np.empty((len(frames), len(channels)))
    for k, channel in enumerate(channels):
        curve = found.get(channel)
        if curve is None:
            raise RobikError(f"{target.name!r} has no F-curve for {channel[0]}; bake first, or key it")
        values[:, k] = [curve.evaluate(frame) for frame in frames.tolist()]
    return values


def key_frames(curve: FCurve) -> np.ndarray:
    """When a curve has keys (T,)."""
    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[0::2].astype(float)


def _editable_action(target: Object) -> Action:
    data = target.animation_data or target.animation_data_create()
    action = data.action
    if action is None or not action.is_editable:
        action = data.action = bpy.data.actions.new(f"{target.name} bake")
    elif action.users - action.use_fake_user > 1:
        action = data.action = action.copy()  # a shared one would move the others too
    if hasattr(action, "slots") and data.action_slot is None:
        data.action_slot = action.slots.new(id_type="OBJECT", name=target.name)
    return action


class _Channels:
    """An action's F-curves of one object, whichever way this Blender keeps them."""

    def __init__(self, action: Action, target: Object) -> None:
        self._legacy = not hasattr(action, "slots")
        if self._legacy:
            self._owner = action
            return
        slot = target.animation_data.action_slot
        self._owner = None
        if slot is None:
            return
        layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
        strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
        self._owner = strip.channelbag(slot, ensure=True)

    def curves(self) -> list[FCurve]:
        return list(self._owner.fcurves) if self._owner else []

    def remove(self, data_path: str, index: int) -> None:
        found = self._owner.fcurves.find(data_path, index=index)
        if found is not None:
            self._owner.fcurves.remove(found)

    def new(self, curve: Curve) -> FCurve:
        made = self._owner.fcurves.new(curve.data_path, index=curve.index)
        made.group = self._owner.groups.get(curve.group) or self._owner.groups.new(curve.group)
        return made
