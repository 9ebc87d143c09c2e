"""Balance of targets as they arrive, against the same of a whole clip and against what feet must do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.balance.plan import with_balance
from robik.clips.clip import TargetClip
from robik.errors import ClipError
from robik.feet.pinning import pin_feet
from robik.feet.support import convex_hull, placed, signed_distance, sole_polygon
from robik.mechanism import Mechanism
from robik.tracking import StateBasedTracker, Target, Targets
from robik.tracking.balance import HELD, LiveBalance
from tests.retarget.test_balance import SOLE, biped, gait

__all__ = ["biped"]
LEAN, LIFT = np.array([0.1, 0.09, 0.0]), np.array([0.0, 0.0, 0.004])
TILT = np.array([np.cos(0.05), 0.0, np.sin(0.05), 0.0])


def targets_at(clip: TargetClip, k: int) -> Targets:
    frames = {
        n: Target(t.position[k], None if t.quaternion is None else t.quaternion[k]) for n, t in clip.tracks.items()
    }
    return Targets(frames, com=None if clip.com is None else clip.com[k])


def balanced_live(live: LiveBalance, clip: TargetClip) -> list[Targets]:
    return [live.step(targets_at(clip, k), float(clip.times[1])) for k in range(len(clip.times))]


def still(clip: TargetClip, seconds: float = 1.0) -> TargetClip:
    """The clip's first sample, for a while."""
    n = round(60 * seconds)
    tracks = {
        name: replace(t, position=np.tile(t.position[:1], (n, 1)), quaternion=np.tile(t.quaternion[:1], (n, 1)))
        for name, t in clip.tracks.items()
    }
    return TargetClip(np.arange(n) / 60.0, tracks)


def leaning(clip: TargetClip) -> TargetClip:
    """Hips beyond the feet, one foot tilted and off the ground."""
    hips, foot = clip.tracks["hips"], clip.tracks["sole_l"]
    tilted = replace(foot, position=foot.position + LIFT, quaternion=np.tile(TILT, (len(clip.times), 1)))
    return replace(clip, tracks={**clip.tracks, "hips": replace(hips, position=hips.position + LEAN), "sole_l": tilted})


