"""A walk for the character: from standing to standing, slow enough for a robot that must be balanced in every frame.

Feet stand flat through double support; lifting they roll over the toe, landing they come down heel first. Everything
above follows from the feet as in a real walk: the hips sink in the stride, sway over the standing foot and turn with
the leading one, the chest turns against them, each arm swings with the other side's leg, and the head stays level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Matrix, Quaternion, Vector

from ...animation.actions import Curve, write_curves
from .figure import ANKLE, HEEL, TOE

FORWARD = Vector((0.0, -1.0, 0.0))


@dataclass(frozen=True, kw_only=True)
class Gait:
    """Settings of a walk.

    Attributes:
        steps: how many, the last one to the other foot's side.
        stride: how far a foot comes beyond the other one [m].
        swing, double: how long a foot is in the air, and both on the ground between [s].
        stand: how long to stand before and after [s].
        lift: of the ankle at the middle of a swing [m].
        roll_off, roll_on: how far the foot pitches over the toe and onto the heel [rad].
        crouch: how much lower than upright the hips go [m].
        bob, sway: of the hips, up over the standing foot and sideways [m].
    """

    steps: int = 6
    stride: float = 0.27
    swing: float = 0.75
    double: float = 0.5
    stand: float = 1.0
    lift: float = 0.085
    roll_off: float = radians(24)
    roll_on: float = radians(11)
    crouch: float = 0.035
    bob: float = 0.012
    sway: float = 0.03

    @property
    def duration(self) -> float:
        """[s]."""
        return 2 * self.stand + self.steps * self.swing + (self.steps - 1) * self.double


def smoothstep(u: np.ndarray) -> np.ndarray:
    """0 to 1, at rest at both ends, up to the acceleration."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u * u)


def bump(u: np.ndarray, peak: float) -> np.ndarray:
    """0 to 1 at `peak` and back to 0, smoothly."""
    u = np.clip(u, 0.0, 1.0)
    return smoothstep(np.where(u < peak, u / peak, (1 - u) / (1 - peak)))


@dataclass(frozen=True, kw_only=True)
class Foot:
    """A foot's path over time.

    How far forward and up it is [m], how it pitches, toe down [rad], and how much of a step is behind it.
    """

    forward: np.ndarray
    up: np.ndarray
    pitch: np.ndarray
    progress: np.ndarray
    stands: np.ndarray


def feet(gait: Gait, times: np.ndarray) -> dict[str, Foot]:
    """Return both feet's paths; the left one goes first."""
    made = {}
    for index, side in enumerate("LR"):
        forward, up, pitch = np.zeros((3, len(times)))
        progress, stands = np.zeros(len(times)), np.ones(len(times), bool)
        for step in range(index, gait.steps, 2):
            u = (times - gait.stand - step * (gait.swing + gait.double)) / gait.swing
            far = gait.stride if step in (0, gait.steps - 1) else 2 * gait.stride
            forward += far * smoothstep((u - 0.06) / 0.88)
            up += gait.lift * bump(u, 0.45)
            pitch += gait.roll_off * bump(u / 0.62, 0.5) - gait.roll_on * bump((u - 0.5) / 0.5, 0.6)
            progress = np.where((u > 0) & (u < 1), np.clip(u, 0, 1), progress)
            stands &= ~((u > 0) & (u < 1))
        made[side] = Foot(forward=forward, up=up, pitch=pitch, progress=progress, stands=stands)
    return made


def smoothed(values: np.ndarray, times: np.ndarray, width: float) -> np.ndarray:
    """Return a Gaussian's moving mean of the samples; `width` is its deviation [s]."""
    reach = np.arange(-int(4 * width * 100), int(4 * width * 100) + 1) / 100
    kernel = np.exp(-0.5 * (reach / width) ** 2)
    return sum(k * np.interp(times + r, times, values) for k, r in zip(kernel / kernel.sum(), reach, strict=True))


def animate_walk(rig: Object, gait: Gait | None = None, first_frame: int = 1) -> int:
    """Key a walk on the character, at the scene's frame rate; returns its last frame."""
    gait = gait or Gait()
    render = bpy.context.scene.render
    rate = render.fps / render.fps_base
    frames = np.arange(first_frame, first_frame + round(gait.duration * rate) + 1)
    times = (frames - first_frame) / rate
    both = feet(gait, times)
    if rig.animation_data is None or rig.animation_data.action is None:
        rig.animation_data_create().action = bpy.data.actions.new(f"{rig.name} walk")
    for side, foot in both.items():
        _key_foot(rig, side, foot, frames)
    _key_body(rig, gait, both, times, frames)
    return int(frames[-1])


