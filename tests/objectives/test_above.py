"""Above: soles that would go into the ground stay on it, by exact second derivatives."""

import numpy as np
import pytest

from robik import Settings, TargetClip, Track, retarget, robots
from robik.errors import ClipError
from robik.feet.finding import above_ground, ground_of, with_contacts
from robik.feet.support import standing_points
from robik.mechanism import Mechanism
from robik.objectives.above import Above

SETTINGS = Settings(state_weight=None)
FRAMES = 40


def stamping(walker: Mechanism) -> TargetClip:
    """Return a clip in which the left foot, its toes down, goes 3 cm into the ground and comes back, and the right one
    stands."""
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        path, turn = np.tile(rest.position, (FRAMES, 1)), np.tile(rest.quaternion, (FRAMES, 1))
        stands = np.ones(FRAMES, dtype=bool)
        if name == "foot_l":
            path[:, 2] += 0.02 - 0.05 * np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2
            turn[:] = (np.cos(0.1), 0.0, np.sin(0.1), 0.0)
            stands[:] = False
        tracks[name] = Track(path, turn, contact=None if name == "pelvis" else stands)
    return TargetClip(np.arange(FRAMES) / 60, tracks)


def test_a_sole_that_would_go_into_the_ground_stays_on_it() -> None:
    walker = robots.load("walker")
    clip = stamping(walker)
    kept = above_ground(walker, clip)
    assert [item.key for item in kept.objectives] == ["foot_l.above", "foot_r.above"]
    free, above = retarget(walker, clip, SETTINGS), retarget(walker, kept, SETTINGS)
    ground = ground_of(walker, clip).level
    sunk, kept_up = (ground - standing_points(walker, made, "foot_l")[..., 2].min(axis=1) for made in (free, above))
    assert sunk.max() > 0.02
    assert kept_up.max() < 2e-3
    near = np.flatnonzero(sunk > 0)
    apart = np.abs(above.values - free.values).max(axis=1)
    assert apart[: near[0]].max() < 1e-6, "nothing is changed where the sole is above it"
    assert np.median(above.report.iterations[near]) <= 4, "second derivatives are exact"
    assert above.report.residual.max() < 1e-10


def test_a_clip_in_which_nothing_stands_knows_of_no_ground() -> None:
    walker = robots.load("walker")
    clip = stamping(walker)
    flying = TargetClip(clip.times, {"pelvis": clip.tracks["pelvis"]})
    assert above_ground(walker, flying) is flying
    assert with_contacts(walker, clip).objectives == ()


def test_files_keep_it_and_wrong_ones_are_refused() -> None:
    points = np.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    asked = Above("hand", least=np.full(3, 0.2), points=points)
    (read,) = Above.take(dict(asked.arrays()))
    assert read.key == "hand.above" and (read.points == points).all()
    with pytest.raises(ClipError, match=r"'hand\.above' needs hand\.above\.points"):
        Above.take({"hand.above": np.zeros(3)})
    for wrong in (np.zeros((0, 3)), np.zeros(3), np.full((1, 3), np.nan)):
        with pytest.raises(ClipError, match=r"hand\.above\.points must be finite numbers of the shape \(K, 3\)"):
            Above("hand", least=np.zeros(3), points=wrong).checked(3)
    with pytest.raises(ClipError, match=r"hand\.above must be finite; sample 1"):
        Above("hand", least=np.array([0.0, np.nan, 0.0]), points=points).checked(3)
    boxer = robots.load("boxer")
    with pytest.raises(ClipError, match=r"'tail\.above' is about 'tail'"):
        TargetClip(np.arange(3) / 60, {}, objectives=(Above("tail", least=np.zeros(3), points=points),)).check(boxer)
