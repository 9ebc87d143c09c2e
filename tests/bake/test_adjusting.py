"""The loop of adjustments: what it keeps, when it ends, what it tells."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.bake.adjusting import Adjustment, Bench, Finding, Solution
from robik.bake.draft import Draft, thinned
from robik.bake.progress import Progress
from robik.bench.walking import walk_clip
from robik.objectives.settings import Settings
from robik.steps import finish


class Scripted(Adjustment):
    """An adjustment that finds these costs one after the other, and shifts the hips by 1 mm along each axis."""

    name, doing, most, patience, is_flat = "the script", "Following the script", 4, 2, False

    def __init__(self, costs: Sequence[float], stops_at: int = 9) -> None:
        self.costs, self.stops_at, self.seen = list(costs), stops_at, list[Draft]()

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[float, None, Finding]:
        yield 1.0
        cost = self.costs[len(self.seen)]
        self.seen.append(draft)
        where = np.zeros(len(solution.part.times), bool)
        where[3:5] = cost > 0.0
        return Finding(cost=cost, off=cost, where=where)

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        if len(self.seen) > self.stops_at:
            return None
        track = draft.pinned.tracks["pelvis"]
        moved = replace(track, position=track.position - 1e-3)
        return replace(draft, pinned=replace(draft.pinned, tracks={**draft.pinned.tracks, "pelvis": moved}))


@pytest.fixture
def draft() -> Draft:
    walker = robots.load("walker")
    return Draft(pinned=walk_clip(walker, 60.0, False).part(0, 60))


@pytest.fixture
def bench() -> Bench:
    return Bench(robots.load("walker"), Settings().frame_by_frame(), lambda draft: thinned(draft.pinned))


@pytest.mark.parametrize(
    ("costs", "stops_at", "judged", "best"),
    [
        ([0.0], 9, 1, 0),  # nothing to do
        ([3.0, 1.0, 0.0], 9, 3, 2),  # until nothing is left
        ([3.0, 1.0, 2.0, 0.5, 2.0], 9, 5, 3),  # one worse round is borne; the best one is kept
        ([3.0, 1.0, 2.0, 2.0], 9, 4, 1),  # two are not
        ([5.0, 4.0, 3.0, 2.0, 1.0], 9, 5, 4),  # at most so many changes
        ([5.0, 4.0], 1, 2, 1),  # nothing more can be changed
    ],
)
def test_an_adjustment_ends_and_the_best_draft_is_kept(
    bench: Bench, draft: Draft, costs: list[float], stops_at: int, judged: int, best: int
) -> None:
    script = Scripted(costs, stops_at)
    found = finish(bench.adjust(draft, [script]))
    assert len(script.seen) == judged
    assert found is script.seen[best]
    (row,) = bench.table
    assert (row.name, row.changes, row.solves) == ("the script", judged - 1, judged)
    assert (row.before, row.after, row.gain) == (costs[0], costs[best], costs[0] - costs[best])
    step = 60 // len(thinned(draft.pinned).times)
    assert row.frames == (((3 * step, 4 * step),) if costs[0] else ())


def test_no_draft_is_solved_twice_and_progress_goes_forward(bench: Bench, draft: Draft) -> None:
    told: list[Progress] = []
    finish(bench.adjust(draft, [Scripted([0.0]), Scripted([2.0, 0.0]), Scripted([0.0])]), told.append)
    assert [row.solves for row in bench.table] == [1, 1, 0]
    shares = [now.share for now in told]
    assert shares == sorted(shares) and shares[0] >= 0.0 and shares[-1] <= 1.0
    assert any(now.stage == "Following the script, round 1 of 4 at most" for now in told)
