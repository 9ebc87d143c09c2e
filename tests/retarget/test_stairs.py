"""Feet on steps without a mesh that says so: what is still and lowest while all else swings carries the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.feet.finding import find_contacts
from robik.feet.phases import runs
from robik.feet.pinning import pin_feet
from robik.feet.support import placed
from robik.mechanism.model import Mechanism
from tests.retarget.test_balance import SOLE, biped, gait

__all__ = ["biped"]
UP = np.array([0.0, 0.0, 1.0])


def with_track(clip: TargetClip, name: str, track: Track) -> TargetClip:
    """The clip with another track of a foot."""
    return replace(clip, tracks={**clip.tracks, name: track})


@pytest.mark.parametrize("slope", [0.6, -0.6])
def test_who_walks_up_or_down_steps_stands_on_each(biped: Mechanism, slope: float) -> None:
    clip, truth = gait(slope=slope, lift=0.08, noise=0.0005)
    found = find_contacts(biped, clip)
    for name, stands in truth.items():
        assert (found[name] != stands).mean() < 0.05, name
    pinned = pin_feet(biped, clip)
    levels = []
    for name in truth:
        track = pinned.tracks[name]
        assert track.position is not None and track.quaternion is not None and track.contact is not None
        sole = placed(np.array(SOLE), track.position, track.quaternion)
        for start, stop in runs(track.contact):
            assert np.ptp(sole[start:stop, :, 2]) < 1e-9, "flat, and still"
            levels.append(float(sole[start, 0, 2]))
    assert len(np.unique(np.round(levels, 2))) == 5, "of six; what is less than 0.3 sole lengths high is no step"


def test_a_raised_foot_that_is_as_still_does_not_stand(biped: Mechanism) -> None:
    """The other one turns and hops below it, as a dancer's does."""
    clip, _ = gait(steps=0, stand=1.0)
    left, right = clip.tracks["sole_l"], clip.tracks["sole_r"]
    assert left.position is not None and right.position is not None
    hops = 0.05 * np.abs(np.sin(6.0 * np.pi * clip.times))[:, None] * UP
    turns = Rotation.from_euler("z", 4.0 * clip.times).as_quat()[:, [3, 0, 1, 2]]
    clip = with_track(clip, "sole_l", Track(left.position + hops, turns))
    clip = with_track(clip, "sole_r", replace(right, position=right.position + 0.12 * UP))
    assert not find_contacts(biped, clip)["sole_r"].any()


def test_a_foot_that_is_up_on_its_toes_while_the_other_kicks_stands_on_the_ground(biped: Mechanism) -> None:
    clip, _ = gait(steps=0, stand=1.0)
    left, right = clip.tracks["sole_l"], clip.tracks["sole_r"]
    assert left.position is not None and right.position is not None
    sole, tipped = np.array(SOLE), Rotation.from_euler("y", 0.7)
    rises = np.clip((clip.times - 0.5) / 0.3, 0.0, 1.0)[:, None]
    turns = Rotation.from_euler("y", 0.7 * rises[:, 0])
    low = np.stack([turns.apply(point)[:, 2] for point in sole], axis=1).min(axis=1)
    track = Track(left.position - low[:, None] * UP, turns.as_quat()[:, [3, 0, 1, 2]])
    kicks = 0.3 * np.sin(2.0 * np.pi * np.clip(clip.times - 1.0, 0.0, 0.5))[:, None] * UP
    clip = with_track(clip, "sole_l", track)
    clip = with_track(clip, "sole_r", replace(right, position=right.position + kicks))
    assert tipped.apply(sole)[:, 2].mean() - low.min() > 0.25 * 0.12, "the middle is as high as in a swing"
    assert find_contacts(biped, clip)["sole_l"][clip.times > 1.1].all()
    pinned = pin_feet(biped, clip).tracks["sole_l"]
    assert pinned.position is not None and pinned.quaternion is not None
    heights = placed(sole, pinned.position, pinned.quaternion)[-10:, :, 2]
    assert np.abs(heights).max() < 1e-9, "flat on the ground, not on a step of the height of its heel"
