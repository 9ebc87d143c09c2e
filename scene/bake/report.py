"""A baked robot's report page: what its curves hold, against what the bake followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from bpy.types import Object, Scene

from ...robik.kinematics.frames import robot_com
from ...robik.objectives.settings import Settings
from ...robik.retarget.report_page import save_page
from ..animation import actions
from ..robot.parts import bodies
from ..robot.reading import read_robot
from .curves import POSE_CHANNELS, baked_frames, read_motion
from .kept_clip import kept_clip


def write_report(root: Object, scene: Scene, path: str | Path) -> None:
    """Write the page from the motors' and the bodies' curves as they are now.

    Raises:
        RobikError: there are no curves.
    """
    mechanism, kept = read_robot(root), kept_clip(root)
    frames = kept.frames if kept is not None else baked_frames(root, mechanism)
    motion = read_motion(root, mechanism, frames, scene)
    poses = np.stack([actions.read_curves(body, POSE_CHANNELS, frames) for body in bodies(root)], axis=1)
    position, quaternion = poses[..., :3], poses[..., 3:] / np.linalg.norm(poses[..., 3:], axis=2, keepdims=True)
    names = tuple(body.name for body in mechanism.bodies)
    com = robot_com(mechanism, position, quaternion)
    motion = replace(motion, bodies=names, position=position, quaternion=quaternion, com=com)
    clip = None if kept is None else replace(kept.clip, times=motion.times)
    save_page(path, motion, mechanism, clip, kept.settings if kept is not None else Settings(), frames)
