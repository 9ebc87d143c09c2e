"""Motion ↔ F-curves: the actuators' on the robot's root, the bodies' on each body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import RobikError
from ...robik.kinematics.forward import ForwardKinematics, body_poses
from ...robik.kinematics.frames import robot_com
from ...robik.mechanism import Mechanism
from ...robik.mechanism.topology import build_topology
from ...robik.motions import BaseTrack, Motion
from ...robik.motions.resampling import even_times
from ...robik.report.shortfall import open_beyond
from ..animation import actions
from ..animation.actions import Curve
from ..character.sampling import times_of
from ..robot import posing
from ..robot.parts import bodies
from ..robot.reading import read_moving_parts
from ..robot.sliders import data_path
from . import bakes

SAME = 1e-3  # frames nearer than this are one
FRAME_DECIMALS = 4  # keys' frames are in single precision
POSE_CHANNELS = (*(("location", k) for k in range(3)), *(("rotation_quaternion", k) for k in range(4)))


def write_motion(root: Object, motion: Motion, frames: np.ndarray, outside: bool = False) -> None:
    """Keys the sliders of a robot and the poses of its bodies.

    Keys that were there are replaced, on request only between the frames.
    """
    sliders = [Curve(data_path(name), 0, motion.values[:, k], "Motors") for k, name in enumerate(motion.actuators)]
    actions.write_curves(root, frames, sliders, outside)
    if motion.position is not None and motion.quaternion is not None:
        write_bodies(root, frames, motion.position, motion.quaternion, outside)


def write_own_bake(root: Object, scene: Scene, motion: Motion, frames: np.ndarray) -> None:
    """Keys a motion that followed no targets as a bake of its own, beside the others; its robot moves by it."""
    with posing.paused():
        bakes.begin(root)
        write_motion(root, motion, frames)
        root.robik.robot.result.frames = 0
        bakes.keep_result(root)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def write_bodies(
    root: Object, frames: np.ndarray, position: np.ndarray, quaternion: np.ndarray, outside: bool = False
) -> None:
    """Key the poses of a robot's bodies at frames (T,): positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz.

    They are those of each body's own frame, in the robot's coordinates. With `outside`, keys outside of the frames
    stay.
    """
    for i, body in enumerate(bodies(root)):
        body.rotation_mode = "QUATERNION"
        pose = np.hstack([position[:, i], _joining(body, continuous(quaternion[:, i]), frames, outside)])
        actions.write_curves(
            body, frames, [Curve(path, k, pose[:, c], "Body") for c, (path, k) in enumerate(POSE_CHANNELS)], outside
        )


def _joining(body: Object, turns: np.ndarray, frames: np.ndarray, outside: bool) -> np.ndarray:
    """Quaternions (T, 4) with the sign of the keys that stay before and after them."""
    if not outside or POSE_CHANNELS[3] not in actions.curves_of(body):
        return turns
    return turns if float(actions.read_curves(body, POSE_CHANNELS[3:], frames[:1])[0] @ turns[0]) >= 0 else -turns


def continuous(quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions (T, 4) each with the sign nearer to the one before, so that keys blend the short way."""
    against = (quaternion[1:] * quaternion[:-1]).sum(axis=1) < 0
    signs = np.where(np.cumsum(against) % 2, -1.0, 1.0)
    return np.concatenate([quaternion[:1], quaternion[1:] * signs[:, None]])


def has_keys(root: Object, mechanism: Mechanism) -> bool:
    """Return whether every slider has keys."""
    curves = actions.curves_of(root)
    found = [curves.get((data_path(name), 0)) for name in mechanism.actuators]
    return bool(found) and all(curve is not None and len(curve.keyframe_points) for curve in found)


def baked_frames(root: Object, mechanism: Mechanism) -> np.ndarray:
    """Return the frames (T,) over which the sliders have keys.

    Each key's, and between them as dense as the robot was baked, so that thinned out curves lose nothing. Raise
    RobikError if a slider has no keys, or there is no slider.
    """
    curves = actions.curves_of(root)
    frames: list[np.ndarray] = []
    if not mechanism.actuators:
        raise RobikError(f"no motor drives robot {root.name!r}; select its joints and click Set Motor")
    for name in mechanism.actuators:
        curve = curves.get((data_path(name), 0))
        if curve is None or not len(curve.keyframe_points):
            raise RobikError(f"the motor {name!r} of robot {root.name!r} has no keys; bake first, or key its slider")
        frames.append(actions.key_frames(curve))
    keyed = np.unique(np.round(np.concatenate(frames), FRAME_DECIMALS))
    result = root.robik.robot.result
    step = min(float(result.step), 1.0) if result.frames else 1.0
    dense = keyed[0] + step * np.arange(int(np.floor((keyed[-1] - keyed[0]) / step + SAME)) + 1)
    apart = np.abs(dense - keyed[np.clip(np.searchsorted(keyed, dense - SAME), 0, len(keyed) - 1)])
    return np.union1d(keyed, dense[apart > SAME])


