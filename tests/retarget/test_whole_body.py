"""Adjustment of a balance plan by the zero-moment point of all bodies."""

from __future__ import annotations

import numpy as np

from robik import robots
from robik.bake.adjusting import Bench
from robik.bake.draft import Draft
from robik.bake.planned import Planned
from robik.bake.settings import MOVING, STILL, Balance
from robik.bake.whole_body import WholeBody
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip
from robik.feet.pinning import pin_feet
from robik.motions.adjusted import Adjusted
from robik.objectives.settings import Settings
from robik.steps import finish

SETTINGS = Settings(com_weight=(1.0, 1.0, 0.0), state_weight=None)


def adjusted(pace: str, margin: float) -> tuple[TargetClip, TargetClip, list[Adjusted]]:
    """A walk as planned for one mass, and for all bodies with a margin [m], and the table."""
    walker = robots.load("walker")
    planned = Planned(walker, Balance(mode=pace, margin=0.02, gives=0.0))
    draft = Draft(pinned=pin_feet(walker, walk_clip(walker, 60.0, False)))
    bench = Bench(walker, SETTINGS.frame_by_frame(), planned.solved)
    best = finish(bench.adjust(draft, [WholeBody(planned, margin)]))
    return planned(draft), planned(best), bench.table


def test_a_plan_that_keeps_its_margin_is_solved_once() -> None:
    """Though the robot misses the path of the centre of mass by a little, as hands and hips pull at it."""
    first, best, (row,) = adjusted(MOVING, 0.004)
    assert (row.changes, row.solves) == (0, 1)
    assert np.array_equal(best.com, first.com)


def test_a_slow_plan_is_not_solved() -> None:
    first, best, table = adjusted(STILL, 0.01)
    assert table == []
    assert np.array_equal(best.com, first.com)


def test_rounds_leave_more_of_the_margin() -> None:
    first, best, (row,) = adjusted(MOVING, 0.02)
    assert 0 < row.changes <= WholeBody.most and row.solves <= row.changes + 1
    assert row.gain > 0.0 and row.seconds > 0.0
    assert 0.0 < np.linalg.norm(best.com - first.com, axis=1).max() < 0.05
