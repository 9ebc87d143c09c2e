"""Beyond the workspace (Fig. 5): the four-bar linkage's handle, led round further than the linkage can follow."""

from __future__ import annotations

import numpy as np

from experiments.robots import four_bar
from robik.clips.clip import TargetClip, Track


def handle_clip(turn: float, frames: int = 60) -> TargetClip:
    """Return the handle's way round the crank's bearing, `turn` [rad] on from the rest pose, within a second."""
    times = np.linspace(0.0, 1.0, frames)
    angle = four_bar.REST + turn * (1 - np.cos(np.pi * times)) / 2
    way = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    return TargetClip(times, {"handle": Track([0.0, 0.0, four_bar.HEIGHT] + four_bar.CRANK * way)})
