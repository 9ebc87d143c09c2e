"""Recording of a live character: how its bones are turned, keyed on the rig in an action of its own."""

from __future__ import annotations

from time import monotonic

import bpy
import numpy as np
from bpy.types import Object, PoseBone, Scene
from mathutils import Quaternion

from ...robik.straight import straight
from ..animation.actions import Curve, write_curves


class BodyRecording:
    """Orientations of a rig's bones over time, and the place of its hips, from the scene's current frame on.

    `bones` names those that are posed, that of the hips first.
    """

    def __init__(self, scene: Scene, rig: Object, bones: list[str]):
        self.rig, self._bones, self._first = rig.name, bones, scene.frame_current
        self._times: list[float] = []
        self._turns: list[np.ndarray] = []  # (bones, 4) wxyz each
        self._places: list[np.ndarray] = []  # (3,) of the hips each [m]

    def take(self, rig: Object) -> None:
        """Take in how the rig is posed now."""
        posed = [rig.pose.bones[name] for name in self._bones]
        self._times.append(monotonic())
        self._turns.append(np.array([bone.matrix_basis.to_quaternion() for bone in posed]))
        self._places.append(np.array(posed[0].location))

    def key(self, scene: Scene, rig: Object) -> int:
        """Key the recording on whole frames in a new action, the one before being kept, and return how many frames.

        0 where nothing was recorded. The scene's frame rate counts, and it ends with the last key at the earliest.
        """
        if not self._times:
            return 0
        times = np.array(self._times) - self._times[0]
        rate = scene.render.fps / scene.render.fps_base
        steps = np.arange(np.floor(times[-1] * rate + 1e-6) + 1)
        turns = straight(steps / rate, times, _continuous(np.array(self._turns)))
        places = straight(steps / rate, times, np.array(self._places))
        bones = [rig.pose.bones[name] for name in self._bones]
        curves = [curve for k, bone in enumerate(bones) for curve in _turned(bone, turns[:, k])]
        curves += _curves(bones[0], "location", places)
        _give_action(rig)
        frames = self._first + steps
        write_curves(rig, frames, curves)
        scene.frame_end = max(scene.frame_end, int(frames[-1]))
        return len(frames)


def _continuous(turns: np.ndarray) -> np.ndarray:
    """Return quaternions (T, n, 4) of which each has the sign that is nearer to the one before."""
    dots = np.einsum("tnk,tnk->tn", turns[1:], turns[:-1])
    signs = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    return np.concatenate([turns[:1], turns[1:] * signs[..., None]])


def _turned(bone: PoseBone, turns: np.ndarray) -> list[Curve]:
    """Return the curves of a bone's turns (T, 4), in the channels of its rotation mode."""
    mode = bone.rotation_mode
    if mode == "QUATERNION":
        return _curves(bone, "rotation_quaternion", turns / np.linalg.norm(turns, axis=1)[:, None])
    found = [Quaternion(turn).normalized() for turn in turns]
    if mode == "AXIS_ANGLE":
        pairs = [turn.to_axis_angle() for turn in found]
        return _curves(bone, "rotation_axis_angle", np.array([(angle, *axis) for axis, angle in pairs]))
    eulers = [found[0].to_euler(mode)]
    for turn in found[1:]:
        eulers.append(turn.to_euler(mode, eulers[-1]))  # the nearest angles to those before
    return _curves(bone, "rotation_euler", np.array(eulers))


def _curves(bone: PoseBone, name: str, rows: np.ndarray) -> list[Curve]:
    """Return a curve for each column of a bone's channel (T, n)."""
    return [Curve(bone.path_from_id(name), index, row, bone.name) for index, row in enumerate(rows.T)]


def _give_action(rig: Object) -> None:
    """Give a rig a new action, and keep the one that it had."""
    data = rig.animation_data or rig.animation_data_create()
    if data.action is not None:
        data.action.use_fake_user = True  # else nobody uses it any more, and it is not saved
    data.action = bpy.data.actions.new(f"{rig.name} recorded")
