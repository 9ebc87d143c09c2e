"""What is baked with look-ahead within the limits of servos is played as it is."""

from __future__ import annotations

from dataclasses import replace

from robik import robots
from robik.bench.cases import BALANCED
from robik.bench.walking import walk_clip
from robik.retargeting.retarget import retarget
from robik.servo.chain.file import load_chain
from robik.servo.play.preflight import preflight
from robik.servo.play.softening import soften
from robik.servo.port.status import PlaySettings

RATE = 60.0


def test_softening_finds_nothing_to_do() -> None:
    chain = load_chain(robots.path("walker").with_name("walker.servos.json"))
    walker = robots.load("walker")
    clip = walk_clip(walker, RATE / 8, balanced=True)
    quick = replace(clip, times=clip.times / 8)
    asked = replace(BALANCED, state_weight=None, enforce_velocity=True, contacts="ignore")
    limits = {"look_ahead": True, "acceleration_limit": 100.0, "jerk_limit": 5000.0}
    ahead, one_by_one = (retarget(walker, quick, replace(asked, **given)) for given in (limits, {}))
    assert preflight(ahead, chain, PlaySettings()).problems == ()
    assert set(soften(ahead, chain, 100.0).deviation.values()) == {0.0}
    assert any("accelerates" in problem for problem in preflight(one_by_one, chain, PlaySettings()).problems)
    assert max(soften(one_by_one, chain, 100.0).deviation.values()) > 0.1
