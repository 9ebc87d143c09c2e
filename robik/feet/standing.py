"""Phases of a motion in which feet stand."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Mechanism
from ..motions import Motion
from .phases import HIGH, standing
from .support import sole_length, standing_points


def standing_phases(mechanism: Mechanism, motion: Motion) -> dict[str, np.ndarray]:
    """Return flags (T,) by foot of when it stands in a motion with bodies' poses."""
    feet = [frame for frame in mechanism.frames if frame.is_foot]
    soles = {frame.name: standing_points(mechanism, motion, frame.name).mean(axis=1) for frame in feet}
    levels = {name: float(np.percentile(sole[:, 2], 10)) for name, sole in soles.items()}
    ground = min(levels.values(), default=0.0)
    found = {}
    for frame in feet:
        length, level = sole_length(frame), levels[frame.name]
        level = level if level - ground < HIGH * length else ground
        found[frame.name] = standing(motion.times, soles[frame.name], level, length)
    return found
