"""The picture of docs/balance.md: what it says of each setting is what the walker does."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.baking import balance_settings
from robik.bake.settings import Balance
from robik.bench.walking import walk_clip
from robik.feet.support import zero_moment_margins
from robik.mechanism.model import Mechanism
from robik.robots import load


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return load("walker")


def inside(walker: Mechanism, balance: Balance) -> np.ndarray:
    """How far the zero-moment point is inside the feet (T,) [m]."""
    clip = walk_clip(walker, balance_settings.FPS, balanced=False)
    baked = balance_settings.baked_walk(walker, clip, balance)
    return zero_moment_margins(walker, baked.motion, baked.contacts)


def test_off_tips_and_the_others_do_not(walker: Mechanism) -> None:
    assert (inside(walker, Balance(mode="off")) < 0.0).mean() > 0.2
    for mode in ("still", "moving"):
        assert (inside(walker, Balance(mode=mode, gives=0.0)) < 0.0).mean() < 0.02, mode


def test_a_margin_is_kept(walker: Mechanism) -> None:
    for margin in balance_settings.MARGINS:
        kept = inside(walker, Balance(mode="moving", margin=margin, gives=0.0))
        assert kept.min() == pytest.approx(margin, abs=0.002)


def test_the_picture_is_drawn() -> None:
    drawn = balance_settings.figure()
    titles = [axes.get_title() for axes in drawn.axes]
    assert len(titles) == 6
    for setting in ("Off", "Still", "Moving", "Margin", "Pin Feet", "Ground"):
        assert any(setting in title for title in titles), setting
