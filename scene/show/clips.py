"""Clips of a performance: a robot's actions as layers play them."""

from __future__ import annotations

from math import ceil

import numpy as np
from bpy.types import Action, FCurve, Object, Scene

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.mechanism.topology import build_topology
from ...robik.motions import BaseTrack, Motion
from ...robik.show.layers import Clip, clip_of
from ..animation import actions
from ..motion import POSE_CHANNELS, continuous
from ..robot.sliders import data_path

DENSE = 60.0  # samples a second, at least [Hz]
Channels = dict[actions.Channel, FCurve]


def read_clip(
    action: Action, name: str, root: Object, mechanism: Mechanism, scene: Scene, moved_only: bool, is_round: bool
) -> Clip:
    """Read a clip, triggered by a name, from a bake of the robot or any action that moves its motors.

    `moved_only` and `is_round` are as for `clip_of`. Raise RobikError if it moves none of the robot's motors.
    """
    motion = _read_motion(action, name, root, mechanism, scene)
    return clip_of(name, motion, mechanism.actuators, moved_only, is_round)


def _read_motion(action: Action, name: str, root: Object, mechanism: Mechanism, scene: Scene) -> Motion:
    paths = {actuator: (data_path(actuator), 0) for actuator in mechanism.actuators}
    found: Channels = max(
        actions.objects_in(action), key=lambda each: sum(p in each for p in paths.values()), default={}
    )
    curves = {actuator: found[path] for actuator, path in paths.items() if path in found}
    keys = [actions.key_frames(curve) for curve in curves.values()]
    if not keys or not any(map(len, keys)):
        raise RobikError(f"{action.name!r}, the clip of {name!r}, has no keys of this robot's motors")
    frames, rate = _frames(np.concatenate(keys), scene)
    values = np.column_stack([actions.values_of(curve, frames) for curve in curves.values()])
    base = _base(action, root, mechanism, frames)
    return Motion(times=(frames - frames[0]) / rate, actuators=tuple(curves), values=values, base=base)


def _frames(keys: np.ndarray, scene: Scene) -> tuple[np.ndarray, float]:
    """Return frames (T,) from the first key to the last one, and how many there are a second [Hz]."""
    rate = scene.render.fps / scene.render.fps_base
    pieces = max(1, ceil((keys.max() - keys.min()) * max(1, ceil(DENSE / rate)))) if np.ptp(keys) > 0 else 0
    return np.linspace(keys.min(), keys.max(), pieces + 1), rate


def _base(action: Action, root: Object, mechanism: Mechanism, frames: np.ndarray) -> BaseTrack | None:
    """Return the base of a floating robot along one of its bakes; None where the action does not move it."""
    body = build_topology(mechanism).root
    bakes = (bake for bake in root.robik.robot.bakes if bake.parts.get("") is not None)
    bake = next((bake for bake in bakes if bake.parts[""].action == action), None)
    part = None if bake is None or body is None else bake.parts.get(body)
    if body is None or part is None or part.action is None:
        return None
    curves: Channels = dict(actions.slots_in(part.action)).get(part.slot, {})
    if not set(POSE_CHANNELS) <= set(curves):
        return None
    pose = np.column_stack([actions.values_of(curves[channel], frames) for channel in POSE_CHANNELS])
    turns = pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    return BaseTrack(body=body, position=pose[:, :3], quaternion=continuous(turns))
