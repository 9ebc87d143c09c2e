"""A loop of a character's motion: a copy of its action whose end runs into its beginning, in place or as it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from bpy.types import FCurve, Object

from ...robik.errors import RobikError
from ...robik.motions.seam import closed, closed_turns
from ...robik.skeleton.names import part_of
from ..animation import actions
from ..animation.actions import Curve

FEWEST = 4  # frames of a loop
SAME = 1e-3  # frames: keys nearer than this to a frame are of it
GOES = 1e-4  # [m]: a bone moves that leaves its place by more
BONE = re.compile(r'pose\.bones\["(.+)"\]\.location')
Channels = dict[tuple[str, int], FCurve]


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop that was made.

    Attributes:
        action: its name.
        first, last: frames, of which the last is the first again.
        way: over the ground, left out or kept [m].
    """

    action: str
    first: int
    last: int
    way: float


def make_loop(rig: Object, blend: int, in_place: bool) -> Loop:
    """Give a character a copy of its action whose end runs into its beginning, in value and in speed.

    The end is led there over `blend` frames. With `in_place` its way over the ground is left out, evenly along the
    motion; else it goes on from where it has come. Raise RobikError, with nothing changed, if it has no action of
    its own, or one that is too short.
    """
    action, _ = actions.assigned(rig)
    curves = actions.curves_of(rig)
    keys = [actions.key_frames(curve) for curve in curves.values()]
    if action is None or not any(map(len, keys)):
        raise RobikError(f"{rig.name} has no action with keys, so it has nothing to be made a loop of")
    ends = np.concatenate(keys)
    first, last = int(np.ceil(ends.min() - SAME)), int(np.floor(ends.max() + SAME))
    if last - first < FEWEST:
        raise RobikError(f"{action.name!r} has {last - first + 1} frames; a loop needs {FEWEST + 1} at least")
    frames = np.arange(first, last + 1, dtype=float)
    changed, way = _closed(rig, curves, frames, float(min(blend, last - first)), in_place)
    begin = len(frames) - min(blend, last - first)
    starts = [0 if whole else _after_key(curves[c.data_path, c.index], frames, begin) for whole, c in changed]
    actions.assign_new([rig], f"{action.name}, loop")
    beyond = np.append(frames, last + 1.0)  # keys between frames behind the end would go on as before
    for start, (whole, curve) in zip(starts, changed, strict=True):
        values = np.append(curve.values, curve.values[-1] + curve.values[1] - curve.values[0])[start:]
        kept = Curve(curve.data_path, curve.index, values, curve.group)
        actions.write_curves(rig, beyond[start:], [kept], outside=not whole)
    return Loop(action=rig.animation_data.action.name, first=first, last=last, way=way)


def _after_key(curve: FCurve, frames: np.ndarray, begin: int) -> int:
    """Return the index of the frame after the last key before `begin`: a key in between would bend the curve there."""
    keys = actions.key_frames(curve)
    before = keys[keys < frames[begin]]
    return int(np.floor(before[-1] - frames[0])) + 1 if len(before) else begin


def _closed(
    rig: Object, curves: Channels, frames: np.ndarray, blend: float, in_place: bool
) -> tuple[list[tuple[bool, Curve]], float]:
    """Return curves that are closed, each with whether all of it has changed, and the way over the ground [m]."""
    found = []
    ways = _ways(rig, curves, frames)
    for path in dict.fromkeys(path for path, _ in curves):
        places = [index for each, index in curves if each == path]
        values = np.column_stack([actions.values_of(curves[path, k], frames) for k in places])
        walked = np.zeros_like(values)
        if path in ways and places == [0, 1, 2]:
            walked = (frames - frames[0])[:, None] / (frames[-1] - frames[0]) * ways[path].along
        if path.endswith("rotation_quaternion") and places == [0, 1, 2, 3]:
            units = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
            ended = closed_turns(frames, units, blend)
            ended = np.where((ended * units).sum(axis=1, keepdims=True) < 0.0, -ended, ended)
        else:
            ended = closed(frames, values - walked, blend, is_turn="rotation_euler" in path)
            ended = ended if in_place else ended + walked
        is_moved = in_place and bool(walked.any())
        group = curves[path, places[0]].group
        found += [
            (is_moved, Curve(path, index, ended[:, k], group.name if group else rig.name))
            for k, index in enumerate(places)
        ]
    return found, max((way.length for way in ways.values()), default=0.0)


@dataclass(frozen=True, eq=False)
class _Way:
    """A way over the ground: `along` (3,) of a location in its own coordinates, and its length [m]."""

    along: np.ndarray
    length: float


def _ways(rig: Object, curves: Channels, frames: np.ndarray) -> dict[str, _Way]:
    """Return how far each location goes over the ground with the whole character, by path.

    Its own location, and those of bones that carry it: all go as far as its hips.
    """
    own = np.array(rig.parent.matrix_world.to_3x3()) if rig.parent else np.eye(3)
    world, bones = np.array(rig.matrix_world.to_3x3()), _walking_bones(rig, curves, frames)
    rests = {path: world @ np.array(rig.data.bones[name].matrix_local.to_3x3()) for name, path in bones.items()}
    hips = next((path for name, path in bones.items() if part_of(name)[0] == "hips"), None)
    found = _shared_way({"location": own}, "location", curves, frames)
    return found | _shared_way(rests, hips or next(iter(rests), ""), curves, frames)


def _shared_way(to_world: dict[str, np.ndarray], leader: str, curves: Channels, frames: np.ndarray) -> dict[str, _Way]:
    """Return the leader's way for each of these paths, which have matrices (3, 3) to the world."""
    if any((leader, k) not in curves for k in range(3)):
        return {}
    ends = np.column_stack([actions.values_of(curves[leader, k], frames[[0, -1]]) for k in range(3)])
    level = (to_world[leader] @ (ends[1] - ends[0])) * [1.0, 1.0, 0.0]
    length = float(np.linalg.norm(level))
    return {path: _Way(np.linalg.solve(matrix, level), length) for path, matrix in to_world.items()}


def _walking_bones(rig: Object, curves: Channels, frames: np.ndarray) -> dict[str, str]:
    """Return the bones that go over the ground by themselves, each with the path of its location.

    Those that leave their place, and those that stand, as a foot's control, while no bone above or below them goes.
    """
    paths = {named[1]: path for path, k in curves if k == 0 and (named := BONE.fullmatch(path))}
    located = [bone for bone in (rig.data.bones if rig.type == "ARMATURE" else ()) if bone.name in paths]
    going = {bone.name for bone in located if _goes(paths[bone.name], curves, frames)}
    carrying = {above.name for bone in located if bone.name in going for above in bone.parent_recursive}
    found: dict[str, str] = {}
    for bone in located:  # parents first
        is_carried = any(above.name in found for above in bone.parent_recursive)
        if not is_carried and (bone.name in going or bone.name not in carrying):
            found[bone.name] = paths[bone.name]
    return found


def _goes(path: str, curves: Channels, frames: np.ndarray) -> bool:
    places = [actions.values_of(curves[path, k], frames) for k in range(3) if (path, k) in curves]
    return bool(max(map(np.ptp, places)) > GOES)
