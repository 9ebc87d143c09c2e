"""Motions that the robots on the ground can follow. Every clip is smooth, and begins where the robot rests."""

from __future__ import annotations

from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..kinematics.forward import body_poses
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions
from ..mechanism.pose import matrix_quaternion


def boxer_clip(boxer: Mechanism, fps: float, seconds: float = 2.0) -> TargetClip:
    """Return poses of the boxer's hand while the arm swings through most of its range."""
    t = samples(fps, seconds)
    values = np.stack(
        [0.9 * np.sin(2.1 * t), 0.8 * np.sin(1.7 * t + 0.4), 0.9 * np.sin(2.6 * t), 1.1 + 0.7 * np.sin(3.0 * t)], axis=1
    )
    return driven_clip(boxer, "hand", t, values)


def arm_clip(arm: Mechanism, fps: float, seconds: float = 6.0) -> TargetClip:
    """Return the tool's poses while every joint of a serial arm swings by half a radian."""
    t = samples(fps, seconds)
    swings = [0.5 * np.sin((1.1 + 0.37 * k) * t + 0.5 * k) - 0.5 * np.sin(0.5 * k) for k in range(len(arm.actuators))]
    return driven_clip(arm, "tool", t, _rest(arm) + smoothstep(t)[:, None] * np.stack(swings, axis=1))


def crank_clip(linkage: Mechanism, fps: float, turn: float, seconds: float = 4.0) -> TargetClip:
    """Return the poses of a linkage's only frame while its crank goes `turn` [rad] on and half of that back."""
    t = samples(fps, seconds)
    angle = turn * (smoothstep(t / (0.6 * seconds)) - 0.5 * smoothstep(t / (0.4 * seconds) - 1.5))
    return driven_clip(linkage, linkage.frames[0].name, t, _rest(linkage) + angle[:, None])


def driven_clip(mechanism: Mechanism, frame: str, times: np.ndarray, values: np.ndarray) -> TargetClip:
    """Return the poses that forward kinematics gives a frame at values (T, A) of the actuators [rad or m]."""
    position, quaternion, _ = body_poses(mechanism, values)
    x, R = frame_poses(mechanism, frame, position, quaternion)
    return TargetClip(times, {frame: Track(x, np.array([matrix_quaternion(r) for r in R]))})


def _rest(mechanism: Mechanism) -> np.ndarray:
    """Return the actuators' values at rest (A,) [rad or m]."""
    return mechanism.actuator_rest


def dance_clip(dancer: Mechanism, fps: float, seconds: float = 8.0) -> TargetClip:
    """Return targets for the dancer's pelvis: sixteen beats at 120 a minute.

    The hips bounce on each, sway, circle, twist and roll.
    """
    t = samples(fps, seconds)
    quarter = seconds / 4
    apart = np.abs(t - quarter * (np.arange(4)[:, None] + 0.5)) / quarter
    fade = smoothstep(t / 0.5) * smoothstep((seconds - t) / 0.5)
    sway, circle, twist, wave = fade * np.where(apart < 1, 0.5 + 0.5 * np.cos(pi * apart), 0.0)
    sin, cos, twice = np.sin(2 * pi * t), np.cos(2 * pi * t), np.sin(4 * pi * t)
    move = np.stack([
        0.050 * circle * cos - 0.042 * wave * sin,
        0.064 * sway * sin + 0.050 * circle * sin + 0.016 * wave * twice,
        -0.036 * fade * (0.5 - 0.5 * np.cos(4 * pi * t)) + 0.004 * fade - 0.016 * wave * cos,
    ], axis=1)  # fmt: skip
    yaw, pitch = 0.66 * twist * sin + 0.22 * circle * cos, 0.38 * wave * cos + 0.16 * circle * sin
    turned = turn(yaw, 2) * turn(pitch, 1) * turn(-0.25 * sway * sin + 0.16 * twist * twice, 0)
    rest = dancer.rest_pose("pelvis_frame")
    return TargetClip(
        t,
        {
            "pelvis_frame": Track(
                np.array(rest.position) + move, quaternions(turned * Rotation.from_matrix(rest.matrix))
            )
        },
    )


def chain_clip(chain: Mechanism, laps: int = 10, frames: int = 1000, path: str = "loop") -> TargetClip:
    """Return the tool's way round a loop, a second and `frames` samples a lap; the first lap grows from rest.

    The path is "loop" for a closed path, "retraced" for to and fro on half of it, "held" for no motion at all.
    """
    u = 2 * pi * np.arange(laps * frames) / frames
    size = {"loop": 1.0, "retraced": 1.0, "held": 0.0}[path] * smoothstep(u / (2 * pi))[:, None]
    if path == "retraced":
        u = 0.5 * pi * (1 - np.cos(u))
    move = size * np.stack([0.020 * np.sin(2 * u), 0.036 * np.sin(u), 0.020 * (np.cos(u) - 1)], axis=1)
    angles = size * np.stack([0.20 * np.sin(u), 0.16 * np.sin(2 * u), 0.12 * np.sin(u)], axis=1)
    rest = chain.rest_pose("tool")
    turned = Rotation.from_euler("ZYX", angles) * Rotation.from_matrix(rest.matrix)
    return TargetClip(
        np.arange(laps * frames) / frames, {"tool": Track(np.array(rest.position) + move, quaternions(turned))}
    )


def samples(fps: float, seconds: float) -> np.ndarray:
    """Return the times of a clip's frames (T,) [s]."""
    return np.arange(round(seconds * fps)) / fps


def smoothstep(u: np.ndarray) -> np.ndarray:
    """Return 10 u³ − 15 u⁴ + 6 u⁵, a rise from 0 to 1, at rest at both ends up to the acceleration.

    u has any shape and is clipped to 0 to 1.
    """
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u * u)


def turn(angle: np.ndarray, axis: int) -> Rotation:
    """Return rotations by angles (T,) [rad] about a coordinate axis, 0, 1 or 2."""
    return Rotation.from_rotvec(angle[:, None] * np.eye(3)[axis])
