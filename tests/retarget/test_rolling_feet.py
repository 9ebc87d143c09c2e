"""Feet that roll from heel to toes stand until the next one does, and leave the ground and land without a blow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.feet.finding import find_contacts
from robik.feet.phases import runs
from robik.feet.pinning import pin_feet
from robik.mechanism import Mechanism
from tests.retarget.test_balance import biped, gait, given_by_hand

__all__ = ["biped"]  # the fixture


def rolled(leaves: float, comes: float, pivots: float = 0.0) -> TargetClip:
    """A step at 60/s: the left foot rolls off over its toes from 1 s on, the right one comes down on its heel.

    Args:
        leaves: When the left foot leaves the ground [s].
        comes: When the right heel comes down, to be flat at 1.3 s [s].
        pivots: How fast the left foot turns on its toes meanwhile [rad/s].
    """
    times = np.arange(151) / 60.0
    off, on = np.clip(times - 1.0, 0.0, None), np.clip(1.3 - times, 0.0, 0.3)
    turns = {
        "l": Rotation.from_euler("ZY", np.column_stack([pivots * off, np.minimum(3.0 * off, 0.9)])),
        "r": Rotation.from_euler("Y", -1.5 * on[:, None]),
    }
    tracks = {"hips": Track(np.tile([0.0, 0.0, 0.4], (151, 1)))}
    for side, edge, y in (("l", 0.08, 0.06), ("r", -0.04, -0.06)):
        ahead = [edge, 0.0, 0.0]
        place = np.array([edge, y, 0.0]) - turns[side].apply(ahead)
        away = np.clip(times - leaves, 0.0, None) if side == "l" else np.clip(comes - times, 0.0, 0.5)
        place += away[:, None] * [1.0 if side == "l" else -1.0, 0.0, 0.3]
        tracks[f"sole_{side}"] = Track(place, turns[side].as_quat()[:, [3, 0, 1, 2]])
    return TargetClip(times, tracks)


def test_who_rolls_from_heel_to_toes_stands_all_the_time(biped: Mechanism) -> None:
    found = find_contacts(biped, rolled(leaves=1.3, comes=1.0))
    left, right = found["sole_l"], found["sole_r"]
    assert (left | right).all()
    assert (left & right).any()
    assert 1.0 < np.flatnonzero(left)[-1] / 60.0 < 1.3
    assert runs(right) == [(np.flatnonzero(right)[0], len(right))]


def test_flights_and_turns_on_the_toes_are_no_stands(biped: Mechanism) -> None:
    for clip in (rolled(leaves=1.1, comes=1.25), rolled(leaves=1.3, comes=1.29, pivots=6.0)):
        found = find_contacts(biped, clip)
        assert not (found["sole_l"] | found["sole_r"]).all()


@pytest.mark.parametrize("fps", [60, 120])
def test_a_swing_begins_and_ends_slower_than_recorded(biped: Mechanism, fps: int) -> None:
    clip, truth = gait(fps, lift=0.08, swing=0.4)
    shorter = {name: stands.copy() for name, stands in truth.items()}
    for start, _ in runs(~truth["sole_l"]):
        shorter["sole_l"][start : start + round(0.08 * fps)] = True  # held when it is already on its way
    clip = given_by_hand(clip, shorter)
    pinned = pin_feet(biped, clip).tracks["sole_l"].position
    for start, stop in runs(~shorter["sole_l"]):
        before, after = np.diff(clip.tracks["sole_l"].position, axis=0)[start], np.diff(pinned, axis=0)[start]
        assert np.linalg.norm(after) < 0.95 * np.linalg.norm(before)
        assert np.abs(pinned[stop - 1] - clip.tracks["sole_l"].position[stop - 1]).max() < 0.02
