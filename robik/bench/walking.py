"""The walk of the walker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..balance.plan import with_balance
from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions
from .clips import samples, smoothstep, turn

STAND, SWING, DOUBLE = 1.0, 0.75, 0.5  # s: before and after the walk; of a foot in the air; of both on the ground
STEPS, STRIDE, LIFT = 6, 0.07, 0.030  # how far a foot comes beyond the other, and how high [m]
CROUCH, SWAY = 0.014, 0.012  # of the hips [m]
ROLL = 0.15  # of the toes, down in the first half of a swing and up in the second [rad]


def walk_clip(walker: Mechanism, fps: float, balanced: bool) -> TargetClip:
    """Return six steps forward, from standing to standing, as targets for pelvis and feet.

    Where it is `balanced`, the clip has a target of the centre of mass over the feet, and the pelvis leans along.
    """
    t = samples(fps, 2 * STAND + STEPS * SWING + (STEPS - 1) * DOUBLE)
    tracks, forward, weight = {}, {}, np.zeros(len(t))
    for index, (name, side) in enumerate((("foot_l", 1.0), ("foot_r", -1.0))):
        forward[name], up, pitch, stands = _foot(t, index)
        weight -= side * smoothstep(up / LIFT)
        rest = walker.rest_pose(name)
        place = np.array(rest.position) + np.stack([forward[name], 0 * t, up], axis=1)
        tracks[name] = Track(place, quaternions(turn(pitch, 1)), contact=stands)
    walking = smoothstep(t / STAND) * smoothstep((t[-1] - t) / STAND)
    middle = 0.5 * (forward["foot_l"] + forward["foot_r"])
    hips = np.stack([middle, SWAY * weight, -CROUCH * walking], axis=1)
    rest = walker.rest_pose("pelvis")
    yaw = 0.08 * (forward["foot_r"] - forward["foot_l"]) / STRIDE
    tracks["pelvis"] = Track(np.array(rest.position) + hips, quaternions(turn(yaw, 2)))
    clip = TargetClip(t, tracks)
    return _begun_at_rest(walker, with_balance(walker, clip)) if balanced else clip


def _begun_at_rest(walker: Mechanism, clip: TargetClip) -> TargetClip:
    """Ease pelvis and centre of mass from rest to the balanced targets while the robot still stands."""
    eased = smoothstep(clip.times / STAND)[:, None]
    com = sum(b.mass * b.rest_com for b in walker.bodies) / walker.mass
    assert (
        clip.com is not None and clip.tracks["pelvis"].position is not None
    )  # balance gives the one and leaves the other
    pelvis, rest = clip.tracks["pelvis"], np.array(walker.rest_pose("pelvis").position)
    tracks = {**clip.tracks, "pelvis": replace(pelvis, position=rest + eased * (pelvis.position - rest))}
    return replace(clip, tracks=tracks, com=com + eased * (clip.com - com))


def _foot(t: np.ndarray, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a foot's way forward and up [m], the pitch of its toes down [rad], and whether it stands, each (T,)."""
    forward, up, pitch = np.zeros((3, len(t)))
    stands = np.ones(len(t), bool)
    for step in range(index, STEPS, 2):
        u = (t - STAND - step * (SWING + DOUBLE)) / SWING
        air = np.clip(u, 0.0, 1.0)
        forward += STRIDE * (1 if step in (0, STEPS - 1) else 2) * smoothstep(u)
        up += LIFT * np.sin(np.pi * air) ** 2
        pitch += ROLL * np.sin(2 * np.pi * air) * np.sin(np.pi * air) ** 2
        stands &= ~((u > 0) & (u < 1))
    return forward, up, pitch, stands
