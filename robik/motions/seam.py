"""Seam of a loop: the end of a motion runs into its beginning, in value and in speed.

Over the last B seconds a motion x gets what it lacks, u = (t − T + B) / B from 0 to 1:

    y(t) = x(t) + g (10 u³ − 15 u⁴ + 6 u⁵) + s B (−4 u³ + 7 u⁴ − 3 u⁵)

with the gap g = x(0) − x(T) and the difference of speeds s = ẋ(0) − ẋ(T). Value, speed and acceleration of what is
added are 0 where it begins; at the end its value is g, its speed s and its acceleration 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import ClipError
from ..mechanism.orientations import quaternions, rotation
from .motion import BaseTrack, Motion


def closed(times: np.ndarray, values: np.ndarray, seconds: float, is_turn: bool = False) -> np.ndarray:
    """Return columns (K, n) whose end runs into their beginning, blended over the last `seconds`, above 0.

    A turn has angles [rad], which may also end where they begin after whole turns. Raise ClipError for fewer than three
    samples, or no time to blend.
    """
    gap = values[0] - values[-1] if len(values) else np.zeros(values.shape[1])
    return values + _added(times, values, np.remainder(gap + np.pi, 2 * np.pi) - np.pi if is_turn else gap, seconds)


def closed_motion(motion: Motion, seconds: float) -> Motion:
    """Return a motion whose end runs into its beginning, its base included, without the bodies' poses.

    A base that goes somewhere stays in place: its way over the ground is left out, evenly along the motion. Raise
    ClipError for fewer than three samples, or no time to blend.
    """
    values, base = closed(motion.times, motion.values, seconds), motion.base
    if base is not None:
        share = (motion.times - motion.times[0]) / (motion.times[-1] - motion.times[0])
        way = (base.position[-1] - base.position[0]) * [1.0, 1.0, 0.0]
        base = BaseTrack(
            body=base.body,
            position=closed(motion.times, base.position - share[:, None] * way, seconds),
            quaternion=closed_turns(motion.times, base.quaternion, seconds),
        )
    return replace(motion, values=values, base=base, bodies=(), position=None, quaternion=None, com=None, passive=None)


def closed_turns(times: np.ndarray, turns: np.ndarray, seconds: float) -> np.ndarray:
    """Return quaternions (K, 4) wxyz whose end runs into their beginning over the last `seconds`, with any signs."""
    every = rotation(turns)
    # What is added is a rotation vector in the frame of the last one.
    local = (every * every[-1].inv()).as_rotvec()  # near the end these are small, and turn the short way
    gap = (every[0] * every[-1].inv()).as_rotvec()
    return quaternions(Rotation.from_rotvec(_added(times, local, gap, seconds)) * every)


def _added(times: np.ndarray, values: np.ndarray, gap: np.ndarray, seconds: float) -> np.ndarray:
    """Return what is added to values (K, n), so that their end has a gap less and the speed of their beginning."""
    if len(times) < 3:
        raise ClipError("a loop needs a motion of three samples at least")
    if not seconds > 0:
        raise ClipError(f"a loop needs a time over which its end is blended, above 0 s, not {seconds:g} s")
    length = min(seconds, float(times[-1] - times[0]))
    u = np.clip((times - times[-1] + length) / length, 0.0, 1.0)[:, None]
    speeds = np.gradient(values, times, axis=0, edge_order=2)
    speed = speeds[0] - speeds[-1]
    return gap * u**3 * (10 - 15 * u + 6 * u**2) + speed * length * u**3 * (-4 + 7 * u - 3 * u**2)
