"""Tolerances go by weights: what is missed, and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.objectives.objective import TargetError
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.report.distances import ClipErrors
from robik.report.misses import misses
from robik.retargeting.retarget import retarget

OFF = np.array([0.0, 1.9e-3, 2.1e-3, 19e-3, 21e-3])  # in units of the robot's size


def judged(weight: float, com_weight: float = 1.0):
    """Misses of the walker's foot, by so many of its size, and of its centre of mass, which is where it should be."""
    walker = robots.load("walker")
    clip = TargetClip(np.arange(5) / 60, {"foot_l": Track(position=np.zeros((5, 3)))}, com=np.zeros((5, 3)))
    settings = Settings(targets={"foot_l": Weights((weight, 0.0, 0.0))}, com_weight=(0.0, 0.0, com_weight))
    off = walker.extent * OFF
    return walker, misses(walker, clip, settings, ClipErrors(off[:, None], np.full((5, 1), np.nan), np.zeros(5)))


@pytest.mark.parametrize(("weight", "missed"), [(4.0, [2, 3, 4]), (1.0, [2, 3, 4]), (0.01, [4]), (0.0, [])])
def test_a_weak_target_is_met_further_away(weight: float, missed: list[int]) -> None:
    _, found = judged(weight)
    assert np.flatnonzero(found.worst > 1.0).tolist() == missed


def test_the_worst_is_named_first_and_what_is_met_is_not() -> None:
    walker = robots.load("walker")
    clip = TargetClip(np.array([0.0]), {name: Track(position=np.zeros((1, 3))) for name in ("foot_l", "foot_r")})
    far = walker.extent * np.array([[0.003, 0.004]])
    asked = [
        TargetError(np.array([0.05]), "rad", "head looks {} past", 1.0),
        TargetError(np.array([0.05]), "rad", "hand looks {} past", 0.01),
    ]
    off = ClipErrors(far, np.full((1, 2), np.nan), np.full(1, np.nan))
    words = misses(walker, clip, Settings(), off, asked).words(0)
    assert words == [
        "head looks 2.9° past",
        f"foot_r is {4 * walker.extent:.1f} mm off",
        f"foot_l is {3 * walker.extent:.1f} mm off",
    ]


@pytest.mark.parametrize(("weight", "is_short"), [(1e-6, False), (1.0, True)])
def test_a_wish_beside_a_firm_target_does_not_make_a_motion_short(weight: float, is_short: bool) -> None:
    """The forearm is asked to be a tenth of the robot's size from where the hand leaves it."""
    boxer = robots.load("boxer")
    hand, forearm = (np.array([boxer.rest_pose(name).position]) for name in ("hand", "forearm"))
    clip = TargetClip(
        np.zeros(1), {"hand": Track(hand), "forearm": Track(forearm + np.array([0.0, 0.1 * boxer.extent, 0.0]))}
    )
    report = retarget(boxer, clip, Settings(targets={"forearm": Weights((weight,) * 3, (0.0,) * 3)})).report
    assert report is not None
    assert bool(report.short) == (report.missed.max() > 1.0) == is_short