def test_who_stands_still_stands_as_in_a_bake(biped: Mechanism) -> None:
    clip = leaning(still(gait()[0]))
    baked = with_balance(biped, pin_feet(biped, clip))
    live = balanced_live(LiveBalance(biped, pin_feet=True, over_feet=True), clip)
    for k in (0, -1):
        assert live[k].com == pytest.approx(baked.com[k], abs=1e-5)
        for name, track in baked.tracks.items():
            assert live[k].frames[name].position == pytest.approx(track.position[k], abs=1e-5)
            assert abs(live[k].frames[name].quaternion @ track.quaternion[k]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_feet_that_walk_are_held_where_they_land(biped: Mechanism, noise: float) -> None:
    """Phases are found within 0.15 s; no foot slides once it is at rest, dips into the ground or jumps."""
    clip, stands = gait(noise=noise)
    live = LiveBalance(biped, pin_feet=True, over_feet=False)
    made, found = [], []
    for k in range(len(clip.times)):
        made.append(live.step(targets_at(clip, k), 1 / 60))
        found.append(live.standing)
    for name, stood in stands.items():
        seen = np.array([name in names for names in found])
        wrong = np.flatnonzero(seen != stood)
        edges = np.flatnonzero(np.diff(stood.astype(int)))
        assert all(np.abs(edges - k).min() <= 9 for k in wrong)
        place = np.array([one.frames[name].position for one in made])
        settled = np.array([seen[max(k - 7, 0) : k + 1].all() for k in range(len(seen))])
        both = settled[1:] & settled[:-1]
        assert np.abs(np.diff(place, axis=0)[both]).max() < 1e-12
        assert np.abs(place[settled, 2]).max() < 1e-12
        assert np.linalg.norm(np.diff(place, axis=0), axis=1).max() < 0.012 + 2 * noise
        turns = np.array([one.frames[name].quaternion for one in made])
        assert placed(np.array(SOLE), place, turns)[..., 2].min() > -1e-12


def test_the_centre_of_mass_comes_over_the_foot_that_stands(biped: Mechanism) -> None:
    clip, _ = gait(swing=1.5)
    live = LiveBalance(biped, pin_feet=False, over_feet=True, margin=0.01)
    alone = 0
    for k in range(len(clip.times)):
        made = live.step(targets_at(clip, k), 1 / 60)
        alone = alone + 1 if len(live.standing) == 1 else 0
        if alone == 50:
            (name,) = live.standing
            target = made.frames[name]
            outline = placed(sole_polygon(biped.frame(name)), target.position[None], target.quaternion[None])[0, :, :2]
            assert signed_distance(made.com[None, :2], convex_hull(outline))[0] > 0.009
            assert made.frames["hips"].position[:2] == pytest.approx(made.com[:2], abs=0.01)


def test_phases_by_hand_come_first(biped: Mechanism) -> None:
    clip = still(gait()[0])
    live = LiveBalance(biped, pin_feet=True, over_feet=False)
    live.step(targets_at(clip, 0), 1 / 60, {"sole_l": False})
    assert live.standing == ("sole_r",)


def test_a_foot_that_is_dragged_away_goes_along(biped: Mechanism) -> None:
    """However slowly, as no gait would: it does not stay behind for ever."""
    clip = still(gait()[0], 20.0)
    way = np.linspace(0.0, 0.4, len(clip.times))[:, None] * [1.0, 0.0, 0.0]
    foot = clip.tracks["sole_l"]
    clip = replace(clip, tracks={**clip.tracks, "sole_l": replace(foot, position=foot.position + way)})
    made = balanced_live(LiveBalance(biped, pin_feet=True, over_feet=False), clip)
    place = np.array([one.frames["sole_l"].position for one in made])
    assert np.abs(place - clip.tracks["sole_l"].position).max() < 0.1
    assert np.linalg.norm(np.diff(place, axis=0), axis=1).max() < 0.02


def test_without_feet_it_says_so(biped: Mechanism) -> None:
    live = LiveBalance(biped, pin_feet=True, over_feet=True)
    with pytest.raises(ClipError, match="moves no foot"):
        live.step(Targets({"hips": Target(np.zeros(3))}), 1 / 60)


def test_feet_that_stand_are_held_by_the_tracker(biped: Mechanism) -> None:
    """However hard the centre of mass pulls at them, and swinging ones come down to where they will be held."""
    clip, _ = gait()
    live, tracker = LiveBalance(biped, pin_feet=True, over_feet=True), StateBasedTracker(biped)
    heavy, before = (100.0, 100.0, 0.0), {}
    for k in range(len(clip.times)):
        made = replace(live.step(targets_at(clip, k), 1 / 60), com_weight=heavy)
        tracker.step(made, 1 / 60)
        for name in live.standing:
            place = np.array(tracker.frame(name).position)
            if before.get(name, (0, None))[0] >= 12:
                assert np.abs(place - before[name][1]).max() < 1e-5
            before[name] = before.get(name, (0, None))[0] + 1, place
        before = {name: seen for name, seen in before.items() if name in live.standing}
        factors = {name: made.frames[name].weights.position[0] for name in clip.tracks}
        assert factors["hips"] == 1.0
        assert all(1.0 <= factors[name] <= HELD * (1.0 + 1e-12) for name in clip.tracks)


def test_a_walk_is_not_lagged_behind(biped: Mechanism) -> None:
    """The centre of mass goes along with the hips: only its lean over the feet takes time."""
    clip, _ = gait(steps=8, stride=0.15, swing=0.3, double=0.1)
    live = LiveBalance(biped, pin_feet=False, over_feet=True)
    ahead = [made.com[0] for made in balanced_live(live, clip)] - clip.tracks["hips"].position[:, 0]
    assert abs(ahead[60:-60].mean()) < 0.02  # 0.15 s at 0.75 m/s were 0.11


@pytest.mark.parametrize(("pace", "line"), [("still", True), ("moving", False), ("auto", True)])
def test_over_two_feet_a_still_robot_is_between_them_and_a_moving_one_over_both(biped, pace: str, line: bool) -> None:
    clip = still(gait()[0])
    hips = clip.tracks["hips"]
    clip = replace(
        clip, tracks={**clip.tracks, "hips": replace(hips, position=hips.position + np.array([0.04, 0.0, 0.0]))}
    )
    made = balanced_live(LiveBalance(biped, pin_feet=True, over_feet=True, pace=pace), clip)[-1]
    assert made.com[0] == pytest.approx(0.02 if line else clip.tracks["hips"].position[0, 0], abs=1e-4)


def test_auto_moves_as_long_as_feet_do(biped: Mechanism) -> None:
    clip, _ = gait(steps=4, stand=5.0)
    auto, moving = (LiveBalance(biped, pin_feet=True, over_feet=True, pace=pace) for pace in ("auto", "moving"))
    a, b = (np.array([made.com for made in balanced_live(live, clip)]) for live in (auto, moving))
    walking = slice(round(6.5 * 60), round(8.0 * 60))
    assert a[walking] == pytest.approx(b[walking], abs=1e-3)
