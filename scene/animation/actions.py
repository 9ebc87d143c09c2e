"""F-curves in bulk, over both Action APIs: the only place that knows how a Blender version stores them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Action, FCurve, Object

from ...robik.retargeting.reduce import Keys
from ..long_work import heartbeat

SLOTS = "slots" in bpy.types.Action.bl_rna.properties  # from Blender 4.4 on one action can animate many objects
SAME_FRAME = 1e-3  # keys nearer than this replace each other
INTERPOLATIONS = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
Channel = tuple[str, int]  # data path and index


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


def write_curves(
    target: Object, frames: np.ndarray, curves: Iterable[Curve], outside: bool = False, interpolation: str = "LINEAR"
) -> None:
    """Key channels of an object at frames (T,): theirs are replaced, its others stay.

    Frames increase, with fractions for sub-frames. The object gets an action if it has none that may be changed.
    With `outside`, keys before the first and after the last of these frames stay. `interpolation` is that of all
    new keys.
    """
    channels = _Channels(_editable_action(target), target)
    heartbeat.beat()  # of many objects and keys this takes seconds
    for curve in curves:
        points = _linear(frames, curve.values, INTERPOLATIONS[interpolation])
        if outside and (found := channels.find(curve.data_path, curve.index)) is not None:
            points = _spliced(_points(found), points)
        channels.remove(curve.data_path, curve.index)
        _fill(channels.new(curve), points)


def write_smooth(target: Object, data_path: str, index: int, keys: Keys, group: str, outside: bool = False) -> None:
    """Keys a channel so that it runs through cubic pieces: aligned handles at a third of each piece.

    Its former keys are replaced; with `outside`, those before the first and after the last of these stay.
    """
    channels = _Channels(_editable_action(target), target)
    found = channels.find(data_path, index) if outside else None
    co = np.column_stack([keys.times, keys.values])
    thirds = np.diff(keys.times) / 3 if len(keys.times) > 1 else np.ones(1)
    way = np.column_stack([np.ones(len(co)), keys.slopes])
    kinds = np.full(len(co), ALIGNED)
    points = {
        "co": co,
        "interpolation": np.full(len(co), INTERPOLATIONS["BEZIER"]),
        "handle_left_type": kinds,
        "handle_right_type": kinds,
    }
    points["handle_left"] = co - way * np.append(thirds[:1], thirds)[: len(co), None]
    points["handle_right"] = co + way * np.append(thirds, thirds[-1:])[: len(co), None]
    if found is not None:
        points = _spliced(_points(found), points)
    channels.remove(data_path, index)
    _fill(channels.new(Curve(data_path, index, keys.values, group)), points)


def set_key(target: Object, data_path: str, index: int, frame: float, value: float, group: str) -> None:
    """Set one key of a channel; the others stay."""
    channels = _Channels(_editable_action(target), target)
    curve = channels.find(data_path, index) or channels.new(Curve(data_path, index, np.empty(0), group))
    curve.keyframe_points.insert(frame, value)
    curve.update()


# What a key consists of, and how many numbers each takes.
POINT = {
    "co": 2,
    "handle_left": 2,
    "handle_right": 2,
    "interpolation": 1,
    "handle_left_type": 1,
    "handle_right_type": 1,
}
VECTOR, ALIGNED = 2, 3  # a handle on the straight line to the next key, and one in line with the other handle


def _linear(frames: np.ndarray, values: np.ndarray, interpolation: int) -> dict[str, np.ndarray]:
    points = {"co": np.column_stack([frames, values])}
    points["interpolation"] = np.full(len(frames), interpolation)
    return points


def _points(curve: FCurve) -> dict[str, np.ndarray]:
    """Return a curve's keys, by what they consist of: (T, width)."""
    count, points = len(curve.keyframe_points), {}
    for name, width in POINT.items():
        row = np.empty(count * width, dtype=np.float32 if width == 2 else np.int32)
        curve.keyframe_points.foreach_get(name, row)
        points[name] = row.reshape(count, width) if width == 2 else row
    return points


