"""A bake's report tells what was adjusted on the way, and what each part of it took."""

from __future__ import annotations

from functools import partial
from time import process_time

import pytest

from robik import robots
from robik.bake.bake import bake
from robik.bake.request import BakeRequest
from robik.bake.settings import MOVING, BakeSettings, Balance
from robik.bench.walking import walk_clip
from robik.collision.apart import walls_of
from robik.motions.adjusted import Adjusted
from robik.motions.results import report_summary
from robik.objectives.weights import Weights


def test_the_report_tells_what_was_adjusted_and_what_each_part_took() -> None:
    walker = robots.load("walker")
    clip = walk_clip(walker, 60.0, False)
    request = BakeRequest(
        mechanism=walker,
        clip=clip,
        weights={"pelvis": Weights((0.0, 0.0, 1.0))},
        balance=Balance(mode=MOVING, margin=0.04, gives=0.0),
        settings=BakeSettings(),
        walls=partial(walls_of, walker, robots.path("walker")),
    )
    bake(request)  # compiles
    began = process_time()
    told = report_summary(bake(request).motion)
    whole = process_time() - began
    rows = {row["name"]: row for row in told["adjustments"]}
    assert list(rows) == ["footholds", "balance of all bodies", "bodies in each other"]
    assert rows["footholds"]["changes"] == 0 and rows["footholds"]["frames"] == ()
    assert rows["balance of all bodies"]["before"] > 1e-3 and rows["balance of all bodies"]["gain"] >= 0.0
    found = rows["balance of all bodies"]["frames"]
    assert found and all(0 <= first <= last < len(clip.times) for first, last in found)
    assert set(told["seconds"]) == {"balance", "frames", "walls", "look_ahead"}
    assert sum(told["seconds"].values()) == pytest.approx(whole, rel=0.15)
    of_balance = rows["footholds"]["seconds"] + rows["balance of all bodies"]["seconds"]
    assert of_balance == pytest.approx(told["seconds"]["balance"], rel=0.3)


def test_a_row_of_a_part_has_the_frames_of_the_part() -> None:
    row = Adjusted(
        name="footholds", frames=((0, 4), (8, 12), (20, 30)), before=1.0, after=0.0, changes=1, solves=2, seconds=0.1
    )
    assert row.within(10, 25).frames == ((0, 2), (10, 14))
    assert row.within(0, 31).frames == row.frames
    assert row.within(13, 20).frames == ()
