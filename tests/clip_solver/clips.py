"""Clips that ask for more than motors can do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robik.bench.cases import BALANCED
from robik.bench.clips import smoothstep
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.mechanism.model import Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.robots import load

ARM, WALKER, BOXER = load("arm7"), load("walker"), load("boxer")
SPEEDS = Settings(state_weight=None, enforce_velocity=True)
WALKING = replace(BALANCED, state_weight=None, enforce_velocity=True, contacts="ignore")


def lissajous(speed: float, fps: float = 120.0, seconds: float = 4.0) -> TargetClip:
    """Return a lying eight of 0.6 m by 0.4 m for the arm's tool, drawn in 2.8 s at speed 1."""
    t = np.arange(round(seconds * fps) + 1) / fps
    u, grown = 2 * np.pi * 0.36 * speed * t, smoothstep(t / 0.5)[:, None]
    eight = np.stack([0 * u, 0.3 * np.sin(u), 0.2 * np.sin(2 * u)], axis=1)
    return TargetClip(t, {"tool": Track(np.array(ARM.rest_pose("tool").position) + grown * eight)})


def hurried_walk(speed: float, fps: float = 120.0) -> TargetClip:
    """Return the walker's walk, so many times faster."""
    clip = walk_clip(WALKER, fps / speed, balanced=True)
    return replace(clip, times=clip.times / speed)


def waving(frames: int, fps: float = 30.0, reach: float = 0.06) -> TargetClip:
    """Return a hand that stands for 0.1 s and then leaps to and fro, by this much [m]."""
    t = np.arange(frames) / fps
    square = np.where(np.sin(2 * np.pi * 1.5 * (t - 0.1)) > 0, 1.0, -1.0)
    hand = np.array(BOXER.rest_pose("hand").position) + reach * square[:, None] * np.array([0.2, 1.0, 0.5])
    return TargetClip(t, {"hand": Track(hand)})


def both(mechanism: Mechanism, clip: TargetClip, settings: Settings) -> tuple[Motion, Motion]:
    """Return the motion frame by frame, at the same speeds, and all frames at once."""
    single = replace(settings, look_ahead=False, acceleration_limit=None, jerk_limit=None, cyclic=False)
    return retarget(mechanism, clip, single), retarget(mechanism, clip, replace(settings, look_ahead=True))


def rms(motion: Motion) -> float:
    """Return the root mean square of the distances from the targets [m]."""
    assert motion.report is not None
    return float(np.sqrt(np.mean(motion.report.position_error**2)))
