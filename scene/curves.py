"""Motion ↔ F-curves: the actuators' on the robot's root, the bodies' on each body."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from robik.errors import RobikError
from robik.kinematics.forward import ForwardKinematics, body_poses
from robik.mechanism import Mechanism
from robik.retarget.motion import Motion

from . import actions
from .actions import Curve
from .actuators import data_path
from .parts import bodies
from .read_robot import read_robot
from .sample import times_of

POSE_CHANNELS = (*(("location", k) for k in range(3)), *(("rotation_quaternion", k) for k in range(4)))
OPEN = 1e-6  # loops further open than this make a motion that no robot can play [m]


def write_motion(root: Object, motion: Motion, frames: np.ndarray) -> None:
    """Keys the sliders of a robot and the poses of its bodies; keys that were there are replaced."""
    sliders = [Curve(data_path(name), 0, motion.values[:, k], "Motors") for k, name in enumerate(motion.actuators)]
    actions.write_curves(root, frames, sliders)
    if motion.position is not None and motion.quaternion is not None:
        write_bodies(root, frames, motion.position, motion.quaternion)


def write_bodies(root: Object, frames: np.ndarray, position: np.ndarray, quaternion: np.ndarray) -> None:
    """Keys the poses of a robot's bodies.

    Args:
        root: of the robot.
        frames: (T,).
        position: (T, n, 3) of each body's own frame, in the robot's coordinates [m].
        quaternion: (T, n, 4) likewise, wxyz.
    """
    for i, body in enumerate(bodies(root)):
        body.rotation_mode = "QUATERNION"
        pose = np.hstack([position[:, i], continuous(quaternion[:, i])])
        actions.write_curves(body, frames, [Curve(path, k, pose[:, c], "Body") for c, (path, k) in enumerate(POSE_CHANNELS)])


def continuous(quaternion: np.ndarray) -> np.ndarray:
    """Quaternions (T, 4) with the sign that makes each the neighbour of the one before, so that keys blend the short way."""
    against = (quaternion[1:] * quaternion[:-1]).sum(axis=1) < 0
    signs = np.where(np.cumsum(against) % 2, -1.0, 1.0)
    return np.concatenate([quaternion[:1], quaternion[1:] * signs[:, None]])


def baked_frames(root: Object, mechanism: Mechanism) -> np.ndarray:
    """The frames at which the sliders have keys (T,).

    Raises:
        RobikError: a slider has none.
    """
    curves = actions.curves_of(root)
    frames: set[float] = set()
    for name in mechanism.actuators:
        curve = curves.get((data_path(name), 0))
        if curve is None or not len(curve.keyframe_points):
            raise RobikError(f"the motor {name!r} of robot {root.name!r} has no keys; bake first, or key its slider")
        frames.update(actions.key_frames(curve).tolist())
    return np.array(sorted(frames))


def read_motion(root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene) -> Motion:
    """The motion that a robot's slider curves hold, at these frames.

    Raises:
        RobikError: a slider has no curve.
    """
    values = actions.read_curves(root, [(data_path(name), 0) for name in mechanism.actuators], frames)
    return Motion(times_of(scene, frames), mechanism.actuators, values)


def rebuild_bodies(root: Object, scene: Scene) -> list[float]:
    """Keys the bodies anew from the sliders' curves; a floating robot's base keeps its keys.

    Returns:
        The frames in which the sliders' values do not let the loops close.

    Raises:
        RobikError: a slider, or a floating base, has no curve.
    """
    mechanism = read_robot(root)
    frames = baked_frames(root, mechanism)
    motion = read_motion(root, mechanism, frames, scene)
    position, quaternion, residual = body_poses(mechanism, motion.values, base_curve(root, mechanism, frames))
    write_bodies(root, frames, position, quaternion)
    return frames[residual > OPEN].tolist()


def base_curve(root: Object, mechanism: Mechanism, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Where a floating robot's base is at these frames: positions (T, 3) and unit quaternions (T, 4); None for a robot on the ground.

    Raises:
        RobikError: the base has no curves.
    """
    base = ForwardKinematics(mechanism).root
    if base is None:
        return None
    pose = actions.read_curves(bodies(root)[mechanism.body_index[base]], POSE_CHANNELS, frames)
    return pose[:, :3], pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
