"""What the walker follows in the experiments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robik.bench.clips import samples, smoothstep, turn, wxyz
from robik.mechanism.model import Mechanism
from robik.retarget.balance import with_balance
from robik.retarget.clip import TargetClip, Track

STAND, SWING, DOUBLE = 1.0, 0.75, 0.5  # s: before and after the walk; of a foot in the air; of both on the ground
STEPS, STRIDE, LIFT = 6, 0.07, 0.030  # how far a foot comes beyond the other, and how high [m]
CROUCH, SWAY = 0.014, 0.012  # of the hips [m]
ROLL = 0.15  # of the toes, down in the first half of a swing and up in the second [rad]


def walk_clip(walker: Mechanism, fps: float, balanced: bool) -> TargetClip:
    """Six steps forward, from standing to standing; with `balanced`, the centre of mass over the feet and the pelvis leaning with it."""
    t = samples(fps, 2 * STAND + STEPS * SWING + (STEPS - 1) * DOUBLE)
    tracks, forward, weight = {}, {}, np.zeros(len(t))
    for index, (name, side) in enumerate((("foot_l", 1.0), ("foot_r", -1.0))):
        forward[name], up, pitch, stands = _foot(t, index)
        weight -= side * smoothstep(up / LIFT)
        rest = walker.rest_pose(name)
        place = np.array(rest.position) + np.stack([forward[name], 0 * t, up], axis=1)
        tracks[name] = Track(place, wxyz(turn(pitch, 1)), stands)
    walking = smoothstep(t / STAND) * smoothstep((t[-1] - t) / STAND)
    middle = 0.5 * (forward["foot_l"] + forward["foot_r"])
    hips = np.stack([middle, SWAY * weight, -CROUCH * walking], axis=1)
    rest = walker.rest_pose("pelvis")
    yaw = 0.08 * (forward["foot_r"] - forward["foot_l"]) / STRIDE
    tracks["pelvis"] = Track(np.array(rest.position) + hips, wxyz(turn(yaw, 2)))
    clip = TargetClip(t, tracks)
    return _begun_at_rest(walker, with_balance(walker, clip)) if balanced else clip


def _begun_at_rest(walker: Mechanism, clip: TargetClip) -> TargetClip:
    """The clip with pelvis and centre of mass eased from where they rest to where balance wants them, while the robot still stands."""
    eased = smoothstep(clip.times / STAND)[:, None]
    com = sum(b.mass * b.rest_com for b in walker.bodies) / walker.mass
    assert clip.com is not None and clip.tracks["pelvis"].position is not None  # balance gives the one and leaves the other
    pelvis, rest = clip.tracks["pelvis"], np.array(walker.rest_pose("pelvis").position)
    tracks = {**clip.tracks, "pelvis": replace(pelvis, position=rest + eased * (pelvis.position - rest))}
    return replace(clip, tracks=tracks, com=com + eased * (clip.com - com))


def _foot(t: np.ndarray, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """How far forward and up a foot is [m], how far its toes point down [rad], and whether it stands."""
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


def walker_clip(walker: Mechanism, fps: float, seconds: float = 2.0) -> TargetClip:
    """Steps in place and forward: feet lift 3 cm and stride 6 cm, the pelvis sways 2 cm and nods, the centre of mass should be 1 cm
    further to the side than that, so that not everything can be met."""
    t = samples(fps, seconds)
    phase = np.pi * t
    rest = {f.name: walker.rest_pose(f.name) for f in walker.frames}
    tracks = {}
    for name, side in (("foot_l", 1.0), ("foot_r", -1.0)):
        lift = np.maximum(0.0, side * np.sin(2 * phase)) ** 2
        move = np.stack([0.03 * (1 - np.cos(phase)) * side, 0 * t, 0.03 * lift], axis=1)
        tracks[name] = Track(np.array(rest[name].position) + move, np.tile(rest[name].quaternion, (len(t), 1)))
    sway = np.sin(2 * phase)
    hips = np.stack([0 * t, -0.02 * sway, -0.012 + 0.006 * np.cos(4 * phase)], axis=1)
    tracks["pelvis"] = Track(np.array(rest["pelvis"].position) + hips, np.tile(rest["pelvis"].quaternion, (len(t), 1)))
    com = sum(b.mass * b.rest_com for b in walker.bodies) / walker.mass + np.stack([0 * t, -0.03 * sway, 0 * t], axis=1)
    return TargetClip(t, tracks, com)


def naive(clip: TargetClip) -> TargetClip:
    """The clip without its centre of mass."""
    return replace(clip, com=None)