def _key_foot(rig: Object, side: str, foot: Foot, frames: np.ndarray) -> None:
    """Key the control: it turns about the toe while it lifts and about the heel while it lands."""
    ankle, toe, heel = Vector(ANKLE), TOE, HEEL
    turns, shifts = [], []
    for k, pitch in enumerate(foot.pitch.tolist()):
        turn = Quaternion((1, 0, 0), pitch)
        about = (toe if pitch > 0 else heel) - ankle
        turns.append(turn)
        shifts.append(about - turn @ about + FORWARD * float(foot.forward[k]) + Vector((0, 0, foot.up[k])))
    key_all(rig, f"foot_control.{side}", frames, turns, shifts)


def _key_body(rig: Object, gait: Gait, both: dict[str, Foot], times: np.ndarray, frames: np.ndarray) -> None:
    left, right = both["L"], both["R"]
    middle = smoothed(0.5 * (left.forward + right.forward), times, 0.28)
    lead = smoothed(left.forward - right.forward, times, 0.12) / gait.stride  # −1 to 1: which foot is before the other
    weight = smoothed(
        right.stands.astype(float) * ~left.stands - left.stands.astype(float) * ~right.stands, times, 0.2
    )  # 1: all on the right
    walking = smoothed(((times > gait.stand * 0.6) & (times < times[-1] - gait.stand * 0.6)).astype(float), times, 0.2)
    down = (gait.bob * (np.abs(weight) - 0.5) - gait.crouch) * walking
    places = [FORWARD * float(m) + Vector((-gait.sway * w, 0, d)) for m, w, d in zip(middle, weight, down, strict=True)]
    yaw, drop, lean = radians(-6) * lead, radians(2.5) * weight, radians(2.5) * walking
    key_all(rig, "hips", frames, _turns(y=drop, z=yaw), places)
    key_all(rig, "spine", frames, _turns(x=lean * 0.6, y=-1.0 * drop, z=-0.9 * yaw))
    key_all(rig, "chest", frames, _turns(x=lean * 0.4, y=-0.6 * drop, z=-0.9 * yaw))
    key_all(rig, "neck", frames, _turns(x=-0.5 * lean, z=0.4 * yaw))
    key_all(rig, "head", frames, _turns(x=-0.5 * lean, y=0.6 * drop, z=0.4 * yaw))
    for side, out, swing in (("L", radians(4), -lead), ("R", radians(-4), lead)):
        arm = radians(-21) * swing + radians(5) * walking
        bend = -radians(12) - radians(6) * walking - radians(9) * np.maximum(swing, 0) * walking
        key_all(rig, f"upper_arm.{side}", frames, _turns(x=arm, y=np.full(len(frames), -out)))
        key_all(rig, f"forearm.{side}", frames, _turns(x=bend))
        key_all(rig, f"hand.{side}", frames, _turns(x=np.full(len(frames), radians(-8))))


def _turns(**angles: np.ndarray) -> list[Quaternion]:
    """Return a turn for each sample of angles about the armature's axes (T,) [rad]."""
    return [turned(**dict(zip(angles, sample, strict=True))) for sample in zip(*angles.values(), strict=True)]


def turned(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Quaternion:
    """Return a turn about the armature's axes [rad]."""
    return Quaternion((0, 0, 1), z) @ Quaternion((0, 1, 0), y) @ Quaternion((1, 0, 0), x)


def key_all(
    rig: Object, name: str, frames: np.ndarray, turns: Sequence[Quaternion], shifts: Sequence[Vector] | None = None
) -> None:
    """Key turns and shifts of a bone, as `key` does one, at all frames at once, which takes far less time."""
    bone = rig.pose.bones[name]
    values = [_own(bone, turn, shift) for turn, shift in zip(turns, shifts or [None] * len(turns), strict=True)]
    channels = {"rotation_quaternion": np.array([turn for turn, _ in values])}
    if shifts is not None:
        channels["location"] = np.array([shift for _, shift in values])
    curves = [
        Curve(bone.path_from_id(channel), index, row, name)
        for channel, rows in channels.items()
        for index, row in enumerate(rows.T)
    ]
    write_curves(rig, frames, curves)


def key(bone: bpy.types.PoseBone, frame: int, turn: Quaternion, shift: Vector | None = None) -> None:
    """Key a turn and a shift, given along the armature's axes in its rest pose, as the bone's own channels."""
    bone.rotation_quaternion, place = _own(bone, turn, shift)
    bone.keyframe_insert("rotation_quaternion", frame=frame)
    if place is not None:
        bone.location = place
        bone.keyframe_insert("location", frame=frame)


def _own(bone: bpy.types.PoseBone, turn: Quaternion, shift: Vector | None) -> tuple[Quaternion, Vector | None]:
    """Return what is given along the armature's axes as the bone's own channels."""
    rest: Matrix = bone.bone.matrix_local.to_3x3()
    own = rest.to_quaternion()
    return own.inverted() @ turn @ own, None if shift is None else rest.inverted() @ shift
