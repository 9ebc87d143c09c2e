"""Passes of a balance plan with the zero-moment point of all bodies."""

from __future__ import annotations

import numpy as np

from robik import robots
from robik.bake.whole_body import PASSES, passes
from robik.balance.plan import BalancePlan
from robik.bench.walking import walk_clip
from robik.feet.pinning import pin_feet
from robik.objectives.settings import Settings

SETTINGS = Settings(com_weight=(1.0, 1.0, 0.0), state_weight=None)


def test_a_plan_that_keeps_its_margin_takes_one_pass() -> None:
    """Though the robot misses the path of the centre of mass by a little, as hands and hips pull at it."""
    walker = robots.load("walker")
    plan = BalancePlan(walker, pin_feet(walker, walk_clip(walker, 60.0, False)), margin=0.02, pace="moving")
    first = plan.clip()
    shares, clips = zip(*passes(plan, walker, SETTINGS, 0.004, first), strict=True)
    assert shares[-1] == 1.0
    assert max(shares[:-1]) <= 1.0 / PASSES, "a second pass was made"
    assert clips[-1] is first


def test_a_slow_plan_takes_none() -> None:
    walker = robots.load("walker")
    plan = BalancePlan(walker, pin_feet(walker, walk_clip(walker, 60.0, False)), pace="still")
    assert list(passes(plan, walker, SETTINGS, 0.01, plan.clip())) == []


def test_passes_leave_more_of_the_margin() -> None:
    walker = robots.load("walker")
    clip = pin_feet(walker, walk_clip(walker, 60.0, False))
    plan = BalancePlan(walker, clip, margin=0.02, pace="moving")
    first = plan.clip()
    *_, (_, best) = passes(plan, walker, SETTINGS, 0.02, first)
    assert best is not first
    assert np.linalg.norm(best.com - first.com, axis=1).max() < 0.05
