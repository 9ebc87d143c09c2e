"""What the robots on the ground follow in the experiments. Every clip is smooth, and begins where the robot rests."""

from __future__ import annotations

from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

from robik.kinematics.forward import body_poses
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.mechanism.pose import matrix_quaternion
from robik.retarget.clip import TargetClip, Track
from robik.robots import boxer as boxer_design
from robik.robots.validation import tool_pose


def boxer_clip(boxer: Mechanism, fps: float, seconds: float = 2.0) -> TargetClip:
    """The hand's poses while the arm swings through most of its range: reachable, position and orientation."""
    t = samples(fps, seconds)
    values = np.stack([0.9 * np.sin(2.1 * t), 0.8 * np.sin(1.7 * t + 0.4), 0.9 * np.sin(2.6 * t), 1.1 + 0.7 * np.sin(3.0 * t)], axis=1)
    position, quaternion, _ = body_poses(boxer, values)
    x, R = frame_poses(boxer, "hand", position, quaternion)
    return TargetClip(t, {"hand": Track(x, np.array([matrix_quaternion(r) for r in R]))})


def singular_clip(fps: float, seconds: float = 8.0, sweep: float = 0.9, miss: float = 0.028, period: float = 2.0) -> TargetClip:
    """The hand of an arm like the boxer's with a ball for a shoulder, sweeping to and fro past the vertical (Fig. 7).

    Upright, the boxer's upper arm brings the twist axis onto the swing axis. The ball's arm rises to one side and then sweeps from side to
    side, passing the vertical at a small angle, where the boxer's shoulder must turn by half a turn to follow.

    Args:
        sweep: to each side of the vertical [rad].
        miss: the angle at which it passes the vertical [rad].
        period: of the sweep [s].
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
    return TargetClip(t, {"hand": Track(elbow + fore.apply([boxer_design.FOREARM, 0.0, 0.0]), wxyz(fore))})


def dance_clip(dancer: Mechanism, fps: float, seconds: float = 8.0) -> TargetClip:
    """Sixteen beats at 120 a minute: the hips bounce on each, sway, circle, twist and roll in waves, one figure melting into the next."""
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
    return TargetClip(t, {"pelvis_frame": Track(np.array(rest.position) + move, wxyz(turned * Rotation.from_matrix(rest.matrix)))})


def chain_clip(chain: Mechanism, laps: int = 10, frames: int = 1000, path: str = "loop") -> TargetClip:
    """The tool goes round and round, a second a lap, after one lap of beginning.

    Args:
        laps: how many.
        frames: of a lap.
        path: "loop" for a closed path, "retraced" for to and fro on half of it, "held" for no motion at all.
    """
    u = 2 * pi * np.arange(laps * frames) / frames
    size = {"loop": 1.0, "retraced": 1.0, "held": 0.0}[path] * smoothstep(u / (2 * pi))[:, None]
    if path == "retraced":
        u = 0.5 * pi * (1 - np.cos(u))
    move = size * np.stack([0.020 * np.sin(2 * u), 0.036 * np.sin(u), 0.020 * (np.cos(u) - 1)], axis=1)
    angles = size * np.stack([0.20 * np.sin(u), 0.16 * np.sin(2 * u), 0.12 * np.sin(u)], axis=1)
    rest = chain.rest_pose("tool")
    turned = Rotation.from_euler("ZYX", angles) * Rotation.from_matrix(rest.matrix)
    return TargetClip(np.arange(laps * frames) / frames, {"tool": Track(np.array(rest.position) + move, wxyz(turned))})


def with_posture(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """The clip with a target for each body, where it rests: weighted little, they say how a robot stands where the others leave it free."""
    frames, tracks = len(clip.times), dict(clip.tracks)
    for body in mechanism.bodies:
        tracks[body.name] = Track(np.tile(body.pose.position, (frames, 1)), np.tile(body.pose.quaternion, (frames, 1)))
    return TargetClip(clip.times, tracks, clip.com)


def validation_clip(fps: float, seconds: float = 4.0) -> TargetClip:
    """The tool's pose, from the closed form, while the crank turns twice forward and once back."""
    t = samples(fps, seconds)
    angle = 4 * pi * smoothstep(t / (0.6 * seconds)) - 2 * pi * smoothstep(t / (0.4 * seconds) - 1.5)
    poses = [tool_pose(a) for a in angle]
    return TargetClip(t, {"tool_frame": Track(np.array([p.position for p in poses]), np.array([p.quaternion for p in poses]))})


def samples(fps: float, seconds: float) -> np.ndarray:
    """The times of a clip's frames [s]."""
    return np.arange(round(seconds * fps)) / fps


def smoothstep(u: np.ndarray) -> np.ndarray:
    """0 to 1, at rest at both ends, up to the acceleration."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u * u)


def turn(angle: np.ndarray, axis: int) -> Rotation:
    """Turns by angles (T,) [rad] about a coordinate axis."""
    return Rotation.from_rotvec(angle[:, None] * np.eye(3)[axis])


def wxyz(turned: Rotation) -> np.ndarray:
    """Unit quaternions (T, 4) with the real part first."""
    return turned.as_quat()[:, [3, 0, 1, 2]]
