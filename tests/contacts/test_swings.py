"""Swings clear the ground by a share of the leg, eased at both ends, and a report says by how much they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.bake.settings import BakeSettings
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.feet.finding import foot_poses
from robik.feet.legs import leg_length
from robik.feet.pinning import pin_feet
from robik.feet.swings import CLEARANCE, EDGE, STEEPEST, swings_clear
from robik.mechanism.model import Mechanism
from robik.recordings.retargeting import retarget_recording
from robik.report.swing_figures import Swings
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


def shuffling(walker: Mechanism, seconds: float) -> TargetClip:
    """Feet that glide over the ground by turns, by 60 mm, each within so many seconds."""
    times = np.arange(241) / 120.0
    tracks = {}
    for name, start in (("foot_l", 0.4), ("foot_r", 1.2)):
        share = np.clip((times - start) / seconds, 0.0, 1.0)
        rest = np.array(walker.rest_pose(name).position)
        way = 0.06 * share * share * (3.0 - 2.0 * share)
        stands = (times <= start) | (times >= start + seconds)
        tracks[name] = Track(rest + np.outer(way, [1.0, 0.0, 0.0]), contact=stands)
    return TargetClip(times, tracks)


@pytest.mark.parametrize("seconds", [0.6, 0.15])
def test_feet_that_glide_over_the_ground_are_lifted(walker: Mechanism, seconds: float) -> None:
    clip = pin_feet(walker, shuffling(walker, seconds))
    for name in ("foot_l", "foot_r"):
        position, _ = foot_poses(walker, clip, name)
        up = position[:, 2] - position[0, 2]
        swing = clip.tracks[name].contact
        assert np.abs(up[swing]).max() < 1e-12, "where it stands it stays"
        asked = min(CLEARANCE * leg_length(walker, name), STEEPEST * (EDGE * seconds) ** 2 / 6.0)
        assert up.max() == pytest.approx(asked, rel=0.03)
        bends = np.abs(np.diff(up, 2)) * 120.0**2
        assert bends.max() < 1.1 * STEEPEST


def test_a_foot_that_swings_higher_stays_nearly_as_it_is(walker: Mechanism) -> None:
    clip = walk_clip(walker, 60.0, False)
    asked, pinned = clip.tracks["foot_l"].position, pin_feet(walker, clip).tracks["foot_l"].position
    assert (asked[:, 2] - asked[:, 2].min()).max() > CLEARANCE * leg_length(walker, "foot_l")
    assert pinned == pytest.approx(asked, abs=2e-3)


def test_in_a_flight_nothing_is_asked_for(walker: Mechanism) -> None:
    """A dancer's feet that both glide over the ground would lift the hips."""
    clip = shuffling(walker, 0.6)
    both = clip.tracks["foot_l"].contact
    tracks = {name: replace(track, contact=both) for name, track in clip.tracks.items()}
    assert not swings_clear(walker, replace(clip, tracks=tracks), "foot_l").any()
    assert swings_clear(walker, clip, "foot_l").any()


def test_clearance_and_landing_of_a_known_path() -> None:
    times = np.arange(11) / 10.0
    stands = np.array([1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0], bool)
    above = np.array([0.0, 0.0, 0.01, 0.03, 0.04, 0.05, 0.03, 0.01, 0.01, 0.5, 0.5])
    swings = Swings.of(times, stands, above)
    assert swings.clearance == pytest.approx([0.04 - 0.01 * 3 / 6])  # over the line up to where it lands
    assert swings.landing == pytest.approx([0.2])
    assert Swings.of(times, np.ones(11, bool), above).clearance.size == 0


def test_a_recorded_walk_clears_the_ground(walker: Mechanism) -> None:
    made = retarget_recording("walker", walking(skeleton("lafan1")[0]), settings=BakeSettings(look_ahead=False))
    quality = made.motion.report.quality
    least = min(1e3 * swings_clear(walker, made.clip, name).max() for name in ("foot_l", "foot_r"))
    assert quality.clearance_mm > 0.9 * least
    assert quality.landing_mm_s < 400.0
