"""Corrections: what was changed by hand on a motion, as a layer that the next one gets, too.

Of a bake that is the difference of its curves from what it wrote. An import makes two bakes, the original and a copy
that may be edited: there it is the difference of their curves. When a new version of the motion comes in, the layer is
added to that, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Action, FCurve, Object, PropertyGroup, Scene
from scipy.spatial.transform import Rotation, Slerp

from ...robik.mechanism import Mechanism
from ...robik.mechanism.orientations import quaternions, rotation
from ...robik.mechanism.topology import build_topology
from ...robik.motions import BaseTrack, Motion
from ..animation import actions
from ..motion import POSE_CHANNELS, motion_frames, read_motion, slider_channels
from . import bakes
from .curves import has_keys
from .plain import Plain, kept_plain

NONE = 1e-7  # [rad, m]: what single precision leaves between curves that are the same
EDITED = 1e-5  # [rad, m] from which a bake's curve counts as changed: frames have single precision, too


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """Corrections along a motion, which are added to it.

    Attributes:
        frames: (K,) of the scene; outside of them the first and the last corrections hold.
        values: (K, A) added to the actuators' values [rad or m].
        position: (K, 3) added to the base's position [m], or None.
        turn: (K,) rotations of the base in the world, or None.
    """

    frames: np.ndarray
    values: np.ndarray
    position: np.ndarray | None = None
    turn: Rotation | None = None

    def on(self, motion: Motion, frames: np.ndarray) -> Motion:
        """Return a motion of the same robot, sampled at frames (T,), with these corrections.

        The bodies' poses are left out.
        """
        base = motion.base
        if base is not None and self.position is not None and self.turn is not None:
            inside = np.clip(frames, self.frames[0], self.frames[-1])
            turn = Slerp(self.frames, self.turn)(inside) if len(self.frames) > 1 else self.turn
            turned = quaternions(turn * rotation(base.quaternion))
            base = BaseTrack(
                body=base.body, position=base.position + self._at(self.position, frames), quaternion=turned
            )
        values = motion.values + self._at(self.values, frames)
        return replace(motion, values=values, base=base, bodies=(), position=None, quaternion=None, com=None)

    def _at(self, table: np.ndarray, frames: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(frames, self.frames, column) for column in table.T])


def corrections_of(root: Object, mechanism: Mechanism, scene: Scene) -> Corrections | None:
    """Return what the bake in use adds to its original; None where it has none, or adds nothing."""
    index = bakes.in_use(root)
    original = _original(root, root.robik.robot.bakes[index]) if index >= 0 else None
    if original is None:
        return None
    frames = motion_frames(root, mechanism, scene)
    values = _read(original, "", slider_channels(mechanism), frames)
    if values is None:
        return None
    body = build_topology(mechanism).root
    base = None if body is None else _read(original, body, list(POSE_CHANNELS), frames)
    return _difference(root, mechanism, scene, Plain(frames=frames, values=values, base=base), NONE)


def corrections_of_bake(root: Object, mechanism: Mechanism, scene: Scene, wanted: np.ndarray) -> Corrections | None:
    """Return what was changed by hand on the bake in use; None where that is no bake, or nothing was changed.

    Changes before the first and after the last of the frames `wanted` (T,) do not count.
    """
    plain = kept_plain(root, mechanism)
    if plain is None or not has_keys(root, mechanism):
        return None
    plain = plain.inside(float(wanted[0]), float(wanted[-1]))
    if not len(plain.frames):
        return None
    return _difference(root, mechanism, scene, plain, EDITED)


def _difference(root: Object, mechanism: Mechanism, scene: Scene, plain: Plain, least: float) -> Corrections | None:
    """Return what a robot's present motion adds to another; None where it differs nowhere by so much [rad or m]."""
    frames, position, turn = plain.frames, None, None
    present = read_motion(root, mechanism, frames, scene)
    values = present.values - plain.values
    values[:, np.abs(values).max(axis=0) < least] = 0.0
    base, before = present.base, plain.track
    if base is not None and before is not None:
        position = base.position - before.position
        turn = rotation(base.quaternion) * rotation(before.quaternion).inv()
        if max(np.abs(position).max(), turn.magnitude().max()) < least:
            position = turn = None
    if position is None and not values.any():
        return None
    return Corrections(frames=frames, values=values, position=position, turn=turn)


def _original(root: Object, bake: PropertyGroup) -> PropertyGroup | None:
    """Return the bake that another one corrects; None where it was removed or there is none."""
    if bake.original is None:
        return None
    known = (other for other in root.robik.robot.bakes if other.parts.get("") is not None)
    return next((other for other in known if other.parts[""].action == bake.original), None)


def _read(bake: PropertyGroup, label: str, channels: list[tuple[str, int]], frames: np.ndarray) -> np.ndarray | None:
    """Return a bake's curves (T, channels) of one object; None where one is missing."""
    part = bake.parts.get(label)
    curves = {} if part is None or part.action is None else _curves(part.action, part.slot)
    if not set(channels) <= set(curves):
        return None
    return np.column_stack([actions.values_of(curves[channel], frames) for channel in channels])


def _curves(action: Action, slot: int) -> dict[tuple[str, int], FCurve]:
    return dict(actions.slots_in(action)).get(slot, {})
