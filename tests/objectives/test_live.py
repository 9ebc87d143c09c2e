"""Objectives followed live: the state-based tracker goes where a bake goes, others refuse."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip
from robik.errors import ClipError
from robik.objectives.distance import Distance
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.tracking import DifferentialTracker, StateBasedTracker, Target, Targets

SETTINGS = Settings(state_weight=1e-3, objectives={"foot_l.distance.foot_r": 2.0})


def asked(samples: int) -> tuple[Objective, ...]:
    """A look that moves, and two feet that come nearer to one another and turn."""
    way = np.linspace(0.0, 1.0, samples)[:, None]
    return (
        LookAt("pelvis", [1.0, 0.0, 0.4] + 0.3 * way * [0.0, 1.0, 1.0]),
        Distance("foot_l", 0.15 - 0.02 * way[:, 0], "foot_r"),
        RelativeFrame("foot_l", "pelvis", None, np.tile([1.0, 0.0, 0.0, 0.0], (samples, 1))),
    )


def test_state_based_tracker_goes_where_a_bake_goes() -> None:
    walker, samples = robots.load("walker"), 4
    held = walker.rest_pose("foot_r")
    tracker = StateBasedTracker(walker, SETTINGS)
    baked = retarget(walker, TargetClip(np.arange(samples) / 60, objectives=asked(samples)), SETTINGS)
    for k in range(samples):
        now = tuple(item.part(slice(k, k + 1)) for item in asked(samples))
        np.testing.assert_allclose(tracker.step(Targets(objectives=now), 1 / 60), baked.values[k], atol=1e-6)
    before = tracker.values.copy()
    tracker.step(
        Targets({"foot_r": Target(np.array(held.position) + 0.01)}), 1 / 60
    )  # without them, and with them again
    moved = tracker.step(Targets(objectives=now), 1 / 60)
    assert np.abs(moved - before).max() < 0.5
    with pytest.raises(ClipError, match=r"pelvis\.look_at must be finite"):
        tracker.step(Targets(objectives=(LookAt("pelvis", np.full((1, 3), np.nan)),)), 1 / 60)


def test_other_trackers_refuse() -> None:
    tracker = DifferentialTracker(robots.load("walker"))
    with pytest.raises(
        ClipError, match=r"DifferentialTracker follows frames and the centre of mass alone; leave out 'pelvis\.look_at'"
    ):
        tracker.step(Targets(objectives=asked(1)[:1]), 1 / 60)
