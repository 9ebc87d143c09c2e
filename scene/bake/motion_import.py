"""Motion files as keys on a robot: an action of its own beside its bakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bpy.types import Object, Scene

from ...robik.motions import Companions, Motion, load_motion
from ...robik.retarget.following_poses import follow_poses, out_of_reach
from ...robik.retarget.posing import posed
from ...robik.retarget.shortfall import unassembled
from ..robot import posing
from ..robot.reading import read_robot
from . import bakes
from .curves import write_motion


def import_motion(root: Object, scene: Scene, path: Path, format: str | None, beside: Companions) -> tuple[Motion, str]:
    """Key a motion on a robot from the scene's first frame on.

    Args:
        root: of the robot.
        scene: with its frame rate.
        path: of the file.
        format: a name of `FORMATS`; by the file's content if left out.
        beside: order and rate of files that do not say them.

    Returns:
        The motion, and in words what is out of reach or cannot be assembled; empty if nothing is.

    Raises:
        RobikError: the file cannot be read, or is another robot's; nothing has been changed.
    """
    mechanism = read_robot(root)
    companions = Companions(robot=mechanism, follow=follow_poses, order=beside.order, fps=beside.fps)
    motion, residual = posed(mechanism, load_motion(path, format, companions), path.name)
    rate = scene.render.fps / scene.render.fps_base
    frames = scene.frame_start + (motion.times - motion.times[0]) * rate
    with posing.paused():
        bakes.begin(root)
        write_motion(root, motion, np.asarray(frames))
        root.robik.robot.result.frames = 0  # it has followed nothing here
        bakes.keep_result(root)
        scene.frame_end = max(scene.frame_end, int(np.ceil(frames[-1])))
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return motion, unassembled(mechanism, residual) or out_of_reach(mechanism, motion)
