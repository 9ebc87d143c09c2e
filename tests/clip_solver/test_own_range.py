"""Own range: some frames solved again between fixed ends, all others as they were, limits kept at the seams."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from robik.clip_solver import sections as of_clips
from robik.clip_solver.sections import HELD, sections
from robik.clips.clip import TargetClip
from robik.errors import ClipError
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.own_range import OwnRange
from robik.retargeting.retarget import Retargeting, retarget
from tests.clip_solver.clips import ARM, BOXER, SPEEDS, WALKER, WALKING, hurried_walk, lissajous, rms, waving
from tests.clip_solver.test_clip_solver import rates, speed_limits
from tests.clip_solver.test_sections import in_sections
from tests.clip_solver.test_torques import HALF, arm_shares
from tests.clip_solver.test_zero_moment import depths_by_mujoco, tipping

LIMITED = replace(SPEEDS, acceleration_limit=30.0, jerk_limit=1500.0, look_ahead=True)
STEPPING = replace(WALKING, contacts="hold", acceleration_limit=60.0, jerk_limit=3000.0, look_ahead=True)


def raised(clip: TargetClip, name: str, first: int, last: int, height: float) -> TargetClip:
    """Return a clip in which a frame goes higher between two frames [m]."""
    u = np.clip((np.arange(len(clip.times)) - first) / (last - first), 0.0, 1.0)
    up = height * np.sin(np.pi * u)[:, None] ** 2 * np.array([0.0, 0.0, 1.0])
    track = clip.tracks[name]
    return replace(clip, tracks={**clip.tracks, name: replace(track, position=track.position + up)})


@cache
def drawn(speed: float) -> Motion:
    """Return the arm's motion along the lying eight, within limits."""
    return retarget(ARM, lissajous(speed), LIMITED)


@cache
def stepped() -> Motion:
    """Return the walker's hurried walk, within limits."""
    return retarget(WALKER, hurried_walk(3.0, 60.0), STEPPING)


def check(own: OwnRange, motion: Motion, most: float, jerk: float) -> None:
    """Check that all frames outside are as they were, and that limits hold wherever a frame of the range has a part."""
    (first, stop), before = own.frames, own.before
    outside = np.r_[0:first, stop : len(motion.times)]
    assert np.array_equal(motion.values[outside], before.values[outside])
    if before.base is not None:
        assert motion.base is not None
        assert np.array_equal(motion.base.position[outside], before.base.position[outside])
        assert np.array_equal(motion.base.quaternion[outside], before.base.quaternion[outside])
    around = slice(max(first - HELD, 0), stop + HELD)
    part = Motion(times=motion.times[around], actuators=motion.actuators, values=motion.values[around])
    speed, acceleration, third = rates(part)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert acceleration.max() <= 1.0005 * most
    assert third.max() <= 1.0005 * jerk
    assert motion.report is not None and motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == "" and motion.report.look_ahead.iterations > 0


@pytest.mark.parametrize(("first", "last"), [(180, 300), (0, 90), (2, 90), (400, 478), (400, 480), (0, 480)])
def test_frames_outside_stay_and_limits_hold_at_the_seams(first: int, last: int) -> None:
    before = drawn(1.5)
    clip = raised(lissajous(1.5), "tool", first, last, 0.05)
    own = OwnRange(first, last, before)
    motion = retarget(ARM, clip, LIMITED, own_range=own)
    check(own, motion, 30.0, 1500.0)
    assert not np.array_equal(motion.values, before.values)
    assert motion.report is not None
    still = retarget(ARM, lissajous(1.5), LIMITED, own_range=OwnRange(first, last, before))
    within = slice(first, last + 1)
    assert still.report is not None and before.report is not None
    missed = motion.report.position_error[within]
    apart = np.linalg.norm(clip.tracks["tool"].position - lissajous(1.5).tracks["tool"].position, axis=1)[within]
    assert missed.mean() < 0.5 * apart.mean(), "the new targets are followed"
    assert still.report.position_error.mean() == pytest.approx(before.report.position_error.mean(), abs=1e-4)


def test_a_walker_keeps_its_feet_where_they_stand() -> None:
    clip, before = hurried_walk(3.0, 60.0), stepped()
    own = OwnRange(50, 110, before)
    motion = retarget(WALKER, raised(clip, "pelvis", 60, 100, -0.015), STEPPING, own_range=own)
    check(own, motion, 60.0, 3000.0)
    assert motion.report is not None
    assert motion.report.residual.max() <= 1e-9
    assert motion.report.quality.contact_off_mm is not None and motion.report.quality.contact_off_mm < 1e-6
    assert motion.base is not None and before.base is not None
    assert motion.base.position[80, 2] < before.base.position[80, 2] - 0.005


