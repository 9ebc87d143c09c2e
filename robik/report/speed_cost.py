"""Cost in tracking of keeping motors within their speeds, from solving the clip a second time without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..motions import Motion, Report, SpeedCost
from ..motions.report import SpeedErrors
from ..objectives.settings import OVER_TIME, Settings
from .distances import distances, reached
from .shortfall import ORIENTATION_MET, position_met


def measure_speed_cost(
    mechanism: Mechanism, clip: TargetClip, settings: Settings, held: Motion, free: Motion
) -> SpeedCost:
    """Return the errors of two solved motions of the same clip, `held` within speeds and `free` of them.

    Only axes with weight count. Raise ClipError for a motion that is not a solved one.
    """
    (report, *poses), (without, *others) = _solved(held), _solved(free)
    apart, twisted, off = distances(mechanism, reached(mechanism, clip, *others), settings, *poses)
    moved = np.nan_to_num(np.column_stack([apart, off])).max(axis=1)
    turned = np.nan_to_num(twisted).max(axis=1, initial=0.0)
    return SpeedCost(
        moved=moved,
        turned=turned,
        lag=np.maximum(moved / position_met(mechanism), turned / ORIENTATION_MET),
        position=SpeedErrors.between(report.position_error, without.position_error),
        orientation=SpeedErrors.between(report.orientation_error, without.orientation_error),
        com=SpeedErrors.between(report.com_error, without.com_error),
    )


def without_speeds(settings: Settings) -> Settings | None:
    """Return the settings with no speed held back; None where none is held back anyway."""
    held = settings.enforce_velocity or settings.velocity_weight
    if not held and all(getattr(settings, name) is None for name in OVER_TIME):
        return None
    return replace(settings.frame_by_frame(), enforce_velocity=False, velocity_weight=0.0)


def _solved(motion: Motion) -> tuple[Report, np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion's report, its bodies' poses and its centre of mass."""
    if motion.report is None or motion.position is None or motion.quaternion is None or motion.com is None:
        raise ClipError(
            "what keeping speeds costs is told of solved motions, which have their bodies' poses and a report"
        )
    return motion.report, motion.position, motion.quaternion, motion.com
