"""Motion → F-curves: the actuators' on the robot's root, the bodies' on each body."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from ...robik.kinematics.forward import body_poses
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.report.shortfall import open_beyond
from ..animation import actions
from ..animation.actions import Curve
from ..motion import POSE_CHANNELS, continuous, motion_frames, read_base, read_values, slider_channels
from ..robot import posing
from ..robot.parts import bodies
from ..robot.reading import read_moving_parts
from ..robot.sliders import data_path
from . import bakes


def write_motion(root: Object, motion: Motion, frames: np.ndarray, outside: bool = False) -> None:
    """Keys the sliders of a robot and the poses of its bodies.

    Keys that were there are replaced, on request only between the frames.
    """
    sliders = [Curve(data_path(name), 0, motion.values[:, k], "Motors") for k, name in enumerate(motion.actuators)]
    actions.write_curves(root, frames, sliders, outside)
    if not outside:
        actions.bring_to_front(root)
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
        if not outside:
            actions.bring_to_front(body)


def _joining(body: Object, turns: np.ndarray, frames: np.ndarray, outside: bool) -> np.ndarray:
    """Return quaternions (T, 4) with the sign of the keys that stay before and after them."""
    return turns * sign_at(body, frames[0], turns[0]) if outside else turns


def sign_at(body: Object, frame: float, turn: np.ndarray) -> float:
    """Return the sign (1 or -1) by which a quaternion (4,) is near the keys that a body has around a frame."""
    curves = [actions.curves_of(body).get(channel) for channel in POSE_CHANNELS[3:]]
    keyed = [curve.evaluate(frame) for curve in curves if curve is not None]
    return -1.0 if len(keyed) == len(turn) and float(np.dot(keyed, turn)) < 0 else 1.0


def has_keys(root: Object, mechanism: Mechanism) -> bool:
    """Return whether every slider has keys."""
    curves = actions.curves_of(root)
    found = [curves.get(channel) for channel in slider_channels(mechanism)]
    return bool(found) and all(curve is not None and len(curve.keyframe_points) for curve in found)


def rebuild_bodies(root: Object, scene: Scene) -> list[float]:
    """Key the bodies again from the sliders' motion, and return the frames in which the loops do not close.

    A floating robot's base keeps its keys.
    """
    mechanism = read_moving_parts(root)
    frames = motion_frames(root, mechanism, scene)
    values = read_values(root, mechanism, frames, scene)
    position, quaternion, residual = body_poses(mechanism, values, read_base(root, mechanism, frames, scene))
    bakes.make_own(root)
    write_bodies(root, frames, position, quaternion)
    return frames[residual > open_beyond(mechanism)].tolist()
