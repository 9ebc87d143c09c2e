"""A baked robot's report page: what its curves hold, against what the bake followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bpy.types import Object, Scene

from ...robik.objectives.settings import Settings
from ...robik.retarget.report_page import save_page
from ..robot.reading import read_robot
from .curves import baked_frames, read_motion, with_poses
from .kept_clip import kept_clip


def write_report(root: Object, scene: Scene, path: str | Path) -> None:
    """Write the page from the motors' and the bodies' curves as they are now.

    Raises:
        RobikError: there are no curves.
    """
    mechanism, kept = read_robot(root), kept_clip(root)
    frames = kept.frames if kept is not None else baked_frames(root, mechanism)
    motion = with_poses(root, mechanism, read_motion(root, mechanism, frames, scene), frames)
    clip = None if kept is None else replace(kept.clip, times=motion.times)
    save_page(path, motion, mechanism, clip, kept.settings if kept is not None else Settings(), frames)