def test_feet_stand_exactly_beside_keys_in_single_precision() -> None:
    """As Blender's curves have the motion before: it misses contacts by rounding, its neighbours do not."""
    clip, before = hurried_walk(3.0, 60.0), stepped()
    assert before.base is not None
    rough = before.base.quaternion.astype(np.float32).astype(float)
    base = replace(
        before.base,
        position=before.base.position.astype(np.float32).astype(float),
        quaternion=rough / np.linalg.norm(rough, axis=1, keepdims=True),
    )
    keys = replace(before, values=before.values.astype(np.float32).astype(float), base=base)
    motion = retarget(WALKER, raised(clip, "pelvis", 60, 100, -0.015), STEPPING, own_range=OwnRange(50, 110, keys))
    assert motion.position is not None and motion.quaternion is not None
    for name in ("foot_l", "foot_r"):
        place, _ = frame_poses(WALKER, name, motion.position, motion.quaternion)
        stands = clip.tracks[name].contact
        assert stands is not None
        both = (stands[1:] & stands[:-1])[50:110]
        assert np.linalg.norm(np.diff(place[50:111], axis=0), axis=1)[both].max() < 1e-9, name


def test_frames_one_by_one_go_on_from_the_motion_before() -> None:
    clip, before = hurried_walk(3.0, 60.0), stepped()
    work = Retargeting(WALKER, clip, STEPPING, own_range=OwnRange(50, 110, before))
    list(work.frame_by_frame())
    found = work.one_by_one
    assert (rates(found)[0] <= 1.0005 * speed_limits(found)).all()
    assert np.abs(found.values - before.values).max() < 0.2
    assert found.report is not None and before.report is not None
    assert found.report.iterations[50:60].mean() < 4.0


def test_the_same_targets_give_the_same_motion() -> None:
    """Out of reach a frame is held by what the one before missed, which the motion before must tell."""
    clip = lissajous(1.0)
    track = clip.tracks["tool"]
    far = replace(clip, tracks={"tool": replace(track, position=track.position * np.array([1.6, 1.0, 1.0]))})
    before = retarget(ARM, far, LIMITED)
    assert before.report is not None and before.report.position_error.mean() > 0.05
    again = retarget(ARM, far, LIMITED, own_range=OwnRange(150, 300, before))
    assert np.abs(again.values - before.values).max() < 1e-6


def test_a_foot_is_held_beside_frames_that_were_too_fast() -> None:
    """What stays is not kept within limits; so that it is beyond them lets no contact go."""
    clip = hurried_walk(3.0, 60.0)
    before = retarget(WALKER, clip, replace(STEPPING, acceleration_limit=400.0, jerk_limit=None))
    steps = np.abs(np.diff(before.values, axis=0))[20:120]
    first, motor = np.unravel_index(steps.argmax(), steps.shape)
    first += 20
    slow = replace(STEPPING, acceleration_limit=2000.0, jerk_limit=None, velocity_share=0.7)
    own = OwnRange(int(first) + 2, int(first) + 40, before)
    motion = retarget(WALKER, clip, slow, own_range=own)
    assert motion.report is not None
    speed = np.abs(np.diff(motion.values, axis=0))[:, motor] * 60.0
    assert speed[first] > 1.0005 * 0.7 * motion.report.velocity_limit[motor], "this was so before"
    assert motion.report.look_ahead is not None and motion.report.look_ahead.beyond == ""
    assert motion.report.quality.contact_off_mm is not None and motion.report.quality.contact_off_mm < 1e-6


def test_what_was_beyond_limits_before_is_not_judged() -> None:
    """A motion that leaps outside of the range stays as it is; its leaps are not told of the range."""
    clip = waving(120, 60.0)
    before = retarget(BOXER, clip, Settings(state_weight=None))
    limited = replace(LIMITED, acceleration_limit=60.0, jerk_limit=3000.0)
    quiet = replace(before, values=np.where(np.arange(120)[:, None] < 40, before.values[:1], before.values[40:41]))
    own = OwnRange(
        60, 100, replace(quiet, values=np.where(np.arange(120)[:, None] < 20, quiet.values + 0.05, quiet.values))
    )
    motion = retarget(BOXER, clip, limited, own_range=own)
    check(own, motion, 60.0, 3000.0)
    assert rates(motion)[1].max() > 100.0