def _spliced(old: dict[str, np.ndarray], new: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Put new keys between the old ones that lie outside of them."""
    first, last = new["co"][[0, -1], 0]
    before, after = old["co"][:, 0] < first - SAME_FRAME, old["co"][:, 0] > last + SAME_FRAME
    straight = {"handle_left": new["co"], "handle_right": new["co"]}
    kinds = dict.fromkeys(("handle_left_type", "handle_right_type"), np.full(len(new["co"]), VECTOR))
    filled = {**straight, **kinds, **new}
    return {name: np.concatenate([values[before], filled[name], values[after]]) for name, values in old.items()}


def _fill(curve: FCurve, points: dict[str, np.ndarray]) -> None:
    """Give a curve without keys these."""
    curve.keyframe_points.add(len(points["co"]))
    for name, values in points.items():
        curve.keyframe_points.foreach_set(name, values.ravel().astype(np.float32 if POINT[name] == 2 else np.int32))
    curve.update()


def curves_of(target: Object) -> dict[Channel, FCurve]:
    """Return the F-curves of an object's action, at work or not, by data path and index; empty without an action."""
    action, slot = assigned(target)
    return {} if action is None else dict(slots_in(action)).get(slot, {})


def slots_in(action: Action) -> list[tuple[int, dict[Channel, FCurve]]]:
    """Return the handle of each slot of an action, 0 where there are no slots, and its F-curves by path and index."""
    owners = (
        [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags] if SLOTS else [action]
    )
    handles = [owner.slot_handle if SLOTS else 0 for owner in owners]
    curves = [{(curve.data_path, curve.array_index): curve for curve in owner.fcurves} for owner in owners]
    return list(zip(handles, curves, strict=True))


def objects_in(action: Action) -> list[dict[Channel, FCurve]]:
    """Return an action's F-curves by data path and index, of each object that it is made for.

    Whatever it is assigned to now.
    """
    return [curves for _, curves in slots_in(action)]


def values_of(curve: FCurve, frames: np.ndarray) -> np.ndarray:
    """Return a curve's values at frames (T,), whether it is at work or not."""
    return np.array([curve.evaluate(frame) for frame in frames.tolist()])


def key_frames(curve: FCurve) -> np.ndarray:
    """Return when a curve has keys (T,)."""
    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[0::2].astype(float)


def is_straight(curve: FCurve) -> bool:
    """Return whether a curve is nothing but straight lines between its keys."""
    kinds = np.empty(len(curve.keyframe_points), dtype=np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    return not len(curve.modifiers) and bool((kinds[:-1] == INTERPOLATIONS["LINEAR"]).all())


def assigned(target: Object) -> tuple[Action | None, int]:
    """Return what animates an object: an action, and the handle of its slot; 0 where there are no slots."""
    data = target.animation_data
    if data is None or data.action is None:
        return None, 0
    slot = getattr(data, "action_slot", None)
    return data.action, slot.handle if slot is not None else 0


def shared(target: Object) -> bool:
    """Return whether what animates an object animates others too."""
    action, slot = assigned(target)
    if action is None:
        return False
    if slot:
        return any(user != target for user in target.animation_data.action_slot.users())
    return any(other != target and assigned(other)[0] == action for other in bpy.data.objects)


def assign(target: Object, action: Action | None, slot: int) -> None:
    """Let an action animate an object, by the slot of this handle.

    A slot that there is not is the object's by name, or the first.
    """
    data = target.animation_data
    if data is None:
        if action is None:
            return
        data = target.animation_data_create()
    data.use_tweak_mode = False  # in which no action can be assigned
    data.action = action
    if action is not None and SLOTS:
        found = next((s for s in action.slots if s.handle == slot), None) or data.action_slot
        data.action_slot = found or next(
            (s for s in action.slots if s.target_id_type in ("OBJECT", "UNSPECIFIED")), None
        )


def bring_to_front(target: Object) -> None:
    """Let an object's own action say what its curves say, whatever strips are below it."""
    data = target.animation_data
    if data is not None:
        data.action_blend_type, data.action_influence = "REPLACE", 1.0
        for track in data.nla_tracks:
            if track.is_solo:
                track.is_solo = False


def assign_new(targets: Sequence[Object], name: str) -> None:
    """Give objects a new action that starts as a copy of what animates them.

    One for all where an action has slots, else one each.
    """
    before = [assigned(target) for target in targets]
    if not SLOTS:
        for target, (old, _) in zip(targets, before, strict=True):
            made = old.copy() if old is not None else bpy.data.actions.new(name)
            made.name = name if target == targets[0] else f"{name}, {target.name}"
            assign(target, made, 0)
        return
    common = before[0][0]
    made = common.copy() if common is not None else bpy.data.actions.new(name)
    made.name = name
    for target, (old, handle) in zip(targets, before, strict=True):
        others = []
        if old is None or old != common:
            others = [(c.data_path, c.array_index, c.group, _points(c)) for c in curves_of(target).values()]
            handle = made.slots.new(id_type="OBJECT", name=target.name).handle
        assign(target, made, handle)
        channels = _Channels(made, target)
        for path, index, group, points in others:
            _fill(channels.new(Curve(path, index, np.empty(0), group.name if group else target.name)), points)


def _editable_action(target: Object) -> Action:
    data = target.animation_data or target.animation_data_create()
    action = data.action
    if action is None or not action.is_editable:
        action = data.action = bpy.data.actions.new(f"{target.name} bake")
    elif shared(target):
        _, slot = assigned(target)
        action = action.copy()  # a shared one would move the others too
        assign(target, action, slot)
    if SLOTS and data.action_slot is None:
        data.action_slot = action.slots.new(id_type="OBJECT", name=target.name)
    return action


class _Channels:
    """An action's F-curves of one object, whichever way this Blender keeps them."""

    def __init__(self, action: Action, target: Object) -> None:
        self._legacy = not SLOTS
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

    def find(self, data_path: str, index: int) -> FCurve | None:
        return self._owner.fcurves.find(data_path, index=index)

    def remove(self, data_path: str, index: int) -> None:
        found = self.find(data_path, index)
        if found is not None:
            self._owner.fcurves.remove(found)

    def new(self, curve: Curve) -> FCurve:
        made = self._owner.fcurves.new(curve.data_path, index=curve.index)
        made.group = self._owner.groups.get(curve.group) or self._owner.groups.new(curve.group)
        made.group.mute = False
        return made
