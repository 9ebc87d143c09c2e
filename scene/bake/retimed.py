"""Retimed motions in Blender: later where motors cannot keep up, or without a vibration; each a bake of its own."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from bpy.types import Object, Scene

from ...robik.motions import Motion
from ...robik.motions.posing import posed
from ...robik.motions.resampling import resampled
from ...robik.retiming import Limits, Slowed, shaped, shaper, slowing_down
from ...robik.retiming.vibration import Shaper
from ...robik.steps import relay
from ..long_work.steps import Progress, starting
from ..motion import SAME, motion_frames, read_motion
from ..robot.reading import read_moving_parts
from .curves import write_own_bake
from .request import read_bake_settings


def slowing(root: Object, scene: Scene) -> Generator[Progress, None, Slowed]:
    """Slow a robot's motion down on its path where its motors cannot keep up; nothing is written.

    Raise RobikError if the robot has no motion, or one of fewer than four samples.
    """
    yield starting("Slowing down")
    mechanism = read_moving_parts(root)
    bake = root.robik.robot.bake
    limits: Limits = read_bake_settings(root, scene).limits(mechanism)
    work = slowing_down(mechanism, _even(root, scene), limits, bake.catch_up / 100)
    return (yield from relay(work, lambda share: Progress(share, "Slowing down")))


def calmed(root: Object, scene: Scene, frequency: float) -> tuple[Motion, Shaper]:
    """Return a robot's motion that does not excite a vibration [Hz], and its shaper; nothing is written."""
    by = shaper(frequency)
    return shaped(read_moving_parts(root), _even(root, scene), by), by


def keep(root: Object, scene: Scene, motion: Motion) -> float:
    """Key a retimed motion as a bake of its own, and return the frame in which it ends."""
    start = float(motion_frames(root, read_moving_parts(root), scene)[0])
    frames = start + (motion.times - motion.times[0]) * scene.render.fps / scene.render.fps_base
    write_own_bake(root, scene, motion, frames)
    return float(frames[-1])


def _even(root: Object, scene: Scene) -> Motion:
    """Return the robot's motion with its bodies, at equal distances."""
    mechanism = read_moving_parts(root)
    frames = motion_frames(root, mechanism, scene)
    motion = read_motion(root, mechanism, frames, scene)
    steps = np.diff(frames)
    if len(steps) and np.ptp(steps) > SAME:
        motion = resampled(motion, scene.render.fps / scene.render.fps_base / float(np.median(steps)))
    return posed(mechanism, motion)[0]
