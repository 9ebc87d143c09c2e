"""Judgement of a robot's present motion, after its curves or the frame rate have changed since the bake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import RobikError
from ...robik.report.judging import judged
from ...robik.report.shortfall import millimetres, position_met
from ..motion import read_base, read_motion, with_poses
from ..robot import posing
from ..robot.reading import read_moving_parts
from . import bakes
from .freshness import mark
from .kept_clip import kept_clip
from .markers import mark_short
from .result import store_cost, store_result


def judge_again(root: Object, scene: Scene) -> str:
    """Judge a robot's present curves against what the bake followed, and replace its result.

    Return what is wrong with the bodies' curves in a sentence, empty where they show what the motors do. Raise
    RobikError if the action keeps nothing that was followed, or a motor has no curve.
    """
    mechanism, kept = read_moving_parts(root), kept_clip(root)
    if kept is None:
        raise RobikError(f"no bake moves robot {root.name!r}, so its motion cannot be judged; bake first")
    frames, result = kept.frames, root.robik.robot.result
    motion = read_motion(root, mechanism, frames, scene)
    clip = replace(kept.clip, times=motion.times)
    motion = judged(mechanism, clip, kept.settings, motion, read_base(root, mechanism, frames, scene))
    milliseconds = result.milliseconds
    store_result(result, mechanism, clip, motion, frames, result.seconds)
    store_cost(result, None, frames)
    result.milliseconds, result.rest = milliseconds, ""
    result.mark = mark(root, scene)
    bakes.keep_result(root)
    mark_short(root, scene)
    if not posing.has_baked_bodies(root):
        return ""
    shown = with_poses(root, mechanism, motion, frames, scene)
    assert shown.position is not None and motion.position is not None
    away = float(np.linalg.norm(shown.position - motion.position, axis=2).max(initial=0.0))
    if away <= position_met(mechanism):
        return ""
    return f"the bodies' keys are up to {millimetres(away)} from where the motors bring them: press Rebuild Bodies"
