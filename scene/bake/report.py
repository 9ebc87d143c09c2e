"""A baked robot's report page: what its curves hold, against what the bake followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bpy.types import Object, Scene

from ...robik.errors import RobikError
from ...robik.motions import Motion
from ...robik.objectives.settings import Settings
from ...robik.physics.report_plots import force_plots
from ...robik.report.report_page import Plot, save_page
from ..motion import motion_frames, read_motion, with_poses
from ..robot.chain import robot_motors
from ..robot.reading import read_robot
from .kept_clip import kept_clip


def write_report(root: Object, scene: Scene, path: str | Path) -> None:
    """Write the page from the motors' and the bodies' motion as it is now."""
    mechanism, kept = read_robot(root), kept_clip(root)
    frames = kept.frames if kept is not None else motion_frames(root, mechanism, scene)
    motion = with_poses(root, mechanism, read_motion(root, mechanism, frames, scene), frames, scene)
    clip = None if kept is None else replace(kept.clip, times=motion.times)
    settings = kept.settings if kept is not None else Settings()
    save_page(path, motion, mechanism, clip, settings, frames, _forces(root, scene, motion))


def _forces(root: Object, scene: Scene, motion: Motion) -> list[Plot]:
    """Return plots of what the motors must give; none of a robot without mass, or on servos that nobody knows."""
    try:
        motors = robot_motors(root, scene)
        return force_plots(motors.room, motion, motors.drives(root.robik.robot.physics.p_gain or None))
    except RobikError:
        return []
