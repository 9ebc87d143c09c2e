"""Trackers dragged about at random: what they cost a step, and that loops stay closed however long it lasts."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from robik.mechanism.model import Mechanism
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets, Tracker

TRACKERS: tuple[type[Tracker], ...] = (ForwardDynamicsTracker, DifferentialTracker, StateBasedTracker)  # all that claim to keep loops
DRAGGED = {"ur10": ("tool",), "arm7": ("tool",), "dancer": ("pelvis_frame",), "walker": ("pelvis", "foot_l", "foot_r")}
FPS = 60.0
JERK_EVERY = 1200  # steps: now and then a target jumps far beyond reach


def drag(tracker: Tracker, frames: tuple[str, ...], steps: int, reach: float = 0.1, seed: int = 0) -> dict[str, Any]:
    """Drags frames of a robot at 60 Hz along random walks that are pulled back to where the frames rest.

    Args:
        frames: which, each by its position.
        reach: how far the targets stray, about [m].

    Returns:
        `residual`: the worst closure [m]; `ms`: median of a step.
    """
    tracker.reset()
    rng, rest = np.random.default_rng(seed), {name: np.array(tracker.frame(name).position) for name in frames}
    away = np.zeros((len(frames), 3))
    worst, spent = 0.0, np.empty(steps)
    for k in range(steps):
        away = 0.98 * away + 0.2 * reach * rng.normal(size=away.shape)
        if k % JERK_EVERY == JERK_EVERY // 2:
            away = 5 * reach * rng.normal(size=away.shape)
        targets = Targets({name: Target(rest[name] + a) for name, a in zip(frames, away, strict=True)})
        start = perf_counter()
        tracker.step(targets, 1 / FPS)
        spent[k] = perf_counter() - start
        worst = max(worst, tracker.residual)
    return {"residual": worst, "ms": 1e3 * float(np.median(spent))}


def dragging(seed: int = 0, hours: float = 1.0) -> list[dict[str, Any]]:
    """A row per tracker and robot; only robots with loops are dragged for long."""
    rows = []
    for name, frames in DRAGGED.items():
        mechanism: Mechanism = load(name)
        for kind in TRACKERS:
            tracker = kind(mechanism)
            drag(tracker, frames, 5)
            steps = round(hours * 3600 * FPS) if len(tracker.topology.cuts) else round(min(hours, 1 / 60) * 3600 * FPS)
            rows.append({"robot": name, "tracker": kind.__name__, "steps": steps, **drag(tracker, frames, steps, seed=seed)})
    return rows