def test_an_end_that_no_limit_lets_be_reached_is_told() -> None:
    clip, before = lissajous(1.0), drawn(1.0)
    leap = np.where(np.arange(len(clip.times))[:, None] > 220, before.values + 1.0, before.values)
    motion = retarget(ARM, clip, LIMITED, own_range=OwnRange(200, 220, replace(before, values=leap)))
    assert motion.report is not None and motion.report.look_ahead is not None
    assert "times its limit at 1." in motion.report.look_ahead.beyond
    assert np.array_equal(motion.values[221:], leap[221:])


def test_torques_hold_in_the_range(tmp_path: Any) -> None:
    before = drawn(2.0)
    assert np.abs(arm_shares(before, tmp_path)).max() > 1.1
    own = OwnRange(100, 300, before)
    motion = retarget(ARM, lissajous(2.0), replace(LIMITED, torque_limit=HALF), own_range=own)
    shares = np.abs(arm_shares(motion, tmp_path)).max(axis=1)
    assert shares[99:302].max() <= 1.0005
    assert shares.max() > 1.1, "outside they stay"
    check(own, motion, 30.0, 1500.0)
    assert motion.report is not None and motion.report.look_ahead is not None
    assert motion.report.look_ahead.shares["torque"] <= 1.0005


def test_the_zero_moment_point_is_kept_in_the_range() -> None:
    """By MuJoCo's inverse dynamics, and not before limits and contacts; what tips outside stays so."""
    clip, before = hurried_walk(3.0, 60.0), stepped()
    own = OwnRange(40, 100, before)
    motion = retarget(WALKER, clip, replace(STEPPING, zero_moment_margin=0.002), own_range=own)
    depths, was = (depths_by_mujoco(WALKER, found, clip) for found in (motion, before))
    within = slice(own.first + 2, own.last + 1)
    assert np.mean(was[within] < 0.0) > 0.5, "it tipped before"
    assert np.nanmin(depths[within]) > -0.001, "asked for are 0.002, where MuJoCo counts up to 0.0024 differently"
    assert np.nanmin(depths[own.last + 2 :]) < -0.02
    assert tipping(motion).worst == pytest.approx(depths[tipping(motion).sample], rel=0.1)
    assert tipping(motion).inside == 1.0
    assert motion.report is not None and motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == ""
    speed, acceleration, jerk = rates(motion)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert (acceleration.max(), jerk.max()) <= (1.0005 * 60.0, 1.0005 * 3000.0)
    assert motion.report.quality.contact_off_mm is not None and motion.report.quality.contact_off_mm < 1e-6


def test_what_keeping_speeds_costs_is_told_of_the_range() -> None:
    """Against the range without limits, beginning where the motion before is; what stays costs nothing."""
    clip, before = lissajous(2.0), drawn(2.0)
    work = Retargeting(ARM, clip, LIMITED, speed_cost=True, own_range=OwnRange(150, 300, before))
    list(work.steps())
    report = work.motion().report
    assert report is not None and report.speed_cost is not None
    within = slice(150, 301)
    assert report.speed_cost.moved[within].max() == pytest.approx(report.position_error[within].max(), rel=0.05)
    assert not report.speed_cost.moved[:150].any() and not report.speed_cost.moved[301:].any()


def test_the_frames_of_the_range_alone_have_a_report_of_their_own() -> None:
    clip, before = hurried_walk(3.0, 60.0), stepped()
    own = OwnRange(50, 110, before)
    whole = retarget(WALKER, raised(clip, "pelvis", 60, 100, -0.015), STEPPING, own_range=own)
    part = own.part(WALKER, clip, whole)
    assert part.report is not None and whole.report is not None and part.base is not None and whole.base is not None
    assert part.times[0] == 0.0 and len(part.times) == 61
    np.testing.assert_array_equal(part.values, whole.values[50:111])
    np.testing.assert_array_equal(part.base.quaternion, whole.base.quaternion[50:111])
    np.testing.assert_array_equal(part.report.velocity[0], whole.report.velocity[50])
    assert part.report.position_error.shape == (61, len(part.report.targets))
    assert [k + 50 for k, _ in part.report.short] == [k for k, _ in whole.report.short if 50 <= k <= 110]
    assert part.report.quality.contact_sample is not None and part.report.quality.contact_sample < 61
    assert part.report.quality.contact_off_mm is not None and part.report.quality.contact_off_mm < 1e-6