def played_frames(root: Object, mechanism: Mechanism, step: float) -> np.ndarray:
    """Return frames (T,) between which the sliders' curves are straight lines.

    They are the baked ones, or `step` frames apart where curves bend.
    """
    frames, curves = baked_frames(root, mechanism), actions.curves_of(root)
    if all(actions.is_straight(curves[data_path(name), 0]) for name in mechanism.actuators):
        return frames
    return np.append(np.arange(frames[0], frames[-1] - SAME, step), frames[-1])


def even_frames(root: Object, mechanism: Mechanism, scene: Scene, rate: float) -> np.ndarray:
    """Return frames (T,) over which the sliders have keys, at equal distances: `rate` samples per second [Hz].

    Raise RobikError if that gives too many samples.
    """
    keyed, fps = baked_frames(root, mechanism), scene.render.fps / scene.render.fps_base
    frames = keyed[0] + fps * even_times(float(keyed[-1] - keyed[0]) / fps, rate)
    return np.minimum(frames, keyed[-1])  # rounding may put the last one behind the end


def read_motion_at(root: Object, mechanism: Mechanism, frames: np.ndarray) -> np.ndarray:
    """Return the sliders' curves (T, A) at these frames [rad or m]."""
    return actions.read_curves(root, [(data_path(name), 0) for name in mechanism.actuators], frames)


def read_motion(root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene) -> Motion:
    """Return the motion of a robot's slider curves at frames (T,), with its floating base where that has curves."""
    values = read_motion_at(root, mechanism, frames)
    return Motion(
        times=times_of(scene, frames),
        actuators=mechanism.actuators,
        values=values,
        base=base_track(root, mechanism, frames),
    )


def with_poses(root: Object, mechanism: Mechanism, motion: Motion, frames: np.ndarray) -> Motion:
    """Return a motion with the poses that the bodies' curves have at these frames of the scene."""
    poses = np.stack([actions.read_curves(body, POSE_CHANNELS, frames) for body in bodies(root)], axis=1)
    position, quaternion = poses[..., :3], poses[..., 3:] / np.linalg.norm(poses[..., 3:], axis=2, keepdims=True)
    names = tuple(body.name for body in mechanism.bodies)
    com = robot_com(mechanism, position, quaternion)
    return replace(motion, bodies=names, position=position, quaternion=quaternion, com=com)


def rebuild_bodies(root: Object, scene: Scene) -> list[float]:
    """Key the bodies again from the sliders' curves, and return the frames in which the loops do not close.

    A floating robot's base keeps its keys.
    """
    mechanism = read_moving_parts(root)
    frames = baked_frames(root, mechanism)
    motion = read_motion(root, mechanism, frames, scene)
    position, quaternion, residual = body_poses(mechanism, motion.values, base_curve(root, mechanism, frames))
    bakes.make_own(root)
    write_bodies(root, frames, position, quaternion)
    return frames[residual > open_beyond(mechanism)].tolist()


def base_curve(root: Object, mechanism: Mechanism, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return positions (T, 3) [m] and unit quaternions (T, 4) of a floating robot's base at frames (T,).

    None for a robot on the ground; raise RobikError if the base has no curves.
    """
    base = ForwardKinematics(mechanism).root
    if base is None:
        return None
    pose = actions.read_curves(bodies(root)[mechanism.body_index[base]], POSE_CHANNELS, frames)
    return pose[:, :3], pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)


def base_track(root: Object, mechanism: Mechanism, frames: np.ndarray) -> BaseTrack | None:
    """Return a floating robot's base at these frames; None for a robot on the ground, or a base without curves."""
    body = build_topology(mechanism).root
    if body is None or not set(POSE_CHANNELS) <= set(actions.curves_of(bodies(root)[mechanism.body_index[body]])):
        return None
    pose = base_curve(root, mechanism, frames)
    return None if pose is None else BaseTrack(body=body, position=pose[0], quaternion=pose[1])
