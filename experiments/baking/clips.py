"""Clips of the paper's experiments on the ground, beside those of `robik bench`."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np

from experiments.robots import boxer as boxer_design
from experiments.robots.validation import tool_pose
from robik.bench.clips import samples, smoothstep, turn
from robik.clips.clip import TargetClip, Track
from robik.mechanism.model import Mechanism
from robik.mechanism.orientations import quaternions


def singular_clip(
    fps: float, seconds: float = 8.0, sweep: float = 0.9, miss: float = 0.028, period: float = 2.0
) -> TargetClip:
    """Return a clip of a hand sweeping to and fro past the vertical (paper, Fig. 7).

    The arm is like the boxer's, with a ball for a shoulder. Upright, the boxer's upper arm brings the twist axis onto
    the swing axis. The ball's arm rises to one side and then sweeps by `sweep` [rad] to each side, passing the vertical
    at a small angle, `miss` [rad], where the boxer's shoulder must turn by half a turn to follow.
    """
    t = samples(fps, seconds)
    rise = 1.5  # s
    up = smoothstep(t / rise)
    forward = pi / 2 + (miss - pi / 2) * up
    side = np.where(t < rise, -sweep * up, -sweep * np.cos(2 * pi * (t - rise) / period))
    twist, flexion = 0.2 * np.sin(1.3 * t), boxer_design.ELBOW_REST + 0.25 * np.sin(0.8 * pi * t) * smoothstep(t / 0.8)
    upper = turn(side, 0) * turn(forward - pi / 2, 1) * turn(twist, 0)
    fore = upper * turn(-flexion, 1)
    elbow = boxer_design.SHOULDER + upper.apply([boxer_design.UPPER_ARM, 0.0, 0.0])
    return TargetClip(t, {"hand": Track(elbow + fore.apply([boxer_design.FOREARM, 0.0, 0.0]), quaternions(fore))})


def with_posture(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """Return the clip with a target for each body, at its rest pose.

    Weighted little, these targets say how a robot stands where the others leave it free.
    """
    frames, tracks = len(clip.times), dict(clip.tracks)
    for body in mechanism.bodies:
        tracks[body.name] = Track(np.tile(body.pose.position, (frames, 1)), np.tile(body.pose.quaternion, (frames, 1)))
    return TargetClip(clip.times, tracks, com=clip.com)


def validation_clip(fps: float, seconds: float = 4.0) -> TargetClip:
    """Return the tool's pose, from the closed form, while the crank turns twice forward and once back."""
    t = samples(fps, seconds)
    angle = 4 * pi * smoothstep(t / (0.6 * seconds)) - 2 * pi * smoothstep(t / (0.4 * seconds) - 1.5)
    poses = [tool_pose(a) for a in angle]
    return TargetClip(
        t, {"tool_frame": Track(np.array([p.position for p in poses]), np.array([p.quaternion for p in poses]))}
    )


def walker_clip(walker: Mechanism, fps: float, seconds: float = 2.0) -> TargetClip:
    """Return steps in place and forward.

    Feet lift 3 cm and stride 6 cm, the pelvis sways 2 cm and nods. The centre of mass should be 1 cm further to the
    side than that, so that not every target can be met.
    """
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
    return TargetClip(t, tracks, com=com)


def naive(clip: TargetClip) -> TargetClip:
    """Return the clip without its centre of mass."""
    return replace(clip, com=None)