def test_a_long_range_is_solved_in_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = waving(480, 60.0)
    limited = replace(LIMITED, acceleration_limit=60.0, jerk_limit=3000.0)
    before = retarget(BOXER, waving(480, 60.0, 0.03), limited)
    whole = retarget(BOXER, clip, limited, own_range=OwnRange(100, 400, before))
    in_sections(monkeypatch, BOXER, 130, 1.0)
    own = OwnRange(100, 400, before)
    work = Retargeting(BOXER, clip, limited, own_range=own)
    list(work.steps())
    assert work._looking is not None
    assert len(work._looking._clip_solver.sections) > 2
    parts = work.motion()
    check(own, parts, 60.0, 3000.0)
    assert rms(parts) <= 1.01 * rms(whole)


@pytest.mark.parametrize("own", [(0, 301), (0, 100), (2, 100), (50, 250), (200, 300), (200, 301)])
@pytest.mark.parametrize("most", [10, 40, 1000])
def test_sections_cover_an_own_range(own: tuple[int, int], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sections(np.arange(301) / 100, False, 0.15, most, own)
    assert np.array_equal(np.concatenate([each.frames[each.first : each.last] for each in found]), np.arange(*own))
    for each in found:
        assert not each.held[each.first : each.last].any()
        assert (each.held == ((each.frames < each.frames[each.first]) | (each.frames >= own[1]))).all()
        assert each.goes_on == (each.frames[0] > 0, each.frames[-1] < 300)
    assert np.count_nonzero(found[0].held[: found[0].first]) == min(HELD, own[0])
    assert np.count_nonzero(found[-1].frames >= own[1]) == min(HELD, 301 - own[1])
    assert of_clips.HELD == 3, "a jerk is over four frames"


def wrong(**changed: Any) -> tuple[Mechanism, TargetClip, Settings, tuple[int, int, Motion]]:
    """Return a good robot, clip, settings and range with something changed."""
    clip = lissajous(1.0, 30.0, 1.0)
    motion = Motion(times=clip.times, actuators=ARM.actuators, values=np.zeros((31, len(ARM.actuators))))
    parts = {"robot": ARM, "clip": clip, "first": 5, "last": 20, "before": motion} | changed
    settings = replace(
        LIMITED, **{k: v for k, v in parts.items() if k in ("look_ahead", "cyclic", "acceleration_limit")}
    )
    if not settings.look_ahead:
        settings = replace(settings, acceleration_limit=None, jerk_limit=None)
    return parts["robot"], parts["clip"], settings, (parts["first"], parts["last"], parts["before"])


SHORT = Motion(times=np.arange(20) / 30, actuators=ARM.actuators, values=np.zeros((20, len(ARM.actuators))))
LATER = Motion(times=1.0 + np.arange(31) / 30, actuators=ARM.actuators, values=np.zeros((31, len(ARM.actuators))))
OTHERS = Motion(times=np.arange(31) / 30, actuators=("knee",), values=np.zeros((31, 1)))
BASELESS = Motion(times=np.arange(31) / 30, actuators=WALKER.actuators, values=np.zeros((31, len(WALKER.actuators))))
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "swapped": ({"first": 20, "last": 5}, "its first frame and its last one, in this order, not 20 and 5"),
    "too late": ({"last": 31}, "the own range from frame 5 to 31 is not within the clip, whose frames are 0 to 30"),
    "too early": ({"first": -1}, "from frame -1 to 20 is not within the clip"),
    "frame by frame": ({"look_ahead": False}, "is solved where all frames are solved at once; set look_ahead as well"),
    "cyclic": ({"cyclic": True}, "leave out cyclic, or the range"),
    "no limit": ({"acceleration_limit": None}, "set acceleration_limit as well"),
    "short": ({"before": SHORT}, "goes from 0 to 0.633333 s in 20 frames, the clip from 0 to 1 s in 31"),
    "later": ({"before": LATER}, "goes from 1 to 2 s in 31 frames, the clip from 0 to 1 s in 31"),
    "another robot's": ({"before": OTHERS}, "the motion before has no column for"),
    "no base": (
        {"robot": WALKER, "clip": hurried_walk(1.0, 30.0).part(0, 31), "before": BASELESS},
        "the motion before has no base, so nobody knows where robot 'walker' was",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_gets_one_sentence(case: str) -> None:
    changed, words = WRONG[case]
    robot, clip, settings, (first, last, before) = wrong(**changed)
    with pytest.raises(ClipError) as told:
        retarget(robot, clip, settings, own_range=OwnRange(first, last, before))
    assert words in str(told.value)
